// A sloppy server of the responses wire: its events are valid, their order and completeness are not.

import type { JsonObject } from '../../../../src/ir/json.ts'
import type { Answer, Piece } from '../story.ts'
import type { Dice } from './dice.ts'

export const frames = (answer: Answer, dice: Dice): { event?: string; data: string }[] => {
  const out: { event?: string; data: string }[] = []
  const named = !dice.odd()
  const numbered = !dice.odd()
  const push = (data: JsonObject): void => {
    const numbers = numbered ? { sequence_number: out.length } : {}
    out.push({ ...(named ? { event: String(data.type) } : {}), data: JSON.stringify({ ...data, ...numbers }) })
  }
  const { input, cacheRead = 0, cacheWrite = 0, output, reasoning = 0 } = answer.usage
  const prompt = input + cacheRead + cacheWrite
  const usage = {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    ...(dice.odd() ? {} : { total_tokens: prompt + output }),
  }
  const base = { id: 'resp_1', object: 'response', created_at: 1, model: 'up', status: 'in_progress', output: [] }
  push({ type: 'response.created', response: base })
  if (dice.odd()) push({ type: 'response.queued', response: base })
  if (!dice.odd()) push({ type: 'response.in_progress', response: { ...base, usage: null } })

  const pieces: (Piece | JsonObject)[] = answer.pieces.flatMap((piece) =>
    dice.odd()
      ? [dice.one<JsonObject>({ type: 'mystery', id: 'm' }, { type: 'web_search_call', id: 'w' }), piece]
      : [piece],
  )
  const gap = dice.one(0, 1)
  const items = pieces.map((piece, at) => ({ index: at * (gap + 1), item: itemOf(piece, at) }))
  const atOnce = dice.odd()
  const told = (atOnce ? [] : items).map(({ index, item }) => itemEvents(index, item, dice))
  const onlyCalls = answer.pieces.every((piece) => 'call' in piece)
  for (const event of dice.merge(told, onlyCalls && dice.odd())) {
    push(event)
    if (dice.odd()) push({ type: 'response.web_search_call.searching', output_index: event.output_index, item_id: 'w' })
  }

  const why =
    answer.finish === 'length' ? 'max_output_tokens' : answer.finish === 'filter' ? 'content_filter' : undefined
  const status = why === undefined ? 'completed' : 'incomplete'
  const whole = {
    ...base,
    status,
    incomplete_details: why === undefined ? null : { reason: why },
    // Places of their own the whole answer cannot tell.
    output: atOnce || (gap === 0 && !dice.odd()) ? items.map(({ item }) => item) : [],
    usage,
  }
  push({ type: `response.${status}`, response: whole })
  return out
}

const itemOf = (piece: Piece | JsonObject, at: number): JsonObject => {
  if ('call' in piece) {
    const { call, name, input } = piece as Extract<Piece, { call: string }>
    return { type: 'function_call', id: `fc_${at}`, status: 'completed', call_id: call, name, arguments: input }
  }
  if ('thought' in piece) {
    const summary = [{ type: 'summary_text', text: String(piece.thought) }]
    return { type: 'reasoning', id: `rs_${at}`, summary, encrypted_content: 'secret' }
  }
  if ('refusal' in piece) return message(at, { type: 'refusal', refusal: String(piece.refusal) })
  if ('text' in piece)
    return message(at, { type: 'output_text', text: String(piece.text), annotations: [], logprobs: [] })
  return { ...(piece as JsonObject), id: `${String((piece as JsonObject).id)}_${at}` }
}

const message = (at: number, part: JsonObject): JsonObject => ({
  type: 'message',
  id: `msg_${at}`,
  status: 'completed',
  role: 'assistant',
  content: [part],
})

const itemEvents = (output_index: number, item: JsonObject, dice: Dice): JsonObject[] => {
  const place = { output_index, item_id: item.id }
  const added = { type: 'response.output_item.added', output_index, item: opened(item) }
  const done = { type: 'response.output_item.done', output_index, item }
  if (dice.odd()) return dice.one([added, done], [done], [{ ...added, item }, done])
  const inner = innerEvents(place, item, dice)
  const told = item.type === 'mystery' || item.type === 'web_search_call' || item.type === 'reasoning'
  return [added, ...inner, ...(dice.odd() && !told ? [] : [done])]
}

const opened = (item: JsonObject): JsonObject => {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' }
    case 'reasoning':
      return { type: 'reasoning', id: item.id, summary: [] }
    default:
      return item
  }
}

const innerEvents = (place: JsonObject, item: JsonObject, dice: Dice): JsonObject[] => {
  /** The deltas, the whole at their end, or both. */
  const told = (type: string, at: JsonObject, member: string, text: string): JsonObject[] => {
    const way = dice.one('both', 'deltas', 'done')
    const deltas = way === 'done' ? [] : dice.cut(text).map((delta) => ({ type: `${type}.delta`, ...at, delta }))
    return way === 'deltas' ? deltas : [...deltas, { type: `${type}.done`, ...at, [member]: text }]
  }
  switch (item.type) {
    case 'function_call':
      return told('response.function_call_arguments', place, 'arguments', String(item.arguments))
    case 'reasoning': {
      const [part] = item.summary as JsonObject[]
      return told('response.reasoning_summary_text', { ...place, summary_index: 0 }, 'text', String(part?.text))
    }
    case 'message': {
      const [part = {}] = item.content as JsonObject[]
      const at = { ...place, content_index: 0 }
      const inner =
        part.type === 'refusal'
          ? told('response.refusal', at, 'refusal', String(part.refusal))
          : told('response.output_text', at, 'text', String(part.text))
      const empty = part.type === 'refusal' ? { type: 'refusal', refusal: '' } : { ...part, text: '' }
      return [
        ...(dice.odd() ? [] : [{ type: 'response.content_part.added', ...at, part: empty }]),
        ...inner,
        ...(dice.odd() ? [] : [{ type: 'response.content_part.done', ...at, part }]),
      ]
    }
    default:
      return []
  }
}
