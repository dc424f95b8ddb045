// The second factor: setting it up, coming in by it, losing it, and asking it of every admin.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { Secret, TOTP } from 'otpauth'
import { ROUTES, type RouteName } from '../../../src/admin-api/routes.ts'
import { databasePath } from '../../../src/config.ts'
import { GatewayError } from '../../../src/errors.ts'
import { DEFAULT_LIMITS, type Member } from '../../../src/members/member.ts'
import { createMembership } from '../../../src/members/membership.ts'
import { backupStore } from '../../../src/store/sqlite/index.ts'
import { DAY, NOW, open } from '../../store/support.ts'
import { SYSTEM } from '../../support/gateway.ts'
import { cookieOf, type Desk, HASH, PASSWORD, type Person, refusal, startDesk } from './support.ts'

const STEP = 30_000
const codeOf = (secret: string, at: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at })
/** Right at no time near. */
const wrongCodeOf = (secret: string, at: number): string => {
  const near = new Set([-3, -2, -1, 0, 1, 2, 3].map((steps) => codeOf(secret, at + steps * STEP)))
  return (
    ['000000', '111111', '222222', '333333', '444444', '555555', '666666', '777777'].find((c) => !near.has(c)) ?? ''
  )
}

describe('a code', () => {
  const start = async () => {
    const time = { now: NOW }
    const store = open(':memory:', () => time.now)
    const membership = createMembership({ store, clock: () => time.now })
    const add = (name: string): Promise<Member> =>
      store.members.add({ name, role: 'admin', limits: DEFAULT_LIMITS, passwordHash: HASH }, SYSTEM)
    const ada = await add('Ada')
    const { secret } = await membership.factor.offer(ada)
    const session = await membership.session((await membership.openSession(ada)).secret)
    if (session === undefined) throw new Error('no session')
    const recovery = await membership.factor.enable(session, codeOf(secret, time.now))
    time.now += 2 * STEP
    const outcome = (doing: Promise<unknown>): Promise<string> =>
      doing.then(
        () => 'in',
        (error: unknown) =>
          error instanceof GatewayError ? `${error.code} ${error.param ?? ''}`.trim() : String(error),
      )
    const signIn = (code?: string, peer = 'peer', password = PASSWORD) =>
      outcome(membership.signIn('Ada', password, peer, code))
    return { time, store, membership, ada, add, secret, recovery, signIn, outcome }
  }

  test('is taken while it is shown and a step before and after, and no earlier or later', async () => {
    for (const [steps, expected] of [
      [-2, 'invalid_api_key code'],
      [-1, 'in'],
      [0, 'in'],
      [1, 'in'],
      [2, 'invalid_api_key code'],
    ] as const) {
      const { time, secret, signIn } = await start()
      time.now += 10 * STEP
      expect([steps, await signIn(codeOf(secret, time.now + steps * STEP))]).toEqual([steps, expected])
    }
  })
  test('is taken once, as it was given, however many come with it at once; and none that is older than the last', async () => {
    const { time, secret, signIn } = await start()
    const code = codeOf(secret, time.now)
    const both = await Promise.all([signIn(code), signIn(`${code.slice(0, 3)} ${code.slice(3)}`)])
    expect(both.toSorted()).toEqual(['in', 'invalid_api_key code'])
    expect(await signIn(code)).toBe('invalid_api_key code')
    expect(await signIn(codeOf(secret, time.now - STEP))).toBe('invalid_api_key code')
    expect(await signIn(codeOf(secret, time.now + STEP))).toBe('in')
    expect(await signIn(code)).toBe('invalid_api_key code')
  })
  test('whatever was taken, none is taken twice, and each that is taken is near its time', async () => {
    const { time, membership, ada, secret } = await start()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 70_000 }), fc.integer({ min: -3, max: 3 })), { maxLength: 12 }),
        async (tries) => {
          const taken: number[] = []
          time.now += 100 * STEP
          for (const [pause, steps] of tries) {
            time.now += pause
            const step = Math.floor(time.now / STEP) + steps
            const right = await membership.factor.take(ada.id, codeOf(secret, step * STEP)).then(
              () => true,
              () => false,
            )
            expect(right).toBe(Math.abs(steps) <= 1 && taken.every((earlier) => earlier < step))
            if (right) taken.push(step)
            // Wrong ones are counted over a quarter of an hour.
            else time.now += 2 * 60_000
          }
        },
      ),
      { numRuns: 60 },
    )
  })
  test('taken while the clock was years ahead does not lock out whoever comes once it is right', async () => {
    const { time, secret, signIn } = await start()
    time.now += 3_000 * DAY
    expect(await signIn(codeOf(secret, time.now))).toBe('in')
    time.now = NOW + DAY
    expect(await signIn(codeOf(secret, time.now))).toBe('in')
    expect(await signIn(codeOf(secret, time.now))).toBe('invalid_api_key code')
  })
  test('that is missing is asked for and is no guess; without the password nothing is said of it', async () => {
    const { time, secret, signIn } = await start()
    for (let i = 0; i < 40; i++) expect(await signIn()).toBe('invalid_api_key code')
    expect(await signIn(codeOf(secret, time.now), 'peer', 'not it at all')).toBe('invalid_api_key')
    expect(await signIn(undefined, 'peer', 'not it at all')).toBe('invalid_api_key')
    expect(await signIn(codeOf(secret, time.now))).toBe('in')
  })
  test('is guessed ten times, wherever from; then even the right one waits a quarter of an hour', async () => {
    const { time, secret, signIn, store } = await start()
    for (let i = 0; i < 10; i++) {
      expect(await signIn(wrongCodeOf(secret, time.now), `203.0.113.${i}`)).toBe('invalid_api_key code')
    }
    expect(await signIn(codeOf(secret, time.now), '198.51.100.1')).toBe('rate_limit_exceeded')
    const told = (await store.audit({ limit: 50 })).filter(({ action }) => action === 'session.refuse')
    expect(told).toHaveLength(10)
    expect(told[0]?.after).toMatchObject({ from: '203.0.113.9', wrong: 'code' })
    time.now += 15 * 60_000
    expect(await signIn(codeOf(secret, time.now), '198.51.100.1')).toBe('in')
  })
  test('for recovery is taken once, however it is written, and the audit says how many are left', async () => {
    const { recovery, signIn, store, ada, membership } = await start()
    expect(new Set(recovery).size).toBe(10)
    for (const code of recovery) expect(code).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
    const [first = '', second = ''] = recovery
    expect(await signIn(first)).toBe('in')
    expect(await signIn(first)).toBe('invalid_api_key code')
    const both = await Promise.all([signIn(second.toUpperCase().replaceAll('-', ' ')), signIn(second)])
    expect(both.toSorted()).toEqual(['in', 'invalid_api_key code'])
    expect(await membership.factor.codesLeft(ada.id)).toBe(8)
    const used = (await store.audit({ limit: 50 })).filter(({ action }) => action === 'second-factor.recover')
    expect(used.map(({ target, after }) => [target, after])).toEqual([
      [ada.id, { left: 8 }],
      [ada.id, { left: 9 }],
    ])
  })
  test('of another’s factor, or for another’s recovery, opens nothing', async () => {
    const { time, membership, add, recovery, secret, outcome } = await start()
    const bea = await add('Bea')
    const offered = await membership.factor.offer(bea)
    const session = await membership.session((await membership.openSession(bea)).secret)
    if (session === undefined) throw new Error('no session')
    await membership.factor.enable(session, codeOf(offered.secret, time.now))
    time.now += 2 * STEP
    for (const code of [recovery[0], codeOf(secret, time.now)]) {
      expect(await outcome(membership.signIn('Bea', PASSWORD, 'peer', code))).toBe('invalid_api_key code')
    }
    expect(await outcome(membership.signIn('Bea', PASSWORD, 'peer', codeOf(offered.secret, time.now)))).toBe('in')
  })
})

describe('over the admin API', () => {
  let desk: Desk
  const time = { now: NOW }
  beforeAll(async () => {
    desk = await startDesk({ clock: () => time.now })
  })
  afterAll(() => desk.stop())
  // Neither counts of attempts nor codes of one test are in the way of the next.
  beforeEach(async () => {
    time.now += 20 * 60_000
    desk.admin = await desk.signedIn(desk.admin.member)
  })

  const enable = async (person: Person) => {
    const { secret, uri } = await desk.call('second-factor.offer', person)
    const { recovery_codes } = await desk.call('second-factor.enable', person, { code: codeOf(secret, time.now) })
    time.now += 2 * STEP
    return { secret, uri, codes: recovery_codes }
  }
  const signIn = (name: string, code?: string) =>
    desk.request('session.sign-in', desk.nobody, { name, password: PASSWORD, ...(code === undefined ? {} : { code }) })
  const personOf = (response: Response | Awaited<ReturnType<Desk['request']>>): Person => ({
    headers: { cookie: `sluice_session=${cookieOf(response as Response)}` },
  })

  test('it is offered, confirmed by a code and in force; other sessions end, and nothing of it can be read again', async () => {
    const person = await desk.join('Setter', 'admin')
    const elsewhere = await desk.signedIn(person.member)
    const first = await desk.call('second-factor.offer', person)
    expect((await desk.call('session.get', person)).member).toMatchObject({ second_factor: false })
    expect((await signIn('Setter')).status).toBe(200)
    const { secret, uri } = await desk.call('second-factor.offer', person)
    const url = new URL(uri)
    expect([url.protocol, url.host, decodeURIComponent(url.pathname)]).toEqual(['otpauth:', 'totp', '/sluice:Setter'])
    expect(url.searchParams.get('secret')).toBe(secret)
    for (const code of [codeOf(first.secret, time.now), wrongCodeOf(secret, time.now), 'abcdef', '']) {
      expect((await desk.request('second-factor.enable', person, { code })).status).toBe(400)
    }
    const { recovery_codes } = await desk.call('second-factor.enable', person, { code: codeOf(secret, time.now) })
    expect((await desk.request('second-factor.enable', person, { code: codeOf(secret, time.now) })).status).toBe(400)
    expect((await desk.request('second-factor.offer', person)).status).toBe(400)
    expect((await desk.call('session.get', elsewhere)).signed_in).toBe(false)
    const { member } = await desk.call('session.get', person)
    expect(member).toMatchObject({ second_factor: true, recovery_codes: 10 })
    const { items } = await desk.call('members.list', desk.admin)
    expect(items.find(({ name }) => name === 'Setter')?.second_factor).toBe(true)
    // What set it up does not also sign in.
    expect((await signIn('Setter', codeOf(secret, time.now))).status).toBe(401)

    const file = join(desk.config.dataDir, 'copy.db')
    backupStore(databasePath(desk.config), file)
    const bytes = Buffer.from(await Bun.file(file).arrayBuffer())
    for (const code of recovery_codes) {
      expect([bytes.includes(code), bytes.includes(code.replaceAll('-', ''))]).toEqual([false, false])
    }
    const audit = await desk.call('audit.list', desk.admin, { target: person.member.id })
    expect(audit.items.map(({ action }) => action)).toContain('second-factor.enable')
    expect(JSON.stringify(audit)).not.toContain(secret)
  })

  test('coming in and proving who one is take it', async () => {
    const person = await desk.join('Careful', 'admin')
    const { secret, codes } = await enable(person)
    const missing = (await (await signIn('careful')).json()) as object
    expect(missing).toMatchObject({ error: { code: 'invalid_api_key', param: 'code' } })
    const entered = await signIn('careful', codeOf(secret, time.now))
    expect(entered.status).toBe(200)
    const inside = personOf(entered)
    time.now += 6 * 60_000
    expect((await desk.request('tokens.create', inside, { label: 'x' })).status).toBe(403)
    const prove = (code?: string) =>
      desk.request('session.prove', inside, { password: PASSWORD, ...(code === undefined ? {} : { code }) })
    expect(await (await prove()).json()).toMatchObject({ error: { param: 'code' } })
    expect((await prove(wrongCodeOf(secret, time.now))).status).toBe(401)
    expect((await desk.request('tokens.create', inside, { label: 'x' })).status).toBe(403)
    expect((await prove(codes[0])).status).toBe(200)
    expect((await desk.request('tokens.create', inside, { label: 'x' })).status).toBe(200)
  })

  test('new recovery codes end the ones before; without a second factor there are none', async () => {
    const person = await desk.join('Forgetful', 'member')
    expect((await desk.request('second-factor.renew-codes', person)).status).toBe(400)
    const { codes } = await enable(person)
    const { recovery_codes } = await desk.call('second-factor.renew-codes', person)
    expect((await signIn('forgetful', codes[0])).status).toBe(401)
    expect((await signIn('forgetful', recovery_codes[0])).status).toBe(200)
  })

  test('who removes it comes in by the password alone; an admin removes it of who has lost theirs', async () => {
    const person = await desk.join('Loser', 'member')
    await enable(person)
    await desk.call('second-factor.remove', person)
    expect((await signIn('loser')).status).toBe(200)
    await enable(person)
    expect((await signIn('loser')).status).toBe(401)
    const { id } = person.member
    const taken = { id, name: desk.admin.member.name, second_factor: false } as const
    expect((await desk.request('members.update', desk.admin, taken)).status).toBe(400)
    // All of a change or nothing: a name that is taken leaves the factor.
    expect((await signIn('loser')).status).toBe(401)
    const after = await desk.call('members.update', desk.admin, { id, name: 'Loser', second_factor: false })
    expect(after.second_factor).toBe(false)
    expect((await signIn('loser')).status).toBe(200)
    const nobody = { id: 'mem_nobody', second_factor: false } as const
    expect((await desk.request('members.update', desk.admin, nobody)).status).toBe(404)
    const { items } = await desk.call('audit.list', desk.admin, { target: person.member.id })
    const removed = items.filter(({ action }) => action === 'second-factor.remove')
    expect(removed.map(({ actor }) => actor.name)).toEqual(['Ada', 'Loser'])
  })

  test('an admin’s link for a new password leaves it as it is, and asks for it', async () => {
    const { member, headers } = await desk.join('Reset', 'member')
    const { codes } = await enable({ headers })
    const { invitation } = await desk.call('members.renew-invitation', desk.admin, { id: member.id })
    const { token } = invitation
    expect(await desk.call('invitation.open', desk.nobody, { token })).toMatchObject({ needs_code: true })
    const password = 'three herons by the weir'
    const accept = (code?: string) =>
      desk.request('invitation.accept', desk.nobody, { token, password, ...(code === undefined ? {} : { code }) })
    expect(await (await accept()).json()).toMatchObject({ error: { param: 'code' } })
    expect((await accept('000000000000')).status).toBe(401)
    expect((await accept(codes[0])).status).toBe(200)
    expect((await signIn('reset', codes[0])).status).toBe(401)
  })

  test('a link of the command line removes it: who has the data directory has everything', async () => {
    const { member, headers } = await desk.join('Rescued', 'admin')
    await enable({ headers })
    const { membership } = desk.server.gateway
    const { token } = await membership.invite(member.id, { kind: 'cli', id: 'test' }, { endsFactor: true })
    expect((await signIn('rescued')).status).toBe(401)
    expect(await desk.call('invitation.open', desk.nobody, { token })).toMatchObject({ needs_code: false })
    expect(await membership.factor.isEnabled(member.id)).toBe(true)
    await desk.call('invitation.accept', desk.nobody, { token, password: PASSWORD })
    expect((await signIn('rescued')).status).toBe(200)
    const { items } = await desk.call('audit.list', desk.admin, { target: member.id })
    expect(items.map(({ action }) => action)).toContain('second-factor.remove')
    // The next link of an admin is one like any other.
    await enable(await desk.signedIn(member))
    const next = await desk.call('members.renew-invitation', desk.admin, { id: member.id })
    expect(await desk.call('invitation.open', desk.nobody, { token: next.invitation.token })).toMatchObject({
      needs_code: true,
    })
  })

  describe('asked of every admin', () => {
    const NAMES = Object.keys(ROUTES) as RouteName[]
    let lacking: Person & { member: Member }
    beforeAll(async () => {
      time.now += 20 * 60_000
      desk.admin = await desk.signedIn(desk.admin.member)
      lacking = await desk.join('Lacking', 'admin')
      const early = await desk.request('settings.put', desk.admin, { second_factor_for_admins: true })
      expect(await refusal(early)).toMatchObject({ status: 400, message: expect.stringContaining('of your own first') })
      await enable(desk.admin)
      await desk.call('settings.put', desk.admin, { second_factor_for_admins: true })
    })
    beforeEach(async () => {
      lacking = await desk.signedIn(lacking.member)
    })
    const closed = NAMES.filter((name) => !('early' in ROUTES[name]) && ROUTES[name].access !== 'anyone')

    test('leaves little open to who has none', () => {
      expect(NAMES.filter((name) => 'early' in ROUTES[name]).toSorted()).toEqual([
        'second-factor.enable',
        'second-factor.offer',
        'session.prove',
        'session.sign-out',
        'session.sign-out-everywhere',
      ])
    })
    test.each(closed)('%s is refused with 403 that names it', async (name) => {
      const response = await desk.request(name, lacking)
      expect(response.status).toBe(403)
      expect(await response.json()).toMatchObject({ error: { code: 'permission_denied', param: 'second_factor' } })
    })
    test('members need none, and neither do admin tokens', async () => {
      const member = await desk.signedIn(desk.member.member)
      expect((await desk.request('keys.list', member)).status).toBe(200)
      expect((await desk.call('session.get', member)).second_factor_due).toBe(false)
      const { secret } = await desk.server.gateway.membership.issueToken('ci', undefined, lacking.member)
      expect((await desk.request('keys.list', { headers: { authorization: `Bearer ${secret}` } })).status).toBe(200)
    })
    test('who has one cannot remove it, unless they are no admin', async () => {
      expect((await desk.request('second-factor.remove', desk.admin)).status).toBe(403)
      const member = await desk.join('Free to go', 'member')
      await enable(member)
      await desk.call('second-factor.remove', member)
    })
    test('who signs in is led to set one up, and then may do everything', async () => {
      const entered = personOf(await signIn('lacking'))
      expect(await desk.call('session.get', entered)).toMatchObject({ signed_in: true, second_factor_due: true })
      await enable(entered)
      expect((await desk.call('session.get', entered)).second_factor_due).toBe(false)
      expect((await desk.request('members.list', entered)).status).toBe(200)
    })
    test('a member who is made an admin must set one up, too', async () => {
      const { member, headers } = await desk.join('Promoted', 'member')
      await desk.call('members.update', desk.admin, { id: member.id, role: 'admin' })
      expect((await desk.request('keys.list', { headers })).status).toBe(403)
    })
  })
})
