// Traces and metrics for OpenTelemetry, by OTLP over http/protobuf.

import { ProtobufMetricsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { OtlpSettings } from '../../config/otlp.ts'
import type { Key } from '../../keys/key.ts'
import type { Ended, Summary } from '../../relay/exchange.ts'
import { beginTrace, type Trace } from '../../relay/trace.ts'
import { capture, capturedBytes } from './content.ts'
import { createExporter } from './exporter.ts'
import { type Figures, figuresOf, type Told } from './figures.ts'
import { resourceOf } from './resource.ts'
import { type Span, spansOf } from './spans.ts'

export type Otlp = {
  readonly settings: OtlpSettings
  /** The trace of a key's request; undefined where none are exported. */
  begin(headers: Headers, key: Pick<Key, 'capture'>): Trace | undefined
  ended(exchange: Ended, summary: Summary): void
  /** Spans and readings of the figures that were not taken. */
  dropped(): { traces: number; metrics: number }
  /** Sends what is left, for a while. */
  stop(): Promise<void>
}

type Source = {
  metrics: { told(): Promise<Told[]> } | undefined
  clock: () => number
  log: { warn(message: string, facts: object): void }
}

const FIGURES_MS = 60_000
/** How long a stop waits for a receiver. */
const LAST_MS = 3_000
/** A receiver that is gone fails every batch: one line is logged in this time. */
const REPORT_EVERY_MS = 60_000

/** `everyMs`: how often the figures are sent. */
export const startOtlp = (settings: OtlpSettings, source: Source, everyMs = FIGURES_MS): Otlp => {
  const { endpoint, headers, sample } = settings
  const { clock, log } = source
  const resource = resourceOf(settings.resource)
  const begunAt = clock()
  let reportedAt = Number.NEGATIVE_INFINITY
  const failed = (what: string) => (words: string) => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return
    reportedAt = performance.now()
    log.warn(`OpenTelemetry: ${what} were not taken: ${words}`, { host: new URL(endpoint).host })
  }
  const spans = createExporter<Span>({
    ...{ url: `${endpoint}/v1/traces`, headers, failed: failed('spans') },
    encode: (items) => ProtobufTraceSerializer.serializeRequest(items),
    weigh: capturedBytes,
    rejected: (answer) => ProtobufTraceSerializer.deserializeResponse(answer).partialSuccess?.rejectedSpans ?? 0,
  })
  const figures = createExporter<Figures>({
    ...{ url: `${endpoint}/v1/metrics`, headers, failed: failed('metrics'), gatherMs: 0 },
    // Each reading tells all: of several that wait the last is enough.
    encode: (items) => {
      const last = items.at(-1)
      return last && ProtobufMetricsSerializer.serializeRequest(last)
    },
    rejected: (answer) => {
      const { partialSuccess } = ProtobufMetricsSerializer.deserializeResponse(answer)
      return (partialSuccess?.rejectedDataPoints ?? 0) > 0 ? 1 : 0
    },
  })
  const read = async (): Promise<void> => {
    const told = await source.metrics?.told()
    if (told !== undefined) figures.add([figuresOf(told, resource, begunAt, clock())])
  }
  const readOrTell = (): Promise<void> => read().catch((cause) => failed('metrics')(String(cause)))
  const reading = settings.metrics ? setInterval(readOrTell, everyMs).unref() : undefined
  return {
    settings,
    begin: (client, key) => {
      if (!settings.traces) return undefined
      const trace = beginTrace(client, sample)
      if (key.capture === 'content' && trace.sampled) trace.said = capture()
      return trace
    },
    ended: (exchange, summary) => {
      if (exchange.trace?.sampled) spans.add(spansOf(exchange, summary, resource))
    },
    dropped: () => ({ traces: spans.dropped(), metrics: figures.dropped() }),
    stop: async () => {
      clearInterval(reading)
      if (settings.metrics) await readOrTell()
      await Promise.all([spans.stop(LAST_MS), figures.stop(LAST_MS)])
    },
  }
}
