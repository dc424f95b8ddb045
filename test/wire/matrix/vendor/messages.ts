// vendor_a's answers on the messages wire, as it writes them.

import type { JsonObject } from '../../../../src/ir/json.ts'
import type { Answer, Figures, Piece } from '../story.ts'
import { pieces, typed } from './frames.ts'

const usage = ({ input, cacheRead, cacheWrite, output, reasoning }: Figures): JsonObject => ({
  input_tokens: input,
  cache_creation_input_tokens: cacheWrite ?? 0,
  cache_read_input_tokens: cacheRead ?? 0,
  cache_creation: { ephemeral_5m_input_tokens: cacheWrite ?? 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: output,
  service_tier: 'standard',
  inference_geo: null,
  output_tokens_details: reasoning === undefined ? null : { thinking_tokens: reasoning },
  server_tool_use: null,
})

const citation = (url: string): JsonObject => ({
  type: 'web_search_result_location',
  cited_text: 'as written there',
  encrypted_index: 'b3BhcXVl',
  title: 'A page',
  url,
})

/** Half of the arguments is no object: only a stream can hold it. */
const parsed = (input: string): JsonObject => {
  try {
    return JSON.parse(input)
  } catch {
    return {}
  }
}

/** A search is a block of its call and one of what it found. */
type Told = Exclude<Piece, { search: string } | { drawn: string }> | { asked: string } | { pages: string[] }
const toldIn = ({ pieces }: Answer): Told[] =>
  pieces.flatMap((piece): Told[] => {
    if ('drawn' in piece) return []
    return 'search' in piece ? [{ asked: piece.search }, { pages: piece.found }] : [piece]
  })

const SEARCH = 'srvtoolu_01Vendor'

const page = (url: string): JsonObject => ({
  ...{ type: 'web_search_result', url, title: 'A page', encrypted_content: 'c2VhbGVk', page_age: null },
})

const block = (piece: Told): JsonObject => {
  if ('asked' in piece)
    return {
      ...{ type: 'server_tool_use', id: SEARCH, name: 'web_search', input: { query: piece.asked } },
      caller: { type: 'direct' },
    }
  if ('pages' in piece)
    return {
      ...{ type: 'web_search_tool_result', tool_use_id: SEARCH, content: piece.pages.map(page) },
      caller: { type: 'direct' },
    }
  if ('call' in piece) {
    const name = piece.heard ?? (piece.namespace === undefined ? piece.name : `${piece.namespace}__${piece.name}`)
    const input = piece.custom ? { input: piece.input } : parsed(piece.input)
    return { type: 'tool_use', id: piece.call, name, input, caller: { type: 'direct' } }
  }
  if ('thought' in piece) {
    if (piece.thought === '') return { type: 'redacted_thinking', data: piece.seal ?? '' }
    return { type: 'thinking', thinking: piece.thought, signature: piece.seal ?? 'c2lnbmVk' }
  }
  if ('refusal' in piece) return { type: 'text', text: piece.refusal, citations: null }
  return { type: 'text', text: piece.text, citations: piece.cites?.map(citation) ?? null }
}

const stop = ({ finish: told, lies }: Answer): JsonObject => {
  const finish = lies ? 'stop' : told
  const words = { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', refusal: 'refusal', filter: 'refusal' }
  const reason = typeof finish === 'string' ? words[finish] : 'stop_sequence'
  return {
    stop_reason: reason,
    stop_sequence: typeof finish === 'string' ? null : finish.stopSequence,
    stop_details: reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
  }
}

export const body = (answer: Answer): JsonObject => ({
  id: 'msg_01Vendor',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: toldIn(answer).map(block),
  container: null,
  ...stop(answer),
  usage: usage(answer.usage),
})

/** The JSON text, numbers of any size as the model wrote them. */
export const json = (answer: Answer): string => {
  let text = JSON.stringify(body(answer))
  for (const piece of answer.pieces) {
    if (!('call' in piece) || piece.custom) continue
    text = text.replace(JSON.stringify(JSON.parse(piece.input)), () => piece.input)
  }
  return text
}

export const stream = (answer: Answer): string => {
  const whole = body(answer)
  const first: Figures = answer.late ? { input: 0, output: 1 } : { ...answer.usage, output: 1 }
  const { stop_reason, stop_sequence, stop_details } = whole
  const out = [
    typed({
      type: 'message_start',
      message: {
        ...whole,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        usage: usage(first),
      },
    }),
  ]
  toldIn(answer).forEach((piece, index) => {
    const { start, deltas } = parts(piece)
    out.push(typed({ type: 'content_block_start', index, content_block: start }))
    if (index === 0) out.push('event: ping\ndata: {"type": "ping"}\n\n')
    for (const delta of deltas) out.push(typed({ type: 'content_block_delta', index, delta }))
    out.push(typed({ type: 'content_block_stop', index }))
  })
  out.push(
    typed({
      type: 'message_delta',
      delta: { stop_reason: stop_reason ?? null, stop_sequence: stop_sequence ?? null, stop_details, container: null },
      usage: usage(answer.usage),
    }),
    typed({ type: 'message_stop' }),
  )
  return out.join('')
}

const parts = (piece: Told): { start: JsonObject; deltas: JsonObject[] } => {
  const whole = block(piece)
  if ('pages' in piece) return { start: whole, deltas: [] }
  if ('asked' in piece) {
    const texts = ['', ...pieces(JSON.stringify(whole.input))]
    const deltas = texts.map((text) => ({ type: 'input_json_delta', partial_json: text }))
    return { start: { ...whole, input: {} }, deltas }
  }
  if ('call' in piece) {
    const input = piece.custom ? JSON.stringify({ input: piece.input }) : piece.input
    const deltas = input === '{}' ? [''] : ['', ...pieces(input)]
    return {
      start: { ...whole, input: {} },
      deltas: deltas.map((text) => ({ type: 'input_json_delta', partial_json: text })),
    }
  }
  if ('thought' in piece) {
    if (piece.thought === '') return { start: whole, deltas: [] }
    return {
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...pieces(piece.thought).map((text) => ({ type: 'thinking_delta', thinking: text })),
        { type: 'signature_delta', signature: String(whole.signature) },
      ],
    }
  }
  const text = 'refusal' in piece ? piece.refusal : piece.text
  const cites = 'text' in piece ? (piece.cites ?? []) : []
  return {
    start: { type: 'text', text: '', citations: null },
    deltas: [
      ...cites.map((url) => ({ type: 'citations_delta', citation: citation(url) })),
      ...pieces(text).map((said) => ({ type: 'text_delta', text: said })),
    ],
  }
}

/** How the vendor breaks a stream off. */
export const brokenOff = (): string =>
  typed({
    type: 'error',
    error: { details: null, type: 'overloaded_error', message: 'Overloaded vendor-secret' },
    request_id: 'req_1',
  })
