// Failures as errors of the contract.

import { expect, spyOn, test } from 'bun:test'
import { GatewayError } from '../../src/errors.ts'
import { guarded } from '../../src/http/guarded.ts'
import { errorResponse, toGatewayError } from '../../src/http/respond.ts'
import { storeError } from '../../src/store/store.ts'
import { startGateway } from '../support/gateway.ts'
import { silentLog } from '../support/silent-log.ts'

test('a StoreError is service_unavailable, anything else internal_error, and neither message is quoted', () => {
  const unwritten = toGatewayError(storeError('The disk of /secret/sluice.db is full'))
  expect(unwritten).toMatchObject({ code: 'service_unavailable', retryAfterMs: 1_000 })
  const unexpected = toGatewayError(new TypeError('x is /secret'))
  expect(unexpected.code).toBe('internal_error')
  for (const { message } of [unwritten, unexpected]) expect(message).not.toContain('secret')
})

test.each([
  ['rate_limit_exceeded', undefined, undefined, '1'],
  ['rate_limit_exceeded', 0, undefined, '1'],
  ['rate_limit_exceeded', 1_000, undefined, '1'],
  ['rate_limit_exceeded', 1_001, undefined, '2'],
  ['service_unavailable', 90_400, undefined, '91'],
  // What nobody pays for comes to more than a status can say.
  ['upstream_error', 600_000, 'no-money', '600'],
  ['upstream_error', 600_000, undefined, null],
  ['invalid_request', 600_000, undefined, null],
] as const)('%s that asks for %p ms (%p) says to wait for whole seconds: %p', (code, retryAfterMs, trouble, said) => {
  const provider = trouble === undefined ? undefined : { trouble }
  const error = new GatewayError(code, 'x', {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(provider === undefined ? {} : { provider }),
  })
  const { headers } = errorResponse(error, 'req_1', 'messages')
  expect(headers.get('retry-after')).toBe(said)
  expect(headers.get('x-should-retry')).toBe(!error.retry || trouble !== undefined ? 'false' : null)
})

test('an unexpected failure of an endpoint that only reads is in the log, as that of any other', async () => {
  const said: string[] = []
  const log = {
    ...silentLog,
    error: (message: string, facts?: object) => void said.push(`${message} ${JSON.stringify(facts)}`),
  }
  const gateway = await startGateway({})
  try {
    const request = new Request(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': gateway.secret } })
    const { status } = await guarded({ ...gateway.server.gateway, log }, request, () => {
      throw new TypeError('no such thing')
    })
    expect([status, said.length]).toEqual([500, 1])
    expect(said[0]).toContain('no such thing')
  } finally {
    await gateway.stop()
  }
})

test('the log says what keeps the gateway from serving', async () => {
  const { url, secret, server, stop } = await startGateway({})
  const { gateway } = server
  const why: (string | undefined)[] = []
  const logged = spyOn(gateway.log, 'refused').mockImplementation((facts) => void why.push(facts.why))
  const ask = async (key = secret) =>
    (await fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': key }, body: '{}' })).status
  try {
    gateway.draining = true
    expect(await ask()).toBe(503)
    gateway.draining = false
    const unwritten = spyOn(gateway.store.keys, 'authenticate').mockImplementation(() => {
      throw storeError('The disk is full')
    })
    expect(await ask()).toBe(503)
    unwritten.mockRestore()
    expect(await ask('none')).toBe(401)
    expect(why).toEqual(['stopping', 'The disk is full', undefined])
  } finally {
    logged.mockRestore()
    await stop()
  }
})
