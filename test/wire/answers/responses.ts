// Answers of the responses wire as its published types allow them, their streams by the rules of the wire, and what they
// say.

import type { JsonObject } from '../../../src/ir/json.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import { schema } from '../../support/corpus.ts'
import { schemaWalk } from '../../support/schema-walk.ts'
import type { Dice } from '../matrix/untidy/dice.ts'
import { figures, ids, input, list, number, object, SECRET, type Told, text, toolName, words } from './told.ts'

const walk = schemaWalk(schema('OpenAIResponse.current'))

const KNOWN = ['message', 'reasoning', 'function_call', 'custom_tool_call']

const content = (dice: Dice): JsonObject =>
  dice.one<() => JsonObject>(
    () => ({ ...(walk.some('ResponseOutputText', dice) as JsonObject), text: words(dice) }),
    () => ({ ...(walk.some('ResponseOutputText', dice) as JsonObject), text: '', logprobs: [] }),
    () => ({ type: 'refusal', refusal: dice.one('I cannot.', 'No.') }),
  )()

const item = (dice: Dice, id: () => string): JsonObject => {
  const named = dice.one('message', 'function_call', 'reasoning', 'custom_tool_call', 'other')
  switch (named) {
    case 'message': {
      const message = walk.some('ResponseOutputMessage', dice) as JsonObject
      const parts = Array.from({ length: dice.one(1, 0, 2, 3) }, () => content(dice))
      return { ...message, type: 'message', id: `msg_${id()}`, status: 'completed', content: parts }
    }
    case 'function_call': {
      const call = walk.some('ResponseFunctionToolCall', dice) as JsonObject
      const own = id()
      const bare = { ...call, call_id: `call_${own}`, id: `fc_${own}`, status: 'completed' }
      return { ...bare, name: toolName(dice), arguments: input(dice), ...(call.namespace ? { namespace: 'fs' } : {}) }
    }
    case 'custom_tool_call': {
      const call = walk.some('ResponseCustomToolCall', dice) as JsonObject
      const own = id()
      const bare = { ...call, call_id: `call_${own}`, id: `ctc_${own}`, name: 'apply_patch' }
      return {
        ...bare,
        input: dice.one('*** Begin\n+a', '', '{"a":1}'),
        ...(call.namespace ? { namespace: 'fs' } : {}),
      }
    }
    case 'reasoning': {
      const parts = Array.from({ length: dice.one(1, 0, 2) }, () => dice.one('Hm.', '**So** "far"\n', '👩🏽‍🚀'))
      const full = dice.odd()
      return {
        id: `rs_${id()}`,
        type: 'reasoning',
        summary: full ? [] : parts.map((text) => ({ type: 'summary_text', text })),
        ...(full ? { content: parts.map((text) => ({ type: 'reasoning_text', text })) } : {}),
        ...dice.one<JsonObject>({ encrypted_content: 'Z0FBQUFB' }, {}, { encrypted_content: null }),
      }
    }
    default: {
      const other = walk.some('ResponseOutputItem', dice) as JsonObject
      return KNOWN.includes(String(other.type ?? 'message'))
        ? { type: 'web_search_call', id: `ws_${id()}`, status: 'completed', action: { type: 'search', query: 'q' } }
        : { ...other, id: `item_${id()}` }
    }
  }
}

export const answer = (dice: Dice): JsonObject => {
  const id = ids('')
  const output = Array.from({ length: dice.one(1, 2, 0, 3, 5) }, () => item(dice, id))
  const reason = dice.one(undefined, undefined, undefined, 'max_output_tokens', 'content_filter', 'max_messages')
  const last = output.at(-1)
  if (reason !== undefined && last?.status !== undefined && KNOWN.includes(String(last.type)))
    last.status = 'incomplete'
  const { input: fresh, read, written, output: made, reasoning } = figures(dice)
  const drawn = dice.one(0, 0, 40)
  const { conversation: _, ...rest } = walk.some(RESPONSE, dice) as JsonObject
  return {
    ...rest,
    id: 'resp_Vendor',
    model: SECRET,
    created_at: 1_790_000_123,
    error: null,
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage: {
      input_tokens: fresh + read + written,
      input_tokens_details: { cached_tokens: read, ...(written === 0 ? {} : { cache_write_tokens: written }) },
      output_tokens: made,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: fresh + read + written + made,
    },
    tool_usage: {
      image_gen: {
        input_tokens: drawn,
        input_tokens_details: { image_tokens: 0, text_tokens: drawn },
        output_tokens: drawn * 100,
        total_tokens: drawn * 101,
      },
      web_search: { num_requests: 1 },
    },
  }
}

const RESPONSE =
  Object.keys(object(schema('OpenAIResponse.current').definitions)).find((name) => name.startsWith('Pick<Response,')) ??
  ''

/** What a provider's own tools tell while they run. */
const PROGRESS: { [item: string]: string[] } = {
  web_search_call: ['in_progress', 'searching', 'completed'],
  file_search_call: ['in_progress', 'searching', 'completed'],
  code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
  image_generation_call: ['in_progress', 'generating', 'completed'],
  mcp_call: ['in_progress', 'completed'],
  mcp_list_tools: ['in_progress', 'failed'],
}

export const frames = (answer: JsonObject, dice: Dice): Frame[] => {
  const out: Frame[] = []
  const push = (data: JsonObject): void => {
    out.push({ event: String(data.type), data: JSON.stringify({ ...data, sequence_number: out.length }) })
  }
  const open = { ...answer, status: 'in_progress', output: [], usage: null, incomplete_details: null }
  push({ type: 'response.created', response: open })
  push(dice.one({ type: 'response.in_progress', response: open }, { type: 'response.queued', response: open }))
  list(answer.output).forEach((item, output_index) => {
    push({ type: 'response.output_item.added', output_index, item: opened(item) })
    for (const event of inner(item, dice)) push({ ...event, output_index, item_id: item.id })
    push({ type: 'response.output_item.done', output_index, item })
  })
  push({ type: `response.${answer.status}`, response: answer })
  return out
}

/** R11. */
const opened = (item: JsonObject): JsonObject => {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' }
    case 'custom_tool_call':
      return { ...item, input: '' }
    case 'reasoning':
      return { ...item, summary: [], ...(item.content === undefined ? {} : { content: [] }) }
    default:
      return item
  }
}

/** R13-R19. */
const inner = (item: JsonObject, dice: Dice): JsonObject[] => {
  const padding = dice.one<JsonObject>({}, { obfuscation: SECRET })
  const said = (type: string, at: JsonObject, whole: JsonObject, more: JsonObject = {}): JsonObject[] => [
    ...Object.values(whole)
      .flatMap((value) => dice.cut(text(value)))
      .map((delta) => ({ type: `${type}.delta`, ...at, delta, ...more, ...padding })),
    { type: `${type}.done`, ...at, ...whole, ...more },
  ]
  switch (item.type) {
    case 'message':
      return list(item.content).flatMap((part, content_index) => {
        const at = { content_index }
        const marks = list(part.annotations).map((annotation, annotation_index) => ({
          type: 'response.output_text.annotation.added',
          ...at,
          annotation_index,
          annotation,
        }))
        const { logprobs = [] } = part
        const deltas =
          part.type === 'refusal'
            ? said('response.refusal', at, { refusal: text(part.refusal) })
            : said('response.output_text', at, { text: text(part.text) }, { logprobs: [] })
        const first = deltas.find(({ type }) => type === 'response.output_text.delta')
        if (first !== undefined) first.logprobs = logprobs
        const done = deltas.at(-1)
        if (done?.type === 'response.output_text.done') done.logprobs = logprobs
        const empty =
          part.type === 'refusal'
            ? { type: 'refusal', refusal: '' }
            : { ...part, text: '', annotations: [], ...(part.logprobs === undefined ? {} : { logprobs: [] }) }
        return [
          { type: 'response.content_part.added', ...at, part: empty },
          ...deltas.slice(0, -1),
          ...marks,
          ...deltas.slice(-1),
          { type: 'response.content_part.done', ...at, part },
        ]
      })
    case 'function_call':
      return said('response.function_call_arguments', {}, { arguments: text(item.arguments) }, { name: item.name })
    case 'custom_tool_call':
      return said('response.custom_tool_call_input', {}, { input: text(item.input) })
    case 'reasoning':
      return [
        ...list(item.summary).flatMap((part, summary_index) => [
          { type: 'response.reasoning_summary_part.added', summary_index, part: { ...part, text: '' } },
          ...said('response.reasoning_summary_text', { summary_index }, { text: text(part.text) }),
          { type: 'response.reasoning_summary_part.done', summary_index, part },
        ]),
        ...list(item.content).flatMap((part, content_index) => [
          { type: 'response.content_part.added', content_index, part: { ...part, text: '' } },
          ...said('response.reasoning_text', { content_index }, { text: text(part.text) }),
          { type: 'response.content_part.done', content_index, part },
        ]),
      ]
    default:
      return (PROGRESS[String(item.type)] ?? []).map((word) => ({ type: `response.${item.type}.${word}` }))
  }
}

export const told = (body: JsonObject): Told => {
  const items = list(body.output)
  const usage = object(body.usage)
  const inPrompt = object(usage.input_tokens_details)
  const read = number(inPrompt.cached_tokens)
  const written = number(inPrompt.cache_write_tokens)
  const drawn = object(object(body.tool_usage).image_gen)
  const thoughts = (item: JsonObject): string =>
    [...list(item.summary), ...list(item.content)].map((part) => text(part.text)).join('\n\n')
  return {
    said: items.flatMap((item) =>
      item.type !== 'message'
        ? []
        : list(item.content).map((part): Told['said'][0] =>
            part.type === 'refusal'
              ? { kind: 'refusal', text: text(part.refusal) }
              : { kind: 'text', text: text(part.text) },
          ),
    ),
    thought: items.map((item) => (item.type === 'reasoning' ? thoughts(item) : '')).join(''),
    calls: items.flatMap((item): Told['calls'] => {
      const named = { id: text(item.call_id), name: text(item.name) }
      if (item.type === 'function_call') return [{ ...named, kind: 'function', input: text(item.arguments) }]
      return item.type === 'custom_tool_call' ? [{ ...named, kind: 'custom', input: text(item.input) }] : []
    }),
    usage: {
      input: number(usage.input_tokens) - read - written + number(drawn.input_tokens),
      read,
      written,
      output: number(usage.output_tokens) + number(drawn.output_tokens),
    },
  }
}

export const stopOf = (body: JsonObject): string =>
  [text(body.status), text(object(body.incomplete_details).reason)].filter((word) => word !== '').join(': ')
