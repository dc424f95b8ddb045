// Answers of the messages wire as its published types allow them, their streams by the rules of the wire, and what they
// say.

import type { Json, JsonObject } from '../../../src/ir/json.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import { schema } from '../../support/corpus.ts'
import { schemaWalk } from '../../support/schema-walk.ts'
import { exactly } from '../matrix/exact.ts'
import type { Dice } from '../matrix/untidy/dice.ts'
import { figures, ids, input, list, number, object, SECRET, type Told, text, toolName, words } from './told.ts'

const walk = schemaWalk(schema('AnthropicMessage.current'))

/** Why it may end: the reasons a call allows come first, as do those of its absence. */
const WITH_CALLS = ['tool_use', 'max_tokens', 'refusal', 'pause_turn', 'model_context_window_exceeded'] as const
const WITHOUT_CALLS = ['end_turn', 'stop_sequence', ...WITH_CALLS.slice(1)] as const

const block = (dice: Dice, id: () => string): JsonObject => {
  switch (dice.one('text', 'call', 'thought', 'hidden', 'other')) {
    case 'text': {
      const citations = dice.one(null, [], [walk.some('TextCitation', dice)], [walk.some('TextCitation', dice)])
      return { type: 'text', text: words(dice), ...(dice.odd() ? {} : { citations }) }
    }
    case 'call': {
      const call = walk.some('ToolUseBlock', dice) as JsonObject
      return { ...call, id: id(), name: toolName(dice), input: exactly(input(dice)) }
    }
    case 'thought':
      return { type: 'thinking', thinking: dice.one('Hm.', 'two\n\nparts', ''), signature: dice.one('c2ln', 'x+/=') }
    case 'hidden':
      return { type: 'redacted_thinking', data: 'c2VjcmV0' }
    default: {
      const other = walk.some('ContentBlock', dice) as JsonObject
      const plain = ['text', 'tool_use', 'thinking', 'redacted_thinking'].includes(String(other.type))
      return plain
        ? { type: 'container_upload', file_id: 'file_1' }
        : { ...other, ...(other.id === undefined ? {} : { id: id() }) }
    }
  }
}

export const answer = (dice: Dice): JsonObject => {
  const id = ids('toolu_')
  const content = Array.from({ length: dice.one(1, 0, 2, 3, 5) }, () => block(dice, id))
  const calls = content.some(({ type }) => type === 'tool_use')
  const stop = calls ? dice.one(...WITH_CALLS) : dice.one(...WITHOUT_CALLS)
  const { input: fresh, read, written, output, reasoning } = figures(dice)
  return {
    ...(walk.some('Message', dice) as JsonObject),
    id: 'msg_Vendor',
    model: SECRET,
    content,
    stop_reason: stop,
    stop_sequence: stop === 'stop_sequence' ? dice.one('END', '\n') : null,
    stop_details: stop === 'refusal' ? walk.some('RefusalStopDetails', dice) : null,
    usage: {
      ...(walk.some('Usage', dice) as JsonObject),
      input_tokens: fresh,
      cache_read_input_tokens: read === 0 ? dice.one(0, null) : read,
      ...dice.one<JsonObject>(
        { cache_creation_input_tokens: written, cache_creation: null },
        {
          cache_creation_input_tokens: written,
          cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
        },
      ),
      output_tokens: output,
      output_tokens_details: dice.one<Json>(null, { thinking_tokens: reasoning }),
    },
  }
}

const TOLD_AT_THE_END = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
  'output_tokens_details',
  'server_tool_use',
]

const UNTOLD = { input_tokens: null, cache_creation_input_tokens: null, cache_read_input_tokens: null }

export const frames = (answer: JsonObject, dice: Dice): Frame[] => {
  const out: Frame[] = []
  const push = (data: JsonObject): void => {
    // The vendor pads its events before their last brace.
    const padding = dice.one('', '   ')
    out.push({ event: String(data.type), data: JSON.stringify(data).replace(/\}$/, `${padding}}`) })
  }
  const usage = object(answer.usage)
  // What is told at the end only is told as nothing before.
  const late = dice.odd()
  const first = late ? { ...usage, ...UNTOLD, input_tokens: 0 } : usage
  push({
    type: 'message_start',
    message: {
      ...answer,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: { ...first, ...(late ? { cache_creation: null } : {}), output_tokens: 1, output_tokens_details: null },
    },
  })
  list(answer.content).forEach((block, index) => {
    push({ type: 'content_block_start', index, content_block: opened(block) })
    if (dice.odd()) push({ type: 'ping' })
    for (const delta of deltas(block, dice)) push({ type: 'content_block_delta', index, delta })
    push({ type: 'content_block_stop', index })
  })
  const { stop_reason, stop_sequence, stop_details } = answer
  const told = Object.fromEntries(TOLD_AT_THE_END.flatMap((name) => (name in usage ? [[name, usage[name]]] : [])))
  push({
    type: 'message_delta',
    delta: {
      stop_reason: stop_reason ?? null,
      stop_sequence: stop_sequence ?? null,
      stop_details: stop_details ?? null,
    },
    // What was told before need not be told again.
    usage: late || !dice.odd() ? told : { ...told, ...UNTOLD },
  })
  push({ type: 'message_stop' })
  return out
}

/** M6a-d. */
const opened = (block: JsonObject): JsonObject => {
  switch (block.type) {
    case 'text':
      return {
        ...block,
        text: '',
        ...('citations' in block ? { citations: block.citations === null ? null : [] } : {}),
      }
    case 'thinking':
      return { ...block, thinking: '', signature: '' }
    case 'tool_use':
    case 'server_tool_use':
      return { ...block, input: {} }
    default:
      return block
  }
}

/** M6f-j. */
const deltas = (block: JsonObject, dice: Dice): JsonObject[] => {
  switch (block.type) {
    case 'text': {
      const said = dice.cut(text(block.text)).map((text) => ({ type: 'text_delta', text }))
      const cited = list(block.citations).map((citation) => ({ type: 'citations_delta', citation }))
      return dice.one([...cited, ...said], [...said, ...cited])
    }
    case 'thinking':
      return [
        ...dice.cut(text(block.thinking)).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature ?? '' },
      ]
    case 'tool_use':
    case 'server_tool_use': {
      const input = JSON.stringify(block.input)
      const pieces = input === '{}' && dice.odd() ? [''] : ['', ...dice.cut(input)]
      return pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
    }
    default:
      return []
  }
}

export const told = (body: JsonObject): Told => {
  const blocks = list(body.content)
  const usage = object(body.usage)
  return {
    said: blocks.flatMap(({ type, text: said }) => (type === 'text' ? [{ kind: 'text', text: text(said) }] : [])),
    thought: blocks.map(({ thinking }) => text(thinking)).join(''),
    calls: blocks.flatMap(({ type, id, name, input }) =>
      type === 'tool_use' ? [{ id: text(id), name: text(name), kind: 'function', input: JSON.stringify(input) }] : [],
    ),
    usage: {
      input: number(usage.input_tokens),
      read: number(usage.cache_read_input_tokens),
      written: number(usage.cache_creation_input_tokens),
      output: number(usage.output_tokens),
    },
  }
}

export const stopOf = ({ stop_reason }: JsonObject): string => text(stop_reason)
