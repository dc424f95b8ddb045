// A receiver of OpenTelemetry's exports for tests, which reads them by the published schema (opentelemetry-proto 1.x).

import protobuf from 'protobufjs'

/** Of opentelemetry/proto, the members that are looked at. */
const SCHEMA = `
syntax = "proto3";
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message Scope { string name = 1; string version = 2; }
message Status { string message = 2; int32 code = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; Status status = 15;
}
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Traces { repeated ResourceSpans resource_spans = 1; }
message NumberDataPoint { fixed64 time_unix_nano = 3; double as_double = 4; repeated KeyValue attributes = 7; }
message HistogramDataPoint {
  fixed64 count = 4; double sum = 5; repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7;
  repeated KeyValue attributes = 9;
}
message Gauge { repeated NumberDataPoint data_points = 1; }
message Sum { repeated NumberDataPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message Histogram { repeated HistogramDataPoint data_points = 1; int32 aggregation_temporality = 2; }
message Metric { string name = 1; string description = 2; Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message Metrics { repeated ResourceMetrics resource_metrics = 1; }
`

const { root } = protobuf.parse(SCHEMA)
const HOW = { longs: Number, bytes: String, defaults: true, oneofs: true } as const

/** What was decoded. A member that the schema does not have would show in the test. */
type Message = { [name: string]: unknown }

export type SeenSpan = {
  traceId: string
  spanId: string
  parent: string
  state: string
  name: string
  kind: number
  ms: number
  status: number
  attributes: Record<string, unknown>
}
export type SeenMetric = {
  name: string
  points: { attributes: Record<string, unknown>; value?: number; count?: number; sum?: number; buckets?: number[] }[]
}

export type OtlpReceiver = {
  endpoint: string
  spans: SeenSpan[]
  metrics: SeenMetric[]
  resources: Record<string, unknown>[]
  headers: Headers[]
  /** What it answers from now on: a status, or nothing at all. */
  answers(how: number | 'hang'): void
  /** Resolves once so many requests have come in all. */
  until(count: number): Promise<void>
  stop(): Promise<void>
}

const attributesOf = (list: unknown): Record<string, unknown> =>
  Object.fromEntries(listOf(list).map(({ key, value }) => [String(key), heldIn(messageOf(value))]))

/** `value` names the member that is set. */
const heldIn = (value: Message): unknown => value[String(value.value)]

const messageOf = (value: unknown): Message => (value ?? {}) as Message
const listOf = (value: unknown): Message[] => (value ?? []) as Message[]

const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex')

const decode = (type: string, bytes: Uint8Array): Message => {
  const message = root.lookupType(type)
  return message.toObject(message.decode(bytes), HOW)
}

export const startOtlpReceiver = (): OtlpReceiver => {
  let how: number | 'hang' = 200
  const seen: Pick<OtlpReceiver, 'spans' | 'metrics' | 'resources' | 'headers'> = {
    ...{ spans: [], metrics: [], resources: [], headers: [] },
  }
  const waiting: { count: number; resolve: () => void }[] = []
  const read = (path: string, bytes: Uint8Array): void => {
    if (path === '/v1/traces') {
      for (const { resource, scopeSpans } of listOf(decode('Traces', bytes).resourceSpans)) {
        seen.resources.push(attributesOf(messageOf(resource).attributes))
        for (const span of listOf(scopeSpans).flatMap(({ spans }) => listOf(spans))) seen.spans.push(spanOf(span))
      }
    } else {
      for (const { scopeMetrics } of listOf(decode('Metrics', bytes).resourceMetrics))
        for (const metric of listOf(scopeMetrics).flatMap(({ metrics }) => listOf(metrics)))
          seen.metrics.push(metricOf(metric))
    }
  }
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 0 },
    fetch: async (request) => {
      const bytes = new Uint8Array(await request.arrayBuffer())
      seen.headers.push(request.headers)
      const answered = how
      if (answered === 200) read(new URL(request.url).pathname, bytes)
      for (const each of waiting) if (seen.headers.length >= each.count) each.resolve()
      if (answered === 'hang') return new Promise<Response>(() => undefined)
      return new Response(new Uint8Array(), { status: answered })
    },
  })
  return {
    ...seen,
    endpoint: `http://127.0.0.1:${server.port}`,
    answers: (next) => {
      how = next
    },
    until: async (count) => {
      if (seen.headers.length >= count) return
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ count, resolve })
      await promise
    },
    stop: () => server.stop(true),
  }
}

const spanOf = (span: Message): SeenSpan => ({
  ...{ traceId: hex(`${span.traceId}`), spanId: hex(`${span.spanId}`), parent: hex(`${span.parentSpanId}`) },
  ...{ state: `${span.traceState}`, name: `${span.name}`, kind: Number(span.kind) },
  ms: Math.round((Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e6),
  status: Number(messageOf(span.status).code ?? 0),
  attributes: attributesOf(span.attributes),
})

const metricOf = ({ name, gauge, sum, histogram }: Message): SeenMetric => ({
  name: String(name),
  points: listOf(messageOf(gauge ?? sum ?? histogram).dataPoints).map((point) => ({
    attributes: attributesOf(point.attributes),
    ...('asDouble' in point
      ? { value: Number(point.asDouble) }
      : { count: Number(point.count), sum: Number(point.sum), buckets: numbersIn(point.bucketCounts) }),
  })),
})

const numbersIn = (list: unknown): number[] => (list as unknown[]).map(Number)
