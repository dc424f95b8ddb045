// The figures of /metrics in the form of OpenTelemetry: the same names, labels and counts.

import type { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import { hrTime, type Resource, SCOPE } from './resource.ts'

export type Figures = Parameters<typeof ProtobufMetricsSerializer.serializeRequest>[0]
type Metric = Figures['scopeMetrics'][number]['metrics'][number]

/** A metric as its registry tells it; of histograms one value for each bucket, the sum and the count. */
export type Told = {
  name: string
  help: string
  /** A word; its library's types say otherwise. */
  type: unknown
  values: { value: number; labels: Record<string, string | number | undefined>; metricName?: string }[]
}

const POINT = { histogram: 0, gauge: 2, sum: 3 } as const
const CUMULATIVE = 1
const DOUBLE = 1

/** `from`: when counting began, `at`: now, both in ms since the epoch. */
export const figuresOf = (told: readonly Told[], resource: Resource, from: number, at: number): Figures => ({
  resource,
  scopeMetrics: [{ scope: SCOPE, metrics: told.map((each) => metricOf(each, from, at)) }],
})

const metricOf = (told: Told, from: number, at: number): Metric => {
  const span = { startTime: hrTime(from), endTime: hrTime(at) }
  const descriptor = { name: told.name, description: told.help, unit: '', valueType: DOUBLE }
  const shared = { descriptor, aggregationTemporality: CUMULATIVE }
  if (told.type === 'histogram') {
    const dataPoints = histogramsIn(told).map(({ labels: attributes, ...value }) => ({ ...span, attributes, value }))
    return { ...shared, dataPointType: POINT.histogram, dataPoints }
  }
  const dataPoints = told.values.map(({ value, labels }) => ({ ...span, attributes: { ...labels }, value }))
  return told.type === 'counter'
    ? { ...shared, dataPointType: POINT.sum, isMonotonic: true, dataPoints }
    : { ...shared, dataPointType: POINT.gauge, dataPoints }
}

type Histogram = {
  labels: Record<string, string | number | undefined>
  buckets: { boundaries: number[]; counts: number[] }
  sum: number
  count: number
}

/** A bucket counts all up to its bound there, and those since the one before here. */
const histogramsIn = ({ name, values }: Told): Histogram[] => {
  const found = new Map<string, Histogram & { below: number }>()
  for (const { value, labels: all, metricName } of values) {
    const { le, ...labels } = all
    const id = JSON.stringify(labels)
    const one = found.get(id) ?? { labels, buckets: { boundaries: [], counts: [] }, sum: 0, count: 0, below: 0 }
    found.set(id, one)
    if (metricName === `${name}_sum`) one.sum = value
    else if (metricName === `${name}_count`) one.count = value
    else {
      if (le !== '+Inf') one.buckets.boundaries.push(Number(le))
      one.buckets.counts.push(value - one.below)
      one.below = value
    }
  }
  return [...found.values()].map(({ below: _, ...histogram }) => histogram)
}
