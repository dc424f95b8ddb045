// The playground's key: a member's own, for an hour, in no list, within their limits. A page gets a new one in place of the
// one before; signing out ends it.

import { GatewayError } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import type { Actor, Key } from '../../keys/key.ts'
import { createInOrder } from '../../lib/in-order.ts'
import { iso } from '../../lib/iso-time.ts'
import type { Member } from '../../members/member.ts'
import { tokensLeft } from '../../members/own-keys.ts'
import { actorOf, type Caller, type Part, sessionOf } from './call.ts'

const LASTS_MS = 60 * 60_000
const TOKENS = 200_000
/** Each has rate limits anew: made one after the other, they would have none. */
const AN_HOUR = 20

export const playground: Part<'playground.key'> = {
  'playground.key': ({ gateway, caller }) => inOrder(() => freshKey(gateway, caller), sessionOf(caller).member.id),
}

/** Those of one member, which are counted. */
const inOrder = createInOrder()

const freshKey = async (gateway: Gateway, caller: Caller) => {
  const { member } = sessionOf(caller)
  const now = gateway.clock()
  const own = gateway.store.keys.list().filter((key) => key.ownerId === member.id)
  requireFew(own, now)
  await revokePlayground(gateway, caller)
  const { key, secret } = await gateway.store.keys.issue(
    {
      ...{ label: 'Playground', purpose: 'playground', ownerId: member.id },
      ...{ tokensTotal: tokensFor(gateway, member, own, now), expiresAt: now + LASTS_MS },
      models: member.role === 'admin' ? ['*'] : member.limits.models,
    },
    actorOf(caller),
    (owned) => requireFew(owned, now),
  )
  return { secret, key_id: key.id, expires_at: iso(key.expiresAt), tokens_total: key.tokensTotal }
}

const requireFew = (own: readonly Key[], now: number): void => {
  const recent = own.filter(({ purpose, createdAt }) => purpose === 'playground' && createdAt > now - LASTS_MS)
  if (recent.length >= AN_HOUR) throw tooMany(recent, now)
}

const tooMany = (recent: readonly Key[], now: number): GatewayError => {
  const oldest = Math.min(...recent.map(({ createdAt }) => createdAt))
  const retryAfterMs = oldest + LASTS_MS - now
  const words = `The playground takes ${AN_HOUR} keys an hour. Wait ${Math.ceil(retryAfterMs / 60_000)} minutes, or reload it less often.`
  return new GatewayError('rate_limit_exceeded', words, { retryAfterMs })
}

const tokensFor = (gateway: Gateway, { role, limits }: Member, own: readonly Key[], now: number): number => {
  if (role === 'admin') return TOKENS
  const left = tokensLeft(limits, own, now, ({ id }) => gateway.ledger.heldBy(id))
  const most = Math.min(TOKENS, limits.maxTokensPerKey ?? TOKENS, left)
  if (most > 0) return most
  throw new GatewayError('permission_denied', 'Your keys have used all the tokens you may have. Ask an admin for more.')
}

/** Those of whoever asks that are in force. */
export const revokePlayground = async (gateway: Gateway, caller: Caller): Promise<void> => {
  if (caller.kind === 'session') await revokePlaygroundOf(gateway, caller.session.member.id, actorOf(caller))
}

export const revokePlaygroundOf = async ({ store, clock }: Gateway, memberId: string, actor: Actor): Promise<void> => {
  const now = clock()
  for (const { id, ownerId, purpose, revokedAt, expiresAt } of store.keys.list()) {
    if (purpose !== 'playground' || ownerId !== memberId) continue
    if (revokedAt === undefined && expiresAt > now) await store.keys.revoke(id, actor)
  }
}
