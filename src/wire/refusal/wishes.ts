// What a request on each wire holds that an answer does not depend on, or that can be said in another form: the paths of
// such members, and how the request is asked again where a refusal names one.

import type { Remedy } from '../../errors.ts'
import { asList, asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../ir/wire.ts'
import { isSearchType } from '../tools/web-search.ts'
import { type Place, placesOf, valueAt } from './member-path.ts'

/**
 * `path`: in the body that is sent. `remedy`: by default, to leave out `named`, or the member itself. `when`: whether the
 * value, and what holds it, are such as the remedy is for. `form`: what is refused is the value, and with words that say that the member itself
 * is unknown it is left out. `whole`: only where it is named itself, and no part of it. `called`: what refusals name in its place,
 * such as a part that it lacks. `advice`: for its client, where no remedy helps.
 */
export type Wish = {
  path: string
  remedy?: Remedy
  named?: readonly string[]
  when?: (value: Json, holder: Json | undefined) => boolean
  form?: true
  whole?: true
  called?: readonly string[]
  advice?: string
}

/** Whether what stands there is what the wish is for. */
export const isHeld = ({ when }: Wish, place: Place, sent: JsonObject): boolean => {
  const value = valueAt(sent, place)
  return value !== undefined && when?.(value, valueAt(sent, place.slice(0, -1))) !== false
}

const leftOut = (...paths: string[]): Wish[] => paths.map((path) => ({ path }))

const isSchema = (value: Json): boolean => isObject(value) && value.type === 'json_schema'
const isFormat = (value: Json): boolean => isSchema(value) || (isObject(value) && value.type === 'json_object')
const isForced = (value: Json): boolean => value === 'required' || value === 'any' || isObject(value)
/** On any wire. */
export const isForcedChoice = (choice: Json | undefined): boolean =>
  choice !== undefined && isForced(choice) && !NOT_FORCED.has(asObject(choice).type)
const NOT_FORCED = new Set<Json | undefined>(['auto', 'none'])
const isAuto = (value: Json): boolean => (isObject(value) ? value.type : value) === 'auto'
const isAdaptive = (value: Json): boolean => asObject(value).type === 'adaptive'
const isNoFunction = (value: Json): boolean => isObject(value) && value.type !== 'function'
const isSearch = (value: Json): boolean => CHAT_WIRES.some((wire) => isSearchType(wire, asObject(value).type))
/** An item that adds tools, which few servers know: on the other wire they stand among the others. */
const isAdding = (item: Json): boolean => asObject(item).type === 'additional_tools'
const isNull = (value: Json): boolean => value === null
/** Whether an id of a call is of another form than nine letters and digits, which every server takes. */
export const isLongId = (id: Json): boolean => typeof id === 'string' && !/^[a-zA-Z0-9]{9}$/.test(id)

/** One that is forced, or forbidden, is no setting. */
const LEFT_TO_IT: Wish = { path: 'tool_choice', when: isAuto, named: ['tool_choice=auto'] }

/** A reference to an item is nothing but its id. */
export const isReference = (item: Json | undefined): boolean => asObject(item).type === 'item_reference'

/** A message without its type, or the model's without parts. */
const isShortItem = (item: Json): boolean =>
  isObject(item) &&
  item.role !== undefined &&
  (item.type === undefined || (item.role === 'assistant' && typeof item.content === 'string'))

/** Whose form other accounts of one person could be told by: a digest says as much. */
const users = (...paths: string[]): Wish[] => [
  ...paths.map((path): Wish => ({ path, remedy: 'hashed-user', form: true, when: isPlain })),
  ...leftOut(...paths),
]

/** As the gateway writes them. */
export const HASHED_USER = /^u_[0-9a-z]{22}$/
const isPlain = (value: Json): boolean => typeof value === 'string' && !HASHED_USER.test(value)

const CACHE = ['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options']
const LABELS = [...CACHE, 'metadata', 'parallel_tool_calls', 'service_tier', 'store', 'stream_options']

/** The form of an answer is the gateway's affair. */
const STREAMS: Wish[] = [
  { path: 'stream', remedy: 'not-streamed', when: (value) => value === true },
  { path: 'stream', remedy: 'streamed', when: (value) => value === false },
]

const CHAT: Wish[] = [
  ...STREAMS,
  ...users('user', 'safety_identifier'),
  ...leftOut(...LABELS, 'seed', 'stop', 'verbosity', 'prediction', 'temperature', 'top_p', 'top_k'),
  ...leftOut('frequency_penalty', 'presence_penalty'),
  { path: 'max_completion_tokens' },
  { path: 'max_tokens', remedy: 'newer-cap' },
  { path: 'reasoning_effort', remedy: 'other-effort' },
  { path: 'response_format', remedy: 'output-by-tool', when: isFormat },
  { path: 'tool_choice', remedy: 'no-forced-tools', when: isForced },
  LEFT_TO_IT,
  { path: 'tools.*', remedy: 'functions-only', when: isNoFunction, called: ['function', 'type'] },
  { path: 'messages.*.content', remedy: 'no-null-content', when: isNull },
  ...['messages.*.tool_call_id', 'messages.*.tool_calls.*.id'].map(
    (path): Wish => ({ path, remedy: 'short-call-ids', when: isLongId }),
  ),
  ...leftOut(
    'tools.*.function.strict',
    'response_format.json_schema.strict',
    'response_format.json_schema.description',
  ),
  ...leftOut(
    'messages.*.content.*.image_url.detail',
    'messages.*.name',
    'messages.*.refusal',
    'messages.*.annotations',
  ),
]

/** Of a request in another vendor's form; of its own a server is asked on another wire, or its client told. */
const SEARCHES: Wish = { path: 'tools.*', remedy: 'no-web-search', when: isSearch, called: ['type'] }

const RESPONSES: Wish[] = [
  ...STREAMS,
  ...users('user', 'safety_identifier'),
  ...leftOut(...LABELS, 'temperature', 'top_p', 'truncation', 'client_metadata', 'text.verbosity'),
  { path: 'include', when: (value) => !asList(value).includes('message.output_text.logprobs') },
  { path: 'reasoning.effort', remedy: 'other-effort' },
  { path: 'reasoning.summary', remedy: 'no-summary' },
  { path: 'reasoning', remedy: 'no-thinking' },
  { path: 'text.format', remedy: 'output-by-tool', when: isFormat },
  LEFT_TO_IT,
  SEARCHES,
  { path: 'tools.*', remedy: 'chat-wire', when: isNoFunction, called: ['function', 'type'] },
  { path: 'input.*', remedy: 'chat-wire', called: ['type'], when: isAdding },
  { path: 'input', remedy: 'long-messages', when: (value) => typeof value === 'string' },
  {
    path: 'input.*',
    remedy: 'long-messages',
    called: ['item', 'type'],
    when: isShortItem,
  },
  ...leftOut('tools.*.strict', 'text.format.strict', 'text.format.description', 'tools.*.filters.blocked_domains'),
  ...leftOut('input.*.content.*.detail', 'input.*.output.*.detail', 'input.*.phase', 'input.*.status'),
  { path: 'input.*.id', when: (_, item) => !isReference(item) },
]

/** Of tools and messages on the messages wire: they come with betas. */
const OF_BETAS = ['defer_loading', 'eager_input_streaming', 'input_examples', 'strict'].map(
  (name): Wish => ({ path: `tools.*.${name}`, remedy: 'without-beta-members', named: [`tools.${name}`] }),
)

/** A server that knows no mark in one place knows none in another. */
const MARKS = [
  ...['cache_control', 'system.*.cache_control', 'tools.*.cache_control', 'messages.*.content.*.cache_control'],
  'messages.*.content.*.content.*.cache_control',
]

/** Claude Code speaks as the user where it reads these words, of which it wants all. */
export const NO_SYSTEM_TURN =
  'Unexpected role "system" as an input message role. This model takes instructions only in the top-level `system` member.'

/** How far a mark reaches, and how long: what is cached is so without them, too. */
const REACHES = MARKS.flatMap((mark) => [`${mark}.scope`, `${mark}.ttl`])

const MESSAGES: Wish[] = [
  ...STREAMS,
  ...users('metadata.user_id'),
  ...leftOut('metadata', 'service_tier', 'temperature', 'top_p', 'top_k', 'stop_sequences'),
  { path: 'messages.*.role', remedy: 'no-mid-system', when: (role) => role === 'system', advice: NO_SYSTEM_TURN },
  { path: 'output_config.effort', remedy: 'other-effort' },
  { path: 'output_config.format', remedy: 'output-by-tool' },
  { path: 'thinking.display' },
  { path: 'thinking', remedy: 'thinking-budget', form: true, when: isAdaptive },
  { path: 'thinking', remedy: 'no-thinking', whole: true },
  { path: 'tool_choice.disable_parallel_tool_use' },
  { path: 'tool_choice', remedy: 'no-forced-tools', when: (choice) => FORCED.has(asObject(choice).type) },
  LEFT_TO_IT,
  SEARCHES,
  ...OF_BETAS,
  ...REACHES.map((path): Wish => ({ path, named: REACHES })),
  ...MARKS.map((path): Wish => ({ path, named: MARKS })),
]

const FORCED = new Set<Json | undefined>(['any', 'tool'])

export const WISHES: Record<ChatWire, readonly Wish[]> = {
  'chat-completions': CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
}

/** Members that hold the output cap, and those that hold pictures by their type. */
export const CAPS: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens', 'max_output_tokens'])
export const PICTURES: ReadonlySet<Json | undefined> = new Set(['image_url', 'input_image', 'image'])

/** Members that are hints to the server alone: they go, too, where the client speaks the server's wire. */
const HINTS = new Set([
  ...CACHE,
  ...REACHES,
  ...[
    'stream_options',
    'user',
    'safety_identifier',
    'client_metadata',
    'metadata.user_id',
    'messages.*.content.*.image_url.detail',
  ],
  // The answer's vectors come as the client reads them.
  'encoding_format',
  ...['input.*.content.*.detail', 'input.*.output.*.detail', 'input.*.id', 'input.*.phase', 'input.*.status'],
])

export const isHint = (path: string): boolean => HINTS.has(path)

/** What a request asks for that says so as one that says nothing. */
const SAID_ANYWAY = new Map<string, Json>([
  ['store', false],
  // Models that refuse it give pictures in no other form.
  ['response_format', 'b64_json'],
  ['parallel_tool_calls', true],
  ['tools.*.strict', false],
  ['tools.*.function.strict', false],
])

/** Whether the request means the same without what stands at the path, on its client's own wire, too. */
export const mayGo = (path: string, sent: JsonObject): boolean =>
  isHint(path) ||
  placesOf(sent, path).every((place) => {
    const value = valueAt(sent, place)
    return value === null || value === SAID_ANYWAY.get(path)
  })
