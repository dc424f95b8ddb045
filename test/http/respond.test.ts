// Failures as errors of the contract.

import { expect, test } from 'bun:test'
import { toGatewayError } from '../../src/http/respond.ts'
import { storeError } from '../../src/store/store.ts'

test('a StoreError is service_unavailable, anything else internal_error, and neither message is quoted', () => {
  const unwritten = toGatewayError(storeError('The disk of /secret/sluice.db is full'))
  expect(unwritten).toMatchObject({ code: 'service_unavailable', retryAfterMs: 1_000 })
  const unexpected = toGatewayError(new TypeError('x is /secret'))
  expect(unexpected.code).toBe('internal_error')
  for (const { message } of [unwritten, unexpected]) expect(message).not.toContain('secret')
})
