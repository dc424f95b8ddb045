// Answers in the background: the provider goes on after the client was answered or has left. The exchange stays open,
// over restarts too, and is settled by what the provider says of the answer in the end.

import { GatewayError } from '../errors.ts'
import { isObject, type JsonObject, parseObject } from '../ir/json.ts'
import type { BackgroundAnswer, BackgroundStore } from '../ledger/background.ts'
import type { Outcome } from '../ledger/ledger.ts'
import { answerEndpoint } from '../provider/endpoint.ts'
import { CODECS } from '../wire/index.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { type Standing, standingOf } from '../wire/responses/background.ts'
import { ANSWER_BYTES, readText } from './answer-text.ts'
import { type Caller, call } from './call.ts'
import type { Ended, Exchange, Relay } from './exchange.ts'
import { targetName } from './health.ts'
import { type Metered, meterAnswer, meterTold, NOTHING } from './meter.ts'
import type { Target } from './route.ts'
import { type Settling, settle as settleExchange } from './settle.ts'
import { type Outgoing, timedOut } from './upstream.ts'

/** What is known of background answers. */
export type Background = {
  readonly kept: BackgroundStore
  /** Those that are not settled, by exchange. */
  readonly watched: Map<string, Watched>
}

export const createBackground = (kept: BackgroundStore): Background => ({ kept, watched: new Map() })

type End = { outcome: Outcome; metered: Metered; error?: GatewayError | undefined }

/** An exchange that goes on. */
export type Open = {
  inputEstimate: number
  /** What it is billed where nobody can tell any more what became of it. */
  last: Metered
  /** Called once. */
  settle(end: End): void
}

export type Watched = Open & {
  readonly answer: BackgroundAnswer
  /** Milliseconds since the epoch. */
  readonly watchedSince: number
  /** Looks in a row for which the provider did not know it. */
  missed: number
  timer: ReturnType<typeof setTimeout> | undefined
}

/** Between two looks at an answer: a part of the time it was watched so far, within bounds. */
const LOOK_PART = 0.1
const LEAST_PAUSE_MS = 1_000
const MOST_PAUSE_MS = 15_000
/** All of them together are looked at no more often than this. */
const LOOK_EVERY_MS = 10

/** So many looks in a row must miss one: a provider may be slow to know its newest. */
const MISSES = 3

/** One that can neither be asked for nor ended is given up when it was watched for so many times as long as it may take. */
const PATIENCE = 2

/** The longest id that is kept. Those of proxies, which say where the answer is made, have some hundred. */
const MOST_ID_CHARS = 1_024

/** No id, or one that as a part of a path is another path. */
const DOTS = /^\.{0,2}$/

/** Notes where an exchange's answer is made, so that it is found again. Undefined for one that its provider gave no id. */
export const keepAnswer = (relay: Relay, exchange: Exchange, target: Target, id: unknown) => {
  if (typeof id !== 'string' || id.length > MOST_ID_CHARS || DOTS.test(id)) return undefined
  const answer: BackgroundAnswer = {
    id,
    exchangeId: exchange.id,
    keyId: exchange.key.id,
    provider: target.provider.id,
    account: target.account.name,
    model: target.model.id,
    createdAt: exchange.startedAt,
  }
  try {
    relay.background.kept.keep(answer)
  } catch {
    // A store that cannot be written: nobody will find the answer, but it is settled all the same.
  }
  return answer
}

/** Settles an exchange once its answer has ended. */
export const watchAnswer = (relay: Relay, answer: BackgroundAnswer, open: Open): void => {
  const watched: Watched = { ...open, answer, watchedSince: relay.clock.now(), missed: 0, timer: undefined }
  relay.background.watched.set(answer.exchangeId, watched)
  later(relay, watched)
}

/** Goes on with what a previous process left. */
export const resumeAnswers = (
  relay: Relay,
  { keyOf, onSettled }: { keyOf: (keyId: string) => Ended['key']; onSettled: Exchange['onSettled'] },
): void => {
  for (const { reservation, model: askedFor, stream, inputEstimate, usage } of relay.ledger.resumed) {
    const answer = relay.background.kept.of(reservation.exchangeId)
    if (answer === undefined) continue
    const { exchangeId, keyId, model, provider, account } = answer
    const exchange: Settling = {
      ...{ id: exchangeId, key: keyOf(keyId), wire: 'responses', model: { id: askedFor }, stream },
      ...{ startedAt: reservation.startedAt, reservation, kept: answer, dropped: [], resumed: true, onSettled },
      attempts: [{ provider, account, model, wire: 'responses', ms: 0 }],
    }
    watchAnswer(relay, answer, {
      inputEstimate,
      last: { usage: { input: inputEstimate, ...usage }, rawUsage: undefined, estimated: true },
      settle: ({ outcome, metered, error }) =>
        settleExchange(relay, exchange, whereIs(relay, answer), metered, outcome, error),
    })
  }
}

/** Leaves what is open to the next process. */
export const leaveAnswers = ({ background: { watched } }: Relay): void => watched.clear()

const later = (relay: Relay, watched: Watched): void => {
  clearTimeout(watched.timer)
  // Not of its age: what a restart leaves is old all at once, and would be looked at all at once.
  const pause = (relay.clock.now() - watched.watchedSince) * LOOK_PART
  const bounded = Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, pause))
  const shared = relay.background.watched.size * LOOK_EVERY_MS
  watched.timer = setTimeout(() => void lookAfter(relay, watched.answer), Math.max(bounded, shared))
  watched.timer.unref()
}

/** Asks how an answer stands that is not settled, ends one that takes too long, and settles what has ended. */
export const lookAfter = async (relay: Relay, answer: BackgroundAnswer): Promise<void> => {
  const watched = relay.background.watched.get(answer.exchangeId)
  if (watched === undefined) return
  clearTimeout(watched.timer)
  const target = whereIs(relay, answer)
  const error = target === undefined ? noLongerThere(answer.id) : await look(relay, target, watched)
  if (error !== undefined) settle(relay, watched, { outcome: 'failed', metered: watched.last, error })
  if (isOpen(relay, answer)) later(relay, watched)
}

/** Gives why nobody can tell any more what becomes of an answer; undefined otherwise. */
const look = async (relay: Relay, target: Target, watched: Watched): Promise<GatewayError | undefined> => {
  const { answer, watchedSince } = watched
  const { totalMs } = target.provider.timeouts
  const late = relay.clock.now() - answer.createdAt >= totalMs
  for (const what of late ? (['read', 'cancel'] as const) : (['read'] as const)) {
    try {
      await askFor(relay, target, answer, nobody(), what)
      watched.missed = 0
    } catch (error) {
      // A provider that does not know the way to an answer's end may know the answer.
      if (what === 'read' && error instanceof GatewayError && error.code === 'not_found') {
        if (++watched.missed === MISSES) return error
      }
    }
    if (!isOpen(relay, answer)) return undefined
  }
  return relay.clock.now() - watchedSince < PATIENCE * totalMs ? undefined : timedOut('did not finish')
}

/** Whether an answer is not settled yet. */
const isOpen = ({ background: { watched } }: Relay, { exchangeId }: BackgroundAnswer): boolean =>
  watched.has(exchangeId)

/** Who asks when the gateway asks for its own sake. */
const nobody = (): Caller => ({ headers: new Headers(), begunAt: performance.now() })

/** The target that makes an answer; undefined when it is not configured any more. */
export const whereIs = (relay: Relay, { provider: id, account: name, model: modelId }: BackgroundAnswer) => {
  const provider = relay.providers.get(id)
  const account = provider?.accounts.find((each) => each.name === name)
  const model = relay.catalogue.resolve(modelId)
  if (provider === undefined || account === undefined || model === undefined) return undefined
  const target: Target = { provider, account, model, wire: 'responses', name: targetName(id, name, modelId) }
  return target
}

export const noLongerThere = (id: string): GatewayError =>
  new GatewayError(
    'not_found',
    `There is no answer ${id.slice(0, 100)} for this key. Only answers asked for with background: true are kept, and not for ever.`,
  )

export type Told = { text: string; body: JsonObject }

/**
 * Asks for an answer, or for its end, and settles its exchange where that is over. Throws GatewayError: `not_found` for
 * one that its provider does not know any more.
 */
export const askFor = async (
  relay: Relay,
  target: Target,
  answer: BackgroundAnswer,
  caller: Caller,
  what: 'read' | 'cancel',
  { query = '', abort }: { query?: string; abort?: AbortController } = {},
): Promise<Told> => {
  const url = answerEndpoint(target.account, answer.id, what === 'cancel' ? '/cancel' : '', query)
  const told = await ask(relay, target, answer, caller, { method: what === 'cancel' ? 'POST' : 'GET', url }, abort)
  const standing = standingOf(told.body)
  if (standing === undefined) throw malformedAnswer()
  const watched = relay.background.watched.get(answer.exchangeId)
  if (watched !== undefined && standing !== 'open') await settleBy(relay, watched, target, standing, told.body)
  return told
}

/** Ends an answer that is not over, so that it is settled before it is gone. Throws GatewayError. */
export const endAnswer = async (
  relay: Relay,
  target: Target,
  answer: BackgroundAnswer,
  caller: Caller,
): Promise<void> => {
  if (isOpen(relay, answer)) await askFor(relay, target, answer, caller, 'read')
  if (isOpen(relay, answer)) await askFor(relay, target, answer, caller, 'cancel')
  if (isOpen(relay, answer)) throw notOver()
}

export const notOver = (): GatewayError =>
  new GatewayError('service_unavailable', 'The answer is not over yet. Try again shortly.', { retryAfterMs: 1_000 })

/** A JSON answer of the provider to a request about an answer. */
export const ask = (
  relay: Relay,
  target: Target,
  { id }: BackgroundAnswer,
  request: Caller,
  outgoing: Outgoing,
  abort = new AbortController(),
): Promise<Told> =>
  known(
    id,
    call({ relay, request, target, codec: CODECS.responses, abort }, outgoing, async (response, heard) => {
      const text = await readText(response, ANSWER_BYTES, abort, heard)
      const body = parseObject(text)
      if (body === undefined) throw malformedAnswer()
      // An answer that failed says so with its status; this is a refusal to tell of it.
      if (isObject(body.error) && typeof body.status !== 'string') throw CODECS.responses.decodeError(200, body)
      return { text, body }
    }),
  )

/** What a provider says of an answer it does not have is no fault of its. */
export const known = async <Answer>(id: string, asked: Promise<Answer>): Promise<Answer> => {
  try {
    return await asked
  } catch (error) {
    throw error instanceof GatewayError && error.provider?.status === 404 ? noLongerThere(id) : error
  }
}

const OUTCOMES = { done: 'done', failed: 'failed', cancelled: 'aborted' } as const

const settleBy = async (
  relay: Relay,
  watched: Watched,
  target: Target,
  standing: Exclude<Standing, 'open'>,
  body: JsonObject,
): Promise<void> => {
  const codec = CODECS.responses
  const error = standing === 'failed' ? codec.decodeError(200, body) : undefined
  const metered = await meterEnd(watched, target, body, standing === 'failed').catch(() => watched.last)
  settle(relay, watched, { outcome: OUTCOMES[standing], metered, error })
}

/** One that failed before it put anything out is not billed, unless its provider says so. */
const meterEnd = async (
  { inputEstimate }: Open,
  { model }: Target,
  body: JsonObject,
  failed: boolean,
): Promise<Metered> => {
  const read = CODECS.responses.readUsage(body)
  if (read?.usage.output !== undefined) return meterTold(inputEstimate, read.usage, read.raw)
  const metered = await meterAnswer(inputEstimate, model, { body, usage: read?.usage, rawUsage: read?.raw })
  return failed && read === undefined && metered.usage.output === 0 ? NOTHING : metered
}

/** Whoever comes first settles. */
const settle = ({ background: { watched } }: Relay, one: Watched, end: End): void => {
  if (watched.get(one.answer.exchangeId) !== one) return
  watched.delete(one.answer.exchangeId)
  clearTimeout(one.timer)
  one.settle(end)
}
