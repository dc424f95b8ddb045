// An exchange as spans: one of its own, and one for each attempt, by the semantic conventions for generative AI. Ids, names
// and figures; a prompt or an answer only of a key that has them captured.

import type { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { Wire } from '../../ir/wire.ts'
import type { AttemptNote } from '../../ledger/ledger.ts'
import type { Ended, Summary } from '../../relay/exchange.ts'
import type { Trace } from '../../relay/trace.ts'
import { hrTime, type Resource, SCOPE } from './resource.ts'

export type Span = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0][number]

type Attributes = Record<string, string | number | boolean | undefined>

const KIND = { server: 1, client: 2 } as const
const STATUS = { unset: 0, error: 2 } as const

/** What the conventions call what is asked for on each wire; where they have no word, our own. */
const OPERATIONS: Readonly<Record<Wire, string>> = {
  'chat-completions': 'chat',
  responses: 'chat',
  messages: 'chat',
  embeddings: 'embeddings',
  images: 'image_generation',
  moderations: 'moderation',
  audio: 'audio',
}

export const spansOf = (exchange: Ended, summary: Summary, resource: Resource): Span[] => {
  const { trace, attempts } = exchange
  if (trace === undefined || !trace.sampled) return []
  const spanOf = making(trace, exchange, resource)
  const { startedAt, wire, stream, model, key, id, firstByteMs } = exchange
  const { tokens } = summary
  const last = attempts.at(-1)
  const operation = OPERATIONS[wire]
  return [
    spanOf({
      ...{ name: `${operation} ${model.id}`, kind: KIND.server, spanId: trace.spanId, parent: trace.parent },
      ...{ from: startedAt, to: startedAt + summary.totalMs, failed: summary.outcome === 'failed' },
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.provider.name': last?.provider,
        'gen_ai.request.model': model.id,
        'gen_ai.request.stream': stream,
        'gen_ai.response.model': last?.errorCode === undefined ? last?.model : undefined,
        'gen_ai.response.time_to_first_chunk': firstByteMs === undefined ? undefined : firstByteMs / 1_000,
        // The conventions count what was cached among the input.
        'gen_ai.usage.input_tokens': tokens.input + tokens.cacheRead + tokens.cacheWrite,
        'gen_ai.usage.cache_read.input_tokens': tokens.cacheRead || undefined,
        'gen_ai.usage.cache_creation.input_tokens': tokens.cacheWrite || undefined,
        'gen_ai.usage.output_tokens': tokens.output,
        'gen_ai.usage.reasoning.output_tokens': summary.reasoning || undefined,
        'http.response.status_code': summary.status,
        'error.type': summary.errorCode,
        'sluice.request.id': id,
        'sluice.key.id': key.id,
        'sluice.wire': wire,
        'sluice.outcome': summary.outcome,
        'sluice.cost_micro_usd': summary.costMicroUsd,
        'sluice.estimated': summary.estimated || undefined,
        ...trace.said?.told(summary.outcome),
      },
    }),
    ...attempts.flatMap((attempt, at) => {
      const begun = trace.attempts[at]
      if (begun === undefined) return []
      const from = startedAt + begun.afterMs
      // What answered goes on until the exchange has ended.
      const to = attempt.errorCode === undefined ? startedAt + summary.totalMs : from + attempt.ms
      return [
        spanOf({
          ...{ name: `${OPERATIONS[attempt.wire]} ${attempt.model}`, kind: KIND.client, spanId: begun.spanId },
          ...{ parent: trace.spanId, from, to, failed: attempt.errorCode !== undefined },
          attributes: attemptAttributes(attempt),
        }),
      ]
    }),
  ]
}

const attemptAttributes = (attempt: AttemptNote): Attributes => ({
  'gen_ai.operation.name': OPERATIONS[attempt.wire],
  'gen_ai.provider.name': attempt.provider,
  'gen_ai.request.model': attempt.model,
  'http.response.status_code': attempt.providerStatus,
  'error.type': attempt.errorCode,
  'sluice.account': attempt.account,
  'sluice.wire': attempt.wire,
  'sluice.provider.code': attempt.providerCode,
  'sluice.provider.request_id': attempt.providerRequestId,
  'sluice.answer_begun_ms': attempt.ms,
})

type Made = {
  name: string
  kind: number
  spanId: string
  parent: string | undefined
  from: number
  to: number
  failed: boolean
  attributes: Attributes
}

const making =
  ({ traceId, parent: remote, state }: Trace, { startedAt }: Ended, resource: Resource) =>
  ({ name, kind, spanId, parent, from, to, failed, attributes }: Made): Span => {
    const traceState = state === undefined ? undefined : stateOf(state)
    const context = { traceId, spanId, traceFlags: 1, ...(traceState && { traceState }) }
    const parentContext = parent && { traceId, spanId: parent, traceFlags: 1, isRemote: parent === remote }
    const begun = Math.max(startedAt, from)
    const ended = Math.max(begun, to)
    return {
      ...{ name, kind, resource, instrumentationScope: SCOPE, ended: true, links: [], events: [] },
      spanContext: () => context,
      ...(parentContext ? { parentSpanContext: parentContext } : {}),
      ...{ startTime: hrTime(begun), endTime: hrTime(ended), duration: hrTime(ended - begun) },
      status: { code: failed ? STATUS.error : STATUS.unset },
      attributes: Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)),
      ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    }
  }

/** What came is passed on: nobody here changes it. */
const stateOf = (text: string) => {
  const state = { set: () => state, unset: () => state, get: () => undefined, serialize: () => text }
  return state
}
