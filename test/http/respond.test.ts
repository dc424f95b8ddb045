// Failures as errors of the contract.

import { expect, test } from 'bun:test'
import { guarded } from '../../src/http/guarded.ts'
import { toGatewayError } from '../../src/http/respond.ts'
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
