// Polls the answers that providers make in the background until each has ended: its final figures settle the exchange.

import { GatewayError } from '../../errors.ts'
import type { BackgroundAnswer } from '../../ledger/background.ts'
import type { Resumed } from '../../ledger/ledger.ts'
import type { Caller } from '../call.ts'
import type { Ended, Exchange } from '../exchange.ts'
import type { Relay } from '../services.ts'
import { type Settling, settle as settleExchange } from '../settle.ts'
import type { Target } from '../target.ts'
import { timedOut } from '../upstream.ts'
import { answerNotFound, isWatched, refreshAnswer, settle, targetOf } from './answers.ts'
import type { Open, Watched } from './watched.ts'

/** The pause between two polls of an answer: a fraction of the time it has been watched, within bounds. */
const PAUSE_FRACTION = 0.1
const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 15_000
/** On average, polls of all answers together are at least this far apart. */
const POLL_SPACING_MS = 10

/** An answer is lost after this many misses in a row: a provider may take a moment to find a new one. */
const MAX_MISSED = 3

/** An answer that can be neither read nor cancelled is given up after this many times the provider's total timeout. */
const GIVE_UP_AFTER = 2

/** Settles an exchange once its answer has ended. */
export const watchAnswer = (relay: Relay, answer: BackgroundAnswer, open: Open): void => {
  const ageMs = Math.max(0, relay.clock() - answer.createdAt)
  const watched: Watched = {
    ...open,
    ...{ answer, watchedSince: relay.stopwatch(), ageMs, missed: 0, timer: undefined },
  }
  relay.background.watched.set(answer.exchangeId, watched)
  schedulePoll(relay, watched)
}

type Resuming = { keyOf: (keyId: string) => Ended['key']; onSettled: Exchange['onSettled'] }

/** Watches the answers that a previous process left unsettled. */
export const resumeAnswers = async (relay: Relay, how: Resuming): Promise<void> => {
  for (const each of relay.ledger.resumed) {
    const answer = await relay.background.store.of(each.reservation.exchangeId)
    if (answer !== undefined) resumeAnswer(relay, each, answer, how)
  }
}

/** Watches the answer of an exchange whose process has ended. */
export const resumeAnswer = (
  relay: Relay,
  { reservation, model: askedFor, stream, inputEstimate, usage, serverTools = {}, begun }: Resumed,
  answer: BackgroundAnswer,
  { keyOf, onSettled }: Resuming,
): void => {
  const { exchangeId, keyId, model, provider, account } = answer
  const exchange: Settling = {
    ...{ id: exchangeId, key: keyOf(keyId), wire: 'responses', model: { id: askedFor }, stream },
    ...{ startedAt: reservation.startedAt, reservation, answerId: answer.id, backgroundAnswer: answer },
    ...{ resumed: true, onSettled, dropped: [...(begun?.dropped ?? [])] },
    attempts: [...(begun?.attempts ?? [{ provider, account, model, wire: 'responses' as const, ms: 0 }])],
    ...(begun?.firstByteMs === undefined ? {} : { firstByteMs: begun.firstByteMs }),
    trace: begun?.spans,
  }
  watchAnswer(relay, answer, {
    inputEstimate,
    lastKnown: { usage: { input: inputEstimate, ...usage }, rawUsage: undefined, estimated: true, serverTools },
    settle: (end) => settleExchange(relay, exchange, { ...end, target: targetOf(relay, answer) }),
  })
}

/** Leaves unsettled answers to the next process. */
export const stopPolling = ({ background: { watched } }: Relay): void => watched.clear()

const schedulePoll = (relay: Relay, watched: Watched): void => {
  clearTimeout(watched.timer)
  // By the time it was watched, not by its age: after a restart all answers are old, and would be polled all at once.
  const pause = (relay.stopwatch() - watched.watchedSince) * PAUSE_FRACTION
  const bounded = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, pause))
  const shared = relay.background.watched.size * POLL_SPACING_MS
  watched.timer = setTimeout(() => void pollAnswer(relay, watched.answer), Math.max(bounded, shared))
  watched.timer.unref()
}

/** Polls one unsettled answer: settles it if it has ended, cancels it if it takes too long. */
export const pollAnswer = async (relay: Relay, answer: BackgroundAnswer): Promise<void> => {
  const watched = relay.background.watched.get(answer.exchangeId)
  if (watched === undefined) return
  clearTimeout(watched.timer)
  const target = targetOf(relay, answer)
  const error = target === undefined ? answerNotFound(answer.id) : await poll(relay, target, watched)
  if (error !== undefined) await settle(relay, watched, { outcome: 'failed', metered: watched.lastKnown, error })
  if (isWatched(relay, answer)) schedulePoll(relay, watched)
}

/** Returns an error once the answer is lost: nobody can say any more how it ends. */
const poll = async (relay: Relay, target: Target, watched: Watched): Promise<GatewayError | undefined> => {
  const { answer, watchedSince, ageMs } = watched
  const { totalMs } = target.provider.timeouts
  const late = ageMs + relay.stopwatch() - watchedSince >= totalMs
  for (const what of late ? (['read', 'cancel'] as const) : (['read'] as const)) {
    try {
      await refreshAnswer(relay, { target, answer, caller: ownCaller() }, what)
      watched.missed = 0
    } catch (error) {
      // A provider without a way to cancel answers 404 too, and may still know the answer.
      if (what === 'read' && error instanceof GatewayError && error.code === 'not_found') {
        if (++watched.missed === MAX_MISSED) return error
      }
    }
    if (!isWatched(relay, answer)) return undefined
  }
  return relay.stopwatch() - watchedSince < GIVE_UP_AFTER * totalMs ? undefined : timedOut('did not finish')
}

/** The gateway itself, which asks without a client's headers. */
const ownCaller = (): Caller => ({ headers: new Headers(), begunAt: performance.now() })
