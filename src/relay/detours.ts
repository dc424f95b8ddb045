// Some providers accept certain requests on one of their wires only, or in another form, and tell so when they refuse
// them. What was accepted is remembered, so that similar requests of the same key go that way at once. Other keys' do not:
// a refusal may quote its request, and concern it alone.

import type { Model } from '../catalogue/model.ts'
import type { GatewayError, Remedy } from '../errors.ts'
import type { Quirks } from '../ir/quirks.ts'
import type { Wire } from '../ir/wire.ts'
import { createRecent, type Recent } from '../lib/recent.ts'
import type { Provider } from '../provider/provider.ts'
import { OTHERS_WISHES } from '../wire/chat-completions/members.ts'
import { EFFORTS } from '../wire/effort.ts'
import { CODECS } from '../wire/index.ts'
import { withoutBetas } from './betas.ts'
import type { ClientRequest, Relay } from './exchange.ts'
import { type Target, wireOf } from './route.ts'
import { quirksOf } from './translate.ts'

type Request = Pick<ClientRequest, 'key' | 'bodyWire' | 'body'>

export type Detours = {
  /** The wire that accepted similar requests; undefined where none was refused. */
  wireFor(provider: Provider, model: Model, request: Request): Wire | undefined
  /** A target has answered a request that its provider had refused on another wire. */
  remember(request: Request, target: Target): void
  /** What refusals have told of the target of this name on this wire; undefined where nothing is remembered. */
  learnedOf(target: string, wire: Wire, request: Request): Learned | undefined
  /** A target has answered a request as its refusal had told. */
  rememberLearned(request: Request, target: Target): void
}

/** Providers change what they accept. */
const REMEMBERED_MS = 3_600_000

const MAX_REMEMBERED = 20_000

export const createDetours = (): Detours => {
  const wires = createRecent<string, Lasting<Wire>>(MAX_REMEMBERED)
  const learned = createRecent<string, Lasting<Learned>>(MAX_REMEMBERED)
  return {
    wireFor: (provider, model, request) => {
      if (wires.size === 0) return undefined
      const wire = recalled(wires, similarityKey(provider.id, model.id, request))
      return wire !== undefined && provider.wires.includes(wire) ? wire : undefined
    },
    remember: (request, { provider, model, wire }) => keep(wires, similarityKey(provider.id, model.id, request), wire),
    learnedOf: (target, wire, { key }) =>
      learned.size === 0 ? undefined : recalled(learned, learnedKey(key, target, wire)),
    rememberLearned: ({ key }, { name, wire, learned: quirks = {} }) => {
      const lasting = lastingOf(quirks)
      if (Object.keys(lasting).length > 0) keep(learned, learnedKey(key, name, wire), lasting)
    },
  }
}

type Lasting<Value> = { value: Value; until: number }
type Remembered<Value> = Recent<string, Lasting<Value>>

const recalled = <Value>(all: Remembered<Value>, name: string): Value | undefined => {
  const found = all.get(name)
  return found === undefined || found.until < performance.now() ? undefined : found.value
}

const keep = <Value>(all: Remembered<Value>, name: string, value: Value): void =>
  all.set(name, { value, until: performance.now() + REMEMBERED_MS })

/** What a server refuses on one of its wires it may take on another, where the client's bytes are to stay. */
const learnedKey = ({ id }: Request['key'], target: string, wire: Wire): string => [id, target, wire].join(' ')

/** Clients may ask for betas of any name. */
const MAX_BETAS = 100

const lastingOf = ({ noForcedTools: _, unknownBetas, ...lasting }: Learned): Learned =>
  // A model that cannot be forced while it thinks can be otherwise.
  unknownBetas === undefined ? lasting : { ...lasting, unknownBetas: unknownBetas.slice(-MAX_BETAS) }

/** Vendors refuse by the model, by the presence of tools, by the reasoning effort beside them, and by how it is asked. */
const similarityKey = (provider: string, model: string, { key, bodyWire, body: { outline } }: Request): string => {
  const { tools, functions, reasoning_effort: effort } = outline
  return [
    key.id,
    provider,
    model,
    bodyWire,
    [tools, functions].some((list) => Array.isArray(list) && list.length > 0),
    EFFORTS.find((one) => one === effort) ?? '',
    bodyWire === 'chat-completions' && OTHERS_WISHES.some((name) => outline[name] !== undefined),
  ].join(' ')
}

/** The same account on the wire that its refusal names, if it is configured to speak it. */
export const detourFor = (
  { detours }: Pick<Relay, 'detours'>,
  request: Request,
  { remedy }: GatewayError,
  target: Target,
): Target | undefined => {
  const wire = 'responses'
  const isDetour = remedy === 'responses-wire' && target.wire !== wire && target.provider.wires.includes(wire)
  return isDetour ? onWire(detours, request, target, wire) : undefined
}

const onWire = (detours: Detours, request: Request, { learned: _, ...target }: Target, wire: Wire): Target => {
  const learned = detours.learnedOf(target.name, wire, request)
  return { ...target, wire, ...(learned === undefined ? {} : { learned }) }
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
  return wire === undefined || isTried ? undefined : onWire(detours, request, target, wire)
}

/** What refusals have told of a target: quirks for the codecs, and the betas that it does not know (betas.ts). */
export type Learned = Quirks & { unknownBetas?: readonly string[] }

/** What a refusal tells of its target, by its remedy. */
const LEARNED: Partial<Record<Remedy, Quirks>> = {
  'newer-cap': { maxTokensField: 'max_completion_tokens' },
  // Of a model that refuses both, the second refusal stands.
  'adaptive-thinking': { noThinkingBudget: true, noAdaptiveThinking: false },
  'thinking-budget': { noThinkingBudget: false, noAdaptiveThinking: true },
  'all-reasoning': { needsReasoning: true },
  'signed-calls': { needsSignatures: true },
  'no-mid-system': { noMidSystem: true },
  'no-forced-tools': { noForcedTools: true },
  'output-by-tool': { structuredOutputByTool: true },
  'output-or-tools': { outputOrTools: true },
  'reply-to-tools': { noUserAfterTool: true },
  'alternating-roles': { noMidSystem: true, noUserAfterTool: true, noRepeatedUser: true },
  'no-schema-limits': { noSchemaLimits: true },
  'no-sampling': { noSampling: true },
  'no-summary': { noSummary: true },
  'no-thinking': { noReasoning: true },
}
/** What is changed in translated requests alone: clients of the provider's own wire learn more from the refusal. */
const TRANSLATED_ONLY = new Set<Remedy>([
  'no-forced-tools',
  'output-by-tool',
  'output-or-tools',
  'reply-to-tools',
  'no-schema-limits',
  'no-sampling',
  'no-summary',
  'no-thinking',
  'other-effort',
])

/** The same target with what its refusal tells of it; undefined where that has been heeded already, or changes nothing. */
export const withLearned = (
  { remedy, named = [] }: GatewayError,
  request: Request & Pick<ClientRequest, 'headers'>,
  target: Target,
): Target | undefined => {
  if (remedy === undefined) return undefined
  if (remedy === 'without-betas') return withoutBetas(target, request.headers, named)
  const told = toldBy(remedy, named, target)
  if (told === undefined) return undefined
  if (remedy === 'newer-cap' && !sendsOldCap(request, target)) return undefined
  if (request.bodyWire === target.wire && isClientsAffair(remedy, named, request)) return undefined
  return { ...target, learned: { ...target.learned, ...told } }
}

/** What the gateway itself has added to a body that passes is left out again. */
const isClientsAffair = (
  remedy: Remedy,
  named: readonly string[],
  { bodyWire, body: { outline } }: Request,
): boolean => {
  if (remedy === 'without-members') return named.some((name) => outline[name] !== undefined)
  // Agents of the messages wire make a system's turn the user's themselves, and move what else it sets.
  if (remedy === 'no-mid-system') return bodyWire === 'messages'
  return TRANSLATED_ONLY.has(remedy)
}

/** Undefined for what is known. What is told in parts is added up. */
const toldBy = (remedy: Remedy, named: readonly string[], target: Target): Quirks | undefined => {
  const known = quirksOf(target)
  switch (remedy) {
    case 'other-effort': {
      const before = known.efforts ?? EFFORTS
      const efforts = before.filter((one) => named.includes(one))
      return efforts.length === before.length ? undefined : { efforts }
    }
    case 'without-members':
      return toldMembers(named, known)
    case 'without-beta-members': {
      const rejectsOfBetas = added(known.rejectsOfBetas, named)
      return rejectsOfBetas && { rejectsOfBetas }
    }
    default: {
      const told = LEARNED[remedy]
      return told === undefined || isHeeded(told, target.learned ?? {}) ? undefined : told
    }
  }
}

const NEWER_CAP = 'max_completion_tokens'

/** The cap is sent under its older name. */
const toldMembers = (named: readonly string[], known: Quirks): Quirks | undefined => {
  const rejects = added(
    known.rejects,
    named.filter((name) => name !== NEWER_CAP),
  )
  const isCapOld = !named.includes(NEWER_CAP) || known.maxTokensField === 'max_tokens'
  if (rejects === undefined && isCapOld) return undefined
  return { ...(rejects && { rejects }), ...(isCapOld ? {} : { maxTokensField: 'max_tokens' }) }
}

/** All of them; undefined where none is new. */
const added = (known: readonly string[] = [], named: readonly string[]): string[] | undefined => {
  const all = [...new Set([...known, ...named])]
  return all.length === known.length ? undefined : all
}

const isHeeded = (told: Quirks, learned: Quirks): boolean => Object.keys(told).every((name) => name in learned)

/** More than what the estimate of a prompt falls short of its tokens, as a rule. */
const MARGIN = 1.5
/** With less, in tokens, an agent ends in the middle of a call: told that the prompt is too long, it shortens that. */
const LEAST_ANSWER = 4_096

/**
 * The same target asked for an answer no longer than the context has room for beside the prompt; undefined for little room,
 * and where the client is told on its own wire how much there is.
 */
export const withShorterAnswer = (
  { window }: GatewayError,
  { body, bodyWire }: Request,
  target: Target,
): Target | undefined => {
  if (window === undefined || target.outputCap !== undefined) return undefined
  const { maximum, prompt, atLeast } = window
  if (!atLeast && bodyWire === target.wire) return undefined
  const outputCap = maximum - (atLeast ? Math.max(prompt, Math.ceil(body.inputEstimate * MARGIN)) : prompt)
  // A refusal may quote figures that are not this request's.
  const asked = CODECS[bodyWire].outputCap(body.outline) ?? target.model.maxOutput
  return outputCap < LEAST_ANSWER || outputCap >= asked ? undefined : { ...target, outputCap }
}

const sendsOldCap = ({ bodyWire, body }: Request, target: Target): boolean =>
  quirksOf(target).maxTokensField === 'max_tokens' ||
  (bodyWire === 'chat-completions' && body.outline.max_tokens !== undefined)
