// What is told of an account, by the exchanges that ended on it.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AttemptNote } from '../../src/ledger/ledger.ts'
import { createAccounts } from '../../src/observe/accounts.ts'

const REMEMBERED = 64
const note = fc.record({
  account: fc.constantFrom('main', 'second'),
  errorCode: fc.option(fc.constantFrom('upstream_error', 'service_unavailable'), { nil: undefined, freq: 1 }),
  providerStatus: fc.option(fc.constantFrom(429, 500), { nil: undefined }),
  ms: fc.nat(10_000),
})
const exchanges = fc.array(
  fc.record({
    attempts: fc.array(note, { minLength: 1, maxLength: 3 }),
    firstByteMs: fc.option(fc.nat(10_000), { nil: undefined }),
  }),
  // More than are remembered, in many runs.
  { maxLength: 400, size: 'max' },
)
const attemptOf = (of: typeof note extends fc.Arbitrary<infer T> ? T : never): AttemptNote =>
  ({ provider: 'vendor', model: 'm', wire: 'messages', ...of }) as AttemptNote

test('its last use, its last failure, and the median of its last answers: those that the client was given', () =>
  fc.assert(
    fc.property(exchanges, (ended) => {
      let now = 0
      const accounts = createAccounts(() => now)
      for (const { attempts, firstByteMs } of ended) {
        now++
        accounts.ended({
          attempts: attempts.map(attemptOf),
          ...(firstByteMs === undefined ? {} : { firstByteMs }),
        })
      }
      for (const account of ['main', 'second']) {
        const own = ended.flatMap(({ attempts, firstByteMs }, before) =>
          attempts.flatMap((each, at) =>
            each.account === account
              ? [{ ...each, at: before + 1, answers: at === attempts.length - 1 && firstByteMs !== undefined }]
              : [],
          ),
        )
        const failed = own.filter(({ errorCode }) => errorCode !== undefined).at(-1)
        const answers = own.filter(({ errorCode, answers }) => errorCode === undefined && answers).slice(-REMEMBERED)
        const sorted = answers.map(({ ms }) => ms).toSorted((a, b) => a - b)
        expect(accounts.notesOf('vendor', account)).toEqual({
          lastUsedAt: own.at(-1)?.at,
          lastError: failed && {
            ...{ at: failed.at, model: 'm' },
            ...{ errorCode: failed.errorCode ?? '', providerStatus: failed.providerStatus },
          },
          firstByteMs: sorted[sorted.length >> 1],
        })
      }
      expect(accounts.notesOf('another', 'main').lastUsedAt).toBeUndefined()
    }),
  ))
