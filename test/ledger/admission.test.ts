// Who is let in with what is left, and how much is set aside.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/errors.ts'
import type { Key } from '../../src/keys/key.ts'
import { admit as admitWithin } from '../../src/ledger/admission.ts'
import { quotaOf } from '../../src/ledger/bounds.ts'
import { UTC } from '../../src/lib/calendar.ts'
import { NOW } from '../store/support.ts'

const key = (tokensTotal: number, tokensUsed: number): Key => ({
  ...{ id: 'key_1', label: 'k', createdAt: NOW, expiresAt: NOW + 1, revokedAt: undefined, models: ['*'] },
  ...{ tokensTotal, tokensUsed, rpm: undefined, tpm: undefined, concurrency: undefined },
})

/** By its quota alone. */
const admit = (of: Key, held: number, ask: Parameters<typeof admitWithin>[1]) => {
  const { input, output, outputCap } = admitWithin([quotaOf(of, held, UTC)], ask)
  return { reserved: input + output, outputCap }
}

type Asked = { total: number; used: number; held: number; input: number; cap?: number; max: number }
type Row = [string, Asked & { answers?: number; leastOutput?: number; fixed?: boolean; least?: number }, unknown]

describe('admission', () => {
  test.each<Row>([
    ['fits whole', { total: 1000, used: 0, held: 0, input: 100, cap: 500, max: 900 }, { reserved: 600 }],
    ['takes the cap of the model', { total: 1000, used: 0, held: 0, input: 100, max: 900 }, { reserved: 1000 }],
    ['fits to the token', { total: 1000, used: 300, held: 100, input: 100, cap: 500, max: 900 }, { reserved: 600 }],
    [
      'is lowered',
      { total: 1000, used: 300, held: 101, input: 100, cap: 500, max: 900 },
      { reserved: 599, outputCap: 499 },
    ],
    ['lowers the model', { total: 1000, used: 0, held: 0, input: 101, max: 900 }, { reserved: 1000, outputCap: 899 }],
    ['asks for no output', { total: 10, used: 0, held: 0, input: 10, cap: 0, max: 900 }, { reserved: 10 }],
    [
      'wants one token, no less, where the prompt takes the rest',
      { total: 100, used: 99, held: 0, input: 1, cap: 1, max: 9, fixed: true },
      'quota_exhausted',
    ],
    ['brings no prompt', { total: 10, used: 0, held: 0, input: 0, cap: 4, max: 9 }, { reserved: 4 }],
    [
      'wants two answers where one token is left',
      { total: 10, used: 9, held: 0, input: 0, cap: 4, max: 9, answers: 2 },
      'quota_exhausted',
    ],
    ['is the last one', { total: 10, used: 9, held: 0, input: 500, max: 900 }, { reserved: 501, outputCap: 1 }],
    [
      'brings a prompt that may be larger than the rest',
      { total: 100, used: 40, held: 0, input: 500, least: 60, max: 9 },
      { reserved: 501, outputCap: 1 },
    ],
    [
      'brings a prompt that surely is',
      { total: 100, used: 40, held: 0, input: 500, least: 61, max: 9 },
      'quota_exhausted',
    ],
    [
      'brings a prompt that surely is, beside others',
      { total: 100, used: 40, held: 60, input: 500, least: 61, max: 9 },
      'quota_exhausted',
    ],
    ['finds nothing left', { total: 10, used: 10, held: 0, input: 0, cap: 0, max: 9 }, 'quota_exhausted'],
    ['finds less than nothing left', { total: 10, used: 90, held: 0, input: 1, max: 9 }, 'quota_exhausted'],
    ['finds nothing left beside others', { total: 10, used: 10, held: 5, input: 1, max: 9 }, 'quota_exhausted'],
    ['finds the rest held', { total: 100, used: 0, held: 100, input: 1, max: 9 }, 'rate_limit_exceeded'],
    ['finds too little not held', { total: 100, used: 0, held: 80, input: 10, max: 90 }, 'rate_limit_exceeded'],
    [
      'finds as much not held as is worth starting',
      { total: 100, used: 0, held: 74, input: 10, max: 90 },
      { reserved: 26, outputCap: 16 },
    ],
    ['finds one less', { total: 100, used: 0, held: 75, input: 10, max: 90 }, 'rate_limit_exceeded'],
    [
      'finds little not held, but all it wants',
      { total: 100, used: 0, held: 80, input: 10, cap: 5, max: 90 },
      { reserved: 15 },
    ],
    [
      'wants less than the provider takes',
      { total: 100, used: 0, held: 50, input: 10, cap: 5, max: 90, leastOutput: 16 },
      { reserved: 26 },
    ],
    [
      'wants less than the provider takes, beside others',
      { total: 100, used: 0, held: 75, input: 10, cap: 5, max: 90, leastOutput: 16 },
      'rate_limit_exceeded',
    ],
    [
      'wants less than the provider takes, and is the last one',
      { total: 20, used: 0, held: 0, input: 10, cap: 12, max: 90, leastOutput: 16 },
      { reserved: 26, outputCap: 10 },
    ],
    [
      'brings an input larger than the rest',
      { total: 100, used: 0, held: 1, input: 100, max: 9 },
      'rate_limit_exceeded',
    ],
    [
      'wants three answers that fit',
      { total: 1000, used: 0, held: 0, input: 100, cap: 300, max: 900, answers: 3 },
      { reserved: 1000 },
    ],
    [
      'wants three answers, each lowered',
      { total: 1000, used: 0, held: 0, input: 100, cap: 301, max: 900, answers: 3 },
      { reserved: 1000, outputCap: 300 },
    ],
    [
      'wants three answers, of what cannot be parted',
      { total: 108, used: 0, held: 0, input: 100, cap: 9, max: 9, answers: 3 },
      { reserved: 106, outputCap: 2 },
    ],
    [
      'wants as many answers as tokens are left',
      { total: 103, used: 0, held: 0, input: 100, cap: 9, max: 9, answers: 3 },
      { reserved: 103, outputCap: 1 },
    ],
    [
      'wants more answers than tokens are left',
      { total: 100, used: 0, held: 0, input: 98, cap: 9, max: 9, answers: 3 },
      'quota_exhausted',
    ],
    [
      'wants more answers than others leave it',
      { total: 100, used: 0, held: 60, input: 10, cap: 20, max: 20, answers: 3 },
      'rate_limit_exceeded',
    ],
    [
      'wants two pictures that fit',
      { total: 9000, used: 0, held: 900, input: 100, max: 4000, answers: 2, fixed: true },
      { reserved: 8100 },
    ],
    [
      'wants a picture the rest does not cover',
      { total: 4000, used: 0, held: 0, input: 1, max: 4000, fixed: true },
      'quota_exhausted',
    ],
    [
      'wants a picture while others hold its tokens',
      { total: 5000, used: 0, held: 4000, input: 1, max: 4000, fixed: true },
      'rate_limit_exceeded',
    ],
  ])('a request that %s', (_what, { total, used, held, input, least = 0, cap, max, ...more }, expected) => {
    const asked = { inputEstimate: input, leastInput: () => least, outputCap: cap, maxOutput: max, ...more }
    const run = () => admit(key(total, used), held, asked)
    if (typeof expected === 'string') expect(run).toThrow(expect.objectContaining({ code: expected }))
    else expect(run()).toEqual({ outputCap: undefined, ...(expected as object) } as ReturnType<typeof admit>)
  })

  test.each([
    ['never', undefined, 'is used up. Ask for more tokens'],
    ['every day', 'day', 'is used up. It renews every day, at 00:00 UTC. Ask'],
    ['every month', 'month', 'It renews on the first of every month, at 00:00 UTC.'],
  ] as const)('tells the holder of a used-up quota that renews %s when to come back', (_when, renews, words) => {
    const run = () => admit({ ...key(10, 10), renews }, 0, { inputEstimate: 1, outputCap: 5, maxOutput: 5 })
    expect(run).toThrow(expect.objectContaining({ code: 'quota_exhausted', message: expect.stringContaining(words) }))
  })

  test('what fees may take is not there for output', () => {
    const bound = quotaOf(key(100, 0), 0, UTC)
    const ask = { inputEstimate: 10, outputCap: 90, maxOutput: 90 }
    const within = (fees: number) => admitWithin([{ ...bound, per: { ...bound.per, fees } }], ask)
    expect(within(0)).toEqual({ input: 10, output: 90, outputCap: undefined })
    expect(within(30)).toEqual({ input: 10, output: 60, outputCap: 60 })
  })

  test('a prompt that surely does not fit is refused with both figures', () => {
    const asked = { inputEstimate: 900, leastInput: () => 225, outputCap: undefined, maxOutput: 9 }
    const run = () => admit(key(250, 70), 0, asked)
    expect(run).toThrow('The prompt takes at least 225 tokens, and the token quota of this API key has 180 left.')
  })

  test('a refusal for held tokens says when to retry, a final one says not to', () => {
    const refusal = (held: number, used: number) => {
      try {
        return admit(key(10, used), held, { inputEstimate: 1, outputCap: 5, maxOutput: 5 })
      } catch (error) {
        return error as GatewayError
      }
    }
    expect(refusal(10, 0)).toMatchObject({ retryAfterMs: 1_000, retry: true })
    expect(refusal(0, 10)).toMatchObject({ retryAfterMs: undefined, retry: false })
  })

  const tokens = fc.integer({ min: 0, max: 3_000 })
  const asks = fc.record({
    ...{ total: tokens, used: tokens, held: tokens, inputEstimate: tokens, maxOutput: tokens },
    outputCap: fc.option(tokens, { nil: undefined }),
    answers: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    fixed: fc.option(fc.boolean(), { nil: undefined }),
  })

  test('used plus held never exceeds the total, except by the estimate of a request that is alone', () =>
    fc.assert(
      fc.property(asks, ({ total, used, held, ...rest }) => {
        try {
          const { reserved } = admit(key(total, used), held, rest)
          if (held > 0) expect(used + held + reserved).toBeLessThanOrEqual(total)
          else expect(used + reserved).toBeLessThanOrEqual(Math.max(total, used + rest.inputEstimate + 1))
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error
          if (used < total) expect(held > 0 || (rest.answers ?? 1) > 1 || rest.fixed === true).toBe(true)
        }
      }),
    ))

  test('a cap is returned only where it is lower than the client’s or the model’s', () =>
    fc.assert(
      fc.property(asks, ({ total, used, held: _, ...rest }) => {
        const wanted = rest.outputCap ?? rest.maxOutput
        const answers = rest.answers ?? 1
        let admitted: ReturnType<typeof admit>
        try {
          admitted = admit(key(used + total + 1, used), 0, rest)
        } catch {
          expect(answers > 1 || rest.fixed === true).toBe(true)
          return
        }
        const { outputCap, reserved } = admitted
        if (outputCap !== undefined) expect(outputCap).toBeLessThanOrEqual(wanted)
        if (outputCap !== undefined && wanted > 0) expect(rest.fixed).not.toBe(true)
        expect(reserved).toBe(rest.inputEstimate + (outputCap ?? wanted) * answers)
      }),
    ))
})
