// A key: what a client shows us, what it may use and how much.

import type { BudgetTerms } from './budget.ts'
import type { Renewal } from './renewal.ts'
import type { ServerTools } from './server-tools.ts'

/** What the gateway makes keys for itself: `playground`, for a page of the dashboard; short-lived, and in no list. */
export const PURPOSES = ['playground'] as const
type Purpose = (typeof PURPOSES)[number]

/** What is exported of a key's exchanges beside their figures: `content`, what is said in them. */
export const CAPTURES = ['content'] as const
export type Captured = (typeof CAPTURES)[number]

/** Times are milliseconds since the epoch. `tokensUsed` is live in the server: settled exchanges only. */
export type Key = {
  id: string
  label: string
  /** The last characters of its secret; absent where it was made before they were kept. */
  lastFour?: string | undefined
  /** Absent: a key like any other. */
  purpose?: Purpose | undefined
  createdAt: number
  expiresAt: number
  revokedAt: number | undefined
  tokensTotal: number
  tokensUsed: number
  /** How often the used tokens are set back to 0; undefined: never. */
  renews?: Renewal | undefined
  /** The part of `tokensTotal` that ends with the period: what it was topped up by. */
  tokensExtra?: number | undefined
  /** When that was done last, or the renewal agreed. */
  renewedAt?: number | undefined
  /** Catalogue ids with `*` as a wildcard; ['*'] is every model. */
  models: string[]
  /** Per minute, per minute, at once; undefined takes the gateway's default, 0 is no limit. */
  rpm: number | undefined
  tpm: number | undefined
  concurrency: number | undefined
  /** Of the tools that run at a vendor; absent: all that its member and the gateway allow. */
  serverTools?: ServerTools | undefined
  /** Addresses and networks it may be used from; absent: from anywhere. */
  ips?: readonly string[] | undefined
  /** Absent: nothing. */
  capture?: Captured | undefined
  /** The member whose key it is; undefined: the gateway's own. */
  ownerId?: string | undefined
  /** The end of the grace of the secret before this one. */
  oldSecretUntil?: number | undefined
}

/** Requests per minute, tokens per minute, requests at once; 0 is no limit. */
export type RateLimits = { rpm: number; tpm: number; concurrency: number }

/** A limit that is absent or null takes the gateway's default, and a quota without `renews` never does; without `ips` it is for anywhere. */
export type NewKey = {
  label: string
  tokensTotal: number
  renews?: Renewal | null | undefined
  expiresAt: number
  models: string[]
  rpm?: number | null | undefined
  tpm?: number | null | undefined
  concurrency?: number | null | undefined
  serverTools?: ServerTools | undefined
  ips?: readonly string[] | null | undefined
  capture?: Captured | null | undefined
  ownerId?: string | undefined

  /** Null: none. */
  budget?: BudgetTerms | null | undefined
  purpose?: Purpose | undefined
}

/**
 * Absent members stay as they are, and null means what it means for a new key. `addTokens` are put on top of whatever the
 * total is by then; of a quota that renews until it does, unless they are `lasting`. `tokensUsed: 0` is a quota reset. `once`: a
 * name by which whoever makes the change knows it; what they have made by that name is not made again.
 */
export type KeyPatch = Partial<Omit<NewKey, 'ownerId' | 'purpose'>> & {
  addTokens?: number
  lasting?: boolean
  tokensUsed?: 0
  once?: string | undefined
}

/** Who changed something: the command line, a member, an admin token, or the gateway itself. */
export type Actor = { kind: 'cli' | 'member' | 'token' | 'system'; id: string }

export type Keys = {
  /**
   * The key a request shows. Throws `missing_api_key`, or `invalid_api_key` for one that is unknown, expired or
   * revoked, or for an `Authorization` header without a usable bearer token. Hot path: no query for a key
   * that is known, and no promise.
   */
  authenticate(headers: Headers): Key | Promise<Key>
  /** How often keys have been changed so far, their usage apart: what was authenticated before may not be valid any more. */
  changes(): number
  /** The version of a key as it is known here: it grows with every change to it, whichever process makes it. */
  versionOf(id: string): number
  /** The live key, revoked and expired ones included. */
  get(id: string): Key | undefined
  list(): Key[]
  /**
   * The secret is returned once and never stored. `check` throws where it may not be made, given all keys of its owner: none of
   * them is made or changed between that and the writing, whichever process asks.
   */
  issue(input: NewKey, actor: Actor, check?: (owned: readonly Key[]) => void): Promise<{ key: Key; secret: string }>
  /** Throws `not_found` for an unknown id, here and below. `check` is given the key as it is, too, and says how it changes. */
  update(id: string, patch: KeyPatch, actor: Actor, check?: (owned: readonly Key[], key: Key) => void): Promise<Key>
  /** Sets the used tokens back to 0 for a new period, and takes back what was added for the one before. */
  renew(id: string): Promise<Key>
  revoke(id: string, actor: Actor): Promise<Key>
  /** A new secret; the old one stays valid for `graceMs`. */
  rotate(id: string, graceMs: number, actor: Actor): Promise<{ key: Key; secret: string }>
}

/** Whether a key may use a model, by its catalogue id. */
export const permits = (key: Pick<Key, 'models'>, modelId: string): boolean =>
  key.models.some((pattern) => matches(pattern, modelId))

const matches = (pattern: string, id: string): boolean => {
  if (pattern === '*' || pattern === id) return true
  if (!pattern.includes('*')) return false
  const pieces = pattern.split('*')
  const first = pieces[0] ?? ''
  const last = pieces[pieces.length - 1] ?? ''
  if (!id.startsWith(first) || !id.endsWith(last) || id.length < first.length + last.length) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = id.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= id.length - last.length
}
