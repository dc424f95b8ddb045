// What a client asks of a server that refuses it, as each wire has it, and whether what reaches the server still carries it.

import {
  asList,
  asObject,
  asObjects,
  asText,
  isObject,
  type Json,
  type JsonObject,
  parseObject,
} from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'

const hi = { role: 'user', content: 'Hi' }
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const PDF = Buffer.from('%PDF-1.4\n%%EOF').toString('base64')

const object = (properties: JsonObject): JsonObject => ({ type: 'object', properties, additionalProperties: false })
const PLACE = object({ place: { type: 'string' } })
const LIMITED = object({
  place: { type: 'string', format: 'uri', pattern: '^h' },
  days: { type: 'array', uniqueItems: true },
})

/** Members beside the conversation, and the conversation where it is not the usual one. */
type Request = { messages?: JsonObject[]; input?: JsonObject[] } & JsonObject

const tool = (wire: ChatWire, parameters: JsonObject): JsonObject => {
  if (wire === 'messages') return { name: 'look', input_schema: parameters }
  const named = { name: 'look', parameters }
  return wire === 'responses' ? { type: 'function', ...named } : { type: 'function', function: named }
}
const toolsOn = (wire: ChatWire, parameters = PLACE): JsonObject => ({ tools: [tool(wire, parameters)] })

const formOn = (wire: ChatWire, schema: JsonObject): JsonObject => {
  if (wire === 'messages') return { output_config: { format: { type: 'json_schema', schema } } }
  const named = { name: 'place', schema }
  if (wire === 'responses') return { text: { format: { type: 'json_schema', ...named } } }
  return { response_format: { type: 'json_schema', json_schema: named } }
}

const called = (wire: ChatWire, id: string, input = '{"place":"A"}'): JsonObject =>
  wire === 'messages'
    ? { role: 'assistant', content: [{ type: 'tool_use', id, name: 'look', input: parseObject(input) ?? {} }] }
    : wire === 'responses'
      ? { type: 'function_call', call_id: id, name: 'look', arguments: input }
      : {
          role: 'assistant',
          content: '',
          tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: input } }],
        }
const resultOf = (wire: ChatWire, id: string): JsonObject =>
  wire === 'messages'
    ? { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'Rain.' }] }
    : wire === 'responses'
      ? { type: 'function_call_output', call_id: id, output: 'Rain.' }
      : { role: 'tool', tool_call_id: id, content: 'Rain.' }

/** Two calls in one message, and their results as the wire groups them. */
const calledTwice = (wire: ChatWire): JsonObject => {
  const [one, other] = [called(wire, 'call_a'), called(wire, 'call_b')]
  return wire === 'messages'
    ? { ...one, content: [...asList(one.content), ...asList(other.content)] }
    : { ...one, tool_calls: [...asList(one.tool_calls), ...asList(other.tool_calls)] }
}
const bothOf = (one: JsonObject, other: JsonObject): JsonObject[] =>
  Array.isArray(one.content) ? [{ ...one, content: [...one.content, ...asList(other.content)] }] : [one, other]

/** What the model has said, with a thought that its vendor has sealed, or as text. */
const thoughtOf = (wire: ChatWire): JsonObject[] =>
  wire === 'responses'
    ? [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gA' }, said('Hi.')]
    : wire === 'messages'
      ? [
          {
            role: 'assistant',
            content: [
              { type: 'redacted_thinking', data: 'gA' },
              { type: 'text', text: 'Hi.' },
            ],
          },
        ]
      : [{ ...said('Hi.'), reasoning_content: 'Greet.' }]

const said = (text: string): JsonObject => ({ role: 'assistant', content: text })
const talk = (wire: ChatWire, ...turns: JsonObject[]): Request =>
  wire === 'responses' ? { input: turns } : { messages: turns }
const history = (wire: ChatWire, id = 'call_a', input?: string): Request => ({
  ...toolsOn(wire),
  ...talk(wire, hi, called(wire, id, input), resultOf(wire, id), { role: 'user', content: 'And then?' }),
})

const pictured = (wire: ChatWire): Request => {
  const url = `data:image/png;base64,${PNG}`
  const picture =
    wire === 'messages'
      ? { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }
      : wire === 'responses'
        ? { type: 'input_image', image_url: url }
        : { type: 'image_url', image_url: { url } }
  return talk(wire, {
    role: 'user',
    content: [{ type: wire === 'responses' ? 'input_text' : 'text', text: 'Look.' }, picture],
  })
}

const LONG_ID = `call:${'x'.repeat(65)}`

const ASKED = {
  plain: () => ({}),
  tools: (wire) => toolsOn(wire),
  'tools left open': (wire) => ({ ...toolsOn(wire), tool_choice: wire === 'messages' ? { type: 'auto' } : 'auto' }),
  forced: (wire) => ({ ...toolsOn(wire), tool_choice: wire === 'messages' ? { type: 'any' } : 'required' }),
  named: (wire) => ({
    ...toolsOn(wire),
    tool_choice:
      wire === 'messages' ? { type: 'tool', name: 'look' } : { type: 'function', function: { name: 'look' } },
  }),
  'one call': (wire) => ({
    ...toolsOn(wire),
    ...(wire === 'messages'
      ? { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }
      : { parallel_tool_calls: false }),
  }),
  strict: () => ({ tools: [{ type: 'function', function: { name: 'look', parameters: PLACE, strict: true } }] }),
  'calls without tools': (wire) =>
    talk(wire, hi, called(wire, 'call_a'), resultOf(wire, 'call_a'), { role: 'user', content: 'And?' }),
  thinks: (wire) =>
    wire === 'messages'
      ? { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }
      : wire === 'responses'
        ? { reasoning: { effort: 'high' } }
        : { reasoning_effort: 'high' },
  adaptive: () => ({ max_tokens: 9_000, thinking: { type: 'adaptive' } }),
  'thought kept': (wire) => talk(wire, hi, ...thoughtOf(wire), hi),
  'two systems': (wire) =>
    talk(wire, { role: 'system', content: 'Be brief.' }, { role: 'system', content: 'Be kind.' }, hi),
  logprobs: (wire) =>
    wire === 'responses'
      ? { include: ['message.output_text.logprobs'], top_logprobs: 2 }
      : { logprobs: true, top_logprobs: 2 },
  several: () => ({ n: 2 }),
  schema: (wire) => formOn(wire, PLACE),
  'limits of the answer': (wire) => formOn(wire, LIMITED),
  json: (wire) =>
    wire === 'responses' ? { text: { format: { type: 'json_object' } } } : { response_format: { type: 'json_object' } },
  limits: (wire) => ({ tools: [tool(wire, LIMITED), { ...tool(wire, object({})), ...renamed(wire) }] }),
  'schema and tools': (wire) => ({ ...toolsOn(wire), ...formOn(wire, PLACE) }),
  system: (wire) =>
    wire === 'messages'
      ? { system: 'Be brief.' }
      : wire === 'responses'
        ? { instructions: 'Be brief.' }
        : talk(wire, { role: 'system', content: 'Be brief.' }, hi),
  'system within': (wire) => talk(wire, hi, said('Hi.'), { role: 'system', content: 'Be brief.' }, hi),
  twice: (wire) => talk(wire, hi, hi),
  history: (wire) => history(wire),
  'calls alone': (wire) => history(wire),
  'long ids': (wire) => history(wire, LONG_ID),
  'result without call': (wire) => ({ ...toolsOn(wire), ...talk(wire, hi, resultOf(wire, 'call_a')) }),
  'call without result': (wire) => ({ ...toolsOn(wire), ...talk(wire, hi, called(wire, 'call_a'), hi) }),
  'call first': (wire) => ({ ...toolsOn(wire), ...talk(wire, called(wire, 'call_a'), resultOf(wire, 'call_a'), hi) }),
  'cut call': (wire) => history(wire, 'call_a', '{"place": "A'),
  begun: (wire) => talk(wire, hi, said('The')),
  'model first': (wire) => talk(wire, said('Hello.'), said('Well?')),
  blank: (wire) => talk(wire, { role: 'user', content: [{ type: 'text', text: ' ' }] }),
  'blank of the model': (wire) => talk(wire, hi, said(''), hi),
  'texts in a list': (wire) =>
    talk(wire, { role: 'user', content: ['Hi', 'there'].map((text) => ({ type: 'text', text })) }),
  'empty reply': (wire) => talk(wire, hi, said(''), hi),
  'tool of no arguments': (wire) => ({
    tools: [
      wire === 'responses' ? { type: 'function', name: 'look' } : { type: 'function', function: { name: 'look' } },
    ],
  }),
  'no user': (wire) => talk(wire, { role: 'system', content: 'Be brief.' }),
  'blank system': () => ({ system: [{ type: 'text', text: '' }] }),
  penalties: () => ({ frequency_penalty: 0.5, presence_penalty: 0.5 }),
  stop: (wire) => (wire === 'messages' ? { stop_sequences: ['END'] } : { stop: ['END'] }),
  temperature: () => ({ temperature: 0.3 }),
  'top k': () => ({ top_k: 100 }),
  verbosity: () => ({ text: { verbosity: 'low' } }),
  streams: () => ({ stream: true }),
  developer: (wire) => talk(wire, { role: 'developer', content: 'Be brief.' }, hi),
  thoughtless: (wire) => history(wire),
  whole: () => ({}),
  stored: () => ({ store: true }),
  pdf: (wire) =>
    talk(wire, {
      role: 'user',
      content: [
        wire === 'messages'
          ? { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } }
          : { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } },
      ],
    }),
  'tools in a stream': (wire) => ({ ...toolsOn(wire), stream: true }),
  'schema in a stream': (wire) => ({ ...formOn(wire, PLACE), stream: true }),
  'cap, whole': () => ({ max_tokens: 32_000 }),
  'choice without tools': () => ({ tool_choice: 'none' }),
  unthinking: (wire) => (wire === 'responses' ? { reasoning: { effort: 'none' } } : { thinking: { type: 'disabled' } }),
  'calls at once': (wire) => ({
    ...toolsOn(wire),
    ...talk(wire, hi, calledTwice(wire), ...bothOf(resultOf(wire, 'call_a'), resultOf(wire, 'call_b'))),
  }),
  'refusal kept': (wire) => talk(wire, hi, { role: 'assistant', content: 'No.', refusal: null }, hi),
  cap: (wire) => (wire === 'responses' ? { max_output_tokens: 32_000 } : { max_tokens: 32_000 }),
  'blocked domains': () => ({
    tools: [{ type: 'web_search_20250305', name: 'web_search', blocked_domains: ['b.test'] }],
  }),
  picture: pictured,
} satisfies Record<string, (wire: ChatWire) => Request>

export type Asked = keyof typeof ASKED

const renamed = (wire: ChatWire): JsonObject =>
  wire === 'chat-completions' ? { function: { name: 'wait', parameters: object({}) } } : { name: 'wait' }

export const askedOn = (wire: ChatWire, asked: Asked): JsonObject => {
  const base =
    wire === 'responses' ? { input: [hi] } : { messages: [hi], ...(wire === 'messages' ? { max_tokens: 90 } : {}) }
  return { ...base, ...ASKED[asked](wire) }
}

const isForced = (choice: Json | undefined): boolean =>
  choice === 'required' || (isObject(choice) && choice.type !== 'auto' && choice.type !== 'none')
const turnsOf = (sent: JsonObject): JsonObject[] => asObjects(sent.messages ?? sent.input)
const formIn = (sent: JsonObject): Json =>
  sent.response_format ?? asObject(sent.text).format ?? asObject(sent.output_config).format ?? null
const LIMITS = /"(?:pattern|format|uniqueItems)":(?!\{)|"properties":\{\}/
const callsIn = (sent: JsonObject): JsonObject[] =>
  turnsOf(sent).flatMap((turn) => [...asObjects(turn.tool_calls), turn])
const idsIn = (sent: JsonObject): string[] =>
  turnsOf(sent).flatMap((turn) =>
    [
      turn.tool_call_id,
      ...asObjects(turn.tool_calls).map(({ id }) => id),
      ...asObjects(turn.content).flatMap(({ id, tool_use_id: of }) => [id, of]),
    ].filter((id) => typeof id === 'string'),
  )
const isSystem = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer'
const isSpeaker = (role: string) => (turn: JsonObject) => turn.role === role
const follows = (sent: JsonObject, before: string, role: string): boolean =>
  turnsOf(sent).some((turn, at, all) => isSpeaker(role)(turn) && isSpeaker(before)(all[at - 1] ?? {}))

/** Whether what reaches the server still is what it refuses; absent where it always is. */
const CARRIED: Partial<Record<Asked, (sent: JsonObject, words: string) => boolean>> = {
  tools: ({ tools }) => tools !== undefined,
  'tools left open': ({ tools }) => tools !== undefined,
  forced: ({ tool_choice: choice }) => isForced(choice),
  named: ({ tool_choice: choice }) => isForced(choice),
  'one call': ({ parallel_tool_calls: parallel, tool_choice: choice }) =>
    parallel !== undefined || asObject(choice).disable_parallel_tool_use !== undefined,
  adaptive: ({ thinking }) => asObject(thinking).type === 'adaptive',
  'thought kept': (sent) =>
    /"reasoning_content"|"redacted_thinking"|"type":"reasoning"/.test(JSON.stringify(turnsOf(sent))),
  'two systems': (sent) => turnsOf(sent).filter(isSystem).length > 1,
  strict: ({ tools }) => asObjects(tools).some(({ strict }) => strict === true),
  thinks: (sent) =>
    ['reasoning_effort', 'reasoning', 'thinking'].some((name) => sent[name] !== undefined) ||
    asObject(sent.output_config).effort !== undefined,
  schema: (sent) => formIn(sent) !== null,
  'limits of the answer': (sent) => LIMITS.test(JSON.stringify(formIn(sent))),
  json: (sent) => formIn(sent) !== null && !/json/i.test(JSON.stringify([turnsOf(sent), sent.instructions ?? ''])),
  limits: ({ tools }) => LIMITS.test(JSON.stringify(tools)),
  'schema and tools': (sent) => sent.tools !== undefined && formIn(sent) !== null,
  system: (sent) => turnsOf(sent).some(isSystem),
  'system within': (sent) =>
    turnsOf(sent)
      .slice(1)
      .some((turn) => (sent.input === undefined ? isSystem(turn) : turn.role === 'system')),
  developer: (sent) => turnsOf(sent).some(isSpeaker('developer')),
  twice: (sent) => follows(sent, 'user', 'user'),
  history: (sent, words) =>
    /\bids?\b/i.test(words) ? idsIn(sent).some((id) => !/^[a-zA-Z0-9]{9}$/.test(id)) : follows(sent, 'tool', 'user'),
  'calls alone': (sent) => turnsOf(sent).some(({ content }) => content === null),
  'long ids': (sent) => idsIn(sent).some((id) => id.length > 40),
  'cut call': (sent) =>
    callsIn(sent).some((call) => {
      const written = asText(asObject(call.function).arguments)
      return written !== '' && parseObject(written) === undefined
    }),
  'texts in a list': (sent) => turnsOf(sent).some(({ content }) => Array.isArray(content)),
  'empty reply': (sent) => turnsOf(sent).some(({ role, content }) => role === 'assistant' && content === ''),
  'tool of no arguments': ({ tools }) =>
    asObjects(tools).some((tool) => !isObject(asObject(tool.function ?? tool).parameters)),
  thoughtless: (sent) => turnsOf(sent).some((turn) => turn.tool_calls !== undefined && !turn.reasoning_content),
  streams: ({ stream }) => stream === true,
  whole: ({ stream }) => stream !== true,
  'tools in a stream': ({ stream }) => stream === true,
  'schema in a stream': (sent) => sent.stream === true && formIn(sent) !== null,
  // A lower cap would be taken, too, and cut the answer.
  'cap, whole': ({ stream }) => stream !== true,
  'choice without tools': ({ tool_choice: choice }) => choice !== undefined,
  unthinking: (sent) =>
    sent.reasoning_effort === 'none' ||
    asObject(sent.reasoning).effort === 'none' ||
    asObject(sent.thinking).type === 'disabled',
  'calls at once': (sent) => turnsOf(sent).some(({ tool_calls: calls }) => asList(calls).length > 1),
  stop: ({ stop }) => asList(stop).length > 0,
  temperature: ({ temperature }) => temperature !== undefined,
  'blocked domains': ({ tools }) => JSON.stringify(tools).includes('blocked_domains'),
  verbosity: ({ verbosity }) => verbosity !== undefined,
  cap: ({ max_tokens: old, max_completion_tokens: newer, max_output_tokens: own }) =>
    Number(old ?? newer ?? own) > 16_384,
}

export const isCarried = (asked: Asked, sent: JsonObject, words: string): boolean =>
  CARRIED[asked]?.(sent, words) ?? true
