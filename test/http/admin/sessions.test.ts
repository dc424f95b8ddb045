// Coming in and going out: the setup link, passwords, invitations, sessions and their ends.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMIN_BASE, type RouteName } from '../../../src/admin-api/routes.ts'
import { databasePath, loadConfig } from '../../../src/config.ts'
import type { GatewayError } from '../../../src/errors.ts'
import { DEFAULT_LIMITS } from '../../../src/members/member.ts'
import { createMembership } from '../../../src/members/membership.ts'
import { startServer } from '../../../src/server/serve.ts'
import { backupStore } from '../../../src/store/sqlite/index.ts'
import type { Store } from '../../../src/store/store.ts'
import { NOW, newKey, open } from '../../store/support.ts'
import { whileAnotherWrites } from '../../support/another-writer.ts'
import { SYSTEM } from '../../support/gateway.ts'
import { silentLog } from '../../support/silent-log.ts'
import { cookieOf, type Desk, HASH, PASSWORD, type Person, refusal, startDesk } from './support.ts'

const cookie = (secret: string): Person => ({ headers: { cookie: `sluice_session=${secret}` } })

const setByLink = async ({ members }: Store, id: string): Promise<void> => {
  await members.invite(id, { hash: `link of ${id}`, expiresAt: Number.MAX_SAFE_INTEGER }, SYSTEM)
  await members.accept(`link of ${id}`, HASH, Date.now())
}

describe('a first start', () => {
  const startAlone = async (directory: string) => {
    const loaded = loadConfig({ flags: { port: '0', data: directory }, env: {}, cwd: directory })
    if (!loaded.ok) throw new Error('no configuration')
    const lines: string[] = []
    const server = await startServer(loaded.config, { err: (line) => lines.push(line) }, { log: silentLog })
    const link = lines
      .map((line) => /^Setup {6}(\S+)\/dashboard\/setup#(\w+)$/.exec(line))
      .find((found) => found !== null)
    const post = (path: string, body: object) =>
      fetch(server.url + ADMIN_BASE + path, {
        method: 'POST',
        headers: { origin: server.url },
        body: JSON.stringify(body),
      })
    return { server, url: link?.[1], token: link?.[2] ?? '', post }
  }

  test('prints a link that works once and names the first admin; another start without an admin prints another', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-setup-'))
    const first = await startAlone(directory)
    await first.server.stop()
    const { server, url, token, post } = await startAlone(directory)
    try {
      expect(url).toBe(server.url)
      expect(token).not.toBe(first.token)
      expect(await (await fetch(`${server.url}${ADMIN_BASE}/session`)).json()).toMatchObject({
        ...{ signed_in: false, setup_needed: true, version: null, key_defaults: null },
      })
      const admin = { name: ' Ada ', password: PASSWORD }
      for (const wrong of ['', token.slice(1), first.token]) {
        const refused = await post('/setup', { ...admin, token: wrong })
        expect(refused.status).toBeGreaterThanOrEqual(400)
      }
      const short = await post('/setup', { ...admin, token, password: 'short' })
      expect(await refusal(short)).toMatchObject({ status: 400, code: 'invalid_request' })
      // Two at once: the link makes one admin.
      const both = await Promise.all([
        post('/setup', { ...admin, token }),
        post('/setup', { ...admin, token, name: 'Eve' }),
      ])
      expect(both.map((response) => response.status).sort()).toEqual([200, 404])
      const won = both.find((response) => response.status === 200)
      expect(won?.headers.get('set-cookie')).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/)
      const late = await refusal(await post('/setup', { ...admin, token, name: 'Mallory' }))
      expect(late).toMatchObject({
        status: 404,
        message: expect.stringContaining('There is an admin already: sign in.'),
      })
      expect(await server.gateway.store.members.list()).toHaveLength(1)
      expect(await server.gateway.membership.offerSetup()).toBeUndefined()
    } finally {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    }
  })
})

describe('with people', () => {
  let desk: Desk
  beforeAll(async () => {
    desk = await startDesk()
  })
  afterAll(() => desk.stop())

  const signIn = (name: string, password: string, person: Person = desk.nobody, headers = {}) =>
    desk.request('session.sign-in', person, { name, password }, headers)
  const works = async (person: Person): Promise<boolean> => (await desk.call('session.get', person)).signed_in

  test('signing in gives a new secret each time, kept from scripts and other sites, and closes what was brought', async () => {
    const first = await signIn('ada', PASSWORD)
    expect(first.status).toBe(200)
    expect(first.headers.get('set-cookie')).toMatch(
      /^sluice_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/,
    )
    const old = cookie(cookieOf(first))
    expect(await works(old)).toBe(true)
    const again = await signIn('ada', PASSWORD, old)
    expect(cookieOf(again)).not.toBe(cookieOf(first))
    expect(await works(old)).toBe(false)
    expect(await works(cookie(cookieOf(again)))).toBe(true)
  })
  describe('waits while another process is writing', () => {
    const behindAnother = async (ask: () => Promise<Response>) => {
      const { result, waited } = await whileAnotherWrites(desk.config, ask)
      return [result.status, waited]
    }

    test('a sign-in, by a right and by a wrong password', async () => {
      expect(await behindAnother(() => signIn('ada', PASSWORD))).toEqual([200, 2])
      expect(await behindAnother(() => signIn('ada', 'not it at all'))).toEqual([401, 2])
    })
    test('a new password', async () => {
      const words = { current: PASSWORD, password: PASSWORD }
      const change = () => desk.request('session.password', desk.admin, words)
      expect(await behindAnother(change)).toEqual([200, 2])
      desk.admin = await desk.signedIn(desk.admin.member)
    })
    test('an invitation', async () => {
      const { invitation } = await desk.call('members.invite', desk.admin, { name: 'Wes', role: 'member' })
      const words = { token: invitation.token, password: PASSWORD }
      const accept = () => desk.request('invitation.accept', desk.nobody, words)
      expect(await behindAnother(accept)).toEqual([200, 2])
    })
  })
  test('a session that was chosen by someone else is never adopted', async () => {
    const planted = 'A'.repeat(43)
    const response = await signIn('ada', PASSWORD, cookie(planted))
    expect(cookieOf(response)).not.toBe(planted)
    expect(await works(cookie(planted))).toBe(false)
  })
  test('only hashes are stored: neither cookie nor token nor link is in the database', async () => {
    const secret = cookieOf(await signIn('ada', PASSWORD))
    const { secret: token } = await desk.call('tokens.create', desk.admin, { label: 'ci' })
    const { invitation } = await desk.call('members.invite', desk.admin, { name: 'Hal', role: 'member' })
    const file = join(desk.config.dataDir, 'copy.db')
    backupStore(databasePath(desk.config), file)
    const bytes = Buffer.from(await Bun.file(file).arrayBuffer())
    for (const word of [secret, token, invitation.token, PASSWORD]) expect(bytes.includes(word)).toBe(false)
    expect(bytes.includes('Hal')).toBe(true)
  })
  test('the cookie is kept to https where the page came by it', async () => {
    const host = new URL(desk.url).host
    const response = await signIn('ada', PASSWORD, desk.nobody, { origin: `https://${host}` })
    expect(response.headers.get('set-cookie')).toEndWith('; Secure')
  })
  test('over https no other host, path or plain connection can plant a session in front of ours', async () => {
    const https = { origin: `https://${new URL(desk.url).host}` }
    const response = await signIn('ada', PASSWORD, desk.nobody, https)
    const [, name, secret] = /^([^=]+)=(\w+);/.exec(response.headers.get('set-cookie') ?? '') ?? []
    expect(name).toBe('__Host-sluice_session')
    const own = `${name}=${secret}`
    const planted = (await desk.signedIn(desk.member.member)).headers.cookie
    for (const cookie of [`${own}; ${planted}`, `${planted}; ${own}`]) {
      expect(await desk.call('session.get', { headers: { cookie } })).toMatchObject({ member: { name: 'Ada' } })
    }
    const out = await desk.request('session.sign-out', { headers: { cookie: own } }, {}, https)
    expect(out.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-sluice_session=; Path=\/; .*Max-Age=0; Secure$/),
      expect.stringMatching(/^sluice_session=; Path=\/; .*Max-Age=0$/),
    ])
  })
  test('a wrong name and a wrong password are refused in the same words', async () => {
    const [name, password] = await Promise.all([signIn('nobody', PASSWORD), signIn('ada', 'wrong horse battery')])
    const refused = await refusal(name)
    expect(refused).toMatchObject({ status: 401 })
    expect(await refusal(password)).toEqual(refused)
    expect(name.headers.get('set-cookie')).toBeNull()
  })
  test('signing out ends the session, signing out everywhere all of them and nobody else’s', async () => {
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => desk.signedIn(desk.admin.member)))
    if (one === undefined || two === undefined || three === undefined) throw new Error('no sessions')
    const out = await desk.request('session.sign-out', one)
    expect(out.headers.get('set-cookie')).toMatch(/^sluice_session=; Path=\/; .*Max-Age=0$/)
    expect(await works(one)).toBe(false)
    expect(await works(two)).toBe(true)
    await desk.call('session.sign-out-everywhere', two)
    expect([await works(two), await works(three), await works(desk.member)]).toEqual([false, false, true])
    desk.admin = await desk.signedIn(desk.admin.member)
  })
  test('a new password needs the old one, renews the session and ends all there were', async () => {
    const mover = await desk.join('Moe', 'member')
    const other = await desk.signedIn(mover.member)
    const wrong = await desk.request('session.password', mover, {
      current: 'not it at all',
      password: 'a new long one',
    })
    expect(await refusal(wrong)).toMatchObject({ status: 401, message: 'The current password is not right.' })
    expect(await works(other)).toBe(true)
    const words = { current: PASSWORD, password: 'a new long one' }
    const changed = await desk.request('session.password', mover, words)
    const renewed = cookie(cookieOf(changed))
    expect(changed.headers.get('set-cookie')).toMatch(/^sluice_session=\w{43}; Path=\/; HttpOnly; .*Max-Age=604800$/)
    expect([await works(mover), await works(other), await works(renewed)]).toEqual([false, false, true])
    expect((await desk.call('sessions.list', renewed)).items).toMatchObject([{ current: true }])
    expect((await signIn('Moe', PASSWORD)).status).toBe(401)
    expect((await signIn('moe', 'a new long one')).status).toBe(200)
  })
  describe('one’s own sessions', () => {
    const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    const opened = async (name: string, headers: Record<string, string> = {}) =>
      cookie(cookieOf(await signIn(name, PASSWORD, desk.nobody, headers)))

    test('are listed with where they were opened, by which browser and when; nobody else’s, and no secret', async () => {
      await desk.join('Nel', 'member')
      const [one, two] = [
        await opened('nel', { 'user-agent': browser }),
        await opened('nel', { 'user-agent': 'curl/8' }),
      ]
      const { items } = await desk.call('sessions.list', two)
      const told = items.map(({ current, agent, address }) => ({ current, agent, address }))
      expect(told).toContainEqual({ current: true, agent: 'curl/8', address: '127.0.0.1' })
      expect(told).toContainEqual({ current: false, agent: browser, address: '127.0.0.1' })
      expect(items.filter(({ current }) => current)).toHaveLength(1)
      for (const { created_at, seen_at, expires_at } of items) {
        expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(7 * 86_400_000)
        expect(Date.parse(seen_at)).toBeGreaterThanOrEqual(Date.parse(created_at))
      }
      const secrets = [one, two].map(({ headers }) => headers.cookie?.split('=')[1] ?? '')
      for (const secret of secrets) expect(JSON.stringify(items)).not.toContain(secret)
    })
    test('are ended one by one, the one that asks too; another’s is not found', async () => {
      await desk.join('Ora', 'member')
      const [one, two] = [await opened('ora'), await opened('ora')]
      const idOf = async (person: Person) =>
        (await desk.call('sessions.list', person)).items.find(({ current }) => current)?.id ?? ''
      const [first, second] = [await idOf(one), await idOf(two)]
      expect((await desk.request('sessions.end', desk.member, { id: first })).status).toBe(404)
      await desk.call('sessions.end', two, { id: first })
      expect([await works(one), await works(two)]).toEqual([false, true])
      expect((await desk.request('sessions.end', two, { id: first })).status).toBe(404)
      const own = await desk.request('sessions.end', two, { id: second })
      expect(own.headers.get('set-cookie')).toContain('Max-Age=0')
      expect(await works(two)).toBe(false)
      const { items } = await desk.call('audit.list', desk.admin, { limit: 5 })
      const ends = items.filter(({ action }) => action === 'session.end')
      expect(ends.map(({ actor, before }) => [actor.name, before])).toEqual([
        ['Ora', { from: '127.0.0.1', agent: expect.any(String) }],
        ['Ora', { from: '127.0.0.1', agent: expect.any(String) }],
      ])
    })
    test('keep so much of what a browser calls itself as is worth reading', async () => {
      const [session] = (await desk.call('sessions.list', await opened('mia', { 'user-agent': 'x'.repeat(5_000) })))
        .items
      expect(session?.agent).toBe('x'.repeat(300))
    })
    test('last as long as is set, from the next request on', async () => {
      await desk.call('settings.put', desk.admin, { session_days: 2 })
      const response = await signIn('mia', PASSWORD)
      expect(response.headers.get('set-cookie')).toContain(`Max-Age=${2 * 86_400}`)
      await desk.call('settings.put', desk.admin, { session_days: null })
      for (const session_days of [0, -1, 366, 1.5, '7']) {
        expect((await desk.request('settings.put', desk.admin, { session_days })).status).toBe(400)
      }
    })
  })
  test('an invitation works once; a new one ends the one before; it also sets a forgotten password anew', async () => {
    const { member, invitation } = await desk.call('members.invite', desk.admin, { name: 'Ivy', role: 'member' })
    expect(member.status).toBe('invited')
    const renewed = await desk.call('members.renew-invitation', desk.admin, { id: member.id })
    const open = (token: string) => desk.request('invitation.open', desk.nobody, { token })
    const accept = (token: string, password = PASSWORD) =>
      desk.request('invitation.accept', desk.nobody, { token, password })
    expect((await open(invitation.token)).status).toBe(404)
    expect((await accept(invitation.token)).status).toBe(404)
    const { token } = renewed.invitation
    const told = { name: 'Ivy', role: 'member' }
    expect(await desk.call('invitation.open', desk.nobody, { token })).toMatchObject({ ...told, status: 'invited' })
    const both = await Promise.all([accept(token), accept(token)])
    expect(both.map((response) => response.status).sort()).toEqual([200, 404])
    const session = cookie(both.map(cookieOf).find((secret) => secret !== '') ?? '')
    expect((await desk.call('session.get', session)).member).toMatchObject({ name: 'Ivy', role: 'member' })
    expect((await open(token)).status).toBe(404)

    const reset = await desk.call('members.renew-invitation', desk.admin, { id: member.id })
    expect(await desk.call('invitation.open', desk.nobody, { token: reset.invitation.token })).toMatchObject({
      ...told,
      status: 'active',
    })
    expect((await accept(reset.invitation.token, 'quite another one')).status).toBe(200)
    expect(await works(session)).toBe(false)
    expect((await signIn('ivy', PASSWORD)).status).toBe(401)
  })
  test('a name that is taken is refused, whatever its case; a removed member’s name is free', async () => {
    const invite = (name: string) => desk.request('members.invite', desk.admin, { name, role: 'member' })
    const { member } = await desk.call('members.invite', desk.admin, { name: 'Zoe', role: 'member' })
    expect(await refusal(await invite(' zOE '))).toMatchObject({ status: 400, code: 'invalid_request' })
    await desk.call('members.remove', desk.admin, { id: member.id })
    expect((await invite('zoe')).status).toBe(200)
  })
  test('a removed member is out at once, with their keys and tokens', async () => {
    const leaver = await desk.join('Lee', 'admin')
    const { key, secret } = await desk.call('keys.create', leaver, { label: 'theirs' })
    const token = await desk.call('tokens.create', leaver, { label: 'theirs' })
    await desk.call('members.remove', desk.admin, { id: leaver.member.id })
    expect(await works(leaver)).toBe(false)
    expect((await signIn('Lee', PASSWORD)).status).toBe(401)
    expect((await desk.get('/v1/usage', { 'x-api-key': secret })).status).toBe(401)
    expect((await desk.call('keys.get', desk.admin, { id: key.id })).status).toBe('revoked')
    const byToken = await desk.request('keys.list', { headers: { authorization: `Bearer ${token.secret}` } })
    expect(byToken.status).toBe(401)
  })
  test('a removal that cannot revoke their keys removes nobody', async () => {
    const { member, headers } = await desk.join('Kit', 'member')
    const { key } = await desk.call('keys.create', { headers }, { label: 'theirs' })
    const database = new Database(databasePath(desk.config))
    database.run(
      "CREATE TRIGGER no_revoking BEFORE UPDATE OF revoked_at ON keys BEGIN SELECT RAISE(ABORT, 'no revoking'); END",
    )
    const remove = () => desk.request('members.remove', desk.admin, { id: member.id })
    expect((await remove()).status).toBe(500)
    expect(await works({ headers })).toBe(true)
    database.run('DROP TRIGGER no_revoking')
    database.close()
    expect((await remove()).status).toBe(200)
    expect(await works({ headers })).toBe(false)
    expect((await desk.call('keys.get', desk.admin, { id: key.id })).status).toBe('revoked')
  })
  test('who is no admin any more has lost it with the next request, their tokens too', async () => {
    const former = await desk.join('Fay', 'admin')
    const { secret } = await desk.call('tokens.create', former, { label: 'theirs' })
    const token = { headers: { authorization: `Bearer ${secret}` } }
    await desk.call('accounts.list', token)
    await desk.call('members.update', desk.admin, { id: former.member.id, role: 'member' })
    expect((await desk.request('accounts.list', former)).status).toBe(403)
    expect((await desk.request('accounts.list', token)).status).toBe(401)
  })
  test('the last admin can neither be removed nor made a member', async () => {
    const alone = await startDesk()
    try {
      const { id } = alone.admin.member
      const { member } = await alone.call('members.invite', alone.admin, { name: 'Not yet', role: 'admin' })
      for (const response of [
        await alone.request('members.remove', alone.admin, { id }),
        await alone.request('members.update', alone.admin, { id, role: 'member' }),
      ]) {
        expect(await refusal(response)).toMatchObject({ status: 400, code: 'invalid_request' })
      }
      await alone.call('members.remove', alone.admin, { id: member.id })
    } finally {
      await alone.stop()
    }
  })
  test('a token is shown once, works until it is revoked and not a request longer', async () => {
    const { token, secret } = await desk.call('tokens.create', desk.admin, { label: 'ci' })
    expect(secret).toMatch(/^sl-admin-[0-9A-Za-z]{43}$/)
    const script = { headers: { authorization: `Bearer ${secret}` } }
    const { items } = await desk.call('tokens.list', script)
    expect(JSON.stringify(items)).not.toContain(secret)
    const status = async () =>
      (await desk.call('tokens.list', desk.admin)).items.find(({ id }) => id === token.id)?.status
    expect(await status()).toBe('active')
    await desk.call('tokens.revoke', desk.admin, { id: token.id })
    expect((await desk.request('tokens.list', script)).status).toBe(401)
    expect(await status()).toBe('revoked')
  })
  test('a token ends with its maker’s role, and does not come back with it', async () => {
    const deputy = await desk.join('Deputy', 'admin')
    const { secret } = await desk.call('tokens.create', deputy, { label: 'mine' })
    const script = { headers: { authorization: `Bearer ${secret}` } }
    const { id } = deputy.member
    for (const role of ['member', 'admin']) {
      await desk.call('members.update', desk.admin, { id, role })
      expect((await desk.request('tokens.list', script)).status).toBe(401)
    }
  })
  test('the audit tells who came in, who was turned away and from where, and who ended all sessions', async () => {
    const watched = await startDesk()
    try {
      const attempt = (name: string, password: string) =>
        watched.request('session.sign-in', watched.nobody, { name, password })
      await attempt('mia', 'wrong horse battery')
      await attempt('correct horse batterie', 'mia')
      const entered = await attempt('mia', PASSWORD)
      await watched.request('session.password', cookie(cookieOf(entered)), {
        current: 'no',
        password: 'a new long one',
      })
      await watched.call('session.sign-out-everywhere', cookie(cookieOf(entered)))
      const { items } = await watched.call('audit.list', watched.admin)
      const { id } = watched.member.member
      const told = items.filter(({ action }) => action.startsWith('session.'))
      expect(told.map(({ action, actor, target, target_name }) => [action, actor.kind, target, target_name])).toEqual([
        ['session.sign-out-everywhere', 'member', id, 'Mia'],
        ['session.refuse', 'system', id, 'Mia'],
        ['session.sign-in', 'member', id, 'Mia'],
        ['session.refuse', 'system', 'unknown name', null],
        ['session.refuse', 'system', id, 'Mia'],
      ])
      expect(told.map(({ after }) => (after as { from?: string }).from)).toEqual([
        undefined,
        ...['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1'],
      ])
      expect(told[0]?.after).toEqual({ sessions: 2 })
      // What was typed into the wrong field may be a password.
      expect(JSON.stringify(items)).not.toContain('batter')
    } finally {
      await watched.stop()
    }
  })
  test('the audit cannot be filled by guessing: what it leaves out is counted', async () => {
    const time = { now: NOW }
    const store = open(':memory:', () => time.now)
    const membership = createMembership({ store, clock: () => time.now })
    const member = await store.members.add(
      { name: 'Ada', role: 'admin', limits: DEFAULT_LIMITS, passwordHash: HASH },
      SYSTEM,
    )
    const refusals = async () =>
      (await store.audit({ limit: 1_000 })).filter(({ action }) => action === 'session.refuse')
    const guess = (name: string, peer: string) => membership.signIn(name, 'no', peer).catch(() => undefined)
    // From many addresses, so that no door stops them.
    for (let i = 0; i < 12; i++) await guess('Ada', `203.0.113.${i}`)
    expect(await refusals()).toHaveLength(12)
    await setByLink(store, member.id)
    for (let i = 0; i < 40; i++) await guess('Ada ', `198.51.100.${i}`)
    expect(await refusals()).toHaveLength(20)
    time.now += 15 * 60_000
    await guess('Ada', '192.0.2.1')
    expect((await refusals())[0]?.after).toEqual({ from: '192.0.2.1', unrecordedBefore: 32 })
    for (let i = 0; i < 40; i++) await membership.openSession(member, undefined, { signedIn: true })
    expect((await store.audit({ limit: 1_000 })).filter(({ action }) => action === 'session.sign-in')).toHaveLength(20)
  })
  test('a stranger who guesses shuts the owner out of no other address, until a hundred guesses were made', async () => {
    const time = { now: NOW }
    const store = open(':memory:', () => time.now)
    const membership = createMembership({ store, clock: () => time.now })
    await store.members.add({ name: 'Ada', role: 'admin', limits: DEFAULT_LIMITS, passwordHash: HASH }, SYSTEM)
    const signIn = (peer: string, password = PASSWORD) =>
      membership.signIn('Ada', password, peer).then(
        () => 'in',
        (error: GatewayError) => error.code,
      )
    for (let peer = 1; peer <= 9; peer++) {
      for (let i = 0; i < 10; i++) expect(await signIn(`203.0.113.${peer}`, 'no')).toBe('invalid_api_key')
      expect(await signIn(`203.0.113.${peer}`)).toBe('rate_limit_exceeded')
      expect(await signIn('198.51.100.1')).toBe('in')
    }
    for (let i = 0; i < 10; i++) await signIn('203.0.113.10', 'no')
    expect(await signIn('198.51.100.1')).toBe('rate_limit_exceeded')
    time.now += 15 * 60_000
    expect(await signIn('198.51.100.1')).toBe('in')
  })
  test.each([
    ['another one is set by a link', setByLink],
    ['the member signs out everywhere', async ({ sessions }: Store, id: string) => sessions.closeAll(id)],
  ])('a change of password is refused if %s while it is made', async (how, interfere) => {
    const { store, membership } = desk.server.gateway
    const { member, headers } = await desk.join(how, 'member')
    const session = await membership.session(headers.cookie?.replace(/.*=/, '') ?? '')
    if (session === undefined) throw new Error('no session')
    const changing = membership.changePassword(session, PASSWORD, 'a stolen new one')
    await interfere(store, member.id)
    const { passwordHash } = (await store.members.credentials(member.name)) ?? {}
    expect(await changing.catch((error: GatewayError) => error.code)).toBe('invalid_api_key')
    expect((await store.members.credentials(member.name))?.passwordHash).toBe(passwordHash)
  })
  test('too many wrong passwords are refused for the account, then for the address, and say truthfully until when', async () => {
    const crowd = await startDesk()
    try {
      const attempt = (name: string, password = 'wrong horse battery') =>
        crowd.request('session.sign-in', crowd.nobody, { name, password })
      const wrong = await Promise.all(Array.from({ length: 12 }, () => attempt('mia')))
      const statuses = wrong.map((response) => response.status).sort()
      expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429])
      const limited = wrong.find((response) => response.status === 429)
      expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(14 * 60)
      expect(Number(limited?.headers.get('retry-after'))).toBeLessThanOrEqual(15 * 60)
      // Even the right password must wait; another account need not.
      expect((await attempt('MIA ', PASSWORD)).status).toBe(429)
      expect((await attempt('ada', PASSWORD)).status).toBe(200)
      const strangers = await Promise.all(Array.from({ length: 21 }, (_, i) => attempt(`stranger ${i}`)))
      expect(strangers.filter((response) => response.status === 401)).toHaveLength(20)
      expect((await attempt('ada', PASSWORD)).status).toBe(429)
    } finally {
      await crowd.stop()
    }
  })
  test('a forwarded address that nobody vouches for opens no second row of attempts', async () => {
    const spoofed = await startDesk()
    try {
      const attempts = Array.from({ length: 32 }, (_, i) =>
        spoofed.request(
          'session.sign-in',
          spoofed.nobody,
          { name: `stranger ${i}`, password: 'wrong horse battery' },
          { 'x-forwarded-for': `203.0.113.${i}`, 'x-real-ip': `203.0.113.${i}`, forwarded: `for=203.0.113.${i}` },
        ),
      )
      const statuses = (await Promise.all(attempts)).map((response) => response.status).sort()
      expect(statuses).toEqual([...Array<number>(30).fill(401), 429, 429])
    } finally {
      await spoofed.stop()
    }
  })
  test('of a forwarded address the audit and the counts take so much as an address can have', async () => {
    const proxied = await startDesk()
    try {
      await proxied.call('settings.put', proxied.admin, { trust_proxy: true })
      const long = `2001:db8::${'7'.repeat(5_000)}`
      const words = { name: 'mia', password: 'wrong horse battery' }
      await proxied.request('session.sign-in', proxied.nobody, words, { 'x-forwarded-for': long })
      const { items } = await proxied.call('audit.list', proxied.admin, { limit: 1 })
      expect(items).toMatchObject([{ action: 'session.refuse', after: { from: long.slice(0, 64) } }])
    } finally {
      await proxied.stop()
    }
  })
  test('behind a trusted proxy its word counts for host, scheme and address; before that it does not', async () => {
    const proxied = await startDesk()
    try {
      const headers = (address: string) => ({
        origin: 'https://gate.example',
        'x-forwarded-host': 'gate.example',
        'x-forwarded-proto': 'https',
        'x-forwarded-for': `10.9.9.9, ${address}`,
      })
      const attempt = (address: string, name: string, password = PASSWORD) =>
        proxied.request('session.sign-in', proxied.nobody, { name, password }, headers(address))
      expect((await attempt('203.0.113.1', 'ada')).status).toBe(403)
      await proxied.call('settings.put', proxied.admin, { trust_proxy: true })
      const entered = await attempt('203.0.113.1', 'ada')
      expect(entered.status).toBe(200)
      expect(entered.headers.get('set-cookie')).toEndWith('; Secure')
      const foreign = await proxied.request(
        'session.sign-in',
        proxied.nobody,
        { name: 'ada', password: PASSWORD },
        {
          ...headers('203.0.113.1'),
          origin: 'https://evil.example',
        },
      )
      expect(foreign.status).toBe(403)
      const { setUp } = proxied.server.gateway.membership
      for (let i = 0; i < 30; i++) await setUp('guess', 'x', PASSWORD, '203.0.113.2').catch(() => undefined)
      expect((await attempt('203.0.113.2', 'ada')).status).toBe(429)
      expect((await attempt('203.0.113.3', 'ada')).status).toBe(200)
    } finally {
      await proxied.stop()
    }
  })
})

describe('a change that cannot be written whole', () => {
  const TABLES = ['keys', 'members', 'sessions', 'settings', 'admin_tokens', 'audit']
  const CHANGES: [RouteName, (made: Record<'member' | 'key' | 'token' | 'session', string>) => object][] = [
    ['members.invite', () => ({ name: 'Half', role: 'member' })],
    ['members.update', ({ member }) => ({ id: member, role: 'member' })],
    ['members.renew-invitation', ({ member }) => ({ id: member })],
    ['members.remove', ({ member }) => ({ id: member })],
    ['keys.create', () => ({ label: 'half' })],
    ['keys.update', ({ key }) => ({ id: key, label: 'half', tokens_total: 5 })],
    ['keys.top-up', ({ key }) => ({ id: key, tokens: 5 })],
    ['keys.reset', ({ key }) => ({ id: key })],
    ['keys.rotate', ({ key }) => ({ id: key })],
    ['keys.revoke', ({ key }) => ({ id: key })],
    ['settings.put', () => ({ khr_per_usd: 5, trust_proxy: true })],
    ['tokens.create', () => ({ label: 'half' })],
    ['tokens.revoke', ({ token }) => ({ id: token })],
    ['session.sign-out-everywhere', () => ({})],
    ['sessions.end', ({ session }) => ({ id: session })],
  ]
  let desk: Desk
  let database: Database
  beforeAll(async () => {
    desk = await startDesk()
    database = new Database(databasePath(desk.config))
  })
  afterAll(async () => {
    database.close()
    await desk.stop()
  })

  test.each(CHANGES)('leaves nothing of itself: %s', async (name, input) => {
    const { store, settings } = desk.server.gateway
    const { member } = await desk.join(`Other ${name}`, 'admin')
    const { token } = await desk.call('tokens.create', await desk.signedIn(member), { label: 'theirs' })
    const key = (await store.keys.issue(newKey({ expiresAt: 4e12, ownerId: member.id }), SYSTEM)).key
    const [session] = (await desk.call('sessions.list', desk.admin)).items
    const state = () => [
      ...TABLES.map((table) => database.query(`SELECT * FROM ${table}`).all()),
      structuredClone([store.keys.list(), settings.values()]),
    ]
    const before = state()
    // Of two entries in the audit the last, so that all else has been written by then.
    database.run(`CREATE TRIGGER half BEFORE INSERT ON audit WHEN
      NEW.action NOT IN ('member.add', 'member.remove') AND NEW.target <> 'khr_per_usd' BEGIN SELECT RAISE(ABORT, 'half'); END`)
    try {
      const refused = await desk.request(
        name,
        desk.admin,
        input({ member: member.id, key: key.id, token: token.id, session: session?.id ?? '' }),
      )
      expect(refused.status).toBe(500)
    } finally {
      database.run('DROP TRIGGER half')
    }
    expect(state()).toEqual(before)
  })
})
