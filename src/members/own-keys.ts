// What the keys of a member may be: the limits an admin set, checked where a member makes and changes keys, and where an
// admin makes one for them.

import { GatewayError } from '../errors.ts'
import type { BudgetTerms } from '../keys/budget.ts'
import { type Key, type KeyPatch, permits, type RateLimits } from '../keys/key.ts'
import { isWithin } from '../keys/server-tools.ts'
import { isWithinNetworks } from '../lib/networks.ts'
import { DAY_MS } from '../lib/spans.ts'
import type { MemberLimits } from './member.ts'

/**
 * Whose keys: `name` where someone else makes them, for the words of a refusal. `budgeted`: a budget of theirs bounds all of them
 * together.
 */
export type Holder = { limits: MemberLimits; name?: string | undefined; budgeted?: boolean }

/** What a key is to become, as far as that is limited. */
export type Wish = Omit<KeyPatch, 'label' | 'addTokens' | 'tokensUsed'>

const ANYWHERE = ['0.0.0.0/0', '::/0']

/** How long a used key counts at least: short-lived ones, made one after the other, would have no limit of tokens. */
const COUNTS_MS = DAY_MS
/** A page computes the latest expiry a moment before the gateway checks it. */
const LEEWAY_MS = 5 * 60_000

const refuse = (message: string, param?: string): GatewayError =>
  new GatewayError('permission_denied', message, { param })

/**
 * Whether one more key may be made. A key counts until it expires: revoked before, it counts on if it was used, or
 * revoking and making anew would be a way around every limit. `held`: what its requests in flight may use. Throws
 * `permission_denied`.
 */
export const checkRoom = (
  { limits, name }: Holder,
  own: readonly Key[],
  now: number,
  held: (key: Key) => number,
): void => {
  if (limits.maxKeys === null) return
  const counted = own.filter(
    (key) =>
      key.purpose === undefined &&
      (key.tokensUsed + held(key) > 0
        ? Math.max(key.expiresAt, key.createdAt + COUNTS_MS) > now
        : key.expiresAt > now && key.revokedAt === undefined),
  )
  if (counted.length < limits.maxKeys) return
  const [has, more] = name === undefined ? ['You may have', 'Ask an admin for more.'] : [`${name} may have`, MORE]
  throw refuse(
    `${has} ${limits.maxKeys} keys, and no more. A used key counts until it expires, for a day at least, even when revoked. ${more}`,
  )
}

const MORE = 'Raise their limits under Members.'

/**
 * Whether a key may have so many tokens beside the others. As many keys as a member may have, of as many tokens, are all that
 * they get for as long as a key may be valid: else keys that end within a day, used up and made anew every day, would be a quota
 * that renews, which a member's key does not. A key that has ended counts for what it used. An admin's gift, a quota that renews,
 * does not count. Throws `permission_denied`.
 */
export const checkTokens = (
  { limits, name }: Holder,
  tokensTotal: number,
  { others, now, held }: { others: readonly Key[]; now: number; held: (key: Key) => number },
): void => {
  const { maxKeys, maxTokensPerKey, maxExpiryDays } = limits
  if (maxKeys === null || maxTokensPerKey === null) return
  const left = tokensLeft(limits, others, now, held)
  if (tokensTotal <= left) return
  const [has, more] = name === undefined ? ['you have', 'Ask an admin for more.'] : [`${name} has`, MORE]
  const within = maxExpiryDays === null ? '' : ` within ${maxExpiryDays} days`
  throw refuse(
    `Of the ${maxKeys * maxTokensPerKey} tokens for all keys together${within} ${has} ${left} left, counting what ended keys have used. ${more}`,
    'tokens_total',
  )
}

/** What is left of the tokens for all of a member's keys together; infinite where they are not limited. */
export const tokensLeft = (
  { maxKeys, maxTokensPerKey, maxExpiryDays }: MemberLimits,
  own: readonly Key[],
  now: number,
  held: (key: Key) => number,
): number => {
  if (maxKeys === null || maxTokensPerKey === null) return Number.POSITIVE_INFINITY
  const since = maxExpiryDays === null ? 0 : now - maxExpiryDays * DAY_MS
  const taken = own
    .filter(({ createdAt, renews }) => renews === undefined && createdAt > since)
    .map((key) => {
      const isOver = key.revokedAt !== undefined || key.expiresAt <= now
      // An admin may have given one more than a member's may have. One of the playground's counts for what it uses.
      const taking = isOver || key.purpose !== undefined ? key.tokensUsed + held(key) : key.tokensTotal
      return Math.min(maxTokensPerKey, taking)
    })
    .reduce((sum, tokens) => sum + tokens, 0)
  return Math.max(0, maxKeys * maxTokensPerKey - taken)
}

/**
 * Whether a key may be made or become so. `defaults`: a member's key may be tighter than those, never wider. `key`: as it is,
 * for a change. Throws `permission_denied` naming the member.
 */
export const checkWish = (
  { limits, name: holder, budgeted = false }: Holder,
  wish: Wish,
  { defaults, now, key }: { defaults: RateLimits; now: number; key?: Key },
): void => {
  const { tokensTotal, renews, expiresAt, models, serverTools } = wish
  const whose = holder === undefined ? 'A key of yours' : `A key of ${holder}`
  if (tokensTotal !== undefined && limits.maxTokensPerKey !== null && tokensTotal > limits.maxTokensPerKey) {
    throw refuse(`${whose} may have ${limits.maxTokensPerKey} tokens at most.`, 'tokens_total')
  }
  // A limit of tokens is for all the time that the key is valid, unless there is a budget that bounds what it comes to.
  if (renews != null && renews !== key?.renews && limits.maxTokensPerKey !== null && !budgeted) {
    throw refuse(
      `${whose} has its tokens once: only an admin can make them renew, or give you a budget within which you can.`,
      'renews',
    )
  }
  if (expiresAt !== undefined) {
    if (limits.maxExpiryDays !== null && expiresAt > now + limits.maxExpiryDays * DAY_MS + LEEWAY_MS) {
      throw refuse(`${whose} may be valid for ${limits.maxExpiryDays} days at most.`, 'expires_at')
    }
    // Cut short, a used key would stop counting before its time.
    if (key !== undefined && expiresAt < key.expiresAt) {
      throw refuse('The expiry of a key can only be moved later. Revoke it to end it now.', 'expires_at')
    }
  }
  // A pattern lies within another when the other matches it as it is written, stars and all.
  const outside = models?.find((pattern) => !permits(limits, pattern))
  if (outside !== undefined) {
    throw refuse(`${whose} may not use ${outside.slice(0, 100)}, only ${limits.models.join(', ')}.`, 'models')
  }
  // Without names of its own a key has those of its member.
  const named = serverTools === 'all' ? undefined : serverTools
  if (named !== undefined && limits.serverTools !== undefined && !isWithin(named, limits.serverTools)) {
    const theirs = typeof limits.serverTools === 'string' ? limits.serverTools : limits.serverTools.join(', ')
    throw refuse(`${whose} may not use all of these tools, only: ${theirs}.`, 'server_tools')
  }
  if (wish.ips !== undefined && key?.ips !== undefined && !isWithinNetworks(wish.ips ?? ANYWHERE, key.ips)) {
    throw refuse('The networks of a key of yours can be made fewer, not more.', 'ips')
  }
  for (const name of ['rpm', 'tpm', 'concurrency'] as const) {
    const wanted = wish[name]
    if (wanted === undefined) continue
    // What stands may be an admin's doing: a member makes it tighter, never wider.
    const most = key?.[name] ?? defaults[name]
    const becomes = wanted ?? defaults[name]
    if (most > 0 && (becomes === 0 || becomes > most)) {
      throw refuse(`The ${name} of a key of yours may be 1 to ${most}.`, name)
    }
  }
}

/** Whether a member may set a budget of their own key so: what stands may be an admin's doing. Throws `permission_denied`. */
export const checkBudget = (wanted: BudgetTerms | null | undefined, known: BudgetTerms | undefined): void => {
  if (wanted === undefined || known === undefined) return
  if (wanted !== null && wanted.unit === known.unit && wanted.renews === known.renews && wanted.amount <= known.amount)
    return
  throw refuse('The budget of a key of yours can be made smaller. Ask an admin for a larger or another one.', 'budget')
}
