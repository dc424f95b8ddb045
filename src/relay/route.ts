// A model to its ordered targets: the wire a provider is reached on, the account by health, affinity and weight.

import type { Model } from '../catalogue/model.ts'
import type { Wire } from '../ir/wire.ts'
import { permits } from '../keys/key.ts'
import type { Account, Provider } from '../provider/provider.ts'
import { conversationOf } from './affinity.ts'
import type { Exchange, Relay } from './exchange.ts'

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
 * Where an exchange may go, best first: the accounts of the model's provider, then those of the models it falls back
 * to. Empty when no account is configured. Targets whose breaker is open come last: better a try than a refusal.
 */
export const route = (relay: Relay, exchange: Exchange): Target[] => {
  const only = relay.providers.get(exchange.model.provider)
  const targets: Target[] = []
  const single = only !== undefined && only.accounts.length === 1 && relay.fallbacks[exchange.model.id] === undefined
  const conversation = single
    ? undefined
    : conversationOf(exchange.key.id, exchange.wire, exchange.headers, exchange.body)
  for (const model of modelsOf(relay, exchange)) {
    const provider = relay.providers.get(model.provider)
    const wire = provider === undefined ? undefined : wireOf(provider, exchange.wire)
    if (provider === undefined || wire === undefined) continue
    const all = provider.accounts.map((account): Target => {
      const name = `${provider.id}/${account.name}/${model.id}`
      return { provider, account, model, wire, name }
    })
    if (all.length > 1) order(relay, all, conversation)
    targets.push(...all)
  }
  if (targets.length < 2) return targets
  const healthy = targets.filter((target) => relay.health.allows(target.name))
  if (conversation !== undefined && healthy[0] !== undefined) {
    relay.affinity.place(conversation.id, placeOf(healthy[0]))
  }
  return [...healthy, ...targets.filter((target) => !healthy.includes(target))]
}

/** The model asked for, then the ones it falls back to that the key may use. */
const modelsOf = (relay: Relay, exchange: Exchange): Model[] => {
  const models = [exchange.model]
  for (const id of relay.fallbacks[exchange.model.id] ?? []) {
    const model = relay.catalogue.resolve(id)
    if (model !== undefined && model.kind === exchange.model.kind && permits(exchange.key, model.id)) models.push(model)
  }
  return models
}

const wireOf = (provider: Provider, wire: Wire): Wire | undefined => {
  if (provider.wires.includes(wire)) return wire
  if (wire === 'images') return undefined
  return provider.wires.find((other) => other !== 'images')
}

const placeOf = (target: Target): string => `${target.provider.id}/${target.account.name}`

/** Puts the conversation's own account first, the others by a draw by weight, fewest in flight first among equals. */
const order = (relay: Relay, targets: Target[], conversation: { id: string; continued: boolean } | undefined): void => {
  const rank = new Map(
    targets.map((target) => {
      // A draw by weight without replacement: the greatest of u^(1/w) wins with a probability of its share.
      const draw = target.account.weight > 0 ? Math.random() ** (1 / target.account.weight) : 0
      return [target.name, draw] as const
    }),
  )
  const drawn = (target: Target): number => rank.get(target.name) ?? 0
  targets.sort((a, b) => drawn(b) - drawn(a) || relay.health.inFlight(a.name) - relay.health.inFlight(b.name))
  if (conversation?.continued !== true) return
  const place = relay.affinity.placed(conversation.id)
  const at = targets.findIndex((target) => placeOf(target) === place)
  const [own] = at > 0 ? targets.splice(at, 1) : []
  if (own !== undefined) targets.unshift(own)
}
