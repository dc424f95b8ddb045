// Requests that vendor_a refuses with 400 on the messages wire.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import { constrainedFaults, draftFaults, schemas } from './schema.ts'
import { breaches, hasTag, isTorn, list, member, type Rule, repeated, texts } from './table.ts'

export type Model = { adaptive: boolean; budget: boolean; effort: boolean; midSystem: boolean }
type Message = { role: Json | undefined; blocks: JsonObject[]; at: number }
type Seen = {
  body: JsonObject
  model: Model
  messages: Message[]
  tools: JsonObject[]
  /** Of `thinking`. */
  mode: Json | undefined
  /** Whether a thought is the vendor's own, unchanged. */
  isOwn: (thought: JsonObject) => boolean
}

const blocksOf = (content: Json | undefined): JsonObject[] =>
  typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : list(content)
const isThought = ({ type }: JsonObject): boolean => type === 'thinking' || type === 'redacted_thinking'
const isResult = ({ type }: JsonObject): boolean => type === 'tool_result'
const isCall = ({ type }: JsonObject): boolean => type === 'tool_use'
const all = ({ messages }: Seen): JsonObject[] => messages.flatMap(({ blocks }) => blocks)
const withInner = (block: JsonObject): JsonObject[] => [...(isResult(block) ? blocksOf(block.content) : []), block]
const shown = (seen: Seen): JsonObject[] => [...blocksOf(seen.body.system), ...all(seen).flatMap(withInner)]
const thinks = ({ mode }: Seen): boolean => mode === 'enabled' || mode === 'adaptive'
const namesOf = ({ tools }: Seen): unknown[] => tools.map(({ name }) => name)
const keysOf = ({ input_schema: schema }: JsonObject): string[] => Object.keys(Object(member(schema, 'properties')))
const choiceOf = ({ body }: Seen): Json | undefined => member(body.tool_choice, 'type')
const marksOf = (seen: Seen): JsonObject[] =>
  [...seen.tools, ...shown(seen), seen.body].flatMap(({ cache_control: mark }) => (isObject(mark) ? [mark] : []))
const strictSchemas = ({ body, tools }: Seen): (Json | undefined)[] => [
  ...tools.flatMap(({ strict, input_schema: schema }) => (strict === true ? [schema] : [])),
  member(member(body.output_config, 'format'), 'schema'),
]

/** The model's messages of the round of calls that the request answers. */
const round = ({ messages }: Seen): Message[] => {
  const out: Message[] = []
  let answers = false
  for (const message of messages.toReversed()) {
    if (message.role === 'user') answers ||= message.blocks.some(isResult)
    if (message.role !== 'assistant') continue
    if (!answers) break
    out.unshift(message)
    answers = false
  }
  return out
}

const RULES: Rule<Seen>[] = [
  {
    rule: 'the first message is the user’s',
    source: 'docs',
    broken: ({ messages }) => [messages[0]?.role !== 'user' && `messages.0 is ${messages[0]?.role}`],
  },
  {
    rule: 'messages have content',
    source: 'docs',
    broken: ({ messages }) => messages.map(({ blocks, at }) => blocks.length === 0 && `messages.${at}`),
  },
  {
    rule: 'texts are not blank',
    source: 'reported: text content blocks must contain non-whitespace text',
    broken: (seen) =>
      shown(seen).map(({ type, text }) => type === 'text' && String(text).trim() === '' && 'a blank text'),
  },
  {
    rule: 'system messages are last or between the user’s and the model’s',
    source: 'docs: mid-conversation system messages',
    broken: ({ messages, model }) =>
      messages.map(({ role, at }) => {
        const next = messages[at + 1]
        if (role !== 'system') return false
        const isPlaced = messages[at - 1]?.role === 'user' && (next === undefined || next.role === 'assistant')
        return !(isPlaced && model.midSystem) && `messages.${at}`
      }),
  },
  {
    rule: 'there is no prefill',
    source: 'docs: newer models take no prefill',
    broken: ({ messages }) => [messages.at(-1)?.role === 'assistant' && 'the last message'],
  },
  {
    rule: 'ids of calls are valid and unique',
    source: 'reported: tool_use.id pattern; `tool_use` ids must be unique',
    broken: (seen) => {
      const ids = all(seen).flatMap((block) => (isCall(block) ? [block.id] : []))
      return [...ids.map((id) => !/^[a-zA-Z0-9_-]+$/.test(String(id)) && `${id}`), ...repeated(ids)]
    },
  },
  {
    rule: 'names of tools are valid and unique',
    source: "reported: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'; tool names must be unique",
    broken: (seen) => {
      const called = all(seen).flatMap((block) => (isCall(block) ? [block.name] : []))
      const wrong = [...namesOf(seen), ...called].map(
        (name) => !/^[a-zA-Z0-9_-]{1,128}$/.test(String(name)) && `${name}`,
      )
      return [...wrong, ...repeated(namesOf(seen))]
    },
  },
  {
    rule: 'names of arguments are valid',
    source: "reported: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
    broken: ({ tools }) => tools.flatMap(keysOf).map((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key) && key),
  },
  {
    rule: 'all results of calls are in the next message, before other content',
    source: 'reported: `tool_use` ids were found without `tool_result` blocks immediately after',
    broken: ({ messages }) =>
      messages.flatMap(({ blocks, at }) => {
        const next = messages[at + 1]?.blocks ?? []
        const calls = blocks.filter(isCall).map(({ id }) => String(id))
        const results = next.filter(isResult).map((result) => String(result.tool_use_id))
        const before = messages[at - 1]?.blocks.some(isCall) ?? false
        return [
          calls.length > 0 &&
            calls.toSorted().join() !== results.toSorted().join() &&
            `messages.${at}: ${calls} by ${results}`,
          blocks.some(isResult) && !before && `messages.${at}: results without calls`,
          blocks.findLastIndex(isResult) >= blocks.filter(isResult).length && `messages.${at}: results are not first`,
        ]
      }),
  },
  {
    rule: 'failed results hold text, and are not empty',
    source: 'reported: all content must be type "text" if is_error is true; content cannot be empty',
    broken: (seen) =>
      all(seen).map(({ is_error: failed, content }) => {
        const told = blocksOf(content)
        return failed === true && (told.length === 0 || told.some(({ type }) => type !== 'text')) && 'a failure'
      }),
  },
  {
    rule: 'calls need tools',
    source: 'reported: requests which include `tool_use` blocks must define tools',
    broken: (seen) => [seen.tools.length === 0 && all(seen).some(isCall) && 'no tools'],
  },
  {
    rule: 'no message ends with a thought',
    source: 'reported: The final block in an assistant message cannot be `thinking`',
    broken: ({ messages }) => messages.map(({ blocks, at }) => isThought(blocks.at(-1) ?? {}) && `messages.${at}`),
  },
  {
    rule: 'thoughts come back unchanged',
    source: 'reported: Invalid `signature` in `thinking` block; blocks cannot be modified',
    broken: (seen) => all(seen).map((block) => isThought(block) && !seen.isOwn(block) && JSON.stringify(block)),
  },
  {
    rule: 'by budget, a round of calls begins with a thought',
    source: 'reported: Expected `thinking` or `redacted_thinking`, but found `tool_use`',
    broken: (seen) => {
      const [first] = seen.mode === 'enabled' ? round(seen) : []
      return [first !== undefined && !isThought(first.blocks[0] ?? {}) && `messages.${first.at}`]
    },
  },
  {
    rule: 'a thinking budget is within its limits',
    source: 'docs',
    broken: ({ body: { thinking, max_tokens: cap }, mode }) => {
      const budget = Number(member(thinking, 'budget_tokens'))
      return [mode === 'enabled' && (budget < 1_024 || budget >= Number(cap)) && `${budget} of ${cap}`]
    },
  },
  {
    rule: 'the model supports the kind of thinking',
    source: 'docs: what each model supports',
    broken: ({ body, mode, model }) => [
      mode === 'enabled' && !model.budget && 'by budget',
      mode === 'adaptive' && !model.adaptive && 'adaptive',
      member(body.output_config, 'effort') !== undefined && !model.effort && 'an effort',
    ],
  },
  {
    rule: 'thinking excludes sampling and, by budget, a forced tool',
    source: 'reported: `temperature` may only be set to 1 when thinking is enabled',
    broken: (seen) => [
      thinks(seen) && seen.body.temperature !== undefined && seen.body.temperature !== 1 && 'temperature',
      thinks(seen) && seen.body.top_p !== undefined && Number(seen.body.top_p) < 0.95 && 'top_p',
      thinks(seen) && seen.body.top_k !== undefined && 'top_k',
      seen.mode === 'enabled' && ['any', 'tool'].includes(String(choiceOf(seen))) && 'a forced tool',
    ],
  },
  {
    rule: 'sampling parameters are valid',
    source: 'docs; reported: `temperature` and `top_p` cannot both be specified for this model',
    broken: ({ body: { temperature = 0, top_p: top = 0, ...body } }) => [
      (Number(temperature) < 0 || Number(temperature) > 1) && `temperature ${temperature}`,
      (Number(top) < 0 || Number(top) > 1) && `top_p ${top}`,
      body.temperature !== undefined && body.top_p !== undefined && 'both',
    ],
  },
  {
    rule: 'a choice names one of the tools',
    source: 'docs',
    broken: (seen) => [
      choiceOf(seen) !== undefined && seen.tools.length === 0 && 'no tools',
      choiceOf(seen) === 'tool' && !namesOf(seen).includes(member(seen.body.tool_choice, 'name')) && 'an unknown tool',
    ],
  },
  {
    rule: 'schemas of tools are valid',
    source: 'reported: input_schema does not support oneOf, allOf, or anyOf at the top level; draft 2020-12',
    broken: ({ tools }) =>
      tools.flatMap(({ input_schema: schema }) => [
        ...draftFaults(schema),
        ...['anyOf', 'oneOf', 'allOf'].filter((name) => member(schema, name) !== undefined),
      ]),
  },
  {
    rule: 'strict schemas are within the subset and its limits',
    source: 'docs: structured outputs',
    broken: (seen) => [
      ...strictSchemas(seen).flatMap(constrainedFaults),
      seen.tools.filter(({ strict }) => strict === true).length > 20 && 'too many',
      strictSchemas(seen)
        .flatMap(schemas)
        .filter(({ type, anyOf }) => Array.isArray(type) || anyOf !== undefined).length > 16 && 'too many unions',
    ],
  },
  {
    rule: 'cache marks are few enough and in order',
    source: 'reported: A maximum of 4 blocks with cache_control may be provided; docs: an hour before five minutes',
    broken: (seen) => {
      const hours = marksOf(seen).map(({ ttl }) => ttl === '1h')
      return [
        hours.length > 4 && `${hours.length}`,
        hours.lastIndexOf(true) > hours.indexOf(false) && hours.includes(false) && 'order',
      ]
    },
  },
  {
    rule: 'stop sequences are not blank',
    source: 'reported: each stop sequence must contain non-whitespace',
    broken: ({ body }) => texts(body.stop_sequences).map((text) => text.trim() === '' && 'blank'),
  },
  {
    rule: 'text is well-formed and holds no tag of the gateway',
    source: 'reported: no low surrogate in string',
    broken: ({ body }) => [isTorn(body) && 'half a character', hasTag(body) && 'a tag'],
  },
]

export const messagesBreaches = (body: JsonObject, model: Model, isOwn: Seen['isOwn']): string[] =>
  breaches(RULES, {
    body,
    model,
    messages: list(body.messages).map(({ role, content }, at) => ({ role, blocks: blocksOf(content), at })),
    tools: list(body.tools),
    mode: member(body.thinking, 'type'),
    isOwn,
  })
