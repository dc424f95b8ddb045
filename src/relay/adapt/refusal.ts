// What a refusal means where the provider's codes alone do not say, by its words and by what was sent: of which kind it is, how
// the request is asked otherwise, or which of its members the client is told.

import { type ErrorOptions, GatewayError, type Remedy } from '../../errors.ts'
import { asObject, asText, type JsonObject, parseObject } from '../../ir/json.ts'
import { isChatWire, type Wire } from '../../ir/wire.ts'
import { textOf } from '../../lib/pieces.ts'
import { refusalOf, withRefusal } from '../../wire/refusal/body.ts'
import { retryDelay } from '../../wire/refusal/delay.ts'
import { membersOf } from '../../wire/refusal/error-object.ts'
import { providerError } from '../../wire/refusal/failure.ts'
import { codesIn, type Kind, type Known, kindIn } from '../../wire/refusal/kinds.ts'
import { memberMeant } from '../../wire/refusal/meant.ts'
import { saidIn } from '../../wire/refusal/names.ts'
import { isClients, isClientsName } from '../../wire/refusal/quoted.ts'
import { deniesIn, lacksIn, memberIn, namedIn, type Refused, refusedIn } from '../../wire/refusal/refused.ts'
import { plainerIn, settingsIn } from '../../wire/refusal/settings.ts'
import { INVALID_IMAGE, NO_IMAGE, tooManyImages } from '../../wire/refusal/unreadable.ts'
import { mayGo } from '../../wire/refusal/wishes.ts'
import type { Relay } from '../services.ts'
import type { Outgoing, Target } from '../target.ts'
import { isOutOfReach } from './detours.ts'

type At = { relay: Pick<Relay, 'turns'>; target: Target }

/** The request that was refused. `members`: of a form, those that it has. */
type Refusable = Pick<Outgoing, 'body' | 'members'>

/** The error as the client and its owner are to have it: of a response of its own, or in the place of an answer. */
export const understood = async (
  error: GatewayError,
  at: At,
  { body: sent, members }: Refusable,
): Promise<GatewayError> => {
  const body = refusalOf(error)
  if (body === undefined || sent === undefined) return error
  const asked: Asked = { length: sent.length, read: () => members ?? parseObject(textOf(sent)) ?? {} }
  return withRefusal((await ofKind(error, body, at, asked)) ?? (await withNames(error, body, at, asked)), body)
}

/** `length`: of what was sent; it is read where that is needed. */
type Asked = { length: number; read(): JsonObject }

/** All options that an error was made with. */
export const optionsOf = (error: GatewayError): ErrorOptions => ({
  param: error.param,
  details: error.details,
  retryAfterMs: error.retryAfterMs,
  retry: error.retry,
  failover: error.failover,
  remedy: error.remedy,
  named: error.named,
  advice: error.advice,
  window: error.window,
  ...(error.provider === undefined ? {} : { provider: error.provider }),
})

/** Undefined where its words are of no kind, or quote the client's. */
const ofKind = async (
  error: GatewayError,
  body: unknown,
  { relay, target }: At,
  sent: Asked,
): Promise<GatewayError | undefined> => {
  const { code, remedy, provider = {}, retryAfterMs = 0 } = error
  if (remedy !== undefined || (code !== 'upstream_error' && code !== 'service_unavailable')) return undefined
  const { text, names } = saidIn(body)
  const known = kindIn(provider.status ?? 200, { text, names, codes: codesIn(body) }, target.model.upstream)
  if (known === undefined) return undefined
  // A rate may be told of in the words of a bill: it is one where the provider says when to come back.
  const delay = retryDelay(text, membersOf(body))
  if (code === 'service_unavailable' && known.kind === 'out-of-money' && delay.retryAfterMs !== undefined)
    return undefined
  const { kind, told } = known
  /** A model is the request's own word for it, and may be called by a name. */
  const isTheirs = (sent: JsonObject, span: NonNullable<Known['told']>): boolean =>
    isClients(sent, text, span) ||
    (kind !== 'unknown-model' && isClientsName(sent, text, span)) ||
    (OF_THE_OWNER.has(kind) && isOfAsked(target.wire, sent, body))
  if (told !== undefined && (await relay.turns(sent.length, () => isTheirs(sent.read(), told)))) return undefined
  switch (kind) {
    case 'out-of-money':
      return providerError(kind, { provider, retryAfterMs: Math.max(retryAfterMs, MONEY_MS) })
    case 'unknown-model':
      return providerError('refused', { provider: { ...provider, trouble: kind } })
    case 'overloaded':
      return providerError(kind, { provider, ...delay })
    default:
      return providerError(kind, { provider })
  }
}

/** What is said of an account or a model is said of what is asked for, too: of a plan, a limit, what is not there. */
const OF_THE_OWNER: ReadonlySet<Kind> = new Set(['out-of-money', 'unknown-model'])

/** Whether a refusal is about something that the request asks for. */
const isOfAsked = (wire: Wire, sent: JsonObject, body: unknown): boolean => {
  if (!isChatWire(wire)) return false
  const { place, pictures, ofSettings } = refusedIn(wire, sent, body)
  return pictures !== undefined || (place !== undefined && ofSettings !== true)
}

/** Somebody has to pay first. */
const MONEY_MS = 600_000

const withNames = async (
  error: GatewayError,
  body: unknown,
  { relay, target: { wire, provider: asked } }: At,
  sent: Asked,
): Promise<GatewayError> => {
  const { provider = {} } = error
  const isPlain = isPlainly(error)
  if (!mayName(error)) return error
  if (!isChatWire(wire)) return isPlain ? withMember(error, body, sent.read()) : error
  /** Of a status for other faults, only what says no to a part of the request is about the request. */
  const refusedBy = (sent: JsonObject): Refused => {
    const { status } = provider
    if (isPlain || (OF_FAULTS.has(status) && deniesIn(body, sent))) return refusedIn(wire, sent, body)
    const named = OF_FAULTS.has(status)
      ? refusedIn(wire, sent, body)
      : namedIn(wire, sent, body, ABOUT_ACCESS.has(status))
    const isHeeded = OF_FAULTS.has(status) ? HEEDED_OF_FAULTS.has(named.remedy) : named.remedy !== undefined
    return isHeeded ? named : lacksIn(wire, sent, body)
  }
  /** Of a refusal that names nothing, nobody is told that it is about these. */
  const unnamed = (sent: JsonObject): Refused => {
    const { remedy, named } = settingsIn(wire, sent, false) ?? {}
    return remedy === undefined || named === undefined ? plainerIn(wire, sent) : { remedy, named }
  }
  const mayBeSettings = isPlain && error.code === 'upstream_error' && error.remedy === undefined
  const refused = await relay.turns(sent.length, () => {
    const body = sent.read()
    const told = refusedBy(body)
    return mayBeSettings && Object.keys(told).length === 0 ? unnamed(body) : told
  })
  if (refused.pictures !== undefined && error.code === 'upstream_error')
    return new GatewayError('invalid_request', pictureSentence(refused), { provider, remedy: refused.remedy })
  // Where its code has told what to do, another account may still do without.
  if (!isPlain && (refused.place === undefined || error.remedy !== undefined)) return error
  return new GatewayError(error.code, error.message, {
    ...optionsOf(isPlain ? error : providerError('invalid', { provider })),
    ...named(isOutOfReach(error.remedy, asked) ? {} : error, refused),
  })
}

const pictureSentence = ({ pictures, mostPictures }: Refused): string =>
  mostPictures !== undefined ? tooManyImages(mostPictures) : pictures === 'none' ? NO_IMAGE : INVALID_IMAGE

/** What the provider's code has told stands, where it can be done. */
const named = (
  { remedy, named, advice }: Pick<ErrorOptions, 'remedy' | 'named' | 'advice'>,
  refused: Refused,
): ErrorOptions => ({
  remedy: remedy ?? refused.remedy,
  named: remedy === undefined ? refused.named : named,
  place: refused.place,
  advice: advice ?? refused.advice,
})

/** The same on a wire that only passes: by the outermost member that the provider names, or means. */
const withMember = (error: GatewayError, body: unknown, sent: JsonObject): GatewayError => {
  const [told] = /^[\w-]+/.exec(asText(asObject(asObject(body).error).param)) ?? []
  const { text, names } = saidIn(body)
  const isTold = told !== undefined || names.some(({ found }) => found === 'told')
  const member = told ?? memberIn(sent, body) ?? (isTold ? undefined : memberMeant(sent, text))
  if (member === undefined) return error
  const options = { ...optionsOf(error), place: [member] }
  const written = [member, `${member}[]`].find((name) => Object.hasOwn(sent, name))
  if (error.code === 'invalid_request')
    return new GatewayError(error.code, error.message, { ...options, param: error.param ?? written })
  const remedy = written === member && mayGo(member, sent) ? WITHOUT : undefined
  return new GatewayError(error.code, error.message, { ...options, ...(remedy && { remedy, named: [member] }) })
}
const WITHOUT: Remedy = 'without-members'

/** Statuses of malformed requests; none is that of an error within an answer. */
const PLAIN = new Set<number | undefined>([undefined, 200, 400, 422])
const UNTOLD = new Set<number | undefined>([undefined, 200])
/** Those with which servers refuse what they cannot do, beside other faults of theirs. */
const OTHERS = new Set<number | undefined>([403, 404, 405, 406, 409, 412, 415, 424, 500, 501])
/** Those of them with which a server says that it, or one behind it, has failed: that it does not know a member it may say, too. */
const OF_FAULTS = new Set<number | undefined>([424, 500, 501])
/** Sentences about who may ask for what have words that are members' names. */
const ABOUT_ACCESS = new Set<number | undefined>([403, 404])
const HEEDED_OF_FAULTS = new Set<Remedy | undefined>(['functions-only', 'chat-wire', 'no-web-search'])

/** Whether a refusal is about the request, and no class of its own says what. */
const mayName = ({ code, failover, provider: { status, trouble } = {} }: GatewayError): boolean => {
  if (trouble !== undefined) return false
  if (PLAIN.has(status) && code === 'invalid_request') return true
  return code === 'upstream_error' && (OTHERS.has(status) || UNTOLD.has(status) || (PLAIN.has(status) && !failover))
}

/** Of an answer that begins with an error some servers tell neither a status nor a class. */
const isPlainly = ({ failover, provider: { status } = {} }: GatewayError): boolean =>
  PLAIN.has(status) && !(failover && UNTOLD.has(status))
