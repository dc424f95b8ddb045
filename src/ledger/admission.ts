// Admission: whether a request fits all that it counts against, and how much of each is reserved for it.

import { GatewayError } from '../errors.ts'
import { type Bound, mostOf } from './bounds.ts'
import { SCALE } from './cost.ts'
import type { ReserveAsk } from './ledger.ts'

/**
 * While other requests hold the rest of a bound, an answer with a smaller cap than this is not worth starting: the client
 * should wait for them. A client that asks for less gets it.
 */
const LEAST_OUTPUT = 16
/** Requests in flight may end at any time. */
const HELD_RETRY_MS = 1_000

type Asked = Pick<
  ReserveAsk,
  'inputEstimate' | 'leastInput' | 'outputCap' | 'maxOutput' | 'answers' | 'leastOutput' | 'fixed'
>

/** Tokens. `outputCap` undefined: the request fits as it is. */
export type Admitted = { input: number; output: number; outputCap: number | undefined }

/**
 * Keeps used + held ≤ total in every bound, with one exception: when nothing else that counts there is in flight, a last request is
 * admitted even if its input estimate exceeds what is left, unless it surely does. Throws `quota_exhausted` when nothing is left
 * of one, or a fixed output is more than is left, `rate_limit_exceeded` when requests in flight hold what is left.
 */
export const admit = (bounds: readonly Bound[], ask: Asked): Admitted => {
  // What a wait cannot help with is told before what it can.
  for (const bound of bounds) requireRoom(bound, ask)
  const input = Math.max(0, Math.ceil(ask.inputEstimate))
  const answers = Math.max(1, Math.floor(ask.answers ?? 1))
  const cap = Math.max(0, Math.floor(ask.outputCap ?? ask.maxOutput))
  const floor = ask.leastOutput ?? 0
  const wanted = Math.max(cap, floor) * answers
  // The least that can be reserved: a fixed output, or one token for each of several answers.
  const least = ask.fixed === true ? wanted : answers > 1 ? answers : 0
  let outputCap: number | undefined
  for (const bound of bounds) {
    const affordable = outputIn(bound, input)
    if (affordable >= wanted) continue
    if (bound.held > 0 && affordable < Math.max(least, Math.min(wanted, LEAST_OUTPUT * answers))) throw held(bound)
    if (least > 0 && affordable < least) throw tooLittle(bound)
    outputCap = Math.min(outputCap ?? cap, Math.max(1, Math.floor(affordable / answers)))
  }
  if (outputCap === undefined) return { input, output: wanted, outputCap }
  return { input, output: Math.max(outputCap, floor) * answers, outputCap }
}

/** The output tokens that fit beside the prompt; less than 0 where that alone does not. */
const outputIn = ({ left, held, per }: Bound, input: number): number => {
  const free = (left - held - per.fees) * SCALE - input * per.input
  if (per.output > 0) return Math.floor(free / per.output)
  return free >= 0 ? Number.POSITIVE_INFINITY : -1
}

/** Throws `quota_exhausted` where nothing is left, or surely not enough for the prompt. */
const requireRoom = (bound: Bound, ask: Asked): void => {
  requireLeft(bound)
  const { left, per } = bound
  if (left >= mostOf(per, ask.inputEstimate, 0)) return
  const surely = Math.floor(((ask.leastInput?.() ?? 0) * per.least) / SCALE)
  if (surely <= left) return
  throw new GatewayError(
    'quota_exhausted',
    `The prompt takes at least ${bound.shown(surely)}, and the ${bound.words()} has ${bound.shown(left, true)} left.${bound.renewal()} ${sentence(['shorten it', ...bound.ways])}`,
  )
}

/** Throws `quota_exhausted` when nothing is left. */
export const requireLeft = (bound: Bound): void => {
  if (bound.left > 0) return
  throw new GatewayError(
    'quota_exhausted',
    `The ${bound.words()} is used up.${bound.renewal()} ${sentence(bound.ways)}`,
  )
}

const sentence = (ways: readonly string[]): string => {
  const all = ways.length > 1 ? `${ways.slice(0, -1).join(', ')}, or ${ways.at(-1)}` : ways.join('')
  return `${all.charAt(0).toUpperCase()}${all.slice(1)}.`
}

const held = (bound: Bound): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    `The rest of the ${bound.words()} is held by its requests in flight. Try again when they are done.`,
    { retryAfterMs: HELD_RETRY_MS },
  )

const tooLittle = (bound: Bound): GatewayError =>
  new GatewayError(
    'quota_exhausted',
    `The ${bound.words()} has ${bound.shown(bound.left)} left, which does not cover what was asked for.${bound.renewal()} ${sentence(bound.ways)}`,
  )
