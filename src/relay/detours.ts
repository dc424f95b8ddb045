// Some providers accept certain requests on one of their wires only, or with another name of the output cap, and tell so
// when they refuse them. What was accepted is remembered, so that similar requests go that way at once.

import type { Model } from '../catalogue/model.ts'
import type { GatewayError } from '../errors.ts'
import type { Wire } from '../ir/wire.ts'
import type { Provider } from '../provider/provider.ts'
import { EFFORTS } from '../wire/effort.ts'
import type { ClientRequest, Relay } from './exchange.ts'
import { type Target, wireOf } from './route.ts'
import { quirksOf } from './translate.ts'

type RequestForm = Pick<ClientRequest, 'bodyWire' | 'body'>

export type Detours = {
  /** The wire that accepted similar requests; undefined where none was refused. */
  wireFor(provider: Provider, model: Model, request: RequestForm): Wire | undefined
  /** A target has answered a request that its provider had refused on another wire. */
  remember(request: RequestForm, target: Target): void
  /** Whether the target of this name has refused the output cap under its older name. */
  needsNewerCap(target: string): boolean
  /** A target has answered a request that its provider had refused with the older name. */
  rememberCap(target: Target): void
}

/** Providers change what they accept. */
const REMEMBERED_MS = 3_600_000

export const createDetours = (): Detours => {
  const wires = new Map<string, { wire: Wire; until: number }>()
  const newerCaps = new Map<string, number>()
  return {
    wireFor: (provider, model, request) => {
      if (wires.size === 0) return undefined
      const found = wires.get(similarityKey(provider.id, model.id, request))
      if (found === undefined || found.until < performance.now()) return undefined
      return provider.wires.includes(found.wire) ? found.wire : undefined
    },
    remember: (request, { provider, model, wire }) => {
      wires.set(similarityKey(provider.id, model.id, request), { wire, until: performance.now() + REMEMBERED_MS })
    },
    needsNewerCap: (target) => newerCaps.size > 0 && (newerCaps.get(target) ?? 0) > performance.now(),
    rememberCap: ({ name }) => {
      newerCaps.set(name, performance.now() + REMEMBERED_MS)
    },
  }
}

/** Vendors refuse by the model, by the presence of tools, and by the reasoning effort beside them. */
const similarityKey = (provider: string, model: string, { bodyWire, body: { outline } }: RequestForm): string => {
  const { tools, functions, reasoning_effort: effort } = outline
  return [
    provider,
    model,
    bodyWire,
    [tools, functions].some((list) => Array.isArray(list) && list.length > 0),
    EFFORTS.find((one) => one === effort) ?? '',
  ].join(' ')
}

/** The same account on the wire that its refusal names, if it is configured to speak it. */
export const detourFor = ({ remedy }: GatewayError, target: Target): Target | undefined => {
  const wire = 'responses'
  const isDetour = remedy === 'responses-wire' && target.wire !== wire && target.provider.wires.includes(wire)
  return isDetour ? { ...target, wire } : undefined
}

/**
 * The target on its usual wire, for a request that was sent on a remembered detour and cannot be translated to that
 * wire; undefined if it was tried there already.
 */
export const withoutDetour = (
  { detours }: Relay,
  request: ClientRequest,
  { code, provider: refusedBy }: GatewayError,
  target: Target,
): Target | undefined => {
  const { provider, account, model } = target
  if (code !== 'invalid_request' || refusedBy !== undefined) return undefined
  if (detours.wireFor(provider, model, request) !== target.wire) return undefined
  const wire = wireOf(provider, request.bodyWire)
  const isTried = request.attempts.some(
    (one) =>
      one.provider === provider.id && one.account === account.name && one.model === model.id && one.wire === wire,
  )
  return wire === undefined || isTried ? undefined : { ...target, wire }
}

/** The same target with the output cap under its newer name, for a request whose older one it has refused. */
export const withNewerCap = ({ remedy }: GatewayError, request: RequestForm, target: Target): Target | undefined => {
  if (remedy !== 'newer-cap' || target.newerCap === true) return undefined
  const wasSent =
    quirksOf(target).maxTokensField === 'max_tokens' ||
    (request.bodyWire === 'chat-completions' && request.body.outline.max_tokens !== undefined)
  return wasSent ? { ...target, newerCap: true } : undefined
}
