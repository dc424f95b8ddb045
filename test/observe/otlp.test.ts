// What OpenTelemetry is given: spans of exchanges and their attempts, the figures of /metrics, and nothing that is said.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Config } from '../../src/config.ts'
import { readTraceContext, traceHeaders } from '../../src/lib/trace-context.ts'
import { createExporter, MOST_HELD } from '../../src/observe/otlp/exporter.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { MESSAGE } from '../support/provider/message.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts'

const SECRET_WORDS = 'words that nobody else may read'
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

let receiver: OtlpReceiver
let provider: Scripted
let gateway: TestGateway
let status = 200
beforeEach(async () => {
  status = 200
  receiver = startOtlpReceiver()
  provider = await startScripted(() =>
    json(
      {
        ...MESSAGE,
        content: [{ type: 'text', text: SECRET_WORDS }],
        usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 7 },
      },
      status,
    ),
  )
})
afterEach(async () => {
  await gateway.stop()
  await provider.stop()
  await receiver.stop()
})

const begin = async (more: Partial<NonNullable<Config['otlp']>> = {}): Promise<void> => {
  const settings = { endpoint: receiver.endpoint, headers: { 'x-team': 'us' }, resource: { 'service.name': 'gate' } }
  gateway = await startGateway({
    vendorA: provider.origin,
    config: { otlp: { ...settings, traces: true, metrics: true, sample: 1, ...more } },
  })
}
const ask = async (headers: Record<string, string> = {}): Promise<void> => {
  const body = { model: 'vendorA-opus-4-8', max_tokens: 9, messages: [{ role: 'user', content: SECRET_WORDS }] }
  await (await gateway.post('/v1/messages', body, headers)).text()
  await gateway.idle()
}
const sent = async (): Promise<void> => {
  await gateway.server.gateway.otlp?.stop()
}

describe('an exchange', () => {
  test('is a span in its client’s trace, with its attempt below it, which the provider is told of', async () => {
    await begin()
    await ask({ traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=value' })
    await sent()
    const [own, attempt] = receiver.spans
    expect(receiver.spans).toHaveLength(2)
    expect(own).toMatchObject({
      ...{ traceId: TRACE, parent: PARENT, state: 'vendor=value', name: 'chat vendorA-opus-4-8', kind: 2, status: 0 },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'vendor_a',
        'gen_ai.request.model': 'vendorA-opus-4-8',
        'gen_ai.usage.input_tokens': 15,
        'gen_ai.usage.cache_read.input_tokens': 5,
        'gen_ai.usage.output_tokens': 7,
        'http.response.status_code': 200,
        'sluice.outcome': 'done',
      },
    })
    expect(attempt).toMatchObject({ traceId: TRACE, parent: own?.spanId, kind: 3, status: 0 })
    const [asked] = provider.requests
    expect(asked?.headers.traceparent).toBe(`00-${TRACE}-${attempt?.spanId}-01`)
    expect(asked?.headers.tracestate).toBe('vendor=value')
    expect(receiver.resources[0]).toMatchObject({ 'service.name': 'gate', 'service.version': expect.any(String) })
    expect(receiver.headers[0]?.get('x-team')).toBe('us')
  })

  test('that fails says so, and so does its attempt', async () => {
    status = 500
    await begin()
    await ask()
    await sent()
    const [own, ...attempts] = receiver.spans
    expect(own).toMatchObject({ status: 2, parent: '', attributes: { 'error.type': 'upstream_error' } })
    expect(attempts.length).toBeGreaterThan(0)
    for (const attempt of attempts)
      expect(attempt).toMatchObject({ status: 2, attributes: { 'http.response.status_code': 500 } })
  })

  test('is kept or left out as its client says, else by the share that is set', async () => {
    await begin({ sample: 0 })
    await ask()
    await ask({ traceparent: `00-${TRACE}-${PARENT}-00` })
    await ask({ traceparent: `00-${TRACE}-${PARENT}-01` })
    await sent()
    expect(receiver.spans.map(({ traceId }) => traceId)).toEqual([TRACE, TRACE])
    expect(provider.requests.map(({ headers }) => `${headers.traceparent}`.slice(-2))).toEqual(['00', '00', '01'])
  })

  test('tells nothing of what is said, nor any secret', async () => {
    await begin()
    await ask()
    await sent()
    const all = JSON.stringify([receiver.spans, receiver.metrics, receiver.resources])
    expect(all).toContain('gen_ai.request.model')
    for (const hidden of [SECRET_WORDS, gateway.secret, 'secret-a']) expect(all).not.toContain(hidden)
  })
})

test('without an exporter the provider is told of no trace', async () => {
  gateway = await startGateway({ vendorA: provider.origin })
  await ask({ traceparent: `00-${TRACE}-${PARENT}-01` })
  expect(gateway.server.gateway.otlp).toBeUndefined()
  expect(provider.requests[0]?.headers.traceparent).toBeUndefined()
})

test('the figures are those of /metrics, which is not served for that', async () => {
  await begin({ traces: false })
  const { id } = await gateway.issue({ tokensTotal: 1_000 })
  await ask()
  await sent()
  expect(receiver.spans).toEqual([])
  const found = (name: string) => receiver.metrics.find((metric) => metric.name === name)?.points ?? []
  expect(found('sluice_tokens_total')).toContainEqual({
    attributes: { model: 'vendorA-opus-4-8', class: 'output' },
    value: 7,
  })
  const [cost] = found('sluice_cost_micro_usd_total')
  expect(cost?.attributes).toEqual({ model: 'vendorA-opus-4-8' })
  expect(cost?.value).toBeGreaterThan(0)
  expect(found('sluice_quota_remaining_tokens')).toContainEqual({ attributes: { key: id }, value: 1_000 })
  const [histogram] = found('sluice_exchange_duration_seconds')
  expect(histogram?.count).toBe(1)
  expect(histogram?.buckets?.reduce((sum, count) => sum + count, 0)).toBe(1)
  expect(histogram?.buckets).toHaveLength(15)
  expect((await gateway.get('/metrics')).status).toBe(404)
})

test('a reload begins, moves and ends what is exported', async () => {
  await begin()
  const { config } = gateway
  await gateway.server.reload({ ...config, otlp: undefined })
  await ask()
  expect(gateway.server.gateway.otlp).toBeUndefined()
  await gateway.server.reload(config)
  await ask()
  await sent()
  expect(receiver.spans).toHaveLength(2)
})

describe('an exporter', () => {
  const make = (more: { pausesMs?: number[]; gatherMs?: number } = {}) => {
    const failures: string[] = []
    const exporter = createExporter<number>({
      ...{ url: `${receiver.endpoint}/v1/traces`, headers: {}, gatherMs: 0, pausesMs: [0, 0] },
      encode: () => new Uint8Array(),
      rejected: () => 0,
      failed: (words) => failures.push(words),
      ...more,
    })
    return { exporter, failures }
  }
  beforeEach(async () => {
    await begin({ traces: false, metrics: false })
  })

  test('tries again where that can help, and then counts what was not taken', async () => {
    receiver.answers(503)
    const { exporter, failures } = make()
    exporter.add([1, 2, 3])
    await receiver.until(3)
    await exporter.stop(1_000)
    expect([receiver.headers.length, exporter.dropped(), failures]).toEqual([3, 3, ['it answers 503']])
  })

  test('does not where it cannot', async () => {
    receiver.answers(400)
    const { exporter } = make()
    exporter.add([1, 2])
    await receiver.until(1)
    await exporter.stop(1_000)
    expect([receiver.headers.length, exporter.dropped()]).toEqual([1, 2])
  })

  test('holds no more than it may, whatever a receiver does', async () => {
    receiver.answers('hang')
    const { exporter } = make({ gatherMs: 1_000_000 })
    exporter.add(Array.from({ length: MOST_HELD + 100 }, (_, at) => at))
    expect(exporter.dropped()).toBe(100)
    await receiver.until(1)
    await exporter.stop(20)
    expect(exporter.dropped()).toBe(MOST_HELD + 100)
  })

  test('sends what is left at its stop', async () => {
    const { exporter } = make({ gatherMs: 1_000_000 })
    exporter.add([1])
    await exporter.stop(1_000)
    expect([receiver.headers.length, exporter.dropped()]).toEqual([1, 0])
  })
})

describe('a trace context', () => {
  const hex = (length: number) =>
    fc
      .string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
      .filter((text) => !/^0+$/.test(text))

  beforeEach(async () => {
    await begin({ traces: false, metrics: false })
  })

  test('that is written is read again', () => {
    fc.assert(
      fc.property(hex(32), hex(16), fc.boolean(), (traceId, spanId, sampled) => {
        const context = { traceId, spanId, sampled, state: 'a=b' }
        expect(readTraceContext(new Headers(traceHeaders(context)))).toEqual(context)
      }),
    )
  })

  test.each([
    '',
    'x',
    `00-${TRACE}-${PARENT}`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
  ])('that is none is not taken over: %p', (traceparent) => {
    expect(readTraceContext(new Headers({ traceparent }))).toBeUndefined()
  })

  test('of a later version is, without what it says more', () => {
    expect(readTraceContext(new Headers({ traceparent: `01-${TRACE}-${PARENT}-01-more` }))).toMatchObject({
      traceId: TRACE,
    })
  })

  test('leaves out a state that no header should carry', () => {
    const headers = new Headers({ traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'x'.repeat(600) })
    expect(readTraceContext(headers)?.state).toBeUndefined()
  })
})
