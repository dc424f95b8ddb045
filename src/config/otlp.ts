// Where traces and metrics are exported to: the configuration, else the variables that OpenTelemetry has for it.

import type { Reader } from './reader.ts'

export type OtlpSettings = {
  /** Without /v1/traces and /v1/metrics. */
  endpoint: string
  headers: Record<string, string>
  /** What is told of this process: service.name and others. */
  resource: Record<string, string>
  traces: boolean
  metrics: boolean
  /** The share of the traces that begin here. */
  sample: number
}

/** Undefined: nothing is exported. */
export const readOtlp = (reader: Reader): OtlpSettings | undefined => {
  const { file, env, resolves } = reader
  const { otlp = {} } = file
  const variable = env.OTEL_EXPORTER_OTLP_ENDPOINT || undefined
  const written = otlp.endpoint ?? variable
  if (!resolves || written === undefined || /^true$/i.test(env.OTEL_SDK_DISABLED ?? '')) return undefined
  const endpoint = (otlp.endpoint === undefined ? written : reader.reference('otlp.endpoint', written))?.trim()
  const from = otlp.endpoint === undefined ? reader.outside('OTEL_EXPORTER_OTLP_ENDPOINT') : reader
  const at = otlp.endpoint === undefined ? '' : 'otlp.endpoint'
  if (endpoint === undefined) return undefined
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    from.report(at, 'found something else, allowed: an http or https URL, such as http://127.0.0.1:4318')
    return undefined
  }
  const protocol = otlp.endpoint === undefined ? env.OTEL_EXPORTER_OTLP_PROTOCOL : undefined
  if (protocol !== undefined && protocol !== '' && protocol !== 'http/protobuf') {
    reader.warn(`OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}: nothing is exported, as http/protobuf alone is spoken`)
    return undefined
  }
  if (new URL(endpoint).port === '4317')
    reader.warn('the endpoint of OpenTelemetry has the port of gRPC, 4317: http/protobuf is spoken, usually at 4318')
  return {
    endpoint: endpoint.replace(/\/+$/, ''),
    headers: headersOf(reader),
    resource: {
      ...listOf(env.OTEL_RESOURCE_ATTRIBUTES),
      'service.name': otlp.service ?? (env.OTEL_SERVICE_NAME || 'sluice'),
    },
    traces: otlp.traces ?? env.OTEL_TRACES_EXPORTER !== 'none',
    metrics: otlp.metrics ?? env.OTEL_METRICS_EXPORTER !== 'none',
    sample: otlp.sample ?? 1,
  }
}

const headersOf = (reader: Reader): Record<string, string> => {
  const { headers } = reader.file.otlp ?? {}
  if (headers === undefined) return listOf(reader.env.OTEL_EXPORTER_OTLP_HEADERS)
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, written]) => {
      const value = reader.reference(`otlp.headers.${name}`, written)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** `name=value,other=value`, the values as they stand in URLs. */
const listOf = (text = ''): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const [, name = '', value = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
      return name === '' ? [] : [[name, decoded(value)]]
    }),
  )

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
