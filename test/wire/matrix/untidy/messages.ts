// A sloppy server of the messages wire: its events are valid, their order and completeness are not.

import type { JsonObject } from '../../../../src/ir/json.ts'
import type { Answer, Piece } from '../story.ts'
import type { Dice } from './dice.ts'

const STOPS = { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', refusal: 'refusal', filter: 'refusal' }

export const frames = (answer: Answer, dice: Dice): { event?: string; data: string }[] => {
  const out: { event?: string; data: string }[] = []
  const named = !dice.odd()
  const push = (data: JsonObject): void => {
    out.push({ ...(named ? { event: String(data.type) } : {}), data: JSON.stringify(data) })
  }
  const noise = (): void => {
    if (!dice.odd()) return
    push(dice.one<JsonObject>({ type: 'ping' }, { type: 'content_block_hint', index: 0 }, { type: 'x.y', delta: {} }))
  }
  const { input, cacheRead = 0, cacheWrite = 0, output, reasoning = 0 } = answer.usage
  const usage: JsonObject = {
    input_tokens: input,
    cache_read_input_tokens: cacheRead,
    ...(dice.odd()
      ? { cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 } }
      : { cache_creation_input_tokens: cacheWrite }),
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: { web_search_requests: 0 },
  }
  const late = dice.odd()
  const first = late ? { input_tokens: 0, output_tokens: 1 } : { ...usage, output_tokens: 1 }
  push({ type: 'message_start', message: { id: 'msg_1', type: 'message', model: 'up', content: [], usage: first } })
  if (dice.odd()) push({ type: 'message_start', message: { id: 'msg_1', usage: first } })

  const pieces: (Piece | JsonObject)[] = answer.pieces.flatMap((piece) =>
    dice.odd()
      ? [dice.one<JsonObject>({ type: 'mystery', x: 1 }, { type: 'container_upload', file_id: 'f' }), piece]
      : [piece],
  )
  const gap = dice.one(0, 2)
  const blocks = pieces.map((piece, at) => block(piece, at * (gap + 1), dice))
  // Only calls may begin before the block before them has ended: prose that overlaps has no order.
  for (const event of dice.merge(blocks, answer.pieces.every((piece) => 'call' in piece) && dice.odd())) {
    push(event)
    noise()
  }

  const reason = typeof answer.finish === 'string' ? STOPS[answer.finish] : 'end_turn'
  const stop = reason === 'tool_use' ? dice.one('tool_use', 'end_turn') : reason
  const told =
    late || dice.odd()
      ? usage
      : { output_tokens: output, input_tokens: null, output_tokens_details: { thinking_tokens: reasoning } }
  if (dice.odd()) push({ type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 1 } })
  push({ type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: told })
  if (dice.odd()) push({ type: 'message_delta', delta: {}, usage: dice.one<JsonObject | null>({}, null, told) })
  noise()
  push({ type: 'message_stop' })
  if (dice.odd()) out.push({ data: '[DONE]' })
  return out
}

const block = (piece: Piece | JsonObject, index: number, dice: Dice): JsonObject[] => {
  const begin = (content_block: JsonObject): JsonObject => ({ type: 'content_block_start', index, content_block })
  const delta = (members: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta: members })
  // A text needs its end: the next one begins where it stood only if it had one.
  const end: JsonObject[] = [{ type: 'content_block_stop', index }]
  if ('call' in piece) {
    const { call: id, name, input } = piece as Extract<Piece, { call: string }>
    const head = { type: 'tool_use', id, name }
    if (dice.odd()) return [begin({ ...head, input: JSON.parse(input) }), ...end]
    const texts = input === '{}' && dice.odd() ? [''] : dice.cut(input)
    const start = begin({ ...head, input: dice.one<JsonObject | string | null>({}, '', null) })
    return [start, ...texts.map((partial_json) => delta({ type: 'input_json_delta', partial_json })), ...end]
  }
  if ('thought' in piece) {
    const { thought, seal = '' } = piece as Extract<Piece, { thought: string }>
    const [first = '', ...rest] = dice.odd() ? dice.cut(String(thought)) : ['', ...dice.cut(String(thought))]
    return [
      begin({ type: 'thinking', thinking: first, ...dice.one<JsonObject>({ signature: '' }, {}) }),
      ...rest.map((thinking) => delta({ type: 'thinking_delta', thinking, estimated_tokens: 3 })),
      ...dice.cut(seal).map((signature) => delta({ type: 'signature_delta', signature })),
      ...end,
    ]
  }
  if (!('text' in piece) && !('refusal' in piece)) {
    return [begin(piece as JsonObject), delta({ type: 'mystery_delta', x: 2 }), ...end]
  }
  const said = String('text' in piece ? piece.text : (piece as JsonObject).refusal)
  const [first = '', ...rest] = dice.odd() ? dice.cut(said) : ['', ...dice.cut(said)]
  const start =
    first === '' && dice.odd() && rest[0] !== undefined ? [] : [begin({ type: 'text', text: first, citations: null })]
  return [...start, ...rest.map((text) => delta({ type: 'text_delta', text })), ...end]
}
