// The one settlement of an exchange, and its summary for the log and the metrics.

import { namingOthers } from '../catalogue/catalogue.ts'
import type { JsonObject } from '../ir/json.ts'
import type { Usage } from '../ir/usage.ts'
import { heedOverrun } from './adapt/cap-name.ts'
import { lengthOf } from './adapt/continued.ts'
import type { End } from './background/watched.ts'
import type { Ended, Exchange, Summary } from './exchange.ts'
import { callsTold } from './meter.ts'
import { placeAnswer } from './route.ts'
import type { Relay } from './services.ts'
import type { Target } from './target.ts'

/** `begunAt`, `body`: absent where a previous process began it. */
export type Settling = Ended &
  Pick<Exchange, 'reservation' | 'answerId' | 'backgroundAnswer' | 'onSettled'> &
  Partial<Pick<Exchange, 'begunAt' | 'body' | 'bodyWire'>>

/** `target`: the one that answered, if any. */
type Answered = End & { target?: Target | undefined }

/**
 * Settles an exchange and reports it. Resolves once that is written, and others can go on from its answer: its end must not leave
 * before.
 */
export const settle = (
  relay: Relay,
  exchange: Settling,
  { target, outcome, metered, error }: Answered,
): Promise<void> => {
  const { usage, rawUsage, estimated, pictures } = metered
  const totalMs =
    exchange.begunAt === undefined
      ? Math.max(0, relay.clock() - exchange.startedAt)
      : Math.round(performance.now() - exchange.begunAt)
  const begun = exchange.backgroundAnswer !== undefined || (exchange.stream && target !== undefined)
  const status = begun ? 200 : (error?.status ?? (outcome === 'aborted' ? 499 : 200))
  const last = exchange.attempts.at(-1)
  const { costMicroUsd, written } = relay.ledger.settle(exchange.reservation, {
    outcome,
    usage: target === undefined ? usage : namingOthers(usage, target.model, relay.catalogue),
    estimated,
    rawUsage: withTier(rawUsage, usage),
    serverTools: callsTold(metered),
    pictures,
    status,
    errorCode: error?.code,
    model: target?.model.id ?? exchange.backgroundAnswer?.model,
    provider: target?.provider.id ?? last?.provider,
    account: target?.account.name ?? last?.account,
    upstreamModel: target?.model.upstream,
    providerWire: target?.wire ?? last?.wire,
    attempts: exchange.attempts.length,
    firstByteMs: exchange.firstByteMs,
    totalMs,
    trail: exchange.attempts,
    dropped: exchange.dropped,
  })
  const length = outcome === 'done' ? lengthOf(usage) : undefined
  if (exchange.answerId !== undefined && length !== undefined)
    relay.continued.remember(exchange.key.id, exchange.answerId, length)
  const placed = placeAnswer(relay, exchange, target, length)
  if (target !== undefined && outcome === 'done' && !estimated) heedOverrun(relay.detours, exchange, target, usage)
  if (target?.model.kind === 'image' && outcome === 'done' && !estimated)
    relay.pictures.remember(target.model, exchange.body?.outline ?? {}, usage.output ?? 0)
  const recorded =
    length === undefined || placed === undefined ? written : Promise.all([written, placed]).then(() => undefined)
  const summary: Summary = {
    outcome,
    status,
    errorCode: error?.code,
    tokens: {
      input: usage.input ?? 0,
      cacheRead: usage.cacheRead ?? 0,
      cacheWrite: usage.cacheWrite ?? 0,
      output: usage.output ?? 0,
    },
    reasoning: usage.reasoning ?? 0,
    costMicroUsd,
    estimated,
    totalMs,
  }
  exchange.onSettled(exchange, summary, recorded)
  return recorded
}

/** Where a wire tells the class of service beside the figures, they do not tell what they cost without it. */
const withTier = (raw: JsonObject | undefined, { serviceTier }: Usage): JsonObject | undefined =>
  raw === undefined || serviceTier === undefined || 'service_tier' in raw || 'speed' in raw
    ? raw
    : { ...raw, service_tier: serviceTier }
