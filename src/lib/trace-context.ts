// W3C Trace Context: which trace a request belongs to, as headers say it.

/** `state`: what other tracers have to say of the trace, passed on as it came. */
export type TraceContext = { traceId: string; spanId: string; sampled: boolean; state: string | undefined }

/**
 * The trace and the spans of one request: `parent`, that of its client, where that told one; `attempts`, in the order of the
 * request's own, beginning after so many ms.
 */
export type Spans = TraceContext & {
  parent: string | undefined
  attempts: { spanId: string; afterMs: number }[]
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
/** As long as the standard has everyone pass it on, and more than any tracer writes. */
const STATE_CHARS = 512

/** Undefined where there is none, or what is there is none. */
export const readTraceContext = (headers: Headers): TraceContext | undefined => {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    TRACEPARENT.exec(headers.get('traceparent')?.trim() ?? '') ?? []
  // A later version may say more; the first does not.
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  const state = headers.get('tracestate')?.trim()
  const isFit = state !== undefined && state !== '' && state.length <= STATE_CHARS && /^[ -~]+$/.test(state)
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1, state: isFit ? state : undefined }
}

export const traceHeaders = ({ traceId, spanId, sampled, state }: TraceContext): Record<string, string> => ({
  traceparent: `00-${traceId}-${spanId}-0${Number(sampled)}`,
  ...(state === undefined ? {} : { tracestate: state }),
})

export const newTraceId = (): string => randomHex(16)
export const newSpanId = (): string => randomHex(8)

const randomHex = (bytes: number): string => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
