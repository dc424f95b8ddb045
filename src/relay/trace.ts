// The trace that an exchange belongs to: its own span, one for each attempt, and what is said, where that is exported.

import type { ChatEvent } from '../ir/event.ts'
import type { Json } from '../ir/json.ts'
import type { AssistantPart, ImagePart, TextPart } from '../ir/part.ts'
import type { Turn } from '../ir/request.ts'
import type { Outcome } from '../ledger/ledger.ts'
import { newSpanId, newTraceId, readTraceContext, type Spans, type TraceContext } from '../lib/trace-context.ts'

/** `said`: absent for nearly all keys. */
export type Trace = Spans & { said?: Said }

/** Bytes that are told of by what they are, and how many. */
type ToldFile = { type: 'file'; modality: Modality; mediaType?: string | undefined; bytes: number }
export type Modality = 'image' | 'audio' | 'document'
/** What has no words of its own: results of a moderation and the like. */
type ToldValue = { type: 'value'; kind: string; value: Json }
export type Told = TextPart | ImagePart | ToldFile | ToldValue

/** Is told what is said in an exchange. */
export type Said = {
  /** `apart`: so many of the first turns stood apart from the conversation. */
  asked(turns: readonly Turn[], apart: number): void
  /** The same of what is no conversation. */
  askedFor(parts: readonly Told[]): void
  /** An answer begins: what was told of the attempt before does not count. */
  begin(): void
  /** Of which of the answers that were asked for. */
  heard(answer: number, events: readonly ChatEvent[]): void
  made(parts: readonly (Told | AssistantPart)[]): void
  /** Bytes of what comes in pieces. */
  came(modality: Modality, mediaType: string | undefined, bytes: number): void
  /** All of it, as attributes of the exchange's span. */
  told(outcome: Outcome): Record<string, string | number | undefined>
}

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
