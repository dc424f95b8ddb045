// Keys made and changed. A member's within the limits an admin set, whoever makes them; what an admin changes of them
// later, and an admin's own, without.

import type { Input } from '../../admin-api/contract.ts'
import type * as S from '../../admin-api/schema.ts'
import { GatewayError, invalidRequest } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { namedServerTools } from '../../ir/server-tools.ts'
import { budgetOf, termsOf } from '../../keys/budget.ts'
import { isBudgeted } from '../../keys/budgets.ts'
import { type Key, type KeyPatch, permits } from '../../keys/key.ts'
import { DAY_MS } from '../../lib/spans.ts'
import type { Member } from '../../members/member.ts'
import { checkBudget, checkRoom, checkTokens, checkWish, type Holder, type Wish } from '../../members/own-keys.ts'
import { actorOf, type Call, keyOf, limitedMember, onceOf, type Part } from './call.ts'
import { futureTimeOf } from './input.ts'
import { catalogueModels } from './key-models.ts'
import { oneKeyView } from './view.ts'

export const keyChanges: Part<
  'keys.create' | 'keys.update' | 'keys.top-up' | 'keys.reset' | 'keys.rotate' | 'keys.revoke'
> = {
  'keys.create': async (call, input) => {
    const ownerId = await ownerOf(call, input.owner)
    return made(call, input, ownerId, await holderOf(call, ownerId))
  },
  'keys.update': async (call, input) => {
    const key = requireUsable(keyOf(call, input.id))
    const wish = wishOf(call, input)
    const label = input.label === undefined ? {} : { label: input.label.trim() }
    return changed(call, key, () => wish, { ...label, ...wish })
  },
  'keys.top-up': async (call, { id, tokens, lasting }) => {
    const key = requireUsable(keyOf(call, id))
    const wish = ({ tokensTotal }: Key): Wish => ({ tokensTotal: tokensTotal + tokens })
    return changed(call, key, wish, { addTokens: tokens, lasting, once: onceOf(call) })
  },
  'keys.reset': async (call, { id }) => {
    const key = requireUsable(keyOf(call, id))
    const { keys } = call.gateway.store
    return oneKeyView(call.gateway, await keys.update(key.id, { tokensUsed: 0 }, actorOf(call.caller)))
  },
  'keys.rotate': async (call, { id, grace_seconds }) => {
    const { id: known } = requireUsable(keyOf(call, id))
    const { keys } = call.gateway.store
    const { key, secret } = await keys.rotate(known, grace_seconds * 1000, actorOf(call.caller))
    return { key: await oneKeyView(call.gateway, key), secret }
  },
  'keys.revoke': async (call, { id }) =>
    oneKeyView(call.gateway, await call.gateway.store.keys.revoke(keyOf(call, id).id, actorOf(call.caller))),
}

const made = async (
  call: Call,
  input: Input<'keys.create'>,
  ownerId: string | undefined,
  holder: Holder | undefined,
): Promise<{ key: S.Key; secret: string }> => {
  const { gateway, caller } = call
  const wish = { ...defaultsFor(call, holder), ...wishOf(call, input) }
  // What is checked of all that a member has holds until it is written, whichever process they ask.
  const check = (owned: readonly Key[]): void => {
    if (holder === undefined) return
    requireRoom(gateway, holder, owned)
    // An admin may give a key more than the gateway's default rate limits.
    const { tokensTotal, expiresAt, models, serverTools } = wish
    const bound = holder.name === undefined ? wish : { tokensTotal, expiresAt, models, serverTools }
    checkWish(holder, bound, { defaults: gateway.config.limits, now: gateway.clock() })
    requireTokens(gateway, holder, { others: owned, tokensTotal })
  }
  const asked = { ...wish, label: input.label.trim(), ownerId }
  const { key, secret } = await gateway.store.keys.issue(asked, actorOf(caller), check)
  return { key: await oneKeyView(gateway, key), secret }
}

/** `wish`: what the change comes to, as far as it is limited. */
const changed = async (call: Call, { id }: Key, wish: (key: Key) => Wish, patch: KeyPatch): Promise<S.Key> => {
  const { keys } = call.gateway.store
  const key = await keys.update(id, patch, actorOf(call.caller), (owned, before) =>
    checkOwn(call, wish(before), before, owned),
  )
  return oneKeyView(call.gateway, key)
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
  | 'capture'
>

/** What was asked for, in the store's terms; what was not is absent. */
const wishOf = ({ gateway }: Call, asked: Asked): Wish => {
  const { tokens_total, renews, expires_at, models, rpm, tpm, concurrency, server_tools, budget, ips, capture } = asked
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
  if (capture !== undefined) wish.capture = capture === 'none' ? null : capture
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

const requireRoom = (gateway: Gateway, holder: Holder, others: readonly Key[]): void =>
  checkRoom(holder, others, gateway.clock(), ({ id }) => gateway.ledger.heldBy(id))

const requireTokens = (
  gateway: Gateway,
  holder: Holder,
  { others, tokensTotal }: { others: readonly Key[]; tokensTotal: number },
): void =>
  checkTokens(holder, tokensTotal, {
    ...{ others, now: gateway.clock(), held: ({ id }: Key) => gateway.ledger.heldBy(id) },
  })

/** `key`: as it is, among those of its owner. */
const checkOwn = ({ gateway, caller }: Call, wish: Wish, key: Key, owned: readonly Key[]): void => {
  const member = limitedMember(caller)
  if (member === undefined) return
  const now = gateway.clock()
  // It takes no room beside itself.
  const others = owned.filter(({ id }) => id !== key.id)
  checkWish(holding(gateway, member), wish, { defaults: gateway.config.limits, now, key })
  checkBudget(wish.budget, gateway.store.budgets.get(budgetOf('key', key.id)))
  const { tokensTotal } = wish
  if (tokensTotal !== undefined && tokensTotal > key.tokensTotal)
    requireTokens(gateway, { limits: member.limits }, { others, tokensTotal })
  // One that had expired and is to go on counts again, as a new one does.
  if (wish.expiresAt !== undefined && key.expiresAt <= now) requireRoom(gateway, { limits: member.limits }, others)
}

const holding = ({ store }: Gateway, { id, limits }: Member): Holder => ({
  limits,
  budgeted: isBudgeted(store.budgets, id),
})

/** The member whose limits a new key is made within; undefined: an admin's, or nobody's. */
const holderOf = async ({ gateway, caller }: Call, ownerId: string | undefined): Promise<Holder | undefined> => {
  const self = limitedMember(caller)
  if (self !== undefined) return holding(gateway, self)
  const owner = ownerId === undefined ? undefined : await gateway.store.members.get(ownerId)
  return owner?.role === 'member' ? { ...holding(gateway, owner), name: owner.name } : undefined
}

/** A member's key is their own; an admin's is theirs, another member's, or (null, or by token) nobody's. */
const ownerOf = async ({ gateway, caller }: Call, asked: string | null | undefined): Promise<string | undefined> => {
  const own = caller.kind === 'session' ? caller.session.member.id : undefined
  if (limitedMember(caller) !== undefined) {
    if (asked === undefined || asked === own) return own
    throw new GatewayError('permission_denied', 'You can make keys for yourself only.', { param: 'owner' })
  }
  if (asked === undefined) return own
  if (asked === null) return undefined
  if ((await gateway.store.members.get(asked)) === undefined)
    throw invalidRequest('owner: there is no such member.', 'owner')
  return asked
}
