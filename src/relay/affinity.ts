// A conversation stays on its account, for the vendors' prompt caches are per account.

import { filledText, isObject, type Json, type JsonObject } from '../ir/json.ts'
import { isChatWire, type Wire } from '../ir/wire.ts'
import { createRecent } from '../lib/recent.ts'
import type { ClientBody } from './client-body.ts'

/** How many conversations are remembered. One that is forgotten may go to another account: only its cache is lost. */
const MAX_REMEMBERED = 20_000

/** Headers by which clients name their conversation. */
const HEADERS = [
  'x-session-affinity',
  'x-session-id',
  'session_id',
  'session-id',
  'thread-id',
  'x-claude-code-session-id',
]

/** The account that each conversation was placed at. */
export type Affinity = {
  accountOf(conversation: string): string | undefined
  remember(conversation: string, account: string): void
}

export const createAffinity = (): Affinity => {
  const accounts = createRecent<string, string>(MAX_REMEMBERED)
  return { accountOf: accounts.get, remember: accounts.set }
}

/**
 * Identifies the conversation of a request: by the id its client sends, else by its opening. `continued` is false for an
 * opening without an answer yet: it may go to any account, and what follows goes to the same.
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
  if (!isChatWire(wire)) return undefined
  const turns = client.elements(wire === 'responses' ? 'input' : 'messages')
  if (turns === undefined) return undefined
  const { opening, continued } = openingOf(turns)
  const system = client.member('system') ?? client.member('instructions')
  return { id: idOf(keyId, ...[system, opening].map(saidIn)), continued }
}

/** The name by which an answer is remembered, for requests that refer to it. */
export const answerKey = (keyId: string, answerId: string): string => idOf(keyId, 'answer', answerId)

/** The id of the answer that a request continues. */
export const previousAnswerOf = ({ outline }: ClientBody): string | undefined =>
  filledText(outline.previous_response_id ?? threadOf(outline))

/** Hashed to be short: many are remembered. */
const idOf = (keyId: string, ...words: string[]): string => `${keyId}:${Bun.hash(words.join(':')).toString(36)}`

const threadOf = (body: JsonObject): Json | undefined =>
  isObject(body.thread) ? body.thread.previous_message_id : undefined

const userOf = (body: JsonObject): Json | undefined => (isObject(body.metadata) ? body.metadata.user_id : undefined)

/** The turns up to the model's first answer: what every later request of the conversation repeats. No more are read. */
const openingOf = (turns: Iterable<Json>): { opening: Json[]; continued: boolean } => {
  const opening: Json[] = []
  for (const turn of turns) {
    if (isFromModel(turn)) return { opening, continued: true }
    opening.push(turn)
  }
  return { opening, continued: false }
}

const isFromModel = (turn: Json): boolean =>
  isObject(turn) && (turn.role === 'assistant' || (typeof turn.type === 'string' && FROM_MODEL.test(turn.type)))

/**
 * All strings in a value, however deep, from the last to the first, but those of marks for the cache, which clients move on
 * with each turn, and of types: what was marked is a list of one text, and the text alone afterwards.
 */
const saidIn = (value: Json | undefined): string => {
  const words: string[] = []
  const left = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'string') words.push(next)
    else if (Array.isArray(next)) for (const each of next) left.push(each)
    else if (isObject(next)) for (const name in next) if (!PASSING.has(name)) left.push(next[name])
  }
  return words.join('\n')
}

const PASSING = new Set(['type', 'cache_control', 'prompt_cache_breakpoint'])

/** Types of items without a role that a model has produced. */
const FROM_MODEL = /(_call|reasoning)$/
