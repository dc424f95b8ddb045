// Answers that the gateway keeps itself, for the clients that asked for them: read, their input listed, deleted.

import { invalidRequest } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import { isObject, type Json, type JsonObject } from '../ir/json.ts'

/** What is asked of an answer. */
export type Asked = 'read' | 'remove' | 'cancel' | 'input'

/** The JSON text that answers a request about one; undefined where this key has none of that id. Throws `invalid_request`. */
export const keptAnswer = async (
  { recall }: Gateway,
  { url }: Request,
  { keyId, id, what }: { keyId: string; id: string; what: Asked },
): Promise<string | undefined> => {
  const { searchParams: query } = new URL(url)
  switch (what) {
    case 'remove':
      return (await recall.forget(keyId, id)) ? JSON.stringify({ id, object: 'response', deleted: true }) : undefined
    case 'input': {
      const items = await recall.input(keyId, id)
      return items && JSON.stringify(pageOf(named(items, id), query))
    }
    default: {
      const answer = await recall.answer(keyId, id)
      if (answer === undefined) return undefined
      if (what === 'cancel') throw invalidRequest('Only answers made in the background can be cancelled.')
      if (query.get('stream') === 'true')
        throw invalidRequest('stream: only answers made in the background can be streamed again.', 'stream')
      return answer
    }
  }
}

/** Items as the wire lists them: each has an id and a type, and the content of a message is parts. */
const named = (items: readonly Json[], answerId: string): JsonObject[] =>
  items.filter(isObject).map((item, at) => {
    const { type = 'message', id = `msg_${answerId.replace(/^resp_/, '')}_${at}`, role, content } = item
    if (type !== 'message') return { ...item, id }
    const part = role === 'assistant' ? { type: 'output_text', annotations: [] } : { type: 'input_text' }
    const parts = typeof content === 'string' ? [{ ...part, text: content }] : content
    return { status: 'completed', ...item, type, id, ...(parts === undefined ? {} : { content: parts }) }
  })

const MOST = 100
const USUAL = 20

/** Throws `invalid_request`. */
const pageOf = (items: readonly JsonObject[], query: URLSearchParams): JsonObject => {
  const limit = Number(query.get('limit') ?? USUAL)
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw invalidRequest(`limit: expected a whole number from 1 to ${MOST}.`, 'limit')
  const ordered = query.get('order') === 'asc' ? items : items.toReversed()
  const after = query.get('after')
  const at = after === null ? -1 : ordered.findIndex(({ id }) => id === after)
  if (after !== null && at === -1) throw invalidRequest('after: there is no such item.', 'after')
  const data = ordered.slice(at + 1, at + 1 + limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: at + 1 + data.length < ordered.length,
  }
}
