// What the audit hears of those who guess passwords.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/errors.ts'
import { createAttempts } from '../../src/members/attempts.ts'
import { createGuard } from '../../src/members/guard.ts'
import type { SessionStore } from '../../src/members/member.ts'
import { NOW } from '../store/support.ts'

type Refusal = Parameters<SessionStore['refuse']>[1]

const start = () => {
  const state = { now: NOW, isFull: false }
  const told: Refusal[] = []
  const guard = createGuard({
    attempts: createAttempts(() => state.now),
    sessions: {
      async refuse(_, refusal) {
        if (state.isFull) throw new Error('the disk is full')
        told.push(refusal)
      },
    },
  })
  const guess = (account: string, peer: string, error: Error = new GatewayError('invalid_api_key', 'Wrong.')) =>
    guard
      .guarded(
        account,
        peer,
        () => Promise.resolve(undefined),
        () => Promise.reject(error),
      )
      .catch((thrown: unknown) => thrown)
  return { state, told, guess }
}

describe('guesses', () => {
  test('of names that nobody has do not fill the audit either: what it leaves out is counted', async () => {
    const { state, told, guess } = start()
    for (let at = 0; at < 40; at++) await guess(`name:nobody-${at}`, `203.0.113.${at}`)
    expect(told).toHaveLength(30)
    state.now += 15 * 60_000
    await guess('name:nobody', '198.51.100.1')
    expect(told.at(-1)).toEqual({ peer: '198.51.100.1', unrecorded: 10, by: 'password' })
    await guess('name:nobody', '198.51.100.2')
    expect(told.at(-1)?.unrecorded).toBe(0)
  })

  test('that were left out are told later where the audit could not be written meanwhile', async () => {
    const { state, told, guess } = start()
    for (let at = 0; at < 25; at++) await guess('name:ada', `203.0.113.${at}`)
    state.now += 15 * 60_000
    state.isFull = true
    expect(await guess('name:ada', '198.51.100.1')).toMatchObject({ message: 'the disk is full' })
    state.isFull = false
    await guess('name:ada', '198.51.100.2')
    expect(told.at(-1)?.unrecorded).toBe(5)
  })
})
