// The operator's log: one JSON line per exchange and per event of the server, on standard error.

import pino from 'pino'
import type { LogLevel } from './config.ts'
import { openSink } from './log-sink.ts'
import type { ClientRequest, CountSummary, Exchange, Summary } from './relay/exchange.ts'

export type Log = {
  /** An exchange has ended. Ids, figures and codes only: no secret, no prompt, no provider text. */
  exchange(exchange: Exchange, summary: Summary): void
  /** A prompt was counted, or could not be. */
  counted(request: ClientRequest, how: CountSummary): void
  /** A request that was refused before it was admitted. */
  refused(facts: { request: string; key?: string | undefined; path: string; status: number; code: string }): void
  warn(message: string, facts?: object): void
  error(message: string, facts?: object): void
  setLevel(level: LogLevel): void
  flush(): void
}

const INFO = pino.levels.values.info

export const createLog = (level: LogLevel): Log => {
  const destination = openSink(2)
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
  return {
    exchange: (exchange, summary) => {
      if (!logger.isLevelEnabled('info')) return
      // The one line that is written thousands of times a second: in one go, where pino joins a piece per member.
      destination.write(
        `${JSON.stringify({
          level: INFO,
          time: new Date().toISOString(),
          request: exchange.id,
          key: exchange.key.id,
          wire: exchange.wire,
          model: exchange.model.id,
          stream: exchange.stream,
          outcome: summary.outcome,
          status: summary.status,
          code: summary.errorCode,
          ms: summary.totalMs,
          first_byte_ms: exchange.firstByteAt === undefined ? undefined : exchange.firstByteAt - exchange.startedAt,
          tokens: summary.tokens,
          estimated: summary.estimated || undefined,
          dropped: exchange.dropped.length > 0 ? exchange.dropped : undefined,
          // One attempt that answered says nothing that the target does not.
          target: targetOf(exchange),
          attempts: exchange.attempts.length > 1 || summary.errorCode !== undefined ? exchange.attempts : undefined,
          msg: 'exchange',
        })}\n`,
      )
    },
    counted: (request, { status, errorCode, estimated, totalMs }) =>
      logger.info(
        {
          request: request.id,
          key: request.key.id,
          wire: request.wire,
          model: request.model.id,
          status,
          code: errorCode,
          ms: totalMs,
          estimated: estimated || undefined,
          dropped: request.dropped.length > 0 ? request.dropped : undefined,
          target: targetOf(request),
          attempts: request.attempts.length > 1 || errorCode !== undefined ? request.attempts : undefined,
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

const targetOf = ({ attempts }: ClientRequest): string | undefined => {
  const last = attempts.at(-1)
  return last && `${last.provider}/${last.account}/${last.wire}`
}

/** For tests and commands that have nobody to tell. */
export const silentLog: Log = {
  exchange: () => undefined,
  counted: () => undefined,
  refused: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  flush: () => undefined,
}
