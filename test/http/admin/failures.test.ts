// What the page of a failed exchange begins with, for whom: who runs the gateway reads of accounts, a member of what they can do.

import { describe, expect, test } from 'bun:test'
import type * as S from '../../../src/admin-api/schema.ts'
import { failureOf } from '../../../src/http/admin/failures.ts'
import { ATTEMPT_FAILURES } from '../../../src/observe/failures.ts'
import type { ExchangeRow } from '../../../src/store/usage.ts'

const NOT_THEIRS = 'The provider failed, not the client.'

const rowOf = (more: Partial<ExchangeRow>): ExchangeRow =>
  ({ id: 'req_1', outcome: 'failed', status: 502, errorCode: 'upstream_error', refusal: null, ...more }) as ExchangeRow
const attemptOf = (more: Partial<S.Attempt>): S.Attempt =>
  ({
    ...{ result: 'failed', provider: 'vendor_a', account: 'main', error_code: 'upstream_error' },
    ...{ provider_status: null, provider_code: null, ...more },
  }) as S.Attempt

test.each(['done', 'aborted', null])('an exchange that is %s has none', (outcome) =>
  expect(failureOf(rowOf({ outcome: outcome as ExchangeRow['outcome'] }), [], false)).toBeNull(),
)

describe('a member is told what they can do', () => {
  test.each([400, 404, 422, 499])('where the answer was %i', (status) => {
    const failure = failureOf(rowOf({ status }), [attemptOf({ provider_status: 400 })], true)
    expect(failure?.why).not.toBe(NOT_THEIRS)
    expect(failure?.todo).not.toContain('req_1')
  })
  test.each([200, 399, 500, 502, 503, null])('and whom to tell where it was %p', (status) => {
    const failure = failureOf(rowOf({ status }), [attemptOf({ provider_status: 500 })], true)
    expect(failure).toMatchObject({ why: NOT_THEIRS, todo: expect.stringContaining('req_1') })
  })
  test('and no account', () => {
    const failure = failureOf(rowOf({}), [attemptOf({ provider_status: 402, provider_code: 'Arrearage' })], true)
    expect(JSON.stringify(failure)).not.toMatch(/vendor_a|main|402|Arrearage/)
  })
})

describe('who runs the gateway is told of the account', () => {
  const told = (more: Partial<S.Attempt>) => failureOf(rowOf({}), [attemptOf(more)], false)

  test.each([
    ['answered 402', { provider_status: 402 }],
    ['answered 500 (boom)', { provider_status: 500, provider_code: 'boom' }],
    ['could not be reached (ECONNREFUSED)', { provider_code: 'ECONNREFUSED' }],
    ['gave no usable answer', {}],
  ])('%s', (words, attempt) =>
    expect(told(attempt)?.happened).toBe(`vendor_a / main ${words}, and the client got 502 upstream_error.`),
  )

  test('by the last attempt that failed', () => {
    const attempts = [attemptOf({ account: 'first' }), attemptOf({ account: 'second' })]
    expect(failureOf(rowOf({}), attempts, false)?.happened).toStartWith('vendor_a / second ')
    expect(failureOf(rowOf({}), [], false)?.happened).toStartWith('No provider answered')
  })

  test('and money where its status or code says so, and nowhere else', () => {
    const [money] = ATTEMPT_FAILURES
    const isMoney = (more: Partial<S.Attempt>) => told(more)?.why === money?.why.replaceAll('`', '')
    expect([{ provider_status: 402 }, { provider_code: 'insufficient_quota' }].map(isMoney)).toEqual([true, true])
    const others = [{ provider_status: 500 }, { provider_status: 404 }, { provider_code: 'xinsufficient_quota' }, {}]
    expect(others.map(isMoney)).toEqual([false, false, false, false])
  })
})

describe('an answer that broke off is told as that', () => {
  const row = (more: Partial<ExchangeRow> = {}) =>
    rowOf({ status: 200, provider: 'vendor_a', account: 'main', ...more })
  const answered = attemptOf({ result: 'answered', error_code: null })
  test.each([
    ['upstream_error', [answered], 'broke its answer off'],
    ['upstream_error', [attemptOf({ provider_status: 500 }), answered], 'broke its answer off'],
    ['service_unavailable', [answered], 'became overloaded while it answered'],
    ['upstream_error', [attemptOf({ provider_code: 'insufficient_quota' })], 'or its money'],
  ] as const)('with %s', (errorCode, attempts, why) => {
    const told = failureOf(row({ errorCode }), attempts, false)
    expect(told?.happened).toBe(
      `The answer of vendor_a / main broke off, and the client got a part of the answer and then ${errorCode}.`,
    )
    expect(told?.why).toContain(why)
  })
  test('and a member reads of no account', () => {
    expect(failureOf(row(), [answered], true)?.happened).toStartWith('The answer broke off, and')
  })
})

test('of one without a status the client got no answer', () => {
  expect(failureOf(rowOf({ status: null, errorCode: null }), [], false)?.happened).toContain(
    'the client got no answer.',
  )
})
