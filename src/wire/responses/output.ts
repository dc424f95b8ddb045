// Decodes and encodes the parts of an answer: output content and call items.

import { asObjects, asText, type Json, type JsonObject } from '../../ir/json.ts'
import type { Citation, Logprob, TextPart, TokenLogprob, ToolCallPart } from '../../ir/part.ts'
import { isWhole } from '../../ir/whole.ts'
import { given } from '../read.ts'
import type { ClientTools } from './client-tools.ts'
import { plainMark } from './encrypted.ts'
import { callId } from './names.ts'

/** Arguments as text, also where a server sends an object; '{}' for none. */
export const argumentsText = (value: Json | undefined): string => {
  if (typeof value === 'string') return value === '' ? '{}' : value
  return given(value) ? JSON.stringify(value) : '{}'
}

/** An `output_text` part, of an answer or of its replay. */
export const decodeText = (part: JsonObject): TextPart => {
  const citations = decodeCitations(part.annotations)
  const logprobs = decodeLogprobs(part.logprobs)
  return {
    type: 'text',
    text: asText(part.text),
    ...(citations.length === 0 ? {} : { citations }),
    ...(logprobs.length === 0 ? {} : { logprobs }),
  }
}

export const decodeCitations = (value: Json | undefined): Citation[] => asObjects(value).map(decodeCitation)

export const decodeCitation = (value: JsonObject): Citation => {
  if (value.type !== 'url_citation' || typeof value.url !== 'string')
    return { kind: 'opaque', origin: 'responses', value }
  return {
    kind: 'url',
    url: value.url,
    ...(typeof value.title === 'string' ? { title: value.title } : {}),
    ...(typeof value.start_index === 'number' ? { start: value.start_index } : {}),
    ...(typeof value.end_index === 'number' ? { end: value.end_index } : {}),
  }
}

/** An annotation of a text of `length` characters, which covers the whole text where the citation has no range. */
export const encodeCitation = (citation: Citation, length: number): JsonObject[] => {
  if (citation.kind === 'opaque') return citation.origin === 'responses' ? [citation.value] : []
  return [
    {
      type: 'url_citation',
      url: citation.url,
      title: citation.title ?? citation.url,
      start_index: citation.start ?? 0,
      end_index: citation.end ?? length,
    },
  ]
}

export const decodeLogprobs = (value: Json | undefined): Logprob[] =>
  asObjects(value)
    .filter(({ token }) => typeof token === 'string')
    .map((entry) => ({ ...tokenLogprob(entry), top: asObjects(entry.top_logprobs).map(tokenLogprob) }))

const tokenLogprob = (entry: JsonObject): TokenLogprob => ({
  token: asText(entry.token),
  logprob: typeof entry.logprob === 'number' ? entry.logprob : 0,
  ...(Array.isArray(entry.bytes) ? { bytes: entry.bytes.filter((byte) => typeof byte === 'number') } : {}),
})

export const encodeLogprobs = (logprobs: readonly Logprob[]): JsonObject[] =>
  logprobs.map((entry) => ({ ...encodeToken(entry), top_logprobs: entry.top.map(encodeToken) }))

const encodeToken = ({ token, logprob, bytes }: TokenLogprob): JsonObject => ({
  token,
  bytes: bytes ?? [...Buffer.from(token, 'utf8')],
  logprob,
})

export const textContent = (text: string, annotations: JsonObject[], logprobs: JsonObject[]): JsonObject => ({
  type: 'output_text',
  text,
  annotations,
  logprobs,
})

export const refusalContent = (text: string): JsonObject => ({ type: 'refusal', refusal: text })

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export const messageItem = (id: string, content: JsonObject[], status: ItemStatus): JsonObject => ({
  type: 'message',
  id,
  status,
  role: 'assistant',
  content,
})

/** `plain`: the client would have had arguments encrypted, and is to be told that they are not. */
export type Call = Pick<ToolCallPart, 'id' | 'name' | 'kind' | 'namespace'> & { plain?: boolean }

/** A call whose arguments break off is never `completed`. */
export const callItem = (id: string, call: Call, input: string, status: ItemStatus): JsonObject => {
  const space = call.namespace === undefined ? {} : { namespace: call.namespace }
  if (call.kind === 'custom')
    return { type: 'custom_tool_call', id, status, call_id: callId(call.id), name: call.name, input, ...space }
  const known = status === 'completed' && !isWhole(input) ? 'incomplete' : status
  return {
    type: 'function_call',
    id,
    status: known,
    call_id: callId(call.id),
    name: call.name,
    arguments: input,
    ...space,
    ...(call.plain ? plainMark(input) : {}),
  }
}

/**
 * Unique ids of an answer's items: the item's own where it has the right prefix, else one made from the answer's id.
 */
export const itemIds = (base: string): ((prefix: string, own: unknown, index: number) => string) => {
  const used = new Set<string>()
  return (prefix, own, index) => {
    const kept = typeof own === 'string' && own !== '' && own.startsWith(prefix) && !used.has(own)
    let id = kept ? own : `${prefix === '' ? 'item_' : prefix}${base}_${index}`
    while (used.has(id)) id = `${id}_`
    used.add(id)
    return id
  }
}

export const callPrefix = (kind: Call['kind']): string => (kind === 'custom' ? 'ctc_' : 'fc_')

/** The call with an id and a name, also where the provider gave none. */
export const namedCall = (
  { id, name, kind, namespace }: Call,
  itemId: string,
  tools: Pick<ClientTools, 'encrypts'>,
): Call => ({
  id: id === '' ? `call_${itemId}` : id,
  name: name === '' ? 'unnamed' : name,
  kind,
  ...(namespace === undefined ? {} : { namespace }),
  ...(kind === 'function' && tools.encrypts(name, namespace) ? { plain: true } : {}),
})
