// The way back in: a one-time link for who lost their password, made on the data directory beside a running server.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { cookieOf, type Desk, PASSWORD, refusal, startDesk } from '../http/admin/support.ts'
import { SYSTEM } from '../support/gateway.ts'
import { openTerminal, type Terminal } from './terminal.ts'

let desk: Desk
let terminal: Terminal
beforeAll(async () => {
  desk = await startDesk()
})
afterAll(() => desk.stop())
beforeEach(() => {
  terminal = openTerminal()
  terminal.clock.now = Date.now()
})
afterEach(() => terminal.close())

const type = (...words: string[]) => terminal.type('admin', 'reset-link', ...words, '--data', desk.config.dataDir)
const linkOf = async (...words: string[]): Promise<{ url: string; name: string; expires_at: string }> =>
  JSON.parse((await type(...words, '--json')).out)
const accept = (url: string, password: string) =>
  desk.request('invitation.accept', desk.nobody, { token: new URL(url).hash.slice(1), password })

describe('admin reset-link', () => {
  test('lets the only admin back in, once, within an hour; ends their sessions and is in the audit', async () => {
    const { url, name, expires_at } = await linkOf()
    expect(name).toBe('Ada')
    expect(url).toStartWith(`http://127.0.0.1:8080/dashboard/invite#`)
    expect(Date.parse(expires_at) - terminal.clock.now).toBe(3_600_000)
    expect((await terminal.type('members', 'list', '--data', desk.config.dataDir)).out).toMatch(
      /Ada +admin +active, link until /,
    )
    // The old password works until the link is used.
    const signIn = (password: string) => desk.request('session.sign-in', desk.nobody, { name: 'Ada', password })
    expect((await signIn(PASSWORD)).status).toBe(200)
    const entered = await accept(url, 'a quite new password')
    expect(entered.status).toBe(200)
    expect((await accept(url, 'another new password')).status).toBe(404)
    expect((await desk.request('accounts.list', desk.admin)).status).toBe(401)
    expect((await signIn(PASSWORD)).status).toBe(401)
    expect((await signIn('a quite new password')).status).toBe(200)
    desk.admin = { ...desk.admin, headers: { cookie: `sluice_session=${cookieOf(entered)}` } }
    const { items } = await desk.call('audit.list', desk.admin, { target: desk.admin.member.id })
    expect(items.map(({ actor, action }) => [actor.kind, action])).toContainEqual(['cli', 'member.reset-link'])
    expect(JSON.stringify(items)).not.toContain(new URL(url).hash.slice(1))
  })

  test('lets in who has lost their second factor: the link removes it, once it is used', async () => {
    const { secret } = await desk.call('second-factor.offer', desk.member)
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
    await desk.call('second-factor.enable', desk.member, { code })
    const { err, out } = await type('Mia')
    expect(err).toContain('sets a new password, removes the second factor and ends the sessions')
    const { factor } = desk.server.gateway.membership
    expect(await factor.isEnabled(desk.member.member.id)).toBe(true)
    expect((await accept(/http\S+/.exec(out)?.[0] ?? '', PASSWORD)).status).toBe(200)
    expect(await factor.isEnabled(desk.member.member.id)).toBe(false)
    const again = await desk.request('session.sign-in', desk.nobody, { name: 'Mia', password: PASSWORD })
    expect(again.status).toBe(200)
  })

  test('names whose it is for, at the address given, and the next link ends the one before', async () => {
    const first = await linkOf('mia', '--url', 'https://gate.example/dashboard/')
    expect({ ...first }).toMatchObject({
      name: 'Mia',
      url: expect.stringMatching(/^https:\/\/gate\.example\/dashboard\/invite#\w{43}$/),
    })
    const { code, out, err } = await type('Mia')
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('The link works once') })
    expect(err).toContain('give it with --url')
    const second = /http\S+/.exec(out)?.[0] ?? ''
    expect((await accept(first.url, PASSWORD)).status).toBe(404)
    expect((await accept(second, PASSWORD)).status).toBe(200)
  })

  test.each([
    ['admin: { listen: "127.0.0.1:8099" }', 'http://127.0.0.1:8099'],
    ['admin: { listen: "0.0.0.0:8099" }', 'http://localhost:8099'],
    ['admin: { listen: "[::1]:8099", hosts: [ops.example] }', 'http://ops.example:8099'],
    ['admin: { hosts: [ops.example, 127.0.0.1] }', 'http://127.0.0.1:8080'],
    ['admin: { hosts: ["ops.example:9443"] }\nlisten: { port: 8070 }', 'http://ops.example:9443'],
  ])('under %s leads to where the dashboard is', async (file, origin) => {
    writeFileSync(join(terminal.cwd, 'sluice.yaml'), file)
    expect((await linkOf('Mia')).url).toStartWith(`${origin}/dashboard/invite#`)
  })

  test('an old link is refused in the page’s words', async () => {
    terminal.clock.now -= 2 * 3_600_000
    const { url } = await linkOf('Mia')
    expect(await refusal(await accept(url, PASSWORD))).toMatchObject({ status: 404, code: 'not_found' })
  })

  test.each([
    [1, ['Nobody'], 'There is no member "Nobody"; there are: Ada, Mia.'],
    [2, ['--url', 'gate.example'], '--url: found "gate.example"'],
    [2, ['Ada', 'Mia'], 'Unexpected argument "Mia".'],
  ])('ends with %d for %j and says why', async (code, words, sentence) => {
    expect(await type(...words)).toMatchObject({ code, out: '', err: expect.stringContaining(sentence) })
  })

  test('asks whose where there is more than one admin', async () => {
    const { member } = await desk.join('Bea', 'admin')
    expect(await type()).toMatchObject({ code: 2, out: '', err: 'Name one of the admins: Ada, Bea.' })
    await desk.server.gateway.store.members.remove(member.id, 'revoke', SYSTEM)
  })

  test('without an admin says where the first one comes from, and makes no database', async () => {
    expect(await terminal.type('admin', 'reset-link')).toMatchObject({
      ...{ code: 1, out: '', err: expect.stringContaining('"sluice serve" prints a link') },
    })
    expect(existsSync(join(terminal.cwd, 'data'))).toBe(false)
  })
})
