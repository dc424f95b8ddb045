// A refusal of the one who keeps the books, as it comes to the process that asked.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ERRORS, type ErrorCode, GatewayError } from '../../../src/errors.ts'
import { fromShared, type SharedError, toShared } from '../../../src/ledger/shared.ts'

const carried = (thrown: unknown): GatewayError =>
  fromShared(JSON.parse(JSON.stringify(toShared(thrown))) as SharedError)

test('says the same there as here', () =>
  fc.assert(
    fc.property(
      fc.constantFrom(...(Object.keys(ERRORS) as ErrorCode[])),
      fc.string(),
      fc.record(
        {
          param: fc.string(),
          retryAfterMs: fc.integer({ min: 1, max: 60_000 }),
          retry: fc.boolean(),
          failover: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
      (code, message, options) => {
        const here = new GatewayError(code, message, options)
        const there = carried(here)
        for (const member of ['code', 'message', 'status', 'param', 'retryAfterMs', 'retry', 'failover'] as const)
          expect([member, there[member]]).toEqual([member, here[member]])
      },
    ),
  ))

test('keeps its cause in words for the log, and says nothing of one that is no refusal', () => {
  const because = (cause: unknown) => carried(new GatewayError('internal_error', 'No.', { cause })).cause
  expect(because(new Error('the disk is full'))).toBe('the disk is full')
  expect(because('it is so')).toBe('it is so')
  expect(carried(new GatewayError('internal_error', 'No.')).cause).toBeUndefined()
  const unknown = carried(new TypeError('x is not a function'))
  expect([unknown.code, unknown.message, unknown.cause]).toEqual([
    'internal_error',
    'The gateway failed.',
    'x is not a function',
  ])
})
