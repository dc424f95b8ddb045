// A conversation stays on its account, for the vendors' prompt caches are per account.

import { filledText, isObject, type Json, type JsonObject } from '../ir/json.ts'
import { isChatWire, type Wire } from '../ir/wire.ts'
import { createRecent } from '../lib/recent.ts'
import type { ClientBody } from './client-body.ts'

/** How many are remembered of each. What is forgotten of a conversation costs it its cache at most. */
const MAX_REMEMBERED = 20_000
/** About as long as vendors keep a prompt: where a conversation went meanwhile is no better a place then than its own. */
export const CACHED_MS = 300_000

/** Headers by which clients name their conversation. */
const HEADERS = [
  'x-session-affinity',
  'x-session-id',
  'session_id',
  'session-id',
  'thread-id',
  'x-claude-code-session-id',
]

/** What a place is remembered for beside where it follows from the conversation itself. */
export type Affinity = {
  /** The account that made an answer, or that a conversation has gone to since its own failed. */
  accountOf(name: string): string | undefined
  /** `forMs`: for ever where it is absent. What is remembered already is so for no longer. */
  remember(name: string, account: string, forMs?: number): void
  /** Notes that a conversation is opened. Whether one with the same opening was a moment ago: they are many then. */
  isOpenedAgain(conversation: string): boolean
}

export const createAffinity = (stopwatch: () => number): Affinity => {
  const accounts = createRecent<string, { account: string; until: number }>(MAX_REMEMBERED)
  const openings = createRecent<string, number>(MAX_REMEMBERED)
  const accountOf: Affinity['accountOf'] = (name) => {
    const known = accounts.get(name)
    return known === undefined || known.until <= stopwatch() ? undefined : known.account
  }
  return {
    accountOf,
    remember(name, account, forMs = Number.POSITIVE_INFINITY) {
      if (accountOf(name) !== account) accounts.set(name, { account, until: stopwatch() + forMs })
    },
    isOpenedAgain(conversation) {
      const now = stopwatch()
      const before = openings.get(conversation)
      openings.set(conversation, now)
      return before !== undefined && now - before < CACHED_MS
    },
  }
}

type Placed = { id: string; weight: number }

/**
 * The places of a conversation, best first, each in proportion to its weight: the same wherever it is worked out, and a place
 * that is added or lost moves its own share alone (rendezvous hashing).
 */
export const placesFor = <Each>(conversation: string, all: readonly Each[], placed: (each: Each) => Placed): Each[] =>
  all
    .map((each) => {
      const { id, weight } = placed(each)
      return { each, wait: -Math.log(fractionOf(`${conversation} ${id}`)) / weight }
    })
    // The first of several that each come after a random time, the sooner the more they weigh.
    .sort((a, b) => a.wait - b.wait)
    .map(({ each }) => each)

/** Above 0 and below 1, evenly. */
const fractionOf = (text: string): number => (Number(Bun.hash.wyhash(text) >> 11n) + 0.5) / 2 ** 53

/**
 * Identifies the conversation of a request: by the id its client sends, else by its opening. `continued` is false for an
 * opening without an answer yet, which others may have as well.
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
