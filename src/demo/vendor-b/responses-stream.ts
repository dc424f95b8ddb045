// A response of vendor_b as its stream: the full lifecycle of the response, its items and their parts, numbered.

import { asList, asObject, asText, type Json, type JsonObject } from '../../ir/json.ts'
import { writeFrame } from '../../lib/sse.ts'
import { fragments, words } from '../prompt.ts'
import type { VendorError } from '../vendor.ts'
import { obfuscate } from './chat.ts'
import { errorMembers } from './error.ts'
import { begun } from './responses.ts'

type Event = JsonObject & { type: string }

/** Every event of a whole response, in order, from `response.created` to its terminal event. */
export function* playResponse(response: JsonObject, obfuscated: boolean): Generator<string> {
  let sequence = 0
  for (const event of eventsOf(response)) {
    const padding = obfuscated && 'delta' in event ? { obfuscation: obfuscate(event) } : {}
    yield frame({ ...event, ...padding, sequence_number: sequence++ })
  }
}

/** How the vendor breaks a stream off: an `error` event, its members nested, then `response.failed`. */
export const failResponse = (response: JsonObject, error: VendorError, sent: number): string => {
  const members = errorMembers(error)
  const code =
    members.code === 'rate_limit_exceeded' || members.code === 'invalid_prompt' ? members.code : 'server_error'
  const failed = { ...begun(response), status: 'failed', error: { code, message: members.message } }
  return (
    frame({ type: 'error', sequence_number: sent, error: members }) +
    frame({ type: 'response.failed', response: failed, sequence_number: sent + 1 })
  )
}

const frame = (event: Event): string => writeFrame({ event: event.type, data: JSON.stringify(event) })

function* eventsOf(response: JsonObject): Generator<Event> {
  yield { type: 'response.created', response: begun(response) }
  yield { type: 'response.in_progress', response: begun(response) }
  for (const [output_index, item] of asList(response.output).map(asObject).entries()) {
    const { added, inner } = unfoldItem(item)
    yield { type: 'response.output_item.added', item: added, output_index }
    for (const event of inner) yield { ...event, item_id: item.id, output_index }
    yield { type: 'response.output_item.done', item, output_index }
  }
  yield { type: response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response }
}

const unfoldItem = (item: JsonObject): { added: JsonObject; inner: Iterable<Event> } => {
  switch (item.type) {
    case 'message':
      return {
        added: { ...item, status: 'in_progress', content: [] },
        inner: partEvents(asList(item.content).map(asObject)),
      }
    case 'reasoning':
      return { added: { ...item, summary: [] }, inner: summaryEvents(asList(item.summary).map(asObject)) }
    case 'custom_tool_call':
      return {
        added: { ...item, status: 'in_progress', input: '' },
        inner: inputEvents('response.custom_tool_call_input', 'input', asText(item.input)),
      }
    default:
      return {
        added: { ...item, status: 'in_progress', arguments: '' },
        inner: inputEvents('response.function_call_arguments', 'arguments', asText(item.arguments)),
      }
  }
}

function* inputEvents(prefix: string, member: string, text: string): Generator<Event> {
  for (const delta of fragments(text)) yield { type: `${prefix}.delta`, delta }
  yield { type: `${prefix}.done`, [member]: text }
}

function* partEvents(parts: JsonObject[]): Generator<Event> {
  for (const [content_index, part] of parts.entries()) {
    const member = part.type === 'refusal' ? 'refusal' : 'text'
    const prefix = part.type === 'refusal' ? 'response.refusal' : 'response.output_text'
    const logprobs: { logprobs?: Json } = part.type === 'refusal' ? {} : { logprobs: [] }
    yield { type: 'response.content_part.added', content_index, part: { ...part, [member]: '' } }
    for (const delta of words(asText(part[member])))
      yield { type: `${prefix}.delta`, content_index, delta, ...logprobs }
    yield { type: `${prefix}.done`, content_index, [member]: part[member], ...logprobs }
    yield { type: 'response.content_part.done', content_index, part }
  }
}

function* summaryEvents(parts: JsonObject[]): Generator<Event> {
  for (const [summary_index, part] of parts.entries()) {
    yield { type: 'response.reasoning_summary_part.added', summary_index, part: { ...part, text: '' } }
    for (const delta of words(asText(part.text)))
      yield { type: 'response.reasoning_summary_text.delta', summary_index, delta }
    yield { type: 'response.reasoning_summary_text.done', summary_index, text: part.text }
    yield { type: 'response.reasoning_summary_part.done', summary_index, part }
  }
}
