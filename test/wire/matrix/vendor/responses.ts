// vendor_b's answers on the responses wire, as it writes them.

import { isObject, type JsonObject } from '../../../../src/ir/json.ts'
import type { Answer, Figures, Piece } from '../story.ts'
import { mixed, pieces, typed } from './frames.ts'

const usage = ({ input, cacheRead = 0, cacheWrite = 0, output, reasoning = 0 }: Figures): JsonObject => ({
  input_tokens: input + cacheRead + cacheWrite,
  input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + cacheRead + cacheWrite + output,
})

const annotation = (url: string, length: number): JsonObject => ({
  type: 'url_citation',
  start_index: 0,
  end_index: length,
  title: 'A page',
  url,
})

const content = (piece: Extract<Piece, { text: string } | { refusal: string }>): JsonObject =>
  'refusal' in piece
    ? { type: 'refusal', refusal: piece.refusal }
    : {
        type: 'output_text',
        text: piece.text,
        annotations: (piece.cites ?? []).map((url) => annotation(url, piece.text.length)),
        logprobs: [],
      }

const item = (piece: Piece, index: number, cut: boolean): JsonObject => {
  const status = cut ? 'incomplete' : 'completed'
  if ('thought' in piece) {
    return {
      id: `rs_Vendor${index}`,
      type: 'reasoning',
      summary: piece.thought === '' ? [] : [{ type: 'summary_text', text: piece.thought }],
      encrypted_content: piece.seal ?? 'Z0FBQUFB',
    }
  }
  if ('call' in piece) {
    const { call, name: known, input, namespace, own, heard: name = known } = piece
    if (own !== undefined) return { id: `own_Vendor${index}`, call_id: call, status, ...own }
    const named = { call_id: call, name, ...(namespace === undefined ? {} : { namespace }) }
    return piece.custom
      ? { id: `ctc_Vendor${index}`, type: 'custom_tool_call', status, input, ...named }
      : { id: `fc_Vendor${index}`, type: 'function_call', status, arguments: input, ...named }
  }
  if ('search' in piece) {
    const sources = piece.found.map((url) => ({ type: 'url', url }))
    const action = { type: 'search', query: piece.search, queries: [piece.search], sources }
    return { id: `ws_Vendor${index}`, type: 'web_search_call', status, action }
  }
  if ('drawn' in piece)
    return { id: `ig_Vendor${index}`, type: 'image_generation_call', status, result: piece.drawn, output_format: 'png' }
  return { id: `msg_Vendor${index}`, type: 'message', status, role: 'assistant', content: [content(piece)] }
}

const cutBy = ({ finish, lies }: Answer): string | undefined =>
  lies ? undefined : finish === 'length' ? 'max_output_tokens' : finish === 'filter' ? 'content_filter' : undefined

const base: JsonObject = {
  id: 'resp_Vendor',
  object: 'response',
  created_at: 1_790_000_123,
  status: 'in_progress',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  model: 'up',
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  usage: null,
  user: null,
}

export const body = (answer: Answer): JsonObject => {
  const reason = cutBy(answer)
  const last = answer.pieces.length - 1
  return {
    ...base,
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output: answer.pieces.map((piece, at) => item(piece, at, at === last && reason !== undefined)),
    usage: usage(answer.usage),
  }
}

export const json = (answer: Answer): string => JSON.stringify(body(answer))

export const stream = (answer: Answer): string => {
  let sequence = 0
  const write = (events: JsonObject[]): string =>
    events.map((event) => typed({ ...event, sequence_number: sequence++ })).join('')
  const whole = body(answer)
  const output = whole.output as JsonObject[]
  const calls: JsonObject[][] = []
  const said: JsonObject[] = []
  answer.pieces.forEach((piece, output_index) => {
    const done = output[output_index] ?? {}
    if ('call' in piece && piece.own !== undefined) calls.push(ownEvents(done, output_index))
    else if ('call' in piece) calls.push(callEvents(done, output_index, piece.custom === true))
    else if ('search' in piece) said.push(...hostedEvents(done, output_index, 'web_search_call', 'searching'))
    else if ('drawn' in piece) said.push(...hostedEvents(done, output_index, 'image_generation_call', 'generating'))
    else said.push(...('thought' in piece ? thoughtEvents(done, output_index) : messageEvents(done, output_index)))
  })
  return write([
    { type: 'response.created', response: base },
    { type: 'response.in_progress', response: base },
    ...said,
    ...(answer.overlap ? mixed(calls) : calls.flat()),
    { type: `response.${whole.status}`, response: whole },
  ])
}

const messageEvents = (done: JsonObject, output_index: number): JsonObject[] => {
  const [part] = done.content as JsonObject[]
  const place = { item_id: String(done.id), output_index, content_index: 0 }
  const refused = part?.type === 'refusal'
  const text = String(refused ? part?.refusal : part?.text)
  const kind = refused ? 'response.refusal' : 'response.output_text'
  const empty = refused ? { type: 'refusal', refusal: '' } : { ...part, text: '', annotations: [] }
  const cites = (Array.isArray(part?.annotations) ? part.annotations : []) as JsonObject[]
  return [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...done, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...place, part: empty },
    ...pieces(text).map((delta) => ({
      type: `${kind}.delta`,
      ...place,
      delta,
      ...(refused ? {} : { logprobs: [], obfuscation: 'xyz' }),
    })),
    ...cites.map((cite, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      ...place,
      annotation_index,
      annotation: cite,
    })),
    { type: `${kind}.done`, ...place, ...(refused ? { refusal: text } : { text, logprobs: [] }) },
    { type: 'response.content_part.done', ...place, part: part ?? {} },
    { type: 'response.output_item.done', output_index, item: done },
  ]
}

const callEvents = (done: JsonObject, output_index: number, custom: boolean): JsonObject[] => {
  const member = custom ? 'input' : 'arguments'
  const kind = custom ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
  const place = { item_id: String(done.id), output_index }
  return [
    { type: 'response.output_item.added', output_index, item: { ...done, status: 'in_progress', [member]: '' } },
    ...pieces(String(done[member])).map((delta) => ({ type: `${kind}.delta`, ...place, delta })),
    { type: `${kind}.done`, ...place, [member]: String(done[member]) },
    { type: 'response.output_item.done', output_index, item: done },
  ]
}

/** Of a tool that the vendor runs. */
const hostedEvents = (done: JsonObject, output_index: number, kind: string, does: string): JsonObject[] => {
  const { result, ...begun } = done
  const place = { item_id: String(done.id), output_index }
  const item = { ...begun, status: 'in_progress', ...(result === undefined ? {} : { result: null }) }
  return [
    { type: 'response.output_item.added', output_index, item },
    { type: `response.${kind}.in_progress`, ...place },
    { type: `response.${kind}.${does}`, ...place },
    { type: `response.${kind}.completed`, ...place },
    { type: 'response.output_item.done', output_index, item: done },
  ]
}

/** The commands of a shell come one by one; what else the client carries out is whole at its end. */
const ownEvents = (done: JsonObject, output_index: number): JsonObject[] => {
  const { action, operation } = done
  const begun = isObject(action)
    ? { action: { ...action, [Array.isArray(action.commands) ? 'commands' : 'command']: [] } }
    : 'arguments' in done
      ? { arguments: {} }
      : { operation: { ...(isObject(operation) ? operation : {}), diff: '' } }
  const commands = isObject(action) && Array.isArray(action.commands) ? action.commands : []
  return [
    { type: 'response.output_item.added', output_index, item: { ...done, status: 'in_progress', ...begun } },
    ...commands.flatMap((command, command_index) => [
      { type: 'response.shell_call_command.added', output_index, command_index, command: '' },
      ...pieces(String(command)).map((delta) => ({
        type: 'response.shell_call_command.delta',
        output_index,
        command_index,
        delta,
        obfuscation: 'xyz',
      })),
      { type: 'response.shell_call_command.done', output_index, command_index, command },
    ]),
    { type: 'response.output_item.done', output_index, item: done },
  ]
}

const thoughtEvents = (done: JsonObject, output_index: number): JsonObject[] => {
  const place = { item_id: String(done.id), output_index, summary_index: 0 }
  const [part] = done.summary as JsonObject[]
  const summary = (text: string): JsonObject => ({ type: 'summary_text', text })
  const text = String(part?.text ?? '')
  return [
    { type: 'response.output_item.added', output_index, item: { ...done, summary: [] } },
    ...(part === undefined
      ? []
      : [
          { type: 'response.reasoning_summary_part.added', ...place, part: summary('') },
          ...pieces(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
          { type: 'response.reasoning_summary_text.done', ...place, text },
          { type: 'response.reasoning_summary_part.done', ...place, part: summary(text) },
        ]),
    { type: 'response.output_item.done', output_index, item: done },
  ]
}

export const brokenOff = (): string =>
  typed({
    type: 'error',
    sequence_number: 3,
    error: {
      type: 'service_unavailable_error',
      code: 'server_is_overloaded',
      message: 'Overloaded vendor-secret',
      param: null,
    },
  })
