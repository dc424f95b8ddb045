// vendor_b's answers on the chat-completions wire, as it writes them; thoughts as the servers of its kind do.

import type { JsonObject } from '../../../../src/ir/json.ts'
import type { Answer, Figures, Piece } from '../story.ts'
import { bare, mixed, pieces } from './frames.ts'

const usage = ({ input, cacheRead = 0, cacheWrite = 0, output, reasoning = 0 }: Figures): JsonObject => ({
  prompt_tokens: input + cacheRead + cacheWrite,
  completion_tokens: output,
  total_tokens: input + cacheRead + cacheWrite + output,
  prompt_tokens_details: { cached_tokens: cacheRead, audio_tokens: 0, cache_write_tokens: cacheWrite },
  completion_tokens_details: {
    reasoning_tokens: reasoning,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
})

const FINISH = { stop: 'stop', calls: 'tool_calls', length: 'length', refusal: 'stop', filter: 'content_filter' }
const finishOf = ({ finish, lies }: Answer): string => (lies || typeof finish !== 'string' ? 'stop' : FINISH[finish])

type Call = Extract<Piece, { call: string }>
const callsOf = (answer: Answer): Call[] => answer.pieces.filter((piece) => 'call' in piece)

const call = ({ call: id, name, namespace, input, custom, heard }: Call): JsonObject => {
  const sent = heard ?? (namespace === undefined ? name : `${namespace}__${name}`)
  return custom
    ? { id, type: 'custom', custom: { name: sent, input } }
    : { id, type: 'function', function: { name: sent, arguments: input } }
}

const annotation = (url: string, length: number): JsonObject => ({
  type: 'url_citation',
  url_citation: { start_index: 0, end_index: length, title: 'A page', url },
})

const annotations = (answer: Answer): JsonObject[] =>
  answer.pieces.flatMap((piece) =>
    'text' in piece ? (piece.cites ?? []).map((url) => annotation(url, piece.text.length)) : [],
  )

/** As aggregators give them. */
const picturesOf = (answer: Answer): JsonObject[] =>
  answer.pieces.flatMap((piece) =>
    'drawn' in piece
      ? [{ type: 'image_url', image_url: { url: `data:image/png;base64,${piece.drawn}` }, index: 0 }]
      : [],
  )

const detailsOf = (answer: Answer): JsonObject[] =>
  answer.pieces.flatMap((piece) =>
    'thought' in piece && piece.seal !== undefined
      ? [{ type: 'reasoning.encrypted', data: piece.seal, format: 'vendor-v1', index: 0 }]
      : [],
  )

const head = { id: 'chatcmpl-Vendor', created: 1_790_000_123, model: 'up', system_fingerprint: null }

export const body = (answer: Answer): JsonObject => {
  const said = (kind: 'text' | 'refusal' | 'thought'): string | null => {
    const found = answer.pieces.flatMap((piece) => (kind in piece ? [(piece as { [name: string]: string })[kind]] : []))
    return found.length === 0 ? null : found.join('')
  }
  const calls = callsOf(answer)
  const message: JsonObject = {
    role: 'assistant',
    content: said('text'),
    refusal: said('refusal'),
    annotations: annotations(answer),
  }
  const thought = said('thought')
  if (thought !== null) message.reasoning_content = thought
  const details = detailsOf(answer)
  if (details.length > 0) message.reasoning_details = details
  if (calls.length > 0) message.tool_calls = calls.map(call)
  const images = picturesOf(answer)
  if (images.length > 0) message.images = images
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }],
    usage: usage(answer.usage),
    service_tier: 'default',
  }
}

export const json = (answer: Answer): string => JSON.stringify(body(answer))

export const stream = (answer: Answer): string => {
  const chunk = (delta: JsonObject, finish: string | null = null): string =>
    bare({
      ...head,
      object: 'chat.completion.chunk',
      service_tier: 'default',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      usage: null,
    })
  const out = [chunk({ role: 'assistant', content: '', refusal: null })]
  const calls: string[][] = []
  for (const piece of answer.pieces) {
    if ('thought' in piece) {
      out.push(...pieces(piece.thought).map((text) => chunk({ reasoning_content: text })))
      const reasoning_details = detailsOf({ ...answer, pieces: [piece] })
      if (reasoning_details.length > 0) out.push(chunk({ reasoning_details }))
    } else if ('refusal' in piece) out.push(...pieces(piece.refusal).map((text) => chunk({ refusal: text })))
    else if ('text' in piece) out.push(...pieces(piece.text).map((text) => chunk({ content: text })))
    else if ('drawn' in piece) out.push(chunk({ images: picturesOf({ ...answer, pieces: [piece] }) }))
    else if ('call' in piece) calls.push(callChunks(piece, calls.length).map((one) => chunk({ tool_calls: [one] })))
  }
  out.push(...(answer.overlap ? mixed(calls) : calls.flat()))
  const cited = annotations(answer)
  if (cited.length > 0) out.push(chunk({ annotations: cited }))
  out.push(chunk({}, finishOf(answer)))
  const figures = { ...head, object: 'chat.completion.chunk', service_tier: 'default', choices: [] }
  out.push(bare({ ...figures, usage: usage(answer.usage) }), bare('[DONE]'))
  return out.join('')
}

const callChunks = (piece: Call, index: number): JsonObject[] => {
  const whole = call(piece)
  if (piece.custom) {
    const custom = { ...(whole.custom as JsonObject), input: '' }
    return [{ index, ...whole, custom }, ...pieces(piece.input).map((input) => ({ index, custom: { input } }))]
  }
  const named = { ...(whole.function as JsonObject), arguments: '' }
  const rest = pieces(piece.input).map((text) => ({ index, function: { arguments: text } }))
  return [{ index, ...whole, function: named }, ...rest]
}

export const brokenOff = (): string =>
  bare({
    error: {
      message: 'Overloaded vendor-secret',
      type: 'service_unavailable_error',
      param: null,
      code: 'server_is_overloaded',
    },
  })
