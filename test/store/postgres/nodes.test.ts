// Several nodes on one database: what one changes is in force on the others, and what two do at once happens in some order.

import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import type { Key } from '../../../src/keys/key.ts'
import { DEFAULT_LIMITS, type Member } from '../../../src/members/member.ts'
import { createChanges } from '../../../src/store/postgres/change.ts'
import type { PostgresStore } from '../../../src/store/postgres/open.ts'
import { postgresMissing } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { ACTOR, bearer, DAY, HOUR, newKey } from '../support.ts'
import { dropAll, newDatabase, nodeOn, twoNodes } from './support.ts'

afterEach(async () => {
  setSystemTime()
  await dropAll()
})

const validKey = () => newKey({ expiresAt: Date.now() + 365 * DAY })
const limits = DEFAULT_LIMITS
const admin = (node: PostgresStore, name: string): Promise<Member> =>
  node.members.add({ name, role: 'admin', limits, passwordHash: 'hash' }, ACTOR)

const actionsIn = async (node: PostgresStore): Promise<string[]> =>
  (await node.client.query<{ action: string }>('SELECT action FROM audit ORDER BY row')).map(({ action }) => action)

const outcomesOf = async (runs: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(runs)).map((settled) =>
    settled.status === 'fulfilled' ? 'done' : String((settled.reason as Error).message),
  )

describe.skipIf(postgresMissing !== undefined)('alerts on several nodes', () => {
  test('what one has told another does not tell that had not heard of it', async () => {
    const [here, there] = await twoNodes()
    const alert = (id: string) => ({ id, type: 'quota' as const, at: 1, items: [], more: 0 })
    const to = (id: string) => [{ alert: alert(id), receiver: 'desk' }]
    const mark = { cause: 'quota/k', period: '80', at: 1 }
    const both = await Promise.all([here.alerts.tell([mark], [], to('a')), there.alerts.tell([mark], [], to('b'))])
    expect(both.toSorted()).toEqual([false, true])
    // It goes on by what it knows.
    expect(await here.alerts.tell([{ ...mark, period: '100', at: 2, was: 1 }], [], to('c'))).toBe(true)
    expect(await there.alerts.tell([{ ...mark, period: '100', at: 3, was: 1 }], [], to('d'))).toBe(false)
    expect((await there.alerts.waiting()).map(({ alert: { id } }) => id).filter((id) => id > 'b')).toEqual(['c'])
    expect(await there.alerts.waiting()).toHaveLength(2)
    expect(await there.alerts.told()).toEqual([{ cause: 'quota/k', period: '100', at: 2 }])
  })
})

describe.skipIf(postgresMissing !== undefined)('rows that were copied with their numbers', () => {
  test.each(['starts', 'finds itself'])('are gone on above by a node that %s on them', async (how) => {
    const url = await newDatabase()
    const here = await nodeOn(url)
    await here.keys.issue(validKey(), ACTOR)
    await here.keys.issue(validKey(), ACTOR)
    await here.client.query(`
      INSERT INTO refusals (row, id, key_id, at, wire, path, status, error_code, failed, told)
      VALUES (70, 'req_1', '', 1, 'messages', '/v1/messages', 401, 'invalid_api_key', '', '')`)
    await here.client.query(`SELECT setval(pg_get_serial_sequence('audit', 'row'), 1, false)`)
    await here.client.query(`INSERT INTO life (name) VALUES ('one') ON CONFLICT (one) DO UPDATE SET name = 'one'`)
    await here.refresh()
    await here.client.query(`UPDATE life SET name = 'another'`)
    const node = how === 'starts' ? await nodeOn(url) : here
    if (how !== 'starts') await node.refresh()
    await node.keys.issue(validKey(), ACTOR)
    expect(await node.client.query(`SELECT max(row) AS audited, nextval('exchange_rows') AS next FROM audit`)).toEqual([
      { audited: 3, next: 71 },
    ])
  })
})

describe.skipIf(postgresMissing !== undefined)('keys on several nodes', () => {
  test('a key is good everywhere as soon as it is issued anywhere, and known from then on', async () => {
    const [here, there] = await twoNodes()
    for (let i = 0; i < 20; i++) {
      const { key, secret } = await here.keys.issue(validKey(), ACTOR)
      const asked = [1, 2, 3].map(() => there.keys.authenticate(bearer(secret)))
      expect((await Promise.all(asked)).map(({ id }) => id)).toEqual([key.id, key.id, key.id])
      expect(there.keys.authenticate(bearer(secret))).toBe(there.keys.get(key.id) as Key)
    }
  })

  test('a key is known nowhere before its budgets are, of which its first request is counted already', async () => {
    const [here, there] = await twoNodes()
    const member = await here.members.add({ name: 'Ada', role: 'member', limits, passwordHash: 'hash' }, ACTOR)
    const team = await here.teams.add({ name: 'crew' }, ACTOR)
    await there.refresh()
    const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    for (const learns of [() => there.refresh(), () => there.catchUp()]) {
      const terms = { unit: 'tokens', amount: 9, renews: undefined, warnAt: [] } as const
      await here.members.update(member.id, { teamId: team.id }, ACTOR)
      await here.budgets.set(`team:${team.id}`, terms, ACTOR)
      const { key } = await here.keys.issue({ ...validKey(), ownerId: member.id, budget: terms }, ACTOR)
      let learning: Promise<unknown> | undefined
      await here.client.begin(async (tx) => {
        await tx.query('LOCK TABLE budgets IN ACCESS EXCLUSIVE MODE')
        learning = learns()
        await until(async () => (await here.client.query(waits)).length > 0)
        expect(there.keys.get(key.id)).toBeUndefined()
      })
      await learning
      const known = there.keys.get(key.id) as Key
      expect(there.budgets.of(known).map(({ id }) => id)).toEqual([`key:${key.id}`, `team:${team.id}`])
    }
  })

  test('figures that are read bring no key along that was made meanwhile', async () => {
    const [here, there] = await twoNodes()
    const known = await here.keys.issue(validKey(), ACTOR)
    await there.refresh()
    const made: Key[] = []
    let isMade = false
    // Once what has changed is looked for, and before figures are read.
    const { query } = there.client
    Object.assign(there.client, {
      async query(...asked: Parameters<typeof query>) {
        const rows = await query(...asked)
        if (!isMade && asked[0].includes('pg_snapshot_xmin')) {
          isMade = true
          made.push((await here.keys.issue(validKey(), ACTOR)).key)
          await here.client.query('UPDATE keys SET tokens_used = 7 WHERE id = $1', [known.key.id])
        }
        return rows
      },
    })
    await there.catchUp()
    expect(there.keys.get(known.key.id)?.tokensUsed).toBe(7)
    expect(made.map(({ id }) => there.keys.get(id))).toEqual([undefined])
    await there.refresh()
    expect(there.keys.get(made[0]?.id ?? '')).toBeDefined()
  })

  test('a known key is authenticated without the database, an unknown one is not taken for wrong', async () => {
    const [here, there] = await twoNodes()
    const { key, secret } = await here.keys.issue(validKey(), ACTOR)
    await there.refresh()
    await there.close()
    expect(there.keys.authenticate(bearer(secret))).toMatchObject({ id: key.id })
    await expect(Promise.resolve(there.keys.authenticate(bearer('sk-sl-unknown')))).rejects.not.toMatchObject({
      code: 'invalid_api_key',
    })
  })

  test('revoked anywhere is refused everywhere', async () => {
    const [here, there] = await twoNodes()
    const { key, secret } = await here.keys.issue(validKey(), ACTOR)
    const held = await there.keys.authenticate(bearer(secret))
    const stop = there.watch(5)
    await here.keys.revoke(key.id, ACTOR)
    await until(() => held.revokedAt !== undefined)
    stop()
    expect(() => there.keys.authenticate(bearer(secret))).toThrow('The API key has been revoked. Get a new one.')
  })

  test('revoking twice at once is one change', async () => {
    const [here, there] = await twoNodes()
    const { key } = await here.keys.issue(validKey(), ACTOR)
    await there.refresh()
    const [one, other] = await Promise.all([here.keys.revoke(key.id, ACTOR), there.keys.revoke(key.id, ACTOR)])
    expect(one.revokedAt).toBe(other.revokedAt as number)
    expect(await actionsIn(here)).toEqual(['key.issue', 'key.revoke'])
  })

  test('a period begins once, whichever nodes find that it is time', async () => {
    const [here, there] = await twoNodes()
    const budget = { unit: 'tokens' as const, amount: 10, renews: 'day' as const, warnAt: [] }
    const { key } = await here.keys.issue({ ...validKey(), renews: 'day', budget }, ACTOR)
    const id = `key:${key.id}`
    await here.client.query('UPDATE keys SET tokens_used = 5')
    await here.client.query('UPDATE budgets SET used_tokens = 5')
    for (const node of [here, there]) await node.catchUp()
    await Promise.all([here, there, here].flatMap((node) => [node.keys.renew(key.id), node.budgets.renew(id)]))
    expect((await actionsIn(here)).toSorted()).toEqual(['budget.renew', 'budget.set', 'key.issue', 'key.renew'])
    for (const node of [here, there]) {
      await node.catchUp()
      expect(node.keys.get(key.id)).toMatchObject({
        tokensUsed: 0,
        renewedAt: here.keys.get(key.id)?.renewedAt as number,
      })
      expect(node.budgets.get(id)?.used.tokens).toBe(0)
    }
    await here.client.query('UPDATE budgets SET used_tokens = 5')
    await there.budgets.renew(id, ACTOR)
    expect(there.budgets.get(id)?.used.tokens).toBe(0)
  })

  test('of two rotations at once the last secret stands, and the one before it for its grace', async () => {
    const [here, there] = await twoNodes()
    const { key, secret } = await here.keys.issue(validKey(), ACTOR)
    await there.refresh()
    const secrets = await Promise.all([
      here.keys.rotate(key.id, HOUR, ACTOR).then((made) => made.secret),
      there.keys.rotate(key.id, HOUR, ACTOR).then((made) => made.secret),
    ])
    for (const node of [here, there]) {
      await node.refresh()
      for (const each of secrets) expect(await node.keys.authenticate(bearer(each))).toMatchObject({ id: key.id })
      await expect((async () => node.keys.authenticate(bearer(secret)))()).rejects.toMatchObject({
        code: 'invalid_api_key',
      })
    }
  })

  test('the grace of an old secret ends by the clock of the database, whatever the node’s says', async () => {
    const url = await newDatabase()
    const here = await nodeOn(url)
    const { key, secret } = await here.keys.issue(validKey(), ACTOR)
    await here.keys.rotate(key.id, 20 * 60_000, ACTOR)
    const expired = await here.keys.issue(newKey({ expiresAt: here.clock() + DAY }), ACTOR)
    await here.client.query('UPDATE keys SET expires_at = $1 WHERE id = $2', [here.clock() - 60_000, expired.key.id])
    for (const off of [-HOUR, HOUR]) {
      setSystemTime(new Date(Date.now() + off))
      const there = await nodeOn(url)
      expect(await there.keys.authenticate(bearer(secret))).toMatchObject({ id: key.id })
      await expect((async () => there.keys.authenticate(bearer(expired.secret)))()).rejects.toThrow('expired')
      setSystemTime()
    }
  })

  test('changes of all nodes at once leave every one with the same keys', async () => {
    const url = await newDatabase()
    const nodes = await Promise.all([nodeOn(url), nodeOn(url), nodeOn(url)])
    const [first] = nodes
    if (first === undefined) throw new Error('no node')
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.push((await first.keys.issue(validKey(), ACTOR)).key.id)
    await Promise.all(nodes.map((node) => node.refresh()))
    const stops = nodes.map((node) => node.watch(1))
    await Promise.all(
      nodes.flatMap((node, number) =>
        Array.from({ length: 30 }, (_, i) =>
          node.keys.update(ids[i % 5] ?? '', { addTokens: 1, label: `${number} ${i}` }, ACTOR),
        ),
      ),
    )
    for (const stop of stops) stop()
    const anew = await nodeOn(url)
    const byId = (node: PostgresStore) => node.keys.list().toSorted((a, b) => a.id.localeCompare(b.id))
    expect(byId(anew).map(({ tokensTotal }) => tokensTotal)).toEqual(Array(5).fill(1_000_018))
    for (const node of nodes) {
      await node.refresh()
      expect(byId(node)).toEqual(byId(anew))
    }
  })

  test('changes go on above the versions of rows that came from elsewhere', async () => {
    const url = await newDatabase()
    const before = await nodeOn(url)
    const { key } = await before.keys.issue(validKey(), ACTOR)
    await before.client.query(`DELETE FROM versions`)
    await before.client.query('UPDATE keys SET version = 900')
    const [here, there] = [await nodeOn(url), await nodeOn(url)]
    await here.keys.update(key.id, { label: 'later' }, ACTOR)
    expect(here.keys.versionOf(key.id)).toBeGreaterThan(900)
    await there.refresh()
    expect(there.keys.get(key.id)?.label).toBe('later')
  })

  test('a database that went back to what it was is believed, whatever was known', async () => {
    const url = await newDatabase()
    const [here, there] = [await nodeOn(url), await nodeOn(url)]
    const { key, secret } = await here.keys.issue(validKey(), ACTOR)
    await here.budgets.set('gateway', { unit: 'usd', amount: 5, renews: undefined, warnAt: [] }, ACTOR)
    const kept = await here.client.query<{ n: number }>(`SELECT n FROM versions WHERE what = 'changes'`)
    const lost = await here.keys.issue(validKey(), ACTOR)
    await here.keys.revoke(key.id, ACTOR)
    await here.budgets.set('gateway', { unit: 'usd', amount: 9, renews: undefined, warnAt: [] }, ACTOR)
    await here.budgets.set(`key:${key.id}`, { unit: 'usd', amount: 9, renews: undefined, warnAt: [] }, ACTOR)
    await there.refresh()
    await here.client.query('UPDATE keys SET revoked_at = NULL, version = 1 WHERE id = $1', [key.id])
    await here.client.query('DELETE FROM keys WHERE id = $1', [lost.key.id])
    await here.client.query(`UPDATE budgets SET amount = 5, version = 2 WHERE id = 'gateway'`)
    await here.client.query(`DELETE FROM budgets WHERE id <> 'gateway'`)
    await here.client.query(`UPDATE versions SET n = $1 WHERE what = 'changes'`, [kept[0]?.n])
    expect(await there.refresh()).toBe(true)
    expect(await there.keys.authenticate(bearer(secret))).toMatchObject({ id: key.id })
    await expect((async () => there.keys.authenticate(bearer(lost.secret)))()).rejects.toThrow('not valid')
    expect(there.keys.list().map(({ id }) => id)).toEqual([key.id])
    expect(there.budgets.list().map(({ id, amount }) => [id, amount])).toEqual([['gateway', 5]])
    expect(await there.refresh()).toBe(false)
    // With changes of its own by now it may be as far again.
    await here.client.query(`INSERT INTO life (name) VALUES ('one') ON CONFLICT (one) DO UPDATE SET name = 'one'`)
    await there.refresh()
    await here.client.query('DELETE FROM keys')
    await here.client.query(`UPDATE life SET name = 'another'`)
    await there.refresh()
    expect(there.keys.list()).toEqual([])
  })

  test('what a key has used is read with the rows that were written since, of transactions that took long too', async () => {
    const [here, there] = await twoNodes()
    const { key } = await here.keys.issue(validKey(), ACTOR)
    const use = 'UPDATE keys SET tokens_used = tokens_used + 7 WHERE id = $1'
    await there.refresh()
    const changes = there.keys.changes()
    await here.client.query(use, [key.id])
    await there.catchUp()
    expect(there.keys.get(key.id)?.tokensUsed).toBe(7)
    expect(there.keys.changes()).toBe(changes)
    await here.client.begin(async (tx) => {
      await tx.query(use, [key.id])
      // Later ones are done before it.
      for (let i = 0; i < 3; i++) await here.client.query(`UPDATE versions SET n = n + 1 WHERE what = 'changes'`)
      await there.catchUp()
      expect(there.keys.get(key.id)?.tokensUsed).toBe(7)
    })
    await there.catchUp()
    expect(there.keys.get(key.id)?.tokensUsed).toBe(14)
  })
})

describe.skipIf(postgresMissing !== undefined)('people on several nodes', () => {
  test('of two admins who step down at once one stays', async () => {
    const [here, there] = await twoNodes()
    const [ada, bob] = [await admin(here, 'Ada'), await admin(there, 'Bob')]
    const runs = [here.members.update(ada.id, { role: 'member' }, ACTOR), there.members.remove(bob.id, 'keep', ACTOR)]
    expect((await outcomesOf(runs)).toSorted()).toEqual([
      'This is the only admin. Make another member an admin first.',
      'done',
    ])
    expect(await there.members.hasAdmin()).toBe(true)
  })

  test('a name is given once, in whatever case it is written', async () => {
    const [here, there] = await twoNodes()
    const runs = [here, there].flatMap((node, i) => [
      node.members.add({ name: i === 0 ? 'eve' : 'EVE', role: 'member', limits }, ACTOR),
      node.teams.add({ name: i === 0 ? 'Blue' : 'blue' }, ACTOR),
    ])
    expect((await outcomesOf(runs)).toSorted()).toEqual([
      'There is a member of this name already. Choose another.',
      'There is a team of this name already. Choose another.',
      'done',
      'done',
    ])
  })

  test('an invitation is accepted once', async () => {
    const [here, there] = await twoNodes()
    const { id } = await here.members.add({ name: 'Guest', role: 'member', limits }, ACTOR)
    await here.members.invite(id, { hash: 'link', expiresAt: Date.now() + DAY }, ACTOR)
    const now = Date.now()
    const accepted = await Promise.all([
      here.members.accept('link', 'one', now),
      there.members.accept('link', 'other', now),
      here.members.accept('link', 'third', now),
    ])
    expect(accepted.filter((member) => member !== undefined)).toHaveLength(1)
  })

  test('the first admin is set up once', async () => {
    const [here, there] = await twoNodes()
    const first = (name: string) => ({ name, limits, passwordHash: 'hash' })
    const made = await Promise.all([
      here.members.setUp(first('Ada'), ACTOR),
      there.members.setUp(first('Bob'), ACTOR),
      here.members.setUp(first('Eve'), ACTOR),
    ])
    expect(made.filter((member) => member !== undefined)).toHaveLength(1)
    expect(await there.members.list()).toHaveLength(1)
  })

  test('a session by the password of before is not opened beside its change, at any node', async () => {
    const [here, there] = await twoNodes()
    const { id } = await admin(here, 'Ada')
    const session = (hash: string) => ({
      ...{ hash, memberId: id, now: 1, expiresAt: Date.now() + DAY, address: undefined, agent: undefined },
    })
    await here.sessions.open(session('mine'), false)
    const late = (node: PostgresStore, name: string) => node.sessions.open(session(name), false, 'hash')
    const change = { before: 'hash', after: 'new', session: 'mine', renewed: session('renewed') }
    await Promise.all([
      ...[late(there, 'one'), late(here, 'two'), late(there, 'three')],
      ...[here.members.changePassword(id, change), late(there, 'four'), late(here, 'five'), late(there, 'six')],
    ])
    expect((await there.sessions.of(id)).map(({ hash }) => hash)).toEqual(['renewed'])
    expect(await late(there, 'later')).toBe(false)
  })

  test('of two who change a password at once one does, and no session but theirs is left', async () => {
    const [here, there] = await twoNodes()
    const { id } = await admin(here, 'Ada')
    const session = (hash: string) => ({
      ...{ hash, memberId: id, now: 1, expiresAt: Date.now() + DAY, address: undefined, agent: undefined },
    })
    for (const hash of ['one', 'other']) await here.sessions.open(session(hash), false)
    const changeTo = (node: PostgresStore, from: string): Promise<boolean> =>
      node.members.changePassword(id, {
        before: 'hash',
        after: `of ${from}`,
        session: from,
        renewed: session(`new ${from}`),
      })
    const changed = await Promise.all([changeTo(here, 'one'), changeTo(there, 'other')])
    expect(changed.toSorted()).toEqual([false, true])
    const winner = changed[0] ? 'one' : 'other'
    expect((await there.sessions.of(id)).map(({ hash }) => hash)).toEqual([`new ${winner}`])
    expect(await here.members.credentials('ada')).toMatchObject({ passwordHash: `of ${winner}` })
    const proof = { memberId: id, passwordHash: 'hash', told: true }
    expect(await here.sessions.prove(`new ${winner}`, proof)).toBe(false)
    expect(await here.sessions.prove(`new ${winner}`, { ...proof, passwordHash: `of ${winner}` })).toBe(true)
  })

  test('a code is taken once, of the authenticator and for recovery', async () => {
    const [here, there] = await twoNodes()
    const { id } = await admin(here, 'Ada')
    await here.factors.offer(id, 'secret')
    const enabling = { step: 5, codes: ['first', 'second'], keep: 'session' }
    expect(
      (await outcomesOf([here.factors.confirm(id, enabling), there.factors.confirm(id, enabling)])).toSorted(),
    ).toEqual(['Begin anew: nothing waits to be confirmed.', 'done'])
    const steps = await Promise.all([here, there, here].map((node) => node.factors.takeStep(id, 6, 100)))
    const codes = await Promise.all([here, there, here].map((node) => node.factors.takeCode(id, 'first')))
    for (const taken of [steps, codes]) expect(taken.filter(Boolean)).toHaveLength(1)
    expect(await there.factors.get(id)).toEqual({ secret: 'secret', confirmed: true, codes: 1 })
  })

  test('a removed member’s keys are refused everywhere, and their budget counts no more', async () => {
    const [here, there] = await twoNodes()
    await admin(here, 'Ada')
    const budget = { unit: 'tokens' as const, amount: 10, renews: undefined, warnAt: [] }
    const { id } = await here.members.add({ name: 'Guest', role: 'member', limits, budget }, ACTOR)
    const { key, secret } = await here.keys.issue({ ...validKey(), ownerId: id }, ACTOR)
    await there.keys.authenticate(bearer(secret))
    expect(there.budgets.of(key)).toHaveLength(1)
    await here.members.remove(id, 'revoke', ACTOR)
    await there.refresh()
    expect(() => there.keys.authenticate(bearer(secret))).toThrow('revoked')
    expect(there.budgets.of(key)).toEqual([])
  })

  test('who is in which team is known everywhere, and so whose budget a key counts against', async () => {
    const [here, there] = await twoNodes()
    const budget = { unit: 'usd' as const, amount: 10, renews: undefined, warnAt: [80] }
    const team = await here.teams.add({ name: 'Blue', budget }, ACTOR)
    const { id } = await here.members.add({ name: 'Guest', role: 'member', limits }, ACTOR)
    const asked = { id: 'key_none', ownerId: id }
    await here.members.update(id, { teamId: team.id }, ACTOR)
    await there.refresh()
    expect(there.budgets.of(asked)).toMatchObject([{ id: `team:${team.id}`, ...budget }])
    await here.teams.remove(team.id, ACTOR)
    await there.refresh()
    expect(there.budgets.of(asked)).toEqual([])
  })
})

describe.skipIf(postgresMissing !== undefined)('attempts on several nodes', () => {
  const limitsOf = (name: string, most: number) => [
    { name, most, windowMs: 60_000 },
    { name: 'all', most: 5, windowMs: 60_000 },
  ]

  test('as many as a limit allows pass, side by side too; one that is refused counts against none', async () => {
    const [here, there] = await twoNodes()
    const nodes = [here, there, here, there, here, there, here, there]
    const first = await Promise.all(nodes.map((node) => node.attempts.take(limitsOf('ada', 3))))
    expect(first.filter((each) => 'taken' in each)).toHaveLength(3)
    const second = await Promise.all(nodes.map((node) => node.attempts.take(limitsOf('bob', 3))))
    expect(second.filter((each) => 'taken' in each)).toHaveLength(2)
    for (const each of [...first, ...second]) if ('waitMs' in each) expect(each.waitMs).toBeWithin(1, 60_001)
  })

  test('one that is given back leaves room', async () => {
    const [here, there] = await twoNodes()
    const one = [{ name: 'ada', most: 1, windowMs: 60_000 }]
    const taken = await here.attempts.take(one)
    expect(await there.attempts.take(one)).toHaveProperty('waitMs')
    await there.attempts.giveBack('taken' in taken ? taken.taken : [])
    expect(await there.attempts.take(one)).toHaveProperty('taken')
  })

  test('the next one passes exactly when the oldest has left the window, and what has left is removed', async () => {
    let now = 1_000_000
    const node = await nodeOn(await newDatabase(), () => now)
    const limit = [{ name: 'ada', most: 2, windowMs: 1_000 }]
    await node.attempts.take(limit)
    now += 300
    await node.attempts.take(limit)
    now += 300
    expect(await node.attempts.take(limit)).toEqual({ waitMs: 400 })
    now += 399
    expect(await node.attempts.take(limit)).toEqual({ waitMs: 1 })
    now += 1
    expect(await node.attempts.take(limit)).toHaveProperty('taken')
    now += 10_000
    await node.attempts.take(limit)
    expect(await node.client.query('SELECT at FROM attempts')).toEqual([{ at: now }])
  })

  test('no name is kept as it was typed', async () => {
    const [here] = await twoNodes()
    await here.attempts.take([{ name: 'name:hunter2', most: 1, windowMs: 1_000 }])
    expect(JSON.stringify(await here.client.query('SELECT * FROM attempts'))).not.toContain('hunter2')
  })
})

describe.skipIf(postgresMissing !== undefined)('jobs', () => {
  test('one node has a job until it leaves it or its lease ends', async () => {
    const [here, there] = await twoNodes()
    const taken = await Promise.all([here.jobs.take('prune', 'a', 60_000), there.jobs.take('prune', 'b', 60_000)])
    expect(taken.toSorted()).toEqual([false, true])
    const [holder, other] = taken[0] ? ['a', 'b'] : ['b', 'a']
    expect(await here.jobs.take('prune', holder, 60_000)).toBe(true)
    expect(await here.jobs.take('renew', other, 60_000)).toBe(true)
    await here.jobs.leave('prune', other)
    expect(await there.jobs.take('prune', other, 60_000)).toBe(false)
    await here.jobs.leave('prune', holder)
    expect(await there.jobs.take('prune', other, 0)).toBe(true)
    expect(await here.jobs.take('prune', holder, 60_000)).toBe(true)
  })
})

describe.skipIf(postgresMissing !== undefined)('a change', () => {
  test('that the database refuses is an error of the store, which tells no statement and none of its values', async () => {
    const [here] = await twoNodes()
    await here.client.query('ALTER TABLE settings RENAME TO settings_kept')
    const failed = here.settings.write({ secret: 'hunter2' }, ACTOR)
    const error: unknown = await failed.catch((cause) => cause)
    await here.client.query('ALTER TABLE settings_kept RENAME TO settings')
    expect(error).toMatchObject({
      name: 'StoreError',
      message:
        'The database says: relation "settings" does not exist: its tables are not all there: where the database is a new one, start the node anew, which makes them; else restore a backup.',
    })
  })

  test('whose node stops in the middle holds the others up for a time only, and is undone', async () => {
    const [here, there] = await twoNodes()
    const { change } = createChanges(here.client, () => undefined, undefined, { stuckMs: 20 })
    let goOn = (): void => undefined
    const stopped = outcomesOf([
      change(ACTOR, async ({ note }) => {
        await note('settings.change', 'never', null, 1)
        await new Promise<void>((resolve) => {
          goOn = resolve
        })
      }),
    ])
    await there.settings.write({ a: 1 }, ACTOR)
    goOn()
    expect(await stopped).not.toEqual(['done'])
    expect(await actionsIn(there)).toEqual(['settings.change'])
    expect(await there.settings.read()).toEqual({ a: 1 })
  })

  test('that fails leaves nothing, not even a version', async () => {
    const [here, there] = await twoNodes()
    await here.refresh()
    const state = () =>
      here.client.query('SELECT n, (SELECT count(*) FROM audit) AS audited FROM versions ORDER BY what')
    const before = await state()
    await expect(here.keys.update('key_none', { label: 'x' }, ACTOR)).rejects.toMatchObject({ code: 'not_found' })
    expect(await state()).toEqual(before)
    expect(await there.refresh()).toBe(false)
  })
})
