// A model to its ordered targets: the wire a provider is reached on, the account by health, affinity and weight.

import type { Model } from '../catalogue/model.ts'
import { isObject } from '../ir/json.ts'
import type { Wire } from '../ir/wire.ts'
import { permits } from '../keys/key.ts'
import { type Known, onceKnown } from '../lib/known.ts'
import { CODECS } from '../wire/index.ts'
import { named } from './adapt/own-names.ts'
import { answerKey, CACHED_MS, conversationOf, placesFor, previousAnswerOf } from './affinity.ts'
import type { ClientRequest } from './exchange.ts'
import { targetName } from './health.ts'
import type { Relay } from './services.ts'
import { type Target, wireOf } from './target.ts'

/**
 * Where a request may go, best first: the accounts of the model's provider, then those of the models it falls back
 * to. Empty when no account is configured. Targets whose breaker is open come last: better a try than a refusal.
 * `opens`: an answer is wanted, so that it may be where a conversation begins.
 */
export const route = (relay: Relay, request: ClientRequest, opens = true): Known<Target[]> =>
  onceKnown(madeAt(relay, request), (made) => targetsFor(relay, request, seatOf(relay, request, opens, made)))

const targetsFor = (relay: Relay, request: ClientRequest, seat: Seat): Target[] => {
  const healthy: Target[] = []
  const failing: Target[] = []
  for (const model of modelsOf(relay, request)) {
    const provider = relay.providers.get(model.provider)
    const wire = provider && (relay.detours.wireFor(provider, model, request) ?? wireOf(provider, request.bodyWire))
    if (provider === undefined || wire === undefined) continue
    const all = provider.accounts.map((account): Target => {
      const name = targetName(provider.id, account.name, model.id)
      return named({ provider, account, model, wire, name, learned: relay.detours.learnedOf(name, wire, request) })
    })
    const available = all.filter(({ name }) => relay.health.allows(name))
    const ordered = order(relay, available, seat)
    if (available.length < all.length && healthy.length === 0) stay(relay, all, ordered[0], seat)
    healthy.push(...ordered)
    if (available.length < all.length) {
      const open = all.filter((target) => !available.includes(target))
      failing.push(...order(relay, open, seat))
    }
  }
  return [...healthy, ...failing]
}

/**
 * Where a request belongs. `made`: the account that made the answer it continues. `conversation`: what its place follows
 * from; undefined for one that may go anywhere. `isOpening`: no account has seen any of it.
 */
type Seat = { made: string | undefined; conversation: string | undefined; isOpening: boolean }

const ANYWHERE: Seat = { made: undefined, conversation: undefined, isOpening: false }

/** Whether there is one account alone that a request may go to. */
const isSettled = (relay: Relay, { model }: ClientRequest): boolean =>
  relay.providers.get(model.provider)?.accounts.length === 1 && relay.fallbacks[model.id] === undefined

/** The account that made the answer a request continues, where it matters. */
const madeAt = (relay: Relay, request: ClientRequest): Known<string | undefined> => {
  const answer = isSettled(relay, request) ? undefined : previousAnswerOf(request.body)
  if (answer === undefined) return undefined
  const { id } = request.key
  return (
    relay.affinity.accountOf(answerKey(id, answer)) ?? relay.recall.placeOf(id, answer).then((found) => found?.place)
  )
}

const seatOf = (relay: Relay, request: ClientRequest, opens: boolean, made: string | undefined): Seat => {
  if (isSettled(relay, request)) return ANYWHERE
  const { key, bodyWire, headers, body } = request
  const named = conversationOf(key.id, bodyWire, headers, body)
  if (named === undefined) return { ...ANYWHERE, made }
  const isOpening = opens && !named.continued
  // Evaluations open the same conversation by the thousand: one account alone would not bear them.
  if (isOpening && relay.affinity.isOpenedAgain(named.id)) return { ...ANYWHERE, made }
  return { made, conversation: named.id, isOpening }
}

/** A conversation that has gone elsewhere, its own account failing, stays there for as long as it finds a cache there. */
const stay = ({ affinity }: Relay, all: readonly Target[], first: Target | undefined, seat: Seat): void => {
  const { made, conversation } = seat
  if (first === undefined || conversation === undefined || made !== undefined) return
  const isAway = affinity.accountOf(conversation) !== undefined || placesOf(conversation, all)[0] !== first
  if (isAway) affinity.remember(conversation, accountId(first), CACHED_MS)
}

/** The model asked for, then the ones it falls back to that the key may use. */
const modelsOf = (
  { fallbacks, catalogue }: Pick<Relay, 'fallbacks' | 'catalogue'>,
  request: Pick<ClientRequest, 'model' | 'key'>,
): Model[] => {
  const models = [request.model]
  for (const id of fallbacks[request.model.id] ?? []) {
    const model = catalogue.resolve(id)
    if (model !== undefined && permits(request.key, model.id)) models.push(model)
  }
  return models
}

/** Every wire on which some model that may answer a request is reached. */
export const wiresOf = (
  relay: Pick<Relay, 'fallbacks' | 'catalogue' | 'providers'>,
  request: Pick<ClientRequest, 'model' | 'key'>,
): Wire[] => modelsOf(relay, request).flatMap((model) => relay.providers.get(model.provider)?.wires ?? [])

/** The lowest output cap that a request may be sent with on another wire than its own, in tokens; 0 where it stands. */
export const leastOutput = (
  relay: Pick<Relay, 'fallbacks' | 'catalogue' | 'providers'>,
  request: Pick<ClientRequest, 'model' | 'key' | 'bodyWire'>,
): number => {
  let least = 0
  for (const model of modelsOf(relay, request)) {
    for (const wire of relay.providers.get(model.provider)?.wires ?? [])
      if (wire !== request.bodyWire) least = Math.max(least, CODECS[wire].leastOutput ?? 0)
  }
  return least
}

/** The most tokens that each picture may cost, as any of a request's models may come to draw it. */
export const mostPerImage = (
  relay: Pick<Relay, 'fallbacks' | 'catalogue' | 'pictures'>,
  request: Pick<ClientRequest, 'model' | 'key' | 'body'>,
): number => Math.max(...modelsOf(relay, request).map((model) => relay.pictures.costOf(model, request.body.outline)))

/** Whether a client may continue the answer to its request by the answer's id. */
export const isReferable = ({ wire, codec, body: { outline } }: ClientRequest): boolean =>
  wire === 'responses' ? codec.operation === undefined && outline.store !== false : isObject(outline.thread)

/** Only the account that made an answer knows it: a request that refers to it must go there. */
export const rememberAccount = ({ affinity }: Relay, keyId: string, answerId: string, target: Target): void => {
  if (isOneOfSeveral(target)) affinity.remember(answerKey(keyId, answerId), accountId(target))
}

/**
 * Writes down which account keeps an answer, and what it came to, where others may be asked to go on from it. Resolves once they
 * can know, where somebody has to wait for that.
 */
export const placeAnswer = (
  { recall }: Relay,
  { key, answerId }: { key: { id: string }; answerId?: string | undefined },
  target: Target | undefined,
  tokens?: number,
): Promise<void> | undefined => {
  if (answerId === undefined || target === undefined) return undefined
  if (!isOneOfSeveral(target) && (tokens === undefined || !recall.isShared)) return undefined
  return recall.place({ keyId: key.id, id: answerId, account: accountId(target), tokens })
}

const isOneOfSeveral = ({ provider }: Target): boolean => provider.accounts.length > 1

const accountId = (target: Target): string => `${target.provider.id}/${target.account.name}`

const placesOf = (conversation: string, targets: readonly Target[]): Target[] =>
  placesFor(conversation, targets, (target) => ({ id: accountId(target), weight: target.account.weight }))

/** The account where a request belongs first, then the others as they suit its conversation; without one by weighted round robin. */
const order = (relay: Relay, targets: Target[], { made, conversation, isOpening }: Seat): Target[] => {
  if (targets.length < 2) return targets
  const preferred = made ?? (conversation === undefined ? undefined : relay.affinity.accountOf(conversation))
  const first = targets.find((target) => accountId(target) === preferred)
  const others = first === undefined ? targets : targets.filter((target) => target !== first)
  if (conversation === undefined) return [...(first === undefined ? [] : [first]), ...relay.health.roundRobin(others)]
  const ranked = [...(first === undefined ? [] : [first]), ...placesOf(conversation, others)]
  // What is drawn makes up for where openings happen to fall.
  if (isOpening && first === undefined) relay.health.drawn(targets, ranked[0])
  return ranked
}
