// Keys made and changed. A member's within the limits an admin set, whoever makes them; what an admin changes of them
// later, and an admin's own, without.

import type { Input } from '../../admin-api/contract.ts'
import { GatewayError, invalidRequest } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { namedServerTools } from '../../ir/server-tools.ts'
import { budgetOf, termsOf } from '../../keys/budget.ts'
import { isBudgeted } from '../../keys/budgets.ts'
import { type Key, permits } from '../../keys/key.ts'
import { DAY_MS } from '../../lib/spans.ts'
import type { Member } from '../../members/member.ts'
import { checkBudget, checkRoom, checkTokens, checkWish, type Holder, type Wish } from '../../members/own-keys.ts'
import { actorOf, type Call, keyOf, limitedMember, type Part } from './call.ts'
import { futureTimeOf } from './input.ts'
import { catalogueModels } from './key-models.ts'
import { oneKeyView } from './view.ts'

export const keyChanges: Part<
  'keys.create' | 'keys.update' | 'keys.top-up' | 'keys.reset' | 'keys.rotate' | 'keys.revoke'
> = {
  'keys.create': (call, input) => {
    const { gateway, caller } = call
    const ownerId = ownerOf(call, input.owner)
    const holder = holderOf(call, ownerId)
    const wish = { ...defaultsFor(call, holder), ...wishOf(call, input) }
    if (holder !== undefined) {
      requireRoom(gateway, holder, ownerId)
      // An admin may give a key more than the gateway's default rate limits.
      const { tokensTotal, expiresAt, models, serverTools } = wish
      const bound = holder.name === undefined ? wish : { tokensTotal, expiresAt, models, serverTools }
      checkWish(holder, bound, gateway.config.limits, gateway.clock(), undefined)
      requireTokens(gateway, holder, ownerId, tokensTotal)
    }
    const asked = { ...wish, label: input.label.trim(), ownerId }
    const { key, secret } = gateway.store.keys.issue(asked, actorOf(caller))
    return { key: oneKeyView(gateway, key), secret }
  },
  'keys.update': (call, input) => {
    const key = requireUsable(keyOf(call, input.id))
    const wish = wishOf(call, input)
    checkOwn(call, wish, key)
    const label = input.label === undefined ? {} : { label: input.label.trim() }
    return oneKeyView(call.gateway, call.gateway.store.keys.update(key.id, { ...label, ...wish }, actorOf(call.caller)))
  },
  'keys.top-up': (call, { id, tokens, lasting }) => {
    const key = requireUsable(keyOf(call, id))
    checkOwn(call, { tokensTotal: key.tokensTotal + tokens }, key)
    return oneKeyView(
      call.gateway,
      call.gateway.store.keys.update(key.id, { addTokens: tokens, lasting }, actorOf(call.caller)),
    )
  },
  'keys.reset': (call, { id }) => {
    const key = requireUsable(keyOf(call, id))
    return oneKeyView(call.gateway, call.gateway.store.keys.update(key.id, { tokensUsed: 0 }, actorOf(call.caller)))
  },
  'keys.rotate': (call, { id, grace_seconds }) => {
    const { id: known } = requireUsable(keyOf(call, id))
    const { key, secret } = call.gateway.store.keys.rotate(known, grace_seconds * 1000, actorOf(call.caller))
    return { key: oneKeyView(call.gateway, key), secret }
  },
  'keys.revoke': (call, { id }) =>
    oneKeyView(call.gateway, call.gateway.store.keys.revoke(keyOf(call, id).id, actorOf(call.caller))),
}

const requireUsable = (key: Key): Key => {
  if (key.purpose !== undefined)
    throw invalidRequest('This key is the playground’s own: it can be revoked, not changed.')
  if (key.revokedAt === undefined) return key
  throw invalidRequest('This key has been revoked and cannot be changed. Make a new one.')
}

type Asked = Pick<
  Input<'keys.update'>,
  | 'tokens_total'
  | 'renews'
  | 'expires_at'
  | 'models'
  | 'rpm'
  | 'tpm'
  | 'concurrency'
  | 'server_tools'
  | 'budget'
  | 'ips'
>

/** What was asked for, in the store's terms; what was not is absent. */
const wishOf = ({ gateway }: Call, asked: Asked): Wish => {
  const { tokens_total, renews, expires_at, models, rpm, tpm, concurrency, server_tools, budget, ips } = asked
  const wish: Wish = {}
  if (tokens_total !== undefined) wish.tokensTotal = tokens_total
  if (renews !== undefined) wish.renews = renews
  if (expires_at !== undefined)
    wish.expiresAt = futureTimeOf(expires_at, 'expires_at', gateway.clock(), gateway.config.calendar)
  if (models !== undefined) wish.models = catalogueModels(gateway, models, 'models')
  if (rpm !== undefined) wish.rpm = rpm
  if (tpm !== undefined) wish.tpm = tpm
  if (concurrency !== undefined) wish.concurrency = concurrency
  if (server_tools !== undefined) wish.serverTools = namedServerTools(server_tools)
  if (budget !== undefined) wish.budget = budget && termsOf(budget)
  if (ips !== undefined) wish.ips = ips
  return wish
}

/** The gateway's defaults, as far as the holder's limits reach. */
const defaultsFor = (
  { gateway }: Call,
  holder: Holder | undefined,
): { tokensTotal: number; expiresAt: number; models: string[] } => {
  const { tokens_total, expires_days, models } = gateway.settings.values().key_defaults
  const limits = holder?.limits
  const days = Math.min(expires_days, limits?.maxExpiryDays ?? expires_days)
  return {
    tokensTotal: Math.min(tokens_total, limits?.maxTokensPerKey ?? tokens_total),
    expiresAt: gateway.clock() + days * DAY_MS,
    models: limits === undefined || models.every((model) => permits(limits, model)) ? models : limits.models,
  }
}

/** `but`: a key that is there already and takes no room beside itself. */
const requireRoom = (gateway: Gateway, holder: Holder, ownerId: string | undefined, but?: Key): void =>
  checkRoom(holder, othersOf(gateway, ownerId, but), gateway.clock(), ({ id }) => gateway.ledger.heldBy(id))

const requireTokens = (
  gateway: Gateway,
  holder: Holder,
  ownerId: string | undefined,
  tokensTotal: number,
  but?: Key,
): void =>
  checkTokens(holder, othersOf(gateway, ownerId, but), tokensTotal, gateway.clock(), ({ id }) =>
    gateway.ledger.heldBy(id),
  )

const othersOf = ({ store }: Gateway, ownerId: string | undefined, but: Key | undefined): Key[] =>
  store.keys.list().filter((key) => key.ownerId === ownerId && key.id !== but?.id)

const checkOwn = ({ gateway, caller }: Call, wish: Wish, key: Key): void => {
  const member = limitedMember(caller)
  if (member === undefined) return
  const now = gateway.clock()
  checkWish(holding(gateway, member), wish, gateway.config.limits, now, key)
  checkBudget(wish.budget, gateway.store.budgets.get(budgetOf('key', key.id)))
  const { tokensTotal } = wish
  if (tokensTotal !== undefined && tokensTotal > key.tokensTotal)
    requireTokens(gateway, { limits: member.limits }, member.id, tokensTotal, key)
  // One that had expired and is to go on counts again, as a new one does.
  if (wish.expiresAt !== undefined && key.expiresAt <= now) {
    requireRoom(gateway, { limits: member.limits }, member.id, key)
  }
}

const holding = ({ store }: Gateway, { id, limits }: Member): Holder => ({
  limits,
  budgeted: isBudgeted(store.budgets, id),
})

/** The member whose limits a new key is made within; undefined: an admin's, or nobody's. */
const holderOf = ({ gateway, caller }: Call, ownerId: string | undefined): Holder | undefined => {
  const self = limitedMember(caller)
  if (self !== undefined) return holding(gateway, self)
  const owner = ownerId === undefined ? undefined : gateway.store.members.get(ownerId)
  return owner?.role === 'member' ? { ...holding(gateway, owner), name: owner.name } : undefined
}

/** A member's key is their own; an admin's is theirs, another member's, or (null, or by token) nobody's. */
const ownerOf = ({ gateway, caller }: Call, asked: string | null | undefined): string | undefined => {
  const own = caller.kind === 'session' ? caller.session.member.id : undefined
  if (limitedMember(caller) !== undefined) {
    if (asked === undefined || asked === own) return own
    throw new GatewayError('permission_denied', 'You can make keys for yourself only.', { param: 'owner' })
  }
  if (asked === undefined) return own
  if (asked === null) return undefined
  if (gateway.store.members.get(asked) === undefined) throw invalidRequest('owner: there is no such member.', 'owner')
  return asked
}
