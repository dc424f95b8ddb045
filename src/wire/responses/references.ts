// References to what the provider stores: an earlier answer to continue, or single items of one. Clients send them unless
// they set `store: false`. For answers translated from another wire only the gateway can resolve them.

import { invalidRequest } from '../../errors.ts'
import { asList, isObject, type Json, type JsonObject, parseObject } from '../../ir/json.ts'
import { asBuffer } from '../../lib/as-buffer.ts'
import { ARRAY, onBorder, QUOTE } from '../../lib/json-codes.ts'
import { pastSpace } from '../../lib/json-pick.ts'
import type { Edit } from '../../lib/json-splice.ts'
import { given } from '../read.ts'

/** `items`: their ids. `previous`: the id of an answer. */
export type References = { items: readonly string[]; previous: string | undefined }

/** What a body refers to; undefined where it refers to nothing. The body may be an outline. */
export const referencesIn = (body: JsonObject): References | undefined => {
  const items = asList(body.input).flatMap((item) => referenced(item) ?? [])
  const { previous_response_id: previous } = body
  const named = typeof previous === 'string' && previous !== '' ? previous : undefined
  return items.length === 0 && named === undefined ? undefined : { items, previous: named }
}

/** What is known of references. `before`: the items of the conversation up to the answer that is continued, as text without brackets. */
export type Resolved = { item(id: string): JsonObject | undefined; before: string | undefined }

/**
 * The edits that replace a body's references by what is known of them. Throws `invalid_request` for a second reference to one
 * item: a small body could expand beyond memory.
 */
export const referenceEdits = (body: JsonObject, known: Resolved): Edit[] => {
  const input = listOf(body.input)
  const edits: Edit[] = []
  const seen = new Set<string>()
  const resolved = input.map((item, at): Json => {
    const id = referenced(item)
    const found = id === undefined ? undefined : known.item(id)
    if (id === undefined || found === undefined) return item
    if (seen.has(id)) throw invalidRequest(`input.${at}: refers to an item a second time.`, `input.${at}`)
    seen.add(id)
    edits.push({ path: ['input', at], value: JSON.stringify(found) })
    return found
  })
  if (known.before === undefined) return edits
  const all = [known.before, ...resolved.map((item) => JSON.stringify(item))].filter((text) => text !== '')
  return [
    { path: ['previous_response_id'], value: undefined },
    { path: ['input'], value: `[${all.join(',')}]` },
  ]
}

/** A request whose answer later ones may refer to. `previous`: the answer that it continues; `input`: what it adds to that. */
export type Rememberable = { previous?: string; input: Json[] | Written }

/** Items as JSON text in UTF-8 without brackets, in pieces that lie within no character. `memory`: what they must not outlive. */
export type Written = { readonly pieces: Iterable<string>; readonly memory: Uint8Array<ArrayBuffer> }

/** The items of an input as it is written, no more than so many bytes in a piece; undefined for what is neither a list nor words. */
export const itemsWritten = (memory: Uint8Array<ArrayBuffer>, pieceBytes: number): Written | undefined => {
  if (memory[0] === ARRAY)
    return { memory, pieces: piecesIn(memory, pastSpace(memory, 1), memory.length - 1, pieceBytes) }
  return memory[0] === QUOTE ? { memory, pieces: wordsIn(memory, pieceBytes) } : undefined
}

function* wordsIn(memory: Uint8Array<ArrayBuffer>, pieceBytes: number): Generator<string> {
  yield '{"type":"message","role":"user","content":'
  yield* piecesIn(memory, 0, memory.length, pieceBytes)
  yield '}'
}

function* piecesIn(memory: Uint8Array<ArrayBuffer>, start: number, end: number, pieceBytes: number): Generator<string> {
  for (let from = start; from < end; ) {
    const to = from + pieceBytes < end ? onBorder(memory, from, from + pieceBytes) : end
    yield asBuffer(memory).toString('utf8', from, to)
    from = to
  }
}

/** Undefined where the client said `store: false`. `sent`: its body; `body`: the same with its references resolved. */
export const rememberable = (sent: JsonObject, body: JsonObject): Rememberable | undefined => {
  if (sent.store === false) return undefined
  const input = listOf(body.input)
  const { previous_response_id: previous } = sent
  const goesOn = typeof previous === 'string' && !given(body.previous_response_id)
  if (!goesOn) return { input }
  // The conversation up to that answer, which comes first, is kept with it.
  return { previous, input: input.slice(input.length - listOf(sent.input).length) }
}

/** The answer in the last frame of a stream's text; undefined where it has none. */
export const answerIn = (text: string): JsonObject | undefined => {
  const at = text.lastIndexOf('\ndata: ')
  const event = at === -1 ? undefined : parseObject(text.slice(at + '\ndata: '.length))
  return isObject(event?.response) ? event.response : undefined
}

/** The items of an input: words alone are the user's. */
export const listOf = (input: Json | undefined): Json[] => {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return asList(input)
}

/** The id in a reference: an `item_reference`, or an item with neither type nor role. */
const referenced = (item: Json): string | undefined => {
  if (!isObject(item) || typeof item.id !== 'string') return undefined
  if (item.type === 'item_reference') return item.id
  return !given(item.type) && !given(item.role) ? item.id : undefined
}
