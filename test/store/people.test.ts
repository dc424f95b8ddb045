// Members, teams, their sessions, codes and tokens, settings, budgets, alerts: as the store keeps them, whichever it is.

import { afterEach, describe, expect, test } from 'bun:test'
import type { Alert } from '../../src/alerts/alert.ts'
import type { BudgetTerms } from '../../src/keys/budget.ts'
import type { Actor } from '../../src/keys/key.ts'
import { DEFAULT_LIMITS, type NewMember, type NewSession, sessionId } from '../../src/members/member.ts'
import { type AnyStore, closeAll, STORES } from './stores.ts'
import { ACTOR, DAY, HOUR, NOW, newKey } from './support.ts'

afterEach(closeAll)

const limits = DEFAULT_LIMITS
const BUDGET: BudgetTerms = { unit: 'tokens', amount: 100, renews: 'month', warnAt: [80, 100] }

const member = (name: string, more: Partial<NewMember> = {}): NewMember => ({
  ...{ name, role: 'member', limits, passwordHash: `hash of ${name}` },
  ...more,
})

const sessionOf = (memberId: string, hash: string, more: Partial<NewSession> = {}): NewSession => ({
  ...{ hash, memberId, now: NOW, expiresAt: NOW + DAY, address: '203.0.113.7', agent: undefined },
  ...more,
})

const actionsIn = async ({ audit }: AnyStore): Promise<string[]> =>
  (await audit({ limit: 100 })).map(({ action }) => action).reverse()

const refused = (code: string, message: string) => ({ code, message: expect.stringContaining(message) })

describe.each(STORES)('people in %s', (_, { newPlace }) => {
  const open = async (clock?: () => number) => (await newPlace()).open(clock)

  test('a member is who was added, by name without regard to the case of letters from A to Z', async () => {
    const { members } = await open()
    const added = await members.add(
      member('Ada Ünal', { limits: { ...limits, maxKeys: null, models: ['vendorA-*'] } }),
      ACTOR,
    )
    expect(added).toEqual({
      ...{ id: added.id, name: 'Ada Ünal', role: 'member', active: true, teamId: undefined, createdAt: NOW },
      ...{ limits: { ...limits, maxKeys: null, models: ['vendorA-*'] }, invitationExpiresAt: undefined },
    })
    expect(await members.get(added.id)).toEqual(added)
    expect(await members.list()).toEqual([added])
    expect(await members.credentials('ADA Ünal')).toEqual({ member: added, passwordHash: 'hash of Ada Ünal' })
    expect(await members.credentials('ada ünal')).toBeUndefined()
    await expect(members.add(member('aDA Ünal'), ACTOR)).rejects.toMatchObject(
      refused('invalid_request', 'There is a member of this name already.'),
    )
  })

  test('the first admin is set up where there is none, and only then', async () => {
    const store = await open()
    const { members } = store
    await members.add(member('Ada'), ACTOR)
    await members.add({ name: 'Invited', role: 'admin', limits }, ACTOR)
    expect(await members.hasAdmin()).toBe(false)
    const made = await members.setUp({ name: 'Boss', limits, passwordHash: 'x' }, ACTOR)
    expect(made).toMatchObject({ name: 'Boss', role: 'admin', active: true })
    expect(await members.hasAdmin()).toBe(true)
    expect(await members.setUp({ name: 'Other', limits, passwordHash: 'x' }, ACTOR)).toBeUndefined()
    expect(await actionsIn(store)).toEqual(['member.add', 'member.add', 'member.add'])
  })

  test('who steps down, is removed or accepts a link anew leaves nothing that lets people in', async () => {
    const store = await open()
    const { members, tokens, sessions } = store
    await members.add(member('Boss', { role: 'admin' }), ACTOR)
    const { id } = await members.add(member('Ada', { role: 'admin' }), ACTOR)
    const by: Actor = { kind: 'member', id }
    const guest = await members.add({ name: 'Guest', role: 'member', limits }, by)
    const prepare = async (n: number) => {
      const token = await tokens.add({ label: `t${n}`, hash: `token ${n}`, createdBy: id, expiresAt: undefined }, by)
      await members.invite(guest.id, { hash: `link ${n}`, expiresAt: NOW + DAY }, by)
      await sessions.open(sessionOf(id, `session ${n}`), false)
      expect(await members.invited(`link ${n}`, NOW)).toMatchObject({ member: { id: guest.id }, endsFactor: false })
      return token
    }
    const isGone = async (n: number, tokenId: string) => {
      expect((await tokens.get(tokenId))?.revokedAt).toBe(NOW)
      expect(await members.invited(`link ${n}`, NOW)).toBeUndefined()
      expect((await members.get(guest.id))?.invitationExpiresAt).toBeUndefined()
    }
    const first = await prepare(1)
    await members.update(id, { role: 'member' }, ACTOR)
    await isGone(1, first.id)
    await members.update(id, { role: 'admin' }, ACTOR)
    const second = await prepare(2)
    await members.invite(id, { hash: 'reset', expiresAt: NOW + DAY, endsFactor: true }, ACTOR)
    expect(await members.accept('reset', 'new hash', NOW)).toMatchObject({ id, invitationExpiresAt: undefined })
    await isGone(2, second.id)
    expect(await sessions.of(id)).toEqual([])
    expect(await members.accept('reset', 'again', NOW)).toBeUndefined()
    const third = await prepare(3)
    await members.remove(id, 'keep', ACTOR)
    await isGone(3, third.id)
    expect(await members.get(id)).toBeUndefined()
    expect(await sessions.find('session 3')).toBeUndefined()
    await expect(members.remove(id, 'keep', ACTOR)).rejects.toMatchObject(
      refused('not_found', 'There is no such member.'),
    )
  })

  test('the only admin stays one', async () => {
    const store = await open()
    const { id } = await store.members.add(member('Boss', { role: 'admin' }), ACTOR)
    await store.members.add({ name: 'Invited', role: 'admin', limits }, ACTOR)
    const refusal = refused('invalid_request', 'This is the only admin. Make another member an admin first.')
    await expect(store.members.update(id, { role: 'member', name: 'Chief' }, ACTOR)).rejects.toMatchObject(refusal)
    await expect(store.members.remove(id, 'keep', ACTOR)).rejects.toMatchObject(refusal)
    expect(await store.members.get(id)).toMatchObject({ name: 'Boss', role: 'admin' })
    expect(await actionsIn(store)).toEqual(['member.add', 'member.add'])
  })

  test('a link ends when it expires, when another is made, and when its maker is no admin any more', async () => {
    const { members } = await open()
    await members.add(member('Boss', { role: 'admin' }), ACTOR)
    const ada = await members.add(member('Ada', { role: 'admin' }), ACTOR)
    const guest = await members.add(
      { name: 'Guest', role: 'member', limits, invitation: { hash: 'one', expiresAt: NOW + 1 } },
      ACTOR,
    )
    expect(guest).toMatchObject({ active: false, invitationExpiresAt: NOW + 1 })
    expect(await members.invited('one', NOW)).toBeDefined()
    expect(await members.invited('one', NOW + 1)).toBeUndefined()
    await members.invite(guest.id, { hash: 'two', expiresAt: NOW + DAY }, { kind: 'member', id: ada.id })
    expect(await members.invited('one', NOW)).toBeUndefined()
    expect(await members.invited('two', NOW)).toBeDefined()
    await members.remove(ada.id, 'keep', ACTOR)
    expect(await members.accept('two', 'hash', NOW)).toBeUndefined()
  })

  test('a password is changed from the one before, in a session that is open, and ends all others', async () => {
    const store = await open()
    const { members, sessions } = store
    const { id } = await members.add(member('Ada'), ACTOR)
    for (const hash of ['here', 'elsewhere']) await sessions.open(sessionOf(id, hash), false)
    const change = (before: string, session: string) =>
      members.changePassword(id, { before, after: 'new', session, renewed: sessionOf(id, 'renewed') })
    expect(await change('wrong', 'here')).toBe(false)
    expect(await change('hash of Ada', 'closed')).toBe(false)
    expect((await sessions.of(id)).map(({ hash }) => hash).toSorted()).toEqual(['elsewhere', 'here'])
    expect(await change('hash of Ada', 'here')).toBe(true)
    expect((await sessions.of(id)).map(({ hash }) => hash)).toEqual(['renewed'])
    expect((await members.credentials('ada'))?.passwordHash).toBe('new')
    expect(await actionsIn(store)).toEqual(['member.add', 'member.password'])
  })

  test('sessions are found with their member, told apart, proven, ended and swept', async () => {
    let now = NOW
    const store = await open(() => now)
    const { members, sessions } = store
    const { id } = await members.add(member('Ada'), ACTOR)
    await sessions.open(sessionOf(id, 'a'.repeat(64), { agent: 'browser' }), true)
    await sessions.open(sessionOf(id, 'b'.repeat(64), { now: NOW + 1, address: undefined }), false)
    expect(await sessions.find('a'.repeat(64))).toEqual({
      member: expect.objectContaining({ id, name: 'Ada' }),
      stored: {
        ...{ hash: 'a'.repeat(64), createdAt: NOW, seenAt: NOW, provenAt: NOW, expiresAt: NOW + DAY },
        ...{ address: '203.0.113.7', agent: 'browser' },
      },
    })
    expect(await sessions.open(sessionOf(id, 'e'), true, 'hash of before')).toBe(false)
    expect(await sessions.find('e')).toBeUndefined()
    now += HOUR
    const proof = { memberId: id, passwordHash: 'hash of Ada', told: true }
    expect(await sessions.prove('a'.repeat(64), { ...proof, passwordHash: 'other' })).toBe(false)
    expect(await sessions.prove('a'.repeat(64), proof)).toBe(true)
    expect((await sessions.find('a'.repeat(64)))?.stored.provenAt).toBe(now)
    await sessions.seen('a'.repeat(64), now)
    expect((await sessions.of(id)).map(({ hash }) => hash[0])).toEqual(['a', 'b'])
    await sessions.end(id, sessionId('b'.repeat(64)))
    await expect(sessions.end(id, sessionId('b'.repeat(64)))).rejects.toMatchObject(
      refused('not_found', 'no such session'),
    )
    await sessions.open(sessionOf(id, 'c'), false)
    await sessions.sweep(NOW + DAY, NOW + 1)
    expect((await sessions.of(id)).map(({ hash }) => hash[0])).toEqual(['a'])
    await sessions.closeAll(id)
    await sessions.refuse(undefined, { peer: 'p', unrecorded: 3, by: 'code' })
    expect(await actionsIn(store)).toEqual([
      ...[
        'member.add',
        'session.sign-in',
        'session.prove',
        'session.end',
        'session.sign-out-everywhere',
        'session.refuse',
      ],
    ])
    const [last, before] = await store.audit({ limit: 2 })
    expect(last).toMatchObject({ target: 'unknown name', after: { from: 'p', wrong: 'code', unrecordedBefore: 3 } })
    expect(before).toMatchObject({ actor: { kind: 'member', id }, after: { sessions: 1 } })
  })

  test('all sessions are found with their members, in the order of members, each one’s used last first', async () => {
    let now = NOW
    const { members, sessions } = await open(() => now++)
    const names = ['Ada', 'Bo', 'Cy', 'Di']
    const ids: string[] = []
    for (const name of names) ids.push((await members.add(member(name), ACTOR)).id)
    const [ada = '', bo = '', , di = ''] = ids
    expect(await sessions.all()).toEqual([])
    for (const [at, id] of [di, ada, di, bo, ada].entries())
      await sessions.open(sessionOf(id, `${at}`, { now: NOW + at }), false)
    await sessions.seen('1', NOW + 9)
    await members.remove(bo, 'revoke', ACTOR)
    const all = await sessions.all()
    expect(all.map(({ member: { name }, stored: { hash } }) => `${name} ${hash}`)).toEqual([
      ...['Ada 1', 'Ada 4', 'Di 2', 'Di 0'],
    ])
    for (const id of ids) {
      const owner = await members.get(id)
      const own = all.filter((each) => each.member.id === id)
      expect(own.map(({ stored }) => stored)).toEqual(await sessions.of(id))
      for (const each of own) expect(each.member).toEqual(owner as typeof each.member)
    }
  })

  test('a session that an admin ends is told as theirs', async () => {
    const store = await open()
    const { members, sessions } = store
    const { id } = await members.add(member('Ada'), ACTOR)
    await sessions.open(sessionOf(id, 'd'.repeat(64)), false)
    const by: Actor = { kind: 'member', id: 'mem_boss' }
    await sessions.end(id, sessionId('d'.repeat(64)), by)
    expect((await store.audit({ limit: 1 }))[0]).toMatchObject({ action: 'session.end', actor: by, target: id })
    await expect(sessions.end(id, sessionId('d'.repeat(64)), by)).rejects.toMatchObject({
      ...{ code: 'not_found', message: 'There is no such session (any more).' },
    })
  })

  test('the end of a second factor is one with the change of its member', async () => {
    const store = await open()
    const { members, factors } = store
    const { id } = await members.add(member('Ada'), ACTOR)
    await factors.offer(id, 'secret')
    await factors.confirm(id, { step: 5, codes: ['a'], keep: 'here' })
    const only = members.update(id, { role: 'admin', endsFactor: true, teamId: 'team_none' }, ACTOR)
    await expect(only).rejects.toMatchObject({ param: 'team' })
    expect((await factors.get(id))?.codes).toBe(1)
    await members.update(id, { endsFactor: true }, ACTOR)
    expect(await factors.get(id)).toBeUndefined()
    expect(await actionsIn(store)).toEqual([
      ...['member.add', 'second-factor.offer', 'second-factor.enable', 'second-factor.remove'],
    ])
  })

  test('a second factor is offered, confirmed, used by steps and codes, and removed', async () => {
    const store = await open()
    const { members, factors, sessions } = store
    const { id } = await members.add(member('Ada'), ACTOR)
    expect(await factors.get(id)).toBeUndefined()
    await factors.offer(id, 'first')
    await factors.offer(id, 'second')
    expect(await factors.get(id)).toEqual({ secret: 'second', confirmed: false, codes: 0 })
    expect(await factors.takeStep(id, 9, 99)).toBe(false)
    for (const hash of ['here', 'elsewhere']) await sessions.open(sessionOf(id, hash), false)
    await factors.confirm(id, { step: 5, codes: ['a', 'b'], keep: 'here' })
    expect(await factors.get(id)).toEqual({ secret: 'second', confirmed: true, codes: 2 })
    // Another page was slower: the codes that it would show do not hold.
    await expect(factors.confirm(id, { step: 6, codes: ['c'], keep: 'there' })).rejects.toMatchObject(
      refused('invalid_request', 'Begin anew'),
    )
    expect(await factors.get(id)).toMatchObject({ confirmed: true, codes: 2 })
    expect(await factors.enabled()).toEqual(new Set([id]))
    expect((await sessions.of(id)).map(({ hash }) => hash)).toEqual(['here'])
    await expect(factors.offer(id, 'third')).rejects.toMatchObject(refused('invalid_request', 'Remove it first.'))
    const steps: boolean[] = []
    for (const [step, latest] of [
      [5, 99],
      [6, 99],
      [6, 99],
      [4, 99],
      [3, 5],
    ] as const)
      steps.push(await factors.takeStep(id, step, latest))
    expect(steps).toEqual([false, true, false, false, true])
    expect([await factors.takeCode(id, 'a'), await factors.takeCode(id, 'a'), await factors.takeCode(id, 'c')]).toEqual(
      [true, false, false],
    )
    await factors.renewCodes(id, ['x', 'y', 'z'])
    expect((await factors.get(id))?.codes).toBe(3)
    await factors.remove(id, ACTOR)
    await factors.remove(id, ACTOR)
    expect(await factors.get(id)).toBeUndefined()
    expect((await actionsIn(store)).filter((action) => action.startsWith('second-factor.'))).toEqual([
      ...['second-factor.offer', 'second-factor.offer', 'second-factor.enable', 'second-factor.recover'],
      ...['second-factor.renew-codes', 'second-factor.remove'],
    ])
  })

  test('a token is found by its hash, says when it was used, and is revoked once', async () => {
    let now = NOW
    const store = await open(() => now)
    const { id } = await store.members.add(member('Boss', { role: 'admin' }), ACTOR)
    const token = await store.tokens.add({ label: 'script', hash: 'h', createdBy: id, expiresAt: NOW + DAY }, ACTOR)
    expect(token).toEqual({
      ...{ id: token.id, label: 'script', createdBy: id, createdAt: NOW, expiresAt: NOW + DAY },
      ...{ revokedAt: undefined, usedAt: undefined },
    })
    await store.tokens.used(token.id, NOW + 5)
    expect(await store.tokens.find('h')).toEqual({ ...token, usedAt: NOW + 5 })
    await store.tokens.revoke(token.id, ACTOR)
    now += DAY
    expect((await store.tokens.revoke(token.id, ACTOR)).revokedAt).toBe(NOW)
    expect(await store.tokens.list()).toEqual([{ ...token, usedAt: NOW + 5, revokedAt: NOW }])
    await expect(store.tokens.revoke('tok_none', ACTOR)).rejects.toMatchObject(
      refused('not_found', 'no such admin token'),
    )
    expect(await actionsIn(store)).toEqual(['member.add', 'token.create', 'token.revoke'])
  })

  test('a team has a name and a budget, and leaves its members in none', async () => {
    const store = await open()
    const { members, teams, budgets } = store
    const blue = await teams.add({ name: 'blue', budget: BUDGET }, ACTOR)
    await teams.add({ name: 'Amber' }, ACTOR)
    expect((await teams.list()).map(({ name }) => name)).toEqual(['Amber', 'blue'])
    await expect(teams.add({ name: 'BLUE' }, ACTOR)).rejects.toMatchObject(
      refused('invalid_request', 'a team of this name'),
    )
    const { id } = await members.add(member('Ada', { teamId: blue.id, budget: { ...BUDGET, unit: 'usd' } }), ACTOR)
    await expect(members.update(id, { teamId: 'team_none' }, ACTOR)).rejects.toMatchObject(
      refused('invalid_request', 'no such team'),
    )
    const asked = { id: 'key_a', ownerId: id }
    expect(budgets.of(asked).map((each) => each.id)).toEqual([`member:${id}`, `team:${blue.id}`])
    expect(await teams.update(blue.id, { name: 'Azure', budget: null }, ACTOR)).toMatchObject({
      id: blue.id,
      name: 'Azure',
    })
    expect(budgets.of(asked).map((each) => each.id)).toEqual([`member:${id}`])
    expect(await budgets.nameOf(`team:${blue.id}`)).toBe('Azure')
    expect(await budgets.nameOf(`member:${id}`)).toBe('Ada')
    await teams.remove(blue.id, ACTOR)
    expect(await teams.get(blue.id)).toBeUndefined()
    expect((await members.get(id))?.teamId).toBeUndefined()
    expect(await actionsIn(store)).toEqual([
      ...['team.add', 'budget.set', 'team.add', 'member.add', 'budget.set'],
      ...['budget.remove', 'team.update', 'team.remove'],
    ])
  })
})

describe.each(STORES)('budgets in %s', (_, { newPlace }) => {
  test('keep what was used where their terms change, and begin anew when they are renewed or set after they had gone', async () => {
    let now = NOW
    const place = await newPlace()
    const store = await place.open(() => now)
    const { budgets } = store
    await expect((async () => budgets.set('gateway', { ...BUDGET, amount: -1 }, ACTOR))()).rejects.toMatchObject({
      code: 'invalid_request',
    })
    expect(await budgets.set('gateway', { ...BUDGET, warnAt: [100, 80, 80] }, ACTOR)).toEqual({
      ...{ id: 'gateway', ...BUDGET, since: NOW, used: { tokens: 0, microUsd: 0 } },
    })
    const held = budgets.get('gateway')
    now += HOUR
    expect(await budgets.set('gateway', { ...BUDGET, amount: 50 }, ACTOR)).toMatchObject({ amount: 50, since: NOW })
    expect(await budgets.set('gateway', { ...BUDGET, renews: undefined }, ACTOR)).toMatchObject({
      renews: undefined,
      since: now,
    })
    expect(budgets.get('gateway')).toBe(held as NonNullable<typeof held>)
    expect(await budgets.set('gateway', null, ACTOR)).toBeUndefined()
    expect(await budgets.set('gateway', null, ACTOR)).toBeUndefined()
    expect(budgets.of({ id: 'key_a' })).toEqual([])
    now += HOUR
    await budgets.set('gateway', BUDGET, ACTOR)
    await budgets.renew('gateway')
    await budgets.renew('key:none')
    expect(budgets.list()).toMatchObject([{ id: 'gateway', since: now }])
    const other = await place.open(() => now)
    expect(other.budgets.list()).toEqual(budgets.list())
    // Of one that nobody used there is nothing to tell when it begins anew.
    expect(await actionsIn(store)).toEqual([
      ...['budget.set', 'budget.set', 'budget.set', 'budget.remove', 'budget.set'],
    ])
  })

  test('of a key are set with it', async () => {
    const store = await (await newPlace()).open()
    const { key } = await store.keys.issue(newKey({ budget: BUDGET }), ACTOR)
    expect(store.budgets.of(key)).toMatchObject([{ id: `key:${key.id}`, ...BUDGET }])
    await store.keys.update(key.id, { budget: null }, ACTOR)
    expect(store.budgets.of(key)).toEqual([])
    expect(await store.budgets.nameOf(`key:${key.id}`)).toBe('a key')
  })
})

describe.each(STORES)('settings, alerts and background answers in %s', (_, { newPlace }) => {
  const open = async (clock?: () => number) => (await newPlace()).open(clock)

  test('settings are JSON by name, and null removes one', async () => {
    const store = await open()
    await store.settings.write({ rpm: 5, words: { b: ['ü', null], a: '\u0000' } }, ACTOR)
    await store.settings.write({ rpm: null, on: false }, ACTOR)
    expect(await store.settings.read()).toEqual({ words: { b: ['ü', null], a: '\u0000' }, on: false })
    expect((await store.audit({ limit: 2 })).map(({ target, before, after }) => [target, before, after])).toEqual([
      ['on', null, false],
      ['rpm', 5, null],
    ])
  })

  test('what alerts told and what waits is kept until it is forgotten or on its way', async () => {
    const store = await open()
    const alert: Alert = {
      id: 'alr_1',
      type: 'quota',
      at: NOW,
      items: [{ cause: 'quota/k', text: 'used up' }],
      more: 0,
    }
    const told = (cause: string, period = '') => ({ cause, period, at: NOW })
    await store.alerts.tell(
      [told('a'), told('b')],
      [],
      ['one', 'two'].map((receiver) => ({ alert, receiver })),
    )
    const again = { ...told('a', 'later'), was: told('a').at }
    await store.alerts.tell([again], ['b', 'none'], [{ alert, receiver: 'one' }])
    expect(await store.alerts.told()).toEqual([told('a', 'later')])
    expect((await store.alerts.waiting()).toSorted((x, y) => x.receiver.localeCompare(y.receiver))).toEqual([
      { alert, receiver: 'one' },
      { alert, receiver: 'two' },
    ])
    await store.alerts.close({ alert, receiver: 'one' }, 'send', ACTOR)
    expect(await store.alerts.waiting()).toEqual([{ alert, receiver: 'two' }])
    expect(await actionsIn(store)).toEqual(['alert.send'])
    expect(await store.alerts.migrations()).toBeGreaterThan(0)
  })

  test('a background answer is found by its key and id, and by its exchange', async () => {
    const { background } = await open()
    const answer = {
      ...{
        id: 'resp_1',
        exchangeId: 'req_1',
        keyId: 'key_a',
        provider: 'p',
        account: 'main',
        model: 'm',
        createdAt: NOW,
      },
    }
    await background.keep(answer)
    await background.keep({ ...answer, exchangeId: 'req_2' })
    await background.keep({ ...answer, keyId: 'key_b', exchangeId: 'req_3' })
    expect(await background.find('key_a', 'resp_1')).toEqual({ ...answer, exchangeId: 'req_2' })
    expect(await background.of('req_1')).toBeUndefined()
    expect(await background.of('req_3')).toMatchObject({ keyId: 'key_b' })
    await background.forget(answer)
    expect(await background.find('key_a', 'resp_1')).toBeUndefined()
    expect(await background.find('key_b', 'resp_1')).toBeDefined()
  })
})
