// vendor_a's answers: the message as JSON, and the same message as its stream.

import { asList, asObject, asText, type Json, type JsonObject } from '../../ir/json.ts'
import { writeFrame } from '../../lib/sse.ts'
import { randomId } from '../id.ts'
import { type Answer, type Figures, fragments, words } from '../prompt.ts'
import { redaction, signature } from './history.ts'

const STOP_REASONS: Record<Answer['stop'], string> = {
  end: 'end_turn',
  'max-tokens': 'max_tokens',
  'stop-sequence': 'stop_sequence',
  'tool-calls': 'tool_use',
  refusal: 'refusal',
}

/** `display: "omitted"` leaves the thinking empty and its signature whole; `redacted` leaves only sealed data. */
type ThinkingStyle = { omitted: boolean; redacted: boolean }

export const composeMessage = (answer: Answer, model: string, style: ThinkingStyle, withUsage: boolean): JsonObject => {
  const { reasoning, text, calls, stop, figures } = answer
  const shown = style.omitted ? '' : (reasoning ?? '')
  const content: JsonObject[] = []
  if (reasoning !== undefined && style.redacted) {
    content.push({ type: 'redacted_thinking', data: redaction.close(reasoning, '') })
  } else if (reasoning !== undefined) {
    content.push({ type: 'thinking', thinking: shown, signature: signature.close(reasoning, shown) })
  }
  if (text !== '') content.push({ type: 'text', text })
  for (const { tool, input } of calls) {
    const parsed: Json = JSON.parse(input)
    content.push({
      type: 'tool_use',
      id: randomId('toolu_01', 22),
      name: tool.name,
      input: parsed,
      caller: { type: 'direct' },
    })
  }
  return {
    model,
    id: randomId('msg_01', 22),
    type: 'message',
    role: 'assistant',
    content,
    stop_reason: STOP_REASONS[stop],
    stop_sequence: answer.stopSequence ?? null,
    stop_details:
      stop === 'refusal'
        ? { type: 'refusal', category: 'cyber', explanation: 'This request was blocked under the usage policy.' }
        : null,
    ...(withUsage ? { usage: usageOf(figures) } : {}),
  }
}

const usageOf = (figures: Figures): JsonObject => ({
  input_tokens: figures.input,
  cache_creation_input_tokens: figures.cacheWrite5m + figures.cacheWrite1h,
  cache_read_input_tokens: figures.cacheRead,
  cache_creation: {
    ephemeral_5m_input_tokens: figures.cacheWrite5m,
    ephemeral_1h_input_tokens: figures.cacheWrite1h,
  },
  output_tokens: figures.output,
  ...(figures.reasoning > 0 ? { output_tokens_details: { thinking_tokens: figures.reasoning } } : {}),
  service_tier: 'standard',
  inference_geo: 'not_available',
})

/** The frames of a message: `message_start`, blocks one after another with a ping in the first, delta, stop. */
export function* playMessage(message: JsonObject): Generator<string> {
  const { usage, stop_reason, stop_sequence, stop_details, content, ...head } = message
  const { output_tokens_details: _, ...counts } = asObject(usage)
  const blocks = asList(content).map(asObject)
  yield frame({
    type: 'message_start',
    message: {
      ...head,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      ...(usage === undefined ? {} : { usage: { ...counts, output_tokens: 1 } }),
    },
  })
  if (blocks.length === 0) yield PING
  for (const [index, block] of blocks.entries()) {
    const { opening, deltas } = unfoldBlock(block)
    yield frame({ type: 'content_block_start', index, content_block: opening })
    if (index === 0) yield PING
    for (const delta of deltas) yield frame({ type: 'content_block_delta', index, delta })
    yield frame({ type: 'content_block_stop', index })
  }
  const { service_tier: _tier, inference_geo: _geo, cache_creation: _creation, ...final } = asObject(usage)
  yield frame({
    type: 'message_delta',
    delta: { stop_reason, stop_sequence, stop_details },
    ...(usage === undefined ? {} : { usage: final }),
  })
  yield frame({ type: 'message_stop' })
}

// The vendor writes its ping with a space and pads its JSON: who compares frames byte for byte learns it here.
const PING = writeFrame({ event: 'ping', data: '{"type": "ping"}' })

const frame = (event: JsonObject & { type: string }): string => {
  const json = JSON.stringify(event)
  return writeFrame({ event: event.type, data: `${json.slice(0, -1)}${' '.repeat(json.length % 7)}}` })
}

const unfoldBlock = (block: JsonObject): { opening: JsonObject; deltas: JsonObject[] } => {
  switch (block.type) {
    case 'text':
      return {
        opening: { type: 'text', text: '' },
        deltas: words(asText(block.text)).map((text) => ({ type: 'text_delta', text })),
      }
    case 'thinking':
      return {
        opening: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...words(asText(block.thinking)).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: asText(block.signature) },
        ],
      }
    case 'tool_use': {
      const json = JSON.stringify(block.input)
      const pieces = json === '{}' ? [''] : ['', ...fragments(json)]
      return {
        opening: { ...block, input: {} },
        deltas: pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      }
    }
    default:
      return { opening: block, deltas: [] }
  }
}
