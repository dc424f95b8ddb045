// Some providers accept certain requests on one of their wires only, or in another form, and tell so when they refuse
// them. What was accepted is remembered, so that similar requests of the same key go that way at once. Other keys' do not:
// a refusal may quote its request, and concern it alone.

import type { Model } from '../../catalogue/model.ts'
import type { GatewayError, Remedy } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import { isChatWire, type Wire } from '../../ir/wire.ts'
import type { AttemptNote } from '../../ledger/ledger.ts'
import { createRecent, type Recent } from '../../lib/recent.ts'
import { HOUR_MS } from '../../lib/spans.ts'
import type { Provider } from '../../provider/provider.ts'
import { OTHERS_WISHES } from '../../wire/chat-completions/members.ts'
import { EFFORTS } from '../../wire/settings/effort.ts'
import type { ClientRequest } from '../exchange.ts'
import { type Learned, type Target, wireOf } from '../target.ts'
import { named } from './own-names.ts'

type Request = Pick<ClientRequest, 'bodyWire' | 'body'> & { key: Pick<ClientRequest['key'], 'id'> }

export type Detours = {
  /** The wire that accepted similar requests; undefined where none was refused. */
  wireFor(provider: Provider, model: Model, request: Request): Wire | undefined
  /**
   * A target has answered a request that its provider had refused on another wire. `isSure`: it had refused the wire, whatever
   * the request held.
   */
  remember(request: Request, target: Target, isSure: boolean): void
  /** What refusals have told of the target of this name on this wire; undefined where nothing is remembered. */
  learnedOf(target: string, wire: Wire, request: Request): Learned | undefined
  /** A target has answered a request as its refusal had told. */
  rememberLearned(request: Request, target: Target): void
}

/** Providers change what they accept. */
const REMEMBERED_MS = HOUR_MS

/** What may have been about one request alone is asked for again so soon, and believed for longer each time that it holds. */
const GUESSED_MS = 60_000
const LONGER = 4

const MAX_REMEMBERED = 20_000

/** `now` is a clock in milliseconds that only goes forward. */
export const createDetours = (now: () => number = () => performance.now()): Detours => {
  const wires = createRecent<string, Lasting<Wire>>(MAX_REMEMBERED)
  const learned = createRecent<string, Lasting<Learned>>(MAX_REMEMBERED)
  const recalled = <Value>(all: Remembered<Value>, name: string): Value | undefined => {
    const found = all.get(name)
    return found === undefined || found.until < now() ? undefined : found.value
  }
  const keep = <Value>(all: Remembered<Value>, name: string, value: Value, forMs = REMEMBERED_MS): void =>
    all.set(name, { value, forMs, until: now() + forMs })
  return {
    wireFor: (provider, model, request) => {
      if (wires.size === 0) return undefined
      const wire = recalled(wires, similarityKey(provider.id, model.id, request))
      return wire !== undefined && provider.wires.includes(wire) ? wire : undefined
    },
    remember: (request, { provider, model, wire }, isSure) => {
      const name = similarityKey(provider.id, model.id, request)
      if (isSure) keep(wires, name, wire)
      // Of requests that were refused together each brings its own.
      else if (recalled(wires, name) !== wire) {
        const before = wires.get(name)
        const isAgain = before?.value === wire
        keep(wires, name, wire, isAgain ? Math.min(before.forMs * LONGER, REMEMBERED_MS) : GUESSED_MS)
      }
    },
    learnedOf: (target, wire, { key, body }) => {
      if (learned.size === 0) return undefined
      const told = recalled(learned, learnedKey(key, target, wire))
      return told?.unstreamed === 'tools' && asksTools(body.outline) ? { ...told, streams: false } : told
    },
    rememberLearned: ({ key, body }, { name, wire, learned: quirks = {} }) => {
      const lasting = lastingOf(quirks, body.outline)
      if (Object.keys(lasting).length > 0) keep(learned, learnedKey(key, name, wire), lasting)
    },
  }
}

type Lasting<Value> = { value: Value; forMs: number; until: number }
type Remembered<Value> = Recent<string, Lasting<Value>>

/** What a server refuses on one of its wires it may take on another, where the client's bytes are to stay. */
const learnedKey = ({ id }: Request['key'], target: string, wire: Wire): string => [id, target, wire].join(' ')

/** Clients may ask for betas of any name. */
const MAX_BETAS = 100

// A model that cannot be forced while it thinks can be otherwise, and one that calls tools in no stream may say the rest in one.
const lastingOf = (
  { noForcedTools: _, unknownBetas, streams, unstreamed, ...lasting }: Learned,
  asked: JsonObject,
): Learned => {
  const isForTools = unstreamed === undefined && streams === false && asksTools(asked)
  return {
    ...lasting,
    ...(unknownBetas && { unknownBetas: unknownBetas.slice(-MAX_BETAS) }),
    ...(streams !== undefined && (streams || (unstreamed === undefined && !isForTools)) && { streams }),
    ...((unstreamed === 'tools' || isForTools) && { unstreamed: 'tools' as const }),
  }
}

const asksTools = ({ tools, functions }: JsonObject): boolean =>
  [tools, functions].some((list) => Array.isArray(list) && list.length > 0)

/** Vendors refuse by the model, by the presence of tools, by the reasoning effort beside them, and by how it is asked. */
const similarityKey = (provider: string, model: string, { key, bodyWire, body: { outline } }: Request): string => {
  const { reasoning_effort: effort } = outline
  return [
    key.id,
    provider,
    model,
    bodyWire,
    asksTools(outline),
    EFFORTS.find((one) => one === effort) ?? '',
    bodyWire === 'chat-completions' && OTHERS_WISHES.some((name) => outline[name] !== undefined),
  ].join(' ')
}

const WIRES: Partial<Record<Remedy, Wire>> = {
  'responses-wire': 'responses',
  'chat-wire': 'chat-completions',
  'no-web-search': 'chat-completions',
}

/** Whether a remedy is another wire, and one that the provider does not speak. */
export const isOutOfReach = (remedy: Remedy | undefined, { wires }: Provider): boolean => {
  const wire = remedy && WIRES[remedy]
  return wire !== undefined && !wires.includes(wire)
}

/** A server that lacks one of its wires, as older ones of its kind do, has the one that all have; of what was sent it knows nothing. */
const toldWire = (
  { remedy, place, provider: { status, trouble } = {} }: GatewayError,
  { background }: ClientRequest,
  { wire }: Target,
): Wire | undefined => {
  if (remedy !== undefined) return WIRES[remedy]
  const isMissing = NO_PATH.has(status) && trouble === undefined && place === undefined
  const isOther = isChatWire(wire) && wire !== 'chat-completions'
  return isMissing && isOther && !background ? 'chat-completions' : undefined
}

const NO_PATH = new Set<number | undefined>([404, 405, 501])

/** The same account on the wire that its refusal tells of, if it is configured to speak it and has not refused there. */
export const detourFor = (
  { detours }: { detours: Detours },
  request: ClientRequest,
  error: GatewayError,
  target: Target,
): Target | undefined => {
  const wire = toldWire(error, request, target)
  if (wire === undefined || !target.provider.wires.includes(wire)) return undefined
  const hasRefused = triesOn(request, target, wire).some(({ providerStatus }) => providerStatus !== undefined)
  return hasRefused ? undefined : onWire(detours, request, target, wire)
}

const triesOn = ({ attempts }: ClientRequest, { provider, account, model }: Target, wire: Wire): AttemptNote[] =>
  attempts.filter(
    (one) =>
      one.provider === provider.id && one.account === account.name && one.model === model.id && one.wire === wire,
  )

const onWire = (detours: Detours, request: Request, target: Target, wire: Wire): Target =>
  named({ ...target, wire, learned: detours.learnedOf(target.name, wire, request) })

/**
 * The target on its usual wire, for a request that was sent on a remembered detour and cannot be translated to that
 * wire; undefined if it was tried there already.
 */
export const withoutDetour = (
  { detours }: { detours: Detours },
  request: ClientRequest,
  { code, provider: refusedBy }: GatewayError,
  target: Target,
): Target | undefined => {
  const { provider, model } = target
  if (code !== 'invalid_request' || refusedBy !== undefined) return undefined
  if (detours.wireFor(provider, model, request) !== target.wire) return undefined
  const wire = wireOf(provider, request.bodyWire)
  if (wire === undefined || triesOn(request, target, wire).length > 0) return undefined
  return onWire(detours, request, target, wire)
}
