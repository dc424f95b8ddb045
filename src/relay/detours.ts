// Providers that speak several wires take some requests on one of them only, and say so when they refuse them on another.
// What was taken there is remembered, so that its likes need not be refused first.

import type { Model } from '../catalogue/model.ts'
import type { GatewayError } from '../errors.ts'
import type { Wire } from '../ir/wire.ts'
import type { Provider } from '../provider/provider.ts'
import { EFFORTS } from '../wire/effort.ts'
import type { ClientRequest, Relay } from './exchange.ts'
import { type Target, wireOf } from './route.ts'

type Asking = Pick<ClientRequest, 'asked' | 'body'>

export type Detours = {
  /** The wire on which the likes of a request are taken; undefined while none has been refused. */
  known(provider: Provider, model: Model, request: Asking): Wire | undefined
  /** A target has answered a request that another wire of its provider had refused. */
  taken(request: Asking, target: Target): void
}

/** A model may come to take on one wire what it refused there. */
const KEPT_MS = 3_600_000

export const createDetours = (): Detours => {
  const wires = new Map<string, { wire: Wire; until: number }>()
  return {
    known: (provider, model, request) => {
      if (wires.size === 0) return undefined
      const found = wires.get(likeness(provider.id, model.id, request))
      if (found === undefined || found.until < performance.now()) return undefined
      return provider.wires.includes(found.wire) ? found.wire : undefined
    },
    taken: (request, { provider, model, wire }) => {
      wires.set(likeness(provider.id, model.id, request), { wire, until: performance.now() + KEPT_MS })
    },
  }
}

/** Vendors refuse by the model, by tools, and by how hard it is to think beside them. */
const likeness = (provider: string, model: string, { asked, body: { outline } }: Asking): string => {
  const { tools, functions, reasoning_effort: effort } = outline
  return [
    provider,
    model,
    asked,
    [tools, functions].some((list) => Array.isArray(list) && list.length > 0),
    EFFORTS.find((one) => one === effort) ?? '',
  ].join(' ')
}

/** The same account on the wire that its refusal names, where it is configured to speak it. */
export const detourOf = ({ takenOn }: GatewayError, target: Target): Target | undefined => {
  const wire = target.provider.wires.find((one) => one === takenOn)
  return wire === undefined || wire === target.wire ? undefined : { ...target, wire }
}

/** The wire it would have been tried on first, for a request that only the detour of its likes cannot say. */
export const wayBack = (
  { detours }: Relay,
  request: ClientRequest,
  { code, provider: refusedBy }: GatewayError,
  target: Target,
): Target | undefined => {
  const { provider, account, model } = target
  if (code !== 'invalid_request' || refusedBy !== undefined) return undefined
  if (detours.known(provider, model, request) !== target.wire) return undefined
  const wire = wireOf(provider, request.asked)
  const isTried = request.attempts.some(
    (one) =>
      one.provider === provider.id && one.account === account.name && one.model === model.id && one.wire === wire,
  )
  return wire === undefined || isTried ? undefined : { ...target, wire }
}
