// A model to its ordered targets: the wire a provider is reached on, the account by health, affinity and weight.

import type { Model } from '../catalogue/model.ts'
import { isObject } from '../ir/json.ts'
import type { Wire } from '../ir/wire.ts'
import { permits } from '../keys/key.ts'
import { CODECS } from '../wire/index.ts'
import { named } from './adapt/own-names.ts'
import { answerKey, conversationOf, previousAnswerOf } from './affinity.ts'
import type { ClientRequest } from './exchange.ts'
import { targetName } from './health.ts'
import type { Relay } from './services.ts'
import { type Target, wireOf } from './target.ts'

/**
 * Where a request may go, best first: the accounts of the model's provider, then those of the models it falls back
 * to. Empty when no account is configured. Targets whose breaker is open come last: better a try than a refusal.
 */
export const route = (relay: Relay, request: ClientRequest): Target[] => {
  const only = relay.providers.get(request.model.provider)
  const isOnlyTarget =
    only !== undefined && only.accounts.length === 1 && relay.fallbacks[request.model.id] === undefined
  const conversation = isOnlyTarget
    ? undefined
    : conversationOf(request.key.id, request.bodyWire, request.headers, request.body)
  const preferred = isOnlyTarget ? undefined : preferredAccount(relay, request, conversation)
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
    healthy.push(...order(relay, available, preferred))
    if (available.length < all.length) {
      const open = all.filter((target) => !available.includes(target))
      failing.push(...order(relay, open, preferred))
    }
  }
  if (conversation !== undefined && healthy[0] !== undefined) {
    relay.affinity.remember(conversation.id, accountId(healthy[0]))
  }
  return [...healthy, ...failing]
}

/** The account that made the answer a request continues, else the one its conversation was placed at. */
const preferredAccount = (
  relay: Relay,
  { key, body }: ClientRequest,
  conversation: { id: string; continued: boolean } | undefined,
): string | undefined => {
  const answer = previousAnswerOf(body)
  const made =
    answer === undefined
      ? undefined
      : (relay.affinity.accountOf(answerKey(key.id, answer)) ?? relay.recall.placeOf(key.id, answer))
  return made ?? (conversation?.continued === true ? relay.affinity.accountOf(conversation.id) : undefined)
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
): number =>
  Math.max(
    0,
    ...wiresOf(relay, request).map((wire) => (wire === request.bodyWire ? 0 : (CODECS[wire].leastOutput ?? 0))),
  )

/** The most tokens that each picture may cost, as any of a request's models may come to draw it. */
export const mostPerImage = (
  relay: Pick<Relay, 'fallbacks' | 'catalogue' | 'pictures'>,
  request: Pick<ClientRequest, 'model' | 'key' | 'body'>,
): number => Math.max(...modelsOf(relay, request).map((model) => relay.pictures.costOf(model, request.body.outline)))

/** Whether a client may continue the answer to its request by the answer's id. */
export const isReferable = ({ wire, codec, body: { outline } }: ClientRequest): boolean =>
  wire === 'responses' ? codec.operation === undefined && outline.store !== false : isObject(outline.thread)

/** Only the account that made an answer knows it: a request that refers to it must go there. */
export const rememberAccount = (relay: Relay, request: ClientRequest, target: Target, answerId: string): void => {
  if (target.provider.accounts.length < 2) return
  relay.affinity.remember(answerKey(request.key.id, answerId), accountId(target))
  relay.recall.place(request.key.id, answerId, accountId(target))
}

const accountId = (target: Target): string => `${target.provider.id}/${target.account.name}`

/** The preferred account first, the others by weighted round robin. */
const order = (relay: Relay, targets: Target[], preferred: string | undefined): Target[] => {
  if (targets.length < 2) return targets
  const first = targets.find((target) => accountId(target) === preferred)
  if (first === undefined) return relay.health.roundRobin(targets)
  return [first, ...relay.health.roundRobin(targets.filter((target) => target !== first))]
}
