// What refusals tell of a target, and the target asked in the way that it takes: without what it does not know, or in
// another form. What has been told is remembered by detours.ts.

import type { GatewayError, Remedy } from '../../errors.ts'
import type { Quirks } from '../../ir/quirks.ts'
import { CODECS } from '../../wire/index.ts'
import { mayGo } from '../../wire/refusal/wishes.ts'
import { EFFORTS } from '../../wire/settings/effort.ts'
import type { ClientRequest } from '../exchange.ts'
import type { Learned, Target } from '../target.ts'
import { mayBeTurned, quirksOf } from '../translate.ts'
import { withoutBetas } from './betas.ts'
import { isOutOfReach } from './detours.ts'
import { byOwnNames } from './own-names.ts'

type Request = Pick<ClientRequest, 'bodyWire' | 'body' | 'headers'>

/** What a refusal tells of its target, by its remedy. */
const LEARNED: Partial<Record<Remedy, Quirks>> = {
  'newer-cap': { maxTokensField: 'max_completion_tokens' },
  // Of a model that refuses both, the second refusal stands.
  'adaptive-thinking': { noThinkingBudget: true, noAdaptiveThinking: false },
  'thinking-budget': { noThinkingBudget: false, noAdaptiveThinking: true },
  'always-thinking': { alwaysThinks: true },
  'always-by-budget': { alwaysThinks: true, noThinkingBudget: false, noAdaptiveThinking: true },
  'all-reasoning': { needsReasoning: true },
  'signed-calls': { needsSignatures: true },
  'no-mid-system': { noMidSystem: true },
  'functions-only': { noCustomTools: true },
  'no-web-search': { noWebSearch: true },
  'no-forced-tools': { noForcedTools: true },
  'output-by-tool': { structuredOutputByTool: true },
  'output-or-tools': { outputOrTools: true },
  'reply-to-tools': { noUserAfterTool: true },
  'alternating-roles': { noMidSystem: true, noUserAfterTool: true, noRepeatedUser: true },
  'no-schema-limits': { noSchemaLimits: true },
  'no-system': { noSystem: true },
  'json-word': { saysJson: true },
  'short-call-ids': { shortCallIds: true },
  'hashed-user': { hashesUsers: true },
  'no-null-content': { noNullContent: true },
  'long-messages': { longMessages: true },
  'no-summary': { noSummary: true },
  'no-compact': { noCompact: true },
  'no-thinking': { noReasoning: true },
  'system-role': { noDeveloperRole: true },
  'developer-role': { noSystemRole: true },
  'calls-in-turn': { callsInTurn: true },
  streamed: { streams: true },
  'not-streamed': { streams: false },
}
/** What is changed in translated requests alone: clients of the provider's own wire learn more from the refusal. */
const TRANSLATED_ONLY = new Set<Remedy>([
  'higher-cap',
  'no-web-search',
  'no-forced-tools',
  'output-by-tool',
  'output-or-tools',
  'reply-to-tools',
  'no-schema-limits',
  'json-word',
  'no-summary',
  'no-thinking',
  'other-effort',
])

/** The same target with what its refusal tells of it; undefined where that has been heeded already, or changes nothing. */
export const withLearned = (
  { remedy: told, named = [] }: GatewayError,
  request: Request,
  target: Target,
): Target | undefined => {
  // Where the wire with fewer kinds of tools is none of the provider's, they become functions on this one.
  const remedy = told === 'chat-wire' && isOutOfReach(told, target.provider) ? 'functions-only' : told
  if (remedy === undefined) return undefined
  if (remedy === 'own-names') return byOwnNames(target)
  if (remedy === 'without-betas') return withoutBetas(target, request.headers, named)
  const own = request.bodyWire === target.wire
  const quirks = toldBy(remedy, remedy === 'without-settings' && own ? unasked(named, request) : named, target)
  if (quirks === undefined) return undefined
  if (remedy === 'newer-cap' && !sendsOldCap(request, target)) return undefined
  if (quirks.streams !== undefined && !mayBeTurned(request.body.outline)) return undefined
  if (own && isClientsAffair(remedy, named, request)) return undefined
  const learned = { ...target.learned, ...quirks }
  return {
    ...target,
    learned: remedy === 'not-streamed' ? { ...learned, unstreamed: unstreamedBy(named, target) } : learned,
  }
}

/** Tools are seen in the request itself, by detours.ts; a refusal that names nothing is of all. */
const unstreamedBy = (named: readonly string[], { learned }: Target): Learned['unstreamed'] =>
  named.some((path) => !TOOLS.test(path)) ? (learned?.unstreamed ?? 'named') : undefined
const TOOLS = /^(?:tools|functions)\b/

/** Those that are hints to the server alone, or that the gateway itself has added to a body that passes. */
const unasked = (named: readonly string[], { body: { outline } }: Request): string[] =>
  named.filter((path) => mayGo(path, outline))

const isClientsAffair = (remedy: Remedy, named: readonly string[], request: Request): boolean => {
  const { bodyWire, body } = request
  if (remedy === 'without-members') {
    const others = named.filter((name) => name !== NEWER_CAP)
    return unasked(others, request).length < others.length
  }
  // Agents of the messages wire make a system's turn the user's themselves, and move what else it sets.
  if (remedy === 'no-mid-system') return bodyWire === 'messages'
  // Agents think unasked there, and a model without thought is asked by all of them.
  if (remedy === 'no-thinking' && bodyWire === 'messages') return false
  if (remedy === 'functions-only') {
    const { needsTranslation, isMissing } = CODECS[bodyWire]
    return needsTranslation?.(body.outline) !== true && isMissing?.(LEARNED[remedy] ?? {}, body.outline) !== true
  }
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
    case 'other-idle-effort':
      return known.idleEfforts === undefined ? { idleEfforts: EFFORTS.filter((one) => named.includes(one)) } : undefined
    case 'without-members':
    case 'without-settings':
      return toldMembers(named, known)
    case 'lower-cap': {
      const most = Number(named[0])
      return most >= 1 && most < (known.mostOutput ?? Number.POSITIVE_INFINITY) ? { mostOutput: most } : undefined
    }
    case 'without-beta-members': {
      const rejectsOfBetas = added(known.rejectsOfBetas, named)
      return rejectsOfBetas && { rejectsOfBetas }
    }
    case 'higher-cap': {
      const least = Number(named[0])
      return least > (known.leastOutput ?? 0) ? { leastOutput: least } : undefined
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
