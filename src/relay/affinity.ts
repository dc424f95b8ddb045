// A conversation stays on its account, for the vendors' prompt caches are per account.

import { isObject, type Json, type JsonObject } from '../ir/json.ts'
import type { Wire } from '../ir/wire.ts'
import type { ClientBody } from './client-body.ts'

/** Remembered conversations. A forgotten one is placed anew: its cache is lost, nothing else. */
const REMEMBERED = 20_000

/** Headers by which clients name their conversation. */
const HEADERS = [
  'x-session-affinity',
  'x-session-id',
  'session_id',
  'session-id',
  'thread-id',
  'x-claude-code-session-id',
]

/** Where conversations went last. */
export type Affinity = {
  placed(conversation: string): string | undefined
  place(conversation: string, account: string): void
}

export const createAffinity = (): Affinity => {
  const places = new Map<string, string>()
  return {
    placed: (conversation) => places.get(conversation),
    place: (conversation, account) => {
      places.delete(conversation)
      places.set(conversation, account)
      if (places.size <= REMEMBERED) return
      const oldest = places.keys().next()
      if (!oldest.done) places.delete(oldest.value)
    },
  }
}

/**
 * What names the conversation of a request: the client's own word for it, else its opening. `continued` is false for
 * an opening that has no answer yet: it may go anywhere, and what follows it goes where it went.
 */
export const conversationOf = (
  keyId: string,
  wire: Wire,
  headers: Headers,
  client: ClientBody,
): { id: string; continued: boolean } | undefined => {
  for (const name of HEADERS) {
    const value = headers.get(name)
    if (value !== null && value !== '') return { id: idOf(keyId, name, value), continued: true }
  }
  const { outline } = client
  for (const named of [
    outline.previous_response_id,
    outline.conversation,
    outline.prompt_cache_key,
    threadOf(outline),
    userOf(outline),
  ]) {
    if (typeof named === 'string' && named !== '') return { id: idOf(keyId, named), continued: true }
  }
  if (wire === 'images') return undefined
  const { body } = client.whole()
  const turns = wire === 'responses' ? body.input : body.messages
  if (!Array.isArray(turns)) return undefined
  const opening = openingOf(turns)
  const system = JSON.stringify([body.system ?? body.instructions ?? null, opening])
  return {
    id: idOf(keyId, system),
    continued: turns.length > opening.length,
  }
}

/** What an answer is remembered by, for the requests that refer to it. */
export const answerName = (keyId: string, answerId: string): string => idOf(keyId, 'answer', answerId)

/** The answer that a request goes on from. */
export const referredTo = ({ outline }: ClientBody): string | undefined => {
  const id = outline.previous_response_id ?? threadOf(outline)
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** Short, however long the words are: many are remembered. */
const idOf = (keyId: string, ...words: string[]): string => `${keyId}:${Bun.hash(words.join(':')).toString(36)}`

const threadOf = (body: JsonObject): Json | undefined =>
  isObject(body.thread) ? body.thread.previous_message_id : undefined

const userOf = (body: JsonObject): Json | undefined => (isObject(body.metadata) ? body.metadata.user_id : undefined)

/** The turns up to the model's first answer: what every later request of the conversation repeats. */
const openingOf = (turns: Json[]): Json[] => {
  const answer = turns.findIndex(
    (turn) =>
      isObject(turn) && (turn.role === 'assistant' || (typeof turn.type === 'string' && MODELS.test(turn.type))),
  )
  return answer === -1 ? turns : turns.slice(0, answer)
}

/** Items without a role that a model has put out. */
const MODELS = /(_call|reasoning)$/
