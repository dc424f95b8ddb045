// The operator's log: one JSON line per exchange and per event of the server, on standard error.

import pino from 'pino'
import type { LogLevel } from '../config.ts'
import type { AttemptNote } from '../ledger/ledger.ts'
import type { ClientRequest, CountSummary, Ended, Summary } from '../relay/exchange.ts'
import { openSink } from './log-sink.ts'

export type Log = {
  /** An exchange has ended. Ids, figures and codes only: no secret, no prompt, no provider text. */
  exchange(exchange: Ended, summary: Summary): void
  /** A token count has ended. */
  counted(request: ClientRequest, how: CountSummary): void
  /** A request that was refused before it was admitted. */
  refused(facts: {
    request: string
    key?: string | undefined
    /** Where the client asked from. */
    address?: string | undefined
    path: string
    status: number
    code: string
    /** What keeps the gateway from serving. */
    why?: string | undefined
  }): void
  warn(message: string, facts?: object): void
  error(message: string, facts?: object): void
  setLevel(level: LogLevel): void
  flush(): void
}

const INFO = pino.levels.values.info

/** Which of several it is: the number of a process of one server, or the name of a node. */
type Which = { worker?: number; node?: string }

export const createLog = (level: LogLevel, which: Which = {}): Log => {
  const destination = openSink(2)
  const { worker, node } = which
  const logger = pino({ level, base: which, timestamp: pino.stdTimeFunctions.isoTime }, destination)
  return {
    exchange: (exchange, summary) => {
      if (!logger.isLevelEnabled('info')) return
      // Written thousands of times a second: stringified at once, where pino would join each member.
      destination.write(
        `${JSON.stringify({
          level: INFO,
          time: isoNow(),
          worker,
          node,
          request: exchange.id,
          key: exchange.key.id,
          address: exchange.address,
          tag: exchange.tag,
          wire: exchange.wire,
          model: exchange.model.id,
          stream: exchange.stream,
          outcome: summary.outcome,
          status: summary.status,
          code: summary.errorCode,
          ms: summary.totalMs,
          first_byte_ms: exchange.firstByteMs,
          tokens: tokensOf(summary),
          estimated: summary.estimated || undefined,
          dropped: exchange.dropped.length > 0 ? exchange.dropped : undefined,
          target: targetOf(exchange),
          attempts: attemptsOf(exchange, summary),
          msg: 'exchange',
        })}\n`,
      )
    },
    counted: (request, how) =>
      logger.info(
        {
          request: request.id,
          key: request.key.id,
          address: request.address,
          wire: request.wire,
          model: request.model.id,
          status: how.status,
          code: how.errorCode,
          ms: how.totalMs,
          estimated: how.estimated || undefined,
          dropped: request.dropped.length > 0 ? request.dropped : undefined,
          target: targetOf(request),
          attempts: attemptsOf(request, how),
        },
        'count',
      ),
    refused: (facts) => logger.info(facts, 'refused'),
    warn: (message, facts) => logger.warn(facts ?? {}, message),
    error: (message, facts) => logger.error(facts ?? {}, message),
    setLevel: (next) => {
      logger.level = next
    },
    flush: destination.flush,
  }
}

/** Several answers of one millisecond share its text. */
const isoNow = (): string => {
  const now = Date.now()
  if (now !== stamp.at) stamp = { at: now, text: new Date(now).toISOString() }
  return stamp.text
}
let stamp = { at: 0, text: '' }

const targetOf = ({ attempts }: Pick<ClientRequest, 'attempts'>): string | undefined => {
  const last = attempts.at(-1)
  return last && `${last.provider}/${last.account}/${last.wire}`
}

const tokensOf = ({ tokens }: Summary) => ({
  input: tokens.input,
  cache_read: tokens.cacheRead,
  cache_write: tokens.cacheWrite,
  output: tokens.output,
})

/** Undefined for a single attempt that answered: `target` says as much. */
const attemptsOf = ({ attempts }: Pick<ClientRequest, 'attempts'>, { errorCode }: { errorCode: string | undefined }) =>
  attempts.length > 1 || errorCode !== undefined ? attempts.map(attemptOf) : undefined

const attemptOf = ({ provider, account, model, wire, ms, errorCode, ...failure }: AttemptNote) => ({
  ...{ provider, account, model, wire, ms, code: errorCode },
  provider_status: failure.providerStatus,
  provider_code: failure.providerCode,
  provider_request_id: failure.providerRequestId,
})
