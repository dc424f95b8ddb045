// Teams, and budgets of keys, members and teams, in the admin API.

import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { budgetOf, GATEWAY } from '../../../src/keys/budget.ts'
import { journalOf } from '../../support/gateway.ts'
import { type Desk, startDesk } from './support.ts'

let desk: Desk
beforeAll(async () => {
  desk = await startDesk()
})
afterAll(() => desk.stop())

/** The member at fault, as a refusal names it. */
const faultOf = async (response: Response): Promise<string | null> =>
  ((await response.json()) as { error: { param: string | null } }).error.param

let count = 0
const newTeam = (budget?: object) =>
  desk.call('teams.create', desk.admin, { name: `Team ${++count}`, ...(budget === undefined ? {} : { budget }) })
const put = (id: string, change: object) => desk.call('members.update', desk.admin, { id, ...change })

describe('teams', () => {
  test('have members, each in one at most', async () => {
    const [blue, red] = [await newTeam(), await newTeam()]
    const dara = await desk.join('Dara', 'member')
    expect((await put(dara.member.id, { team: blue.id })).team).toEqual({ id: blue.id, name: blue.name })
    await put(dara.member.id, { team: red.id })
    const listed = (await desk.call('teams.list', desk.admin)).items
    expect(listed.find(({ id }) => id === blue.id)?.members).toEqual([])
    expect(listed.find(({ id }) => id === red.id)?.members).toEqual([{ id: dara.member.id, name: 'Dara' }])
    await desk.call('keys.create', desk.admin, { label: 'of Dara', owner: dara.member.id, tokens_total: 10 })
    expect((await desk.call('teams.list', desk.admin)).items.find(({ id }) => id === red.id)?.keys).toBe(1)
  })

  test('are called by a name that no other has, whatever the case of its letters', async () => {
    const { name, id } = await newTeam()
    const again = await desk.request('teams.create', desk.admin, { name: name.toUpperCase() })
    expect([again.status, await faultOf(again)]).toEqual([400, 'name'])
    const other = await newTeam()
    expect((await desk.request('teams.update', desk.admin, { id: other.id, name })).status).toBe(400)
    expect((await desk.call('teams.update', desk.admin, { id, name: ` ${name.toUpperCase()} ` })).name).toBe(
      name.toUpperCase(),
    )
  })

  test('leave their members and budget nowhere when they are removed', async () => {
    const team = await newTeam({ usd: 5, renews: 'month' })
    const { member } = await desk.join('Bopha', 'member')
    await put(member.id, { team: team.id })
    await desk.call('teams.remove', desk.admin, { id: team.id })
    const { store } = desk.server.gateway
    expect((await store.members.get(member.id))?.teamId).toBeUndefined()
    expect(store.budgets.get(budgetOf('team', team.id))).toBeUndefined()
    expect(store.budgets.of({ id: 'key_none', ownerId: member.id })).toEqual([])
    for (const name of ['teams.update', 'teams.remove'] as const)
      expect(
        (await desk.request(name, desk.admin, { id: team.id, ...(name === 'teams.update' ? { name: 'x' } : {}) }))
          .status,
      ).toBe(404)
    const actions = (await store.audit({ limit: 20, target: team.id })).map(({ action }) => action)
    expect(actions).toEqual(['team.remove', 'team.add'])
  })

  test('that are not there take nobody', async () => {
    const { member } = await desk.join('Someone with a budget', 'member')
    const refused = await desk.request('members.update', desk.admin, { id: member.id, team: 'team_none' })
    expect([refused.status, await faultOf(refused)]).toEqual([400, 'team'])
  })

  test.each(['teams.list', 'teams.create', 'teams.update', 'teams.remove', 'budgets.reset'] as const)(
    '%s is for admins',
    async (name) => {
      expect((await desk.request(name, desk.member, { id: 'team_x', name: 'Mine' })).status).toBe(403)
    },
  )
})

describe('budgets', () => {
  test('are set, changed and taken away, with what was used kept meanwhile', async () => {
    const team = await newTeam({ usd: 50, renews: 'month', warn_at: [100, 50, 50] })
    expect(team.budget).toMatchObject({
      ...{ usd: 50, tokens: null, renews: 'month', warn_at: [50, 100], used: 0, remaining: 50_000_000 },
      ...{ used_tokens: 0, used_micro_usd: 0 },
    })
    const journal = journalOf(desk.server.gateway)
    const counted = [budgetOf('team', team.id)]
    journal.charge({ keyId: 'key_none', budgets: counted }, { tokens: 7, microUsd: 30_000_000 })
    const changed = await desk.call('teams.update', desk.admin, { id: team.id, budget: { usd: 20, renews: 'month' } })
    expect(changed.budget).toMatchObject({ usd: 20, warn_at: [80, 100], used: 30_000_000, remaining: 0 })
    const inTokens = await desk.call('teams.update', desk.admin, { id: team.id, budget: { tokens: 10 } })
    expect(inTokens.budget).toMatchObject({ usd: null, tokens: 10, renews: 'never', renews_at: null, used: 7 })
    const without = await desk.call('teams.update', desk.admin, { id: team.id, budget: null })
    expect(without.budget).toBeNull()
    // Whoever gets one anew begins anew, but for what was not written yet.
    expect(desk.server.gateway.store.budgets.get(budgetOf('team', team.id))).toBeUndefined()
  })

  test.each([
    ['both units', { usd: 1, tokens: 1 }],
    ['no unit', { renews: 'day' }],
    ['less than nothing', { usd: -1 }],
    ['a part of a token', { tokens: 1.5 }],
    ['an unknown period', { usd: 1, renews: 'year' }],
    ['a mark of nothing', { usd: 1, warn_at: [0] }],
    ['more than there is', { usd: 1e12 }],
  ])('of %s are refused', async (_what, budget) => {
    expect((await desk.request('teams.create', desk.admin, { name: 'Never', budget })).status).toBe(400)
    expect((await desk.call('teams.list', desk.admin)).items.some(({ name }) => name === 'Never')).toBe(false)
  })

  test('of a member and of their key are told where those are, and to the member', async () => {
    const { member, ...person } = await desk.join('Mealea', 'member')
    const told = await put(member.id, { budget: { usd: 0.1, renews: 'day' } })
    expect(told.budget).toMatchObject({ usd: 0.1, remaining: 100_000, renews: 'day' })
    const made = await desk.call('keys.create', desk.admin, {
      ...{ label: 'mine', owner: member.id, tokens_total: 10, budget: { tokens: 5 } },
    })
    expect(made.key.budget).toMatchObject({ tokens: 5, remaining: 5 })
    const own = (await desk.call('budgets.list', { ...person })).items
    expect(own.map(({ kind, owner }) => [kind, owner?.name])).toEqual([
      ['member', 'Mealea'],
      ['key', 'mine'],
    ])
  })

  test('are told with whose they are, which is read together however many there are', async () => {
    const { budgets } = desk.server.gateway.store
    const oneByOne = spyOn(budgets, 'nameOf')
    const { items } = await desk.call('budgets.list', desk.admin)
    expect(items.every(({ owner }) => owner === null || owner.name !== owner.id)).toBe(true)
    expect(oneByOne).not.toHaveBeenCalled()
    oneByOne.mockRestore()
  })

  test('of the gateway are for its admins to see', async () => {
    const { store } = desk.server.gateway
    await store.budgets.set(
      GATEWAY,
      { unit: 'usd', amount: 1, renews: undefined, warnAt: [] },
      { kind: 'cli', id: 'x' },
    )
    try {
      expect((await desk.call('budgets.list', desk.admin)).items[0]).toMatchObject({ kind: 'gateway', owner: null })
      const seen = (await desk.call('budgets.list', desk.member)).items
      expect(seen.some(({ kind }) => kind === 'gateway')).toBe(false)
    } finally {
      await store.budgets.set(GATEWAY, null, { kind: 'cli', id: 'x' })
    }
  })

  test('begin again when an admin says so', async () => {
    const team = await newTeam({ tokens: 10 })
    const id = budgetOf('team', team.id)
    journalOf(desk.server.gateway).charge({ keyId: 'key_none', budgets: [id] }, { tokens: 4, microUsd: 1 })
    expect(desk.server.gateway.store.budgets.get(id)?.used.tokens).toBe(4)
    expect((await desk.request('budgets.reset', desk.admin, { id: 'team:none' })).status).toBe(404)
    const { member } = await desk.join('Nobody', 'member')
    expect((await desk.request('budgets.reset', desk.admin, { id: budgetOf('member', member.id) })).status).toBe(404)
  })
})

describe('a member', () => {
  test('makes the quota of their own key renew within a budget, and not without one', async () => {
    const { member, ...person } = await desk.join('Rith', 'member')
    const wish = { label: 'monthly', tokens_total: 100, renews: 'month' }
    const refused = await desk.request('keys.create', person, wish)
    expect([refused.status, await faultOf(refused)]).toEqual([403, 'renews'])
    await put(member.id, { budget: { usd: 5, renews: 'month' } })
    const { key } = await desk.call('keys.create', person, wish)
    expect(key.renews).toBe('month')
    await put(member.id, { budget: null })
    const team = await newTeam({ usd: 5, renews: 'month' })
    await put(member.id, { team: team.id })
    expect((await desk.call('keys.update', person, { id: key.id, renews: 'day' })).renews).toBe('day')
  })

  test('makes the budget of their own key smaller, never larger', async () => {
    const { member: _, ...person } = await desk.join('Sophal', 'member')
    const { key } = await desk.call('keys.create', person, { label: 'small', tokens_total: 100 })
    const change = (budget: object | null) => desk.request('keys.update', person, { id: key.id, budget })
    expect((await change({ usd: 2, renews: 'day' })).status).toBe(200)
    expect((await change({ usd: 1, renews: 'day' })).status).toBe(200)
    for (const wider of [{ usd: 1.5, renews: 'day' }, { usd: 1 }, { tokens: 1, renews: 'day' }, null])
      expect((await change(wider)).status).toBe(403)
    expect((await desk.call('keys.get', person, { id: key.id })).budget).toMatchObject({ usd: 1, renews: 'day' })
  })
})

describe('budgets', () => {
  const set = (id: string, budget: object | null) => desk.request('budgets.put', desk.admin, { id, budget })

  test('are set for whoever there is, and for nobody else', async () => {
    const team = await newTeam()
    const { member } = await desk.join('Chan', 'member')
    const { key } = await desk.call('keys.create', desk.admin, { label: 'k', tokens_total: 10 })
    for (const id of [`team:${team.id}`, `member:${member.id}`, `key:${key.id}`, GATEWAY]) {
      expect((await set(id, { tokens: 5 })).status).toBe(200)
      expect(desk.server.gateway.store.budgets.get(id)?.amount).toBe(5)
      expect((await set(id, null)).status).toBe(200)
      expect(desk.server.gateway.store.budgets.get(id)).toBeUndefined()
    }
    for (const id of ['team:x', 'member:x', 'key:x', 'x']) expect((await set(id, { tokens: 5 })).status).toBe(404)
    expect((await set(GATEWAY, {})).status).toBe(400)
  })

  test('of revoked keys are in no list', async () => {
    const made = { label: 'gone', tokens_total: 10, budget: { tokens: 5 } }
    const { key } = await desk.call('keys.create', desk.admin, made)
    const listed = async () => (await desk.call('budgets.list', desk.admin)).items.map(({ id }) => id)
    expect(await listed()).toContain(`key:${key.id}`)
    await desk.call('keys.revoke', desk.admin, { id: key.id })
    expect(await listed()).not.toContain(`key:${key.id}`)
    expect((await set(`key:${key.id}`, { tokens: 9 })).status).toBe(404)
  })

  test("of the gateway is the file's where the file says it", async () => {
    const configured = await startDesk({ config: { budget: { usd: 3 } } })
    try {
      const refused = await configured.request('budgets.put', configured.admin, { id: GATEWAY, budget: { usd: 9 } })
      expect(refused.status).toBe(400)
      const { items } = await configured.call('budgets.list', configured.admin)
      expect(items).toMatchObject([{ id: GATEWAY, managed: 'file', budget: { usd: 3 } }])
    } finally {
      await configured.stop()
    }
  })
})
