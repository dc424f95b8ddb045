// The trace that an exchange belongs to: its own span, and one for each attempt.

import { newSpanId, newTraceId, readTraceContext, type TraceContext } from '../lib/trace-context.ts'

/** `parent`: the span of its client, where that told one. `attempts`: in the order of the exchange's own, beginning after so many ms. */
export type Trace = TraceContext & { parent: string | undefined; attempts: { spanId: string; afterMs: number }[] }

/** `share`: of the traces that begin here so many are kept; a client's own is kept or not as that says. */
export const beginTrace = (headers: Headers, share: number): Trace => {
  const client = readTraceContext(headers)
  return {
    traceId: client?.traceId ?? newTraceId(),
    spanId: newSpanId(),
    parent: client?.spanId,
    sampled: client?.sampled ?? Math.random() < share,
    state: client?.state,
    attempts: [],
  }
}

export const beginAttempt = (trace: Trace, afterMs: number): void => {
  trace.attempts.push({ spanId: newSpanId(), afterMs })
}

/** Of the attempt that is under way. */
export const attemptContext = (trace: Trace): TraceContext => ({
  ...trace,
  spanId: trace.attempts.at(-1)?.spanId ?? trace.spanId,
})
