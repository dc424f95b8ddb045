// A model to its ordered targets: the wire a provider is reached on, the account by health, affinity and weight.

import type { Model } from '../catalogue/model.ts'
import { isObject } from '../ir/json.ts'
import type { Wire } from '../ir/wire.ts'
import { permits } from '../keys/key.ts'
import type { Account, Provider } from '../provider/provider.ts'
import { answerName, conversationOf, referredTo } from './affinity.ts'
import type { ClientRequest, Relay } from './exchange.ts'
import { targetName } from './health.ts'

export type Target = {
  provider: Provider
  account: Account
  model: Model
  /** The wire the provider is reached on: the client's own where it speaks it. */
  wire: Wire
  /** What health and affinity know the target by. */
  name: string
}

/**
 * Where a request may go, best first: the accounts of the model's provider, then those of the models it falls back
 * to. Empty when no account is configured. Targets whose breaker is open come last: better a try than a refusal.
 */
export const route = (relay: Relay, request: ClientRequest): Target[] => {
  const only = relay.providers.get(request.model.provider)
  const single = only !== undefined && only.accounts.length === 1 && relay.fallbacks[request.model.id] === undefined
  const conversation = single ? undefined : conversationOf(request.key.id, request.asked, request.headers, request.body)
  const place = single ? undefined : placeFor(relay, request, conversation)
  const healthy: Target[] = []
  const failing: Target[] = []
  for (const model of modelsOf(relay, request)) {
    const provider = relay.providers.get(model.provider)
    const wire = provider && (relay.detours.known(provider, model, request) ?? wireOf(provider, request.asked))
    if (provider === undefined || wire === undefined) continue
    const all = provider.accounts.map((account): Target => {
      const name = targetName(provider.id, account.name, model.id)
      return { provider, account, model, wire, name }
    })
    const up = all.filter(({ name }) => relay.health.allows(name))
    healthy.push(...order(relay, up, place))
    if (up.length < all.length)
      failing.push(
        ...order(
          relay,
          all.filter((target) => !up.includes(target)),
          place,
        ),
      )
  }
  if (conversation !== undefined && healthy[0] !== undefined) {
    relay.affinity.place(conversation.id, placeOf(healthy[0]))
  }
  return [...healthy, ...failing]
}

/** Where the answer was made that a request goes on from, else where its conversation went last. */
const placeFor = (
  relay: Relay,
  { key, body }: ClientRequest,
  conversation: { id: string; continued: boolean } | undefined,
): string | undefined => {
  const answer = referredTo(body)
  const made = answer === undefined ? undefined : relay.affinity.placed(answerName(key.id, answer))
  return made ?? (conversation?.continued === true ? relay.affinity.placed(conversation.id) : undefined)
}

/** The model asked for, then the ones it falls back to that the key may use. */
const modelsOf = (relay: Relay, request: ClientRequest): Model[] => {
  const models = [request.model]
  for (const id of relay.fallbacks[request.model.id] ?? []) {
    const model = relay.catalogue.resolve(id)
    if (model !== undefined && permits(request.key, model.id)) models.push(model)
  }
  return models
}

/** The wire a provider is reached on for a client of that wire: the client's own where it speaks it. */
export const wireOf = (provider: Provider, wire: Wire): Wire | undefined => {
  if (provider.wires.includes(wire)) return wire
  if (wire === 'images') return undefined
  return provider.wires.find((other) => other !== 'images')
}

/** An answer that its client may refer to is known where it was made only: what refers to it must go there. */
export const rememberPlace = (relay: Relay, request: ClientRequest, target: Target, answerId: unknown): void => {
  if (target.provider.accounts.length < 2 || typeof answerId !== 'string') return
  const { outline } = request.body
  const referable = request.wire === 'responses' ? outline.store !== false : isObject(outline.thread)
  if (referable) relay.affinity.place(answerName(request.key.id, answerId), placeOf(target))
}

const placeOf = (target: Target): string => `${target.provider.id}/${target.account.name}`

/** The account that is known for it first, the others in turn. */
const order = (relay: Relay, targets: Target[], place: string | undefined): Target[] => {
  if (targets.length < 2) return targets
  const own = targets.find((target) => placeOf(target) === place)
  if (own === undefined) return relay.health.turns(targets)
  return [own, ...relay.health.turns(targets.filter((target) => target !== own))]
}
