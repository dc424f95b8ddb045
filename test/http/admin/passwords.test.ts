// Which passwords are refused because they are tried first, and that every way of setting one refuses them.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isGuessable } from '../../../src/members/guessable.ts'
import { DEFAULT_LIMITS } from '../../../src/members/member.ts'
import { createMembership } from '../../../src/members/membership.ts'
import { NOW, open } from '../../store/support.ts'
import { SYSTEM } from '../../support/gateway.ts'
import { type Desk, PASSWORD, refusal, startDesk } from './support.ts'

describe('a password is refused', () => {
  test.each([
    ['on every list', 'password123456'],
    ['of a site, with a year', 'Welcome2024!'],
    ['with letters as digits', 'P455w0rd1234'],
    ['a run of keys', 'asdfghjkl123'],
    ['a run of letters', 'bcdefghijklm'],
    ['a run of digits, backwards', '9876543210987'],
    ['one key held down', 'zzzzzzzzzzzzzzzz'],
    ['a common one twice', 'sunshine1sunshine1'],
    ['the name', 'Vannak Chea-Sok'],
    ['the name in other letters', 'VANNAK CHEA-SOK'],
    ['a part of the name again and again', 'vannakvannakvannak'],
    ['the name and a year', 'vannak.chea.2026'],
    ['the gateway’s name', 'sluice-gateway'],
    ['the gateway’s name and a number', 'Sluice-2026-!!!'],
    ['what it opens', 'dashboard admin'],
  ])('%s: %s', (_, password) => {
    expect(isGuessable(password, 'Vannak Chea-Sok')).toBe(true)
  })
  test.each([
    PASSWORD,
    'three herons by the weir',
    'the password of nobody here',
    'vannak sails at low tide',
    'sluice gates creak in may',
    'Qz7#mW2$vL9p',
    'ក្រុងភ្នំពេញស្អាតណាស់',
    '4f9c0d1be2a7',
  ])('not: %s', (password) => {
    expect(isGuessable(password, 'Vannak Chea-Sok')).toBe(false)
  })
  test('not for the letters of a short name, which are in many words', () => {
    expect(isGuessable('an alley of alders', 'Al')).toBe(false)
  })
})

describe('every way of setting a password', () => {
  let desk: Desk
  beforeAll(async () => {
    desk = await startDesk()
  })
  afterAll(() => desk.stop())
  const REFUSED = { status: 400, code: 'invalid_request', message: expect.stringContaining('first that are tried') }

  test('refuses a common one, and what was to be done with it can be done with another', async () => {
    const { member, invitation } = await desk.call('members.invite', desk.admin, { name: 'Sokunthea', role: 'member' })
    const accept = (password: string) =>
      desk.request('invitation.accept', desk.nobody, { token: invitation.token, password })
    expect(await refusal(await accept('iloveyou1234'))).toMatchObject(REFUSED)
    expect(await refusal(await accept('sokunthea 2026'))).toMatchObject(REFUSED)
    expect((await accept('three herons by the weir')).status).toBe(200)

    const known = await desk.server.gateway.store.members.get(member.id)
    if (known === undefined) throw new Error('no member')
    const person = await desk.signedIn(known)
    const change = (password: string) =>
      desk.request('session.password', person, { current: 'three herons by the weir', password })
    expect(await refusal(await change('qwertyuiop[]'))).toMatchObject(REFUSED)
    expect((await change('four herons by the weir')).status).toBe(200)
  })

  test('the first admin’s too', async () => {
    const membership = createMembership({ store: open(':memory:', () => NOW), clock: () => NOW })
    const token = (await membership.offerSetup()) ?? ''
    const setUp = (password: string) => membership.setUp(token, 'Sokunthea', password, 'peer')
    await expect(setUp('123456789012')).rejects.toThrow(/first that are tried/)
    expect((await setUp('three herons by the weir')).member.role).toBe('admin')
  })

  test('one that is common by now still opens the door it was set for', async () => {
    const passwordHash = await Bun.password.hash('password1234', { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })
    const { store } = desk.server.gateway
    await store.members.add({ name: 'Early', role: 'member', limits: DEFAULT_LIMITS, passwordHash }, SYSTEM)
    const entered = await desk.request('session.sign-in', desk.nobody, { name: 'Early', password: 'password1234' })
    expect(entered.status).toBe(200)
  })
})
