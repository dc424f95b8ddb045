// Providers that speak several wires take some requests on one of them only, and say so when they refuse them on another.
// What was taken there is remembered, so that its likes need not be refused first.

import type { Model } from '../catalogue/model.ts'
import type { GatewayError } from '../errors.ts'
import type { Wire } from '../ir/wire.ts'
import type { Provider } from '../provider/provider.ts'
import { EFFORTS } from '../wire/effort.ts'
import type { ClientRequest } from './exchange.ts'
import type { Target } from './route.ts'

type Asking = Pick<ClientRequest, 'asked' | 'body'>

export type Detours = {
  /** The wire on which the likes of a request are taken; undefined while none has been refused. */
  known(provider: Provider, model: Model, request: Asking): Wire | undefined
  /** A target has answered a request. */
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
      if (wire === request.asked || !provider.wires.includes(request.asked)) return
      const like = likeness(provider.id, model.id, request)
      const known = wires.get(like)
      if (known === undefined || known.until < performance.now())
        wires.set(like, { wire, until: performance.now() + KEPT_MS })
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
