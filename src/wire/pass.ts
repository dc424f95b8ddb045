// What the wires share for bodies and streams that pass through: edits, faults and usage of answers, the state of taps.

import { envelope, GatewayError } from '../errors.ts'
import { asList, asObject, filledText, isFilled, isObject, type Json, type JsonObject } from '../ir/json.ts'
import type { Quirks } from '../ir/quirks.ts'
import { inTier, type Usage } from '../ir/usage.ts'
import type { Edit } from '../lib/json-splice.ts'
import { OutputText } from '../lib/output-text.ts'
import { writeFrame } from '../lib/sse.ts'
import type { PassEdit, PassOptions, Tap } from './codec.ts'
import { tellsWhy } from './refusal/error-object.ts'
import { placesOf, valueAt } from './refusal/member-path.ts'
import { usersIn } from './refusal/opaque-member.ts'
import { isReference } from './refusal/wishes.ts'
import { SEAL_PREFIX } from './seal.ts'

/** Whether a string is a tag, which holds a thought of another wire. */
export const isForeign = (value: unknown): boolean => typeof value === 'string' && value.startsWith(SEAL_PREFIX)

export const modelEdit = ({ model }: PassOptions): Edit => ({ path: ['model'], value: JSON.stringify(model) })

/** Places of the body's members that its provider refuses. */
export const refusedMembers = (body: JsonObject, { rejects = [] }: Quirks): Edit['path'][] =>
  rejects.flatMap((path) => placesOf(body, path).filter((place) => !isReference(valueAt(body, place.slice(0, -1)))))

/** Adds to the edits what the provider does not take of a body, and leaves out edits of members that it refuses. */
export const withoutRefused = (
  edits: PassEdit[],
  refused: Edit['path'][],
  { rejects = [], hashesUsers }: Quirks,
  body: JsonObject,
): PassEdit[] =>
  rejects.length + refused.length === 0 && hashesUsers !== true
    ? edits
    : [
        ...edits.filter(({ path: [name] }) => !rejects.includes(String(name))),
        ...refused.map((path) => ({ path, value: undefined, lost: true as const })),
        ...(hashesUsers === true ? usersIn(body) : [])
          .filter(({ place }) => !refused.some((gone) => gone.every((step, at) => place[at] === step)))
          .map(({ place, digest }) => ({ path: place, value: JSON.stringify(digest), lost: true as const })),
      ]

/** For an answer, or a part of one, that is none of its wire's. */
export const malformedAnswer = (cause?: unknown): GatewayError =>
  new GatewayError('upstream_error', 'Server error: the provider sent an answer that cannot be read. Try again.', {
    cause,
  })

/** The error that a body reports, or that it lacks the member every answer of its wire has. */
export const faultOf = (
  body: JsonObject,
  member: 'content' | 'output' | 'data' | 'results',
  decodeError: (status: number, body: JsonObject) => GatewayError,
): GatewayError | undefined => {
  const { error } = body
  // Some providers answer 200 and put the status inside the error.
  const { status } = asObject(error)
  if (isToldError(error)) return decodeError(typeof status === 'number' ? status : 200, body)
  if (Array.isArray(body[member])) return undefined
  return noAnswer(body, decodeError)
}

/** Whether an error is told: some servers have an empty one beside every answer. */
export const isToldError = (error: Json | undefined): boolean => isFilled(error) || filledText(error) !== undefined

/** What comes in the place of an answer: some servers tell there what is wrong. */
export const noAnswer = (
  body: JsonObject,
  decodeError: (status: number, body: JsonObject) => GatewayError,
): GatewayError => (tellsWhy(body) ? decodeError(200, body) : malformedAnswer())

/** Usage of a whole answer, with the provider's own object. */
export const usageIn = (
  { usage: raw, service_tier: tier }: JsonObject,
  decodeUsage: (raw: JsonObject) => Usage | undefined,
): { usage: Usage; raw: JsonObject } | undefined => {
  const usage = isObject(raw) ? inTier(decodeUsage(raw), tier) : undefined
  return isObject(raw) && usage !== undefined ? { usage, raw } : undefined
}

/** The frame that ends a broken stream, for clients that read the gateway's envelope as it is. */
export const errorFrame = (error: GatewayError): string =>
  writeFrame({ event: 'error', data: JSON.stringify(envelope(error)) })

/** A comment, which every reader skips. Not followed by an empty line, at which older SDKs dispatch an event without data. */
export const KEEP_ALIVE = ': keep-alive\n'

/** The state every tap keeps. `failed` records an error and returns '', the text of a frame that is not passed on. */
type Noted = { -readonly [Name in keyof Omit<Tap, 'see' | 'end' | 'fail'>]: Tap[Name] } & {
  failed(error: GatewayError): ''
}

export const openNotes = (): Noted => {
  const noted: Noted = {
    answerId: undefined,
    usage: undefined,
    summed: true,
    complete: false,
    rawUsage: undefined,
    serviceTier: undefined,
    serverTools: {},
    state: 'open',
    error: undefined,
    begun: false,
    output: new OutputText(),
    failed: (error) => {
      noted.state = 'failed'
      noted.error = error
      return ''
    },
  }
  return noted
}

/** Whether an object has text, or anything else in it, beside what only names it. */
export const saysMore = (one: JsonObject, naming: ReadonlySet<string>): boolean =>
  Object.entries(one).some(([name, value]) => !naming.has(name) && isSaid(value))

const isSaid = (value: Json | undefined): boolean =>
  filledText(value) !== undefined || isFilled(value) || asList(value).some(isSaid)

/** A member's value where it is a string. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
