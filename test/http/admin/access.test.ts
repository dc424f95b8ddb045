// Who may call what, for every route there is: the rows are made from the routes themselves.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { ADMIN_BASE, ROUTES, type RouteName } from '../../../src/admin-api/routes.ts'
import { databasePath } from '../../../src/config.ts'
import { SYSTEM } from '../../support/gateway.ts'
import { type Desk, PASSWORD, type Person, refusal, startDesk } from './support.ts'

let desk: Desk
beforeAll(async () => {
  desk = await startDesk()
})
afterAll(() => desk.stop())

const NAMES = Object.keys(ROUTES) as RouteName[]
const only = (...access: string[]): RouteName[] => NAMES.filter((name) => access.includes(ROUTES[name].access))
const changing = NAMES.filter((name) => ROUTES[name].method !== 'GET')

/** A door was passed when what is wrong is something else: the input, or that there is no such thing. */
const passed = (status: number): boolean => status !== 401 && status !== 403

describe('without a session', () => {
  test.each(NAMES.filter((name) => ROUTES[name].access !== 'anyone'))('%s is refused with 401', async (name) => {
    for (const person of [desk.nobody, { headers: { cookie: 'sluice_session=invented' } }]) {
      expect(await refusal(await desk.request(name, person))).toMatchObject({ status: 401, code: 'missing_api_key' })
    }
  })
  test.each(NAMES)('%s is refused with 401 for a token that is not one, whatever the cookie says', async (name) => {
    const headers = { authorization: 'Bearer sl-admin-invented' }
    const response = await desk.request(name, desk.admin, {}, headers)
    expect(await refusal(response)).toMatchObject({ status: 401, code: 'invalid_api_key' })
  })
  test.each(NAMES.filter((name) => ROUTES[name].access !== 'anyone'))(
    '%s is refused with a client key',
    async (name) => {
      const response = await desk.request(name, { headers: { authorization: `Bearer ${desk.secret}` } })
      expect(response.status).toBe(401)
    },
  )
})

test('what a proxy in front asks for itself is no word of ours: the cookie counts beside it', async () => {
  const headers = { authorization: `Basic ${btoa('proxy:password')}` }
  expect((await desk.request('keys.list', desk.admin, {}, headers)).status).toBe(200)
  expect((await desk.request('keys.list', desk.nobody, {}, headers)).status).toBe(401)
  const foreign = { ...headers, origin: 'https://evil.example' }
  expect((await desk.request('keys.create', desk.admin, { label: 'x' }, foreign)).status).toBe(403)
})

describe('a member', () => {
  test('finds nothing by asking for another’s', async () => {
    const { id } = desk.admin.member
    await desk.call('keys.create', desk.admin, { label: 'not theirs' })
    expect((await desk.call('keys.list', desk.admin, { owner: id })).total).toBeGreaterThan(0)
    expect(await desk.call('keys.list', desk.member, { owner: id })).toEqual({ items: [], total: 0 })
  })
  test.each(only('admin', 'admin-session'))('%s is refused with 403', async (name) => {
    const response = await desk.request(name, desk.member)
    expect(await refusal(response)).toMatchObject({ status: 403, code: 'permission_denied' })
  })
  test.each(only('member'))('%s is let in', async (name) => {
    const response = await desk.request(name, desk.member)
    expect(passed(response.status)).toBe(true)
    await response.body?.cancel()
  })
})

describe('an admin token', () => {
  test.each(only('session', 'admin-session'))('%s is refused with 403: only a person may', async (name) => {
    const { secret } = await desk.server.gateway.membership.issueToken('ci', undefined, desk.admin.member)
    const response = await desk.request(name, { headers: { authorization: `Bearer ${secret}` } })
    expect(await refusal(response)).toMatchObject({ status: 403, code: 'permission_denied' })
  })
  test.each(only('member', 'admin'))('%s is let in, without an origin', async (name) => {
    const { secret } = await desk.server.gateway.membership.issueToken('ci', undefined, desk.admin.member)
    const token: Person = { headers: { authorization: `bearer ${secret}` } }
    const response = await desk.request(name, token, {}, { origin: undefined })
    expect(passed(response.status)).toBe(true)
    await response.body?.cancel()
  })
})

describe('an admin who has not just proven who they are', () => {
  /** A session whose proof is too old, as it was left open. */
  const stale = async (name: string) => {
    const person = await desk.join(name, 'admin')
    const database = new Database(databasePath(desk.config))
    database.run('UPDATE sessions SET proven_at = created_at - 300000 WHERE member_id = ?', [person.member.id])
    database.close()
    return person
  }
  const prove = (person: Person, password: string) => desk.request('session.prove', person, { password })
  const message = 'Enter your password again to do this.'
  const REFUSED = { code: 'permission_denied', message, param: 'password' }
  /** What lets others in; all of it but the first two by the table of routes. */
  const opening: [RouteName, object][] = [
    ['members.update', { role: 'admin' }],
    ['members.update', { second_factor: false }],
    ...NAMES.filter((name) => 'proof' in ROUTES[name]).map((name): [RouteName, object] => [name, {}]),
  ]

  test('the table names what lets others in', () => {
    expect(opening.map(([name]) => name).toSorted()).toEqual([
      'accounts.create',
      'accounts.remove',
      'accounts.try',
      'accounts.update',
      'entries.put',
      'entries.remove',
      'members.invite',
      'members.renew-invitation',
      'members.update',
      'members.update',
      'second-factor.enable',
      'second-factor.offer',
      'second-factor.remove',
      'second-factor.renew-codes',
      'tokens.create',
    ])
  })
  test.each(opening)('%s %j is refused with 403 that names the password, until it is given', async (name, input) => {
    const asked = `${name} ${Object.keys(input)}`
    const person = await stale(`Left open, ${asked}`)
    const { member } = await desk.join(`Target of ${asked}`, 'member')
    const ask = () => desk.request(name, person, { id: member.id, ...input })
    const refused = (await (await ask()).json()) as { error: object }
    expect(refused.error).toMatchObject(REFUSED)
    expect((await prove(person, 'not it at all')).status).toBe(401)
    expect((await ask()).status).toBe(403)
    expect((await prove(person, PASSWORD)).status).toBe(200)
    expect(passed((await ask()).status)).toBe(true)
  })
  test.each(NAMES.filter((name) => !['anyone', 'member'].includes(ROUTES[name].access) && !('proof' in ROUTES[name])))(
    '%s asks for nothing more',
    async (name) => {
      const response = await desk.request(name, await stale(`Still there, ${name}`))
      expect(passed(response.status)).toBe(true)
      await response.body?.cancel()
    },
  )
  test('renames, limits and takes the role of others without it', async () => {
    const person = await stale('Tidier')
    const { member } = await desk.join('Untidy', 'admin')
    for (const change of [{ name: 'Tidy' }, { role: 'admin' }, { role: 'member' }, { limits: { max_keys: 1 } }]) {
      await desk.call('members.update', person, { id: member.id, ...change })
    }
  })
  test('proves it for this session alone; who came in, and who was refused, is in the audit', async () => {
    const person = await stale('Two places')
    const other = await desk.signedIn(person.member)
    const database = new Database(databasePath(desk.config))
    database.run('UPDATE sessions SET proven_at = created_at - 300000 WHERE member_id = ?', [person.member.id])
    database.close()
    await prove(person, 'not it at all')
    await desk.call('session.prove', person, { password: PASSWORD })
    expect((await desk.request('tokens.create', other, { label: 'x' })).status).toBe(403)
    expect((await desk.request('tokens.create', person, { label: 'x' })).status).toBe(200)
    const { items } = await desk.call('audit.list', desk.admin, { target: person.member.id })
    expect(items.map(({ action }) => action)).toEqual(['session.prove', 'session.refuse', 'member.add'])
  })
})

describe('a change', () => {
  const foreign = [
    ['another origin', { origin: 'https://evil.example' }],
    ['no origin at all', { origin: undefined }],
    ['an opaque origin', { origin: 'null' }],
    ['the right host of another port', { origin: 'http://127.0.0.1:1' }],
    ['a page of another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['a page of the same site, as the browser says', { origin: undefined, 'sec-fetch-site': 'same-site' }],
  ] as const
  test.each(changing.flatMap((name) => foreign.map(([from, headers]) => [name, from, headers] as const)))(
    '%s from %s is refused with 403',
    async (name, _, headers) => {
      const response = await desk.request(name, desk.admin, {}, headers)
      expect(await refusal(response)).toMatchObject({ status: 403, code: 'permission_denied' })
    },
  )
  test('from the dashboard is taken, by either of the headers browsers send', async () => {
    const input = { label: 'mine' }
    expect((await desk.request('keys.create', desk.admin, input)).status).toBe(200)
    const modern = { origin: undefined, 'sec-fetch-site': 'same-origin' }
    expect((await desk.request('keys.create', desk.admin, input, modern)).status).toBe(200)
  })
  test('through a proxy that sets a Host of its own is refused with what the proxy must do', async () => {
    const headers = { origin: 'https://gateway.example', 'sec-fetch-site': 'same-origin' }
    const response = await desk.request('keys.create', desk.admin, { label: 'x' }, headers)
    expect(await refusal(response)).toMatchObject({ status: 403, message: expect.stringContaining('Host header') })
  })
  test('forwarded headers of an untrusted sender change nothing', async () => {
    const headers = { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
    expect((await desk.request('keys.create', desk.admin, { label: 'x' }, headers)).status).toBe(403)
  })
})

test('a change whose body arrives once its sender may no longer make it is refused', async () => {
  const { store, membership } = desk.server.gateway
  const leaver = await desk.join('Lea', 'admin')
  const { promise: known, resolve } = Promise.withResolvers<void>()
  const { session } = membership
  const looking = spyOn(membership, 'session').mockImplementation((secret) => {
    resolve()
    return session(secret)
  })
  const { promise: rest, resolve: arrive } = Promise.withResolvers<void>()
  const body = async function* () {
    yield new TextEncoder().encode('{"label":')
    await rest
    yield new TextEncoder().encode('"late"}')
  }
  const headers = { ...leaver.headers, origin: desk.url }
  const answering = fetch(`${desk.url}${ADMIN_BASE}/keys`, { method: 'POST', headers, body: body() })
  await known
  await store.members.remove(leaver.member.id, 'revoke', SYSTEM)
  arrive()
  expect(await refusal(await answering)).toMatchObject({ status: 401, code: 'missing_api_key' })
  looking.mockRestore()
  expect(store.keys.list().some(({ label }) => label === 'late')).toBe(false)
})

describe('every answer', () => {
  test.each(NAMES)('%s is inert, unkept and from one origin', async (name) => {
    for (const person of [desk.nobody, desk.member]) {
      const response = await desk.request(name, person)
      await response.body?.cancel()
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(response.headers.get('content-type')).toMatch(/^(application\/json|text\/event-stream)/)
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
      expect(response.headers.get('x-request-id')).toMatch(/^req_/)
    }
  })
  test('an unknown route is 404 and a wrong method 405 with Allow, both in the envelope', async () => {
    const unknown = await fetch(`${desk.url}${ADMIN_BASE}/nothing`)
    expect(await refusal(unknown)).toMatchObject({ status: 404, code: 'not_found' })
    const wrong = await fetch(`${desk.url}${ADMIN_BASE}/keys/x`, { method: 'PUT' })
    expect(wrong.headers.get('allow')).toBe('GET, PATCH')
    expect(await refusal(wrong)).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expect((await fetch(`${desk.url}${ADMIN_BASE}/keys`, { method: 'OPTIONS' })).status).toBe(405)
  })
})
