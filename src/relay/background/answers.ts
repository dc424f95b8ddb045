// Answers in the background: the provider goes on after the client was answered or has disconnected. The exchange stays
// open, across restarts too, until somebody reads its answer's end: its client, or the gateway itself (polling.ts).

import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, parseObject } from '../../ir/json.ts'
import type { Usage } from '../../ir/usage.ts'
import type { BackgroundAnswer } from '../../ledger/background.ts'
import { answerEndpoint } from '../../provider/endpoint.ts'
import { CODECS } from '../../wire/index.ts'
import { malformedAnswer } from '../../wire/pass.ts'
import { type AnswerState, answerStateOf } from '../../wire/responses/background.ts'
import { callsInAnswer } from '../../wire/tools/server-calls.ts'
import { lengthOf } from '../adapt/continued.ts'
import { ANSWER_BYTES, readText } from '../answer-text.ts'
import { type Caller, call } from '../call.ts'
import type { Exchange, Metered } from '../exchange.ts'
import { targetName } from '../health.ts'
import { meterWhole, NO_USAGE } from '../meter.ts'
import { placeAnswer } from '../route.ts'
import type { Relay } from '../services.ts'
import type { Outgoing, Target } from '../target.ts'
import type { End, Open, Watched } from './watched.ts'

/** The longest id that is recorded. Proxies encode where the answer is made, in some hundred characters. */
const MAX_ID_CHARS = 1_024

/** An empty id, or `.` or `..`, which would lead to another path. */
const DOTS = /^\.{0,2}$/

/** Records where an exchange's answer is made, so that it can be found again. Undefined if the provider gave it no id. */
export const recordAnswer = async (
  relay: Relay,
  exchange: Exchange,
  target: Target,
  id: unknown,
): Promise<BackgroundAnswer | undefined> => {
  if (typeof id !== 'string' || id.length > MAX_ID_CHARS || DOTS.test(id)) return undefined
  const answer: BackgroundAnswer = {
    id,
    exchangeId: exchange.id,
    keyId: exchange.key.id,
    provider: target.provider.id,
    account: target.account.name,
    model: target.model.id,
    createdAt: exchange.startedAt,
  }
  // Without its record the client cannot read the answer again, but this process still settles it.
  await relay.background.keep(answer).catch(() => undefined)
  return answer
}

/** Whether an answer is watched here: it is not settled yet. */
export const isWatched = ({ background: { watched } }: Relay, { exchangeId }: BackgroundAnswer): boolean =>
  watched.has(exchangeId)

/** Whether an answer is not settled yet, whoever watches it. */
const isOpen = async ({ background }: Relay, { exchangeId }: BackgroundAnswer): Promise<boolean> =>
  background.watched.has(exchangeId) || (await background.isOpenElsewhere?.(exchangeId)) === true

/** The target that makes an answer; undefined when it is no longer configured. */
export const targetOf = (relay: Relay, { provider: id, account: name, model: modelId }: BackgroundAnswer) => {
  const provider = relay.providers.get(id)
  const account = provider?.accounts.find((each) => each.name === name)
  const model = relay.catalogue.resolve(modelId)
  if (provider === undefined || account === undefined || model === undefined) return undefined
  const target: Target = { provider, account, model, wire: 'responses', name: targetName(id, name, modelId) }
  return target
}

export const answerNotFound = (id: string): GatewayError =>
  new GatewayError(
    'not_found',
    `There is no answer ${id.slice(0, 100)} for this key, or not any more. Answers asked for with store: false are not kept, nor are those of a provider of this wire without background: true.`,
  )

export type ProviderAnswer = { text: string; body: JsonObject }

/** An answer, the target that makes it, and who asks about it. */
type About = { target: Target; answer: BackgroundAnswer; caller: Caller }

/**
 * Reads an answer from its provider, or cancels it, and settles its exchange if it has ended. Throws GatewayError:
 * `not_found` if the provider no longer has it.
 */
export const refreshAnswer = async (
  relay: Relay,
  about: About,
  what: 'read' | 'cancel',
  { query = '', abort }: { query?: string; abort?: AbortController } = {},
): Promise<ProviderAnswer> => {
  const { target, answer } = about
  const url = answerEndpoint(target.account, answer.id, what === 'cancel' ? '/cancel' : '', query)
  const read = await requestJson(relay, about, { method: what === 'cancel' ? 'POST' : 'GET', url }, abort)
  const state = answerStateOf(read.body)
  if (state === undefined) throw malformedAnswer()
  const watched = relay.background.watched.get(answer.exchangeId)
  if (watched !== undefined && state !== 'open') await settleEnded(relay, watched, target, { state, body: read.body })
  else if (state === 'done') await noteLength(relay, about, CODECS.responses.readUsage(read.body)?.usage)
  return read
}

/** Whoever watches it hears of its end with the next poll: who has read that here may go on from it before. */
export const noteLength = async (
  relay: Relay,
  { target, answer }: Pick<About, 'target' | 'answer'>,
  usage: Usage | undefined,
): Promise<void> => {
  if (usage === undefined) return
  const { id, keyId } = answer
  const length = lengthOf(usage)
  relay.continued.remember(keyId, id, length)
  if (await isOpen(relay, answer)) await placeAnswer(relay, { key: { id: keyId }, answerId: id }, target, length)
}

/** Cancels an answer that has not ended and settles its exchange. Throws GatewayError. */
export const cancelAnswer = async (relay: Relay, about: About): Promise<void> => {
  const { answer } = about
  if (await isOpen(relay, answer)) await refreshAnswer(relay, about, 'read')
  if (await isOpen(relay, answer)) await refreshAnswer(relay, about, 'cancel')
  if (await isOpen(relay, answer)) throw answerNotOver()
}

export const answerNotOver = (): GatewayError =>
  new GatewayError('service_unavailable', 'The answer is not over yet. Try again shortly.', { retryAfterMs: 1_000 })

/** The provider's JSON answer to a request about a background answer. */
export const requestJson = (
  relay: Relay,
  { target, answer, caller }: About,
  outgoing: Outgoing,
  abort = new AbortController(),
): Promise<ProviderAnswer> =>
  orNotFound(
    answer.id,
    call({ relay, request: caller, target, codec: CODECS.responses, abort }, outgoing, async (response, heard) => {
      const text = await readText(response, ANSWER_BYTES, abort, { heard, room: relay.room, turns: relay.turns })
      const body = parseObject(text, true)
      if (body === undefined) throw malformedAnswer()
      // A failed answer has a status beside its error; an error alone is a refusal of this request.
      if (isObject(body.error) && typeof body.status !== 'string') throw CODECS.responses.decodeError(200, body)
      return { text, body }
    }),
  )

/** A provider that does not have an answer is not at fault: its 404 becomes `not_found`. */
export const orNotFound = async <Answer>(id: string, request: Promise<Answer>): Promise<Answer> => {
  try {
    return await request
  } catch (error) {
    throw error instanceof GatewayError && error.provider?.status === 404 ? answerNotFound(id) : error
  }
}

const OUTCOMES = { done: 'done', failed: 'failed', cancelled: 'aborted' } as const

const settleEnded = async (
  relay: Relay,
  watched: Watched,
  target: Target,
  { state, body }: { state: Exclude<AnswerState, 'open'>; body: JsonObject },
): Promise<void> => {
  const codec = CODECS.responses
  const error = state === 'failed' ? codec.decodeError(200, body) : undefined
  const counted = await meterEnd(watched, target, body, state === 'failed').catch(() => watched.lastKnown)
  const metered = { ...counted, serverTools: callsInAnswer(body) }
  watched.hear?.(body)
  await settle(relay, watched, { outcome: OUTCOMES[state], metered, error })
}

/** An answer that failed without any output is not billed, unless its provider reports usage. */
const meterEnd = async (
  { inputEstimate }: Open,
  target: Target,
  body: JsonObject,
  failed: boolean,
): Promise<Metered> => {
  const read = CODECS.responses.readUsage(body)
  const metered = await meterWhole(inputEstimate, { target, body, usage: read?.usage, rawUsage: read?.raw })
  return failed && read === undefined && metered.usage.output === 0 ? NO_USAGE : metered
}

/** The first to see the end settles; later calls do nothing. */
export const settle = async ({ background: { watched } }: Relay, one: Watched, end: End): Promise<void> => {
  if (watched.get(one.answer.exchangeId) !== one) return
  watched.delete(one.answer.exchangeId)
  clearTimeout(one.timer)
  await one.settle(end)
}
