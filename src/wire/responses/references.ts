// References to what the provider stores: an earlier answer to continue, or single items of one. Clients send them unless
// they set `store: false`. For answers translated from another wire only the gateway can resolve them.

import { invalidRequest } from '../../errors.ts'
import { asList, isObject, type Json, type JsonObject, parseObject } from '../../ir/json.ts'
import type { Edit } from '../../lib/json-splice.ts'
import { given } from '../read.ts'

/** One exchange to which later requests may refer: the answer's id, what was sent and what came back. */
export type Remembered = { id: string; previous?: string; input: Json[]; output: JsonObject[] }

type Lookup = {
  item(id: string): JsonObject | undefined
  /** The items of the conversation up to and including the answer, oldest first. */
  conversation(answerId: string): Json[] | undefined
}

/**
 * The edits that replace a body's references by their content, as far as the lookup knows it. Throws `invalid_request` for
 * a second reference to one item: a small body could expand beyond memory.
 */
export const referenceEdits = (body: JsonObject, lookup: Lookup): Edit[] => {
  const input = listOf(body.input)
  const edits: Edit[] = []
  const seen = new Set<string>()
  const resolved = input.map((item, at): Json => {
    const id = referenced(item)
    const known = id === undefined ? undefined : lookup.item(id)
    if (id === undefined || known === undefined) return item
    if (seen.has(id)) throw invalidRequest(`input.${at}: refers to an item a second time.`, `input.${at}`)
    seen.add(id)
    edits.push({ path: ['input', at], value: JSON.stringify(known) })
    return known
  })
  const { previous_response_id: previous } = body
  const before = typeof previous === 'string' ? lookup.conversation(previous) : undefined
  if (before === undefined) return edits
  return [
    { path: ['previous_response_id'], value: undefined },
    { path: ['input'], value: JSON.stringify([...before, ...resolved]) },
  ]
}

/**
 * What later requests may refer to; undefined where the client said `store: false`. `sent`: the client's body; `body`: the
 * same with its references resolved.
 */
export const rememberable = (sent: JsonObject, body: JsonObject, answer: JsonObject): Remembered | undefined => {
  if (sent.store === false || typeof answer.id !== 'string' || !Array.isArray(answer.output)) return undefined
  const input = listOf(body.input)
  const { previous_response_id: previous } = sent
  const goesOn = typeof previous === 'string' && !given(body.previous_response_id)
  return {
    id: answer.id,
    ...(goesOn ? { previous } : {}),
    // The conversation up to that answer, which comes first, is remembered with it.
    input: goesOn ? input.slice(input.length - listOf(sent.input).length) : input,
    output: answer.output.filter(isObject),
  }
}

/** The answer in the last frame of a stream's text; undefined where it has none. */
export const answerIn = (text: string): JsonObject | undefined => {
  const at = text.lastIndexOf('\ndata: ')
  const event = at === -1 ? undefined : parseObject(text.slice(at + '\ndata: '.length))
  return isObject(event?.response) ? event.response : undefined
}

const listOf = (input: Json | undefined): Json[] => {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return asList(input)
}

/** The id in a reference: an `item_reference`, or an item with neither type nor role. */
const referenced = (item: Json): string | undefined => {
  if (!isObject(item) || typeof item.id !== 'string') return undefined
  if (item.type === 'item_reference') return item.id
  return !given(item.type) && !given(item.role) ? item.id : undefined
}
