// The rules of time at the door, with a clock of their own.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { GatewayError } from '../../src/errors.ts'
import { hashSecret } from '../../src/keys/secret.ts'
import { createAttempts, peerName } from '../../src/members/attempts.ts'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import { createMembership } from '../../src/members/membership.ts'
import { IDLE_MS } from '../../src/members/sessions.ts'
import { DAY, NOW, open } from '../store/support.ts'
import { SYSTEM } from '../support/gateway.ts'

const start = () => {
  const time = { now: NOW }
  const store = open(':memory:', () => time.now)
  const days = { now: 7 }
  const membership = createMembership({ store, clock: () => time.now, sessionDays: () => days.now })
  const add = (name: string, role: 'admin' | 'member' = 'admin') =>
    store.members.add({ name, role, limits: DEFAULT_LIMITS, passwordHash: 'x' }, SYSTEM)
  return { time, days, store, membership, add }
}

describe('a session', () => {
  test('ends seven days after its last use, to the millisecond', async () => {
    const { time, days, membership, add } = start()
    days.now = 30
    const { secret } = await membership.openSession(await add('Ada'))
    time.now += IDLE_MS - 1
    expect((await membership.session(secret))?.member.name).toBe('Ada')
    time.now += IDLE_MS - 1
    expect(await membership.session(secret)).toBeDefined()
    time.now += IDLE_MS
    expect(await membership.session(secret)).toBeUndefined()
  })
  test('ends so many days after sign-in as are set, however much it is used', async () => {
    const { time, days, membership, add } = start()
    days.now = 30
    const { secret, expiresAt } = await membership.openSession(await add('Ada'))
    expect(expiresAt).toBe(NOW + 30 * DAY)
    while (time.now + DAY < expiresAt) {
      time.now += DAY
      expect(await membership.session(secret)).toBeDefined()
    }
    time.now = expiresAt - 1
    expect(await membership.session(secret)).toBeDefined()
    time.now = expiresAt
    expect(await membership.session(secret)).toBeUndefined()
  })
  test('ends after seven days where nothing is set, and none is shown that has ended', async () => {
    const { time, membership, add } = start()
    const ada = await add('Ada')
    const { secret, expiresAt } = await membership.openSession(ada)
    expect(expiresAt).toBe(NOW + 7 * DAY)
    time.now = expiresAt - 1
    expect(await membership.session(secret)).toBeDefined()
    expect(await membership.sessionsOf(ada.id)).toMatchObject([{ expiresAt }])
    time.now = expiresAt
    expect(await membership.session(secret)).toBeUndefined()
    expect(await membership.sessionsOf(ada.id)).toEqual([])
  })
  test('that was opened for longer ends as early as is set now; a longer time prolongs none', async () => {
    const { time, days, membership, add } = start()
    const ada = await add('Ada')
    days.now = 30
    const { secret } = await membership.openSession(ada)
    days.now = 2
    expect(await membership.sessionsOf(ada.id)).toMatchObject([{ expiresAt: NOW + 2 * DAY }])
    time.now += 2 * DAY - 1
    expect(await membership.session(secret)).toBeDefined()
    time.now += 1
    expect(await membership.session(secret)).toBeUndefined()
    const short = await membership.openSession(ada)
    days.now = 30
    time.now += 2 * DAY
    expect(await membership.session(short.secret)).toBeUndefined()
  })
  test('lasts when the clock is set back an hour, and is still idle after seven days', async () => {
    const { time, days, membership, add } = start()
    days.now = 30
    const { secret } = await membership.openSession(await add('Ada'))
    time.now -= DAY / 24
    expect(await membership.session(secret)).toBeDefined()
    time.now += IDLE_MS
    expect(await membership.session(secret)).toBeUndefined()
  })
  test('ends, as a link does, when a clock that was years ahead is set right', async () => {
    const { time, membership, add } = start()
    const ada = await add('Ada')
    time.now += 70 * 365 * DAY
    const { secret } = await membership.openSession(ada)
    const { token } = await membership.invite(ada.id, SYSTEM)
    expect(await membership.session(secret)).toBeDefined()
    time.now = NOW
    expect(await membership.session(secret)).toBeUndefined()
    await expect(membership.invited(token, 'peer')).rejects.toThrow(/expired/)
    const again = await membership.openSession(ada)
    expect(await membership.session(again.secret)).toBeDefined()
  })
  test('proves who its owner is for five minutes, whichever way the clock is set then', async () => {
    const { time, membership, add } = start()
    const { secret } = await membership.openSession(await add('Ada'))
    const isProven = async () => {
      const session = await membership.session(secret)
      return session !== undefined && membership.isProven(session)
    }
    time.now += 5 * 60_000 - 1
    expect(await isProven()).toBe(true)
    time.now += 1
    expect(await isProven()).toBe(false)
    time.now = NOW - 5 * 60_000
    expect(await isProven()).toBe(false)
  })
  test('lasts, as tokens do, while the store cannot be written: only the time of its use is not recorded', async () => {
    const { store, time, add } = start()
    const unwritable = async (): Promise<never> => {
      throw new Error('disk full')
    }
    const sessions = { ...store.sessions, seen: unwritable }
    const tokens = { ...store.tokens, used: unwritable }
    const membership = createMembership({ store: { ...store, sessions, tokens }, clock: () => time.now })
    const member = await add('Ada')
    const { secret } = await membership.openSession(member)
    const issued = await membership.issueToken('script', undefined, member)
    time.now += DAY
    expect((await membership.session(secret))?.member.name).toBe('Ada')
    expect((await membership.token(issued.secret))?.id).toBe(issued.token.id)
  })
  test('sees its member as they are now', async () => {
    const { store, membership, add } = start()
    await add('Boss')
    const member = await add('Ada')
    const { secret } = await membership.openSession(member)
    await store.members.update(member.id, { role: 'member', name: 'Adele' }, SYSTEM)
    expect((await membership.session(secret))?.member).toMatchObject({ role: 'member', name: 'Adele' })
    await store.members.remove(member.id, 'revoke', SYSTEM)
    expect(await membership.session(secret)).toBeUndefined()
  })
})

describe('links and tokens', () => {
  test('an invitation is valid for seven days', async () => {
    const { time, membership, add } = start()
    const { token, expiresAt } = await membership.invite((await add('Ivy')).id, SYSTEM)
    expect(expiresAt).toBe(NOW + 7 * DAY)
    time.now = expiresAt - 1
    expect((await membership.invited(token, 'peer')).member.name).toBe('Ivy')
    time.now = expiresAt
    await expect(membership.invited(token, 'peer')).rejects.toThrow(/expired/)
  })
  test('a setup link of an earlier offer is void', async () => {
    const { membership } = start()
    const first = (await membership.offerSetup()) ?? ''
    const second = (await membership.offerSetup()) ?? ''
    await expect(membership.setUp(first, 'Ada', 'long enough', 'peer')).rejects.toThrow(/not|never/)
    expect((await membership.setUp(second, 'Ada', 'long enough', 'peer')).member.role).toBe('admin')
    expect(await membership.offerSetup()).toBeUndefined()
  })
  test('an admin token ends when it expires', async () => {
    const { time, membership, add } = start()
    const { secret } = await membership.issueToken('ci', NOW + 1_000, await add('Ada'))
    time.now += 999
    expect((await membership.token(secret))?.label).toBe('ci')
    time.now += 1
    expect(await membership.token(secret)).toBeUndefined()
  })
  test('tell when they were last used, also after a clock that was ahead is set right', async () => {
    const { time, store, membership, add } = start()
    const { secret, token } = await membership.issueToken('ci', undefined, await add('Ada'))
    const usedAt = async () => (await store.tokens.find(hashSecret(secret)))?.usedAt
    expect(await usedAt()).toBe(token.usedAt)
    for (const at of [NOW + DAY, NOW]) {
      time.now = at
      expect(await membership.token(secret)).toBeDefined()
      expect(await usedAt()).toBe(at)
    }
    time.now += 59_999
    expect(await membership.token(secret)).toBeDefined()
    expect(await usedAt()).toBe(NOW)
  })
  test.each(['', 'x', '\u0000', 'sl-admin-', 'a'.repeat(100_000)])('%j opens nothing', async (secret) => {
    const { membership, add } = start()
    await membership.openSession(await add('Ada'))
    expect(await membership.session(secret)).toBeUndefined()
    expect(await membership.token(secret)).toBeUndefined()
    expect(await membership.token(`sl-admin-${secret}`)).toBeUndefined()
  })
})

describe('signing in', () => {
  const passwordHash = Bun.password.hashSync('long enough', { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })
  const signIn = async (meanwhile: (store: ReturnType<typeof open>, id: string) => Promise<unknown>) => {
    const store = open(':memory:')
    const { id } = await store.members.add(
      { name: 'Ada', role: 'member', limits: DEFAULT_LIMITS, passwordHash },
      SYSTEM,
    )
    let asked = 0
    const credentials: typeof store.members.credentials = async (name) => {
      const found = await store.members.credentials(name)
      // What was found first is checked for a while.
      if (++asked === 1) await meanwhile(store, id)
      return found
    }
    const members = { ...store.members, credentials }
    const membership = createMembership({ store: { ...store, members }, clock: () => NOW })
    return membership.signIn('Ada', 'long enough', 'peer').then(
      ({ member }) => member.name,
      (error: GatewayError) => error.code,
    )
  }
  test('ends with the door open where nothing comes between', async () => {
    expect(await signIn(async () => undefined)).toBe('Ada')
  })
  test('is refused where the member is removed, or has another password, by the time that it was checked', async () => {
    const removed = signIn((store, id) => store.members.remove(id, 'revoke', SYSTEM))
    expect(await removed).toBe('invalid_api_key')
    const changed = signIn(async (store, id) => {
      await store.members.invite(id, { hash: 'h', expiresAt: NOW + DAY, endsFactor: false }, SYSTEM)
      return store.members.accept('h', 'another', NOW)
    })
    expect(await changed).toBe('invalid_api_key')
  })
})

describe('attempts', () => {
  test('no window holds more than the limit, and whoever waits as long as told is let in', () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 60, size: 'max' }),
        async (most, pauses) => {
          let now = 1_000_000
          const attempts = createAttempts(() => now)
          const limits = [
            { name: 'a', most, windowMs: 1_000 },
            { name: 'b', most: 1_000, windowMs: 1_000 },
          ]
          const taken: number[] = []
          for (const pause of pauses) {
            now += pause
            const answer = await attempts.take(limits)
            if ('waitMs' in answer) {
              expect(answer.waitMs).toBeGreaterThan(0)
              const inWindow = taken.filter((time) => time > now - 1_000)
              expect(inWindow).toHaveLength(most)
              now += answer.waitMs
              expect(await attempts.take(limits)).toHaveProperty('taken')
            }
            taken.push(now)
            expect(taken.filter((time) => time > now - 1_000).length).toBeLessThanOrEqual(most)
          }
        },
      ),
    ))

  test('one that is given back counts for none of its limits, and one that is refused for none either', async () => {
    const attempts = createAttempts(() => 0)
    const limit = (name: string, most: number) => ({ name, most, windowMs: 1_000 })
    const both = [limit('a', 2), limit('b', 1)]
    const first = await attempts.take(both)
    if (!('taken' in first)) throw new Error('it was not taken')
    expect(await attempts.take(both)).toEqual({ waitMs: 1_000 })
    expect(await attempts.take([limit('a', 2)])).toHaveProperty('taken')
    expect(await attempts.take([limit('a', 2)])).toEqual({ waitMs: 1_000 })
    await attempts.giveBack(first.taken)
    expect(await attempts.take(both)).toHaveProperty('taken')
  })

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:0:12::1', '2001:db8:0:12::/64'],
    ['2001:0DB8:0000:0012:ffff:1:2:3', '2001:db8:0:12::/64'],
    ['::1', '0:0:0:0::/64'],
    [undefined, 'unknown'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['[2001:db8:1:2:ffff::9]:51234', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2:ffff::9]', '2001:db8:1:2::/64'],
    ['[::ffff:203.0.113.7]:51234', '203.0.113.7'],
  ])('%p counts as %s', (address, name) => expect(peerName(address)).toBe(name))
})
