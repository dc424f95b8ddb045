// Members, teams, budgets and sessions by the same words on a data directory and on another machine's server.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GATEWAY } from '../../src/keys/budget.ts'
import { type Desk, startDesk } from '../http/admin/support.ts'
import { openTerminal, type Terminal } from './terminal.ts'

let desk: Desk
beforeAll(async () => {
  desk = await startDesk()
})
afterAll(() => desk.stop())

let terminal: Terminal
let people = 0
beforeEach(() => {
  terminal = openTerminal()
})
afterEach(() => terminal.close())

/** The same member on either side, and the words that lead there. */
const PLACES = {
  'a data directory': async (name: string): Promise<string[]> => {
    expect((await terminal.type('members', 'invite', name)).code).toBe(0)
    return []
  },
  "another machine's server": async (name: string): Promise<string[]> => {
    await desk.join(name, 'member')
    const { secret } = await desk.server.gateway.membership.issueToken('script', undefined, desk.admin.member)
    return ['--server', desk.url, '--token', secret]
  },
}

describe.each(Object.entries(PLACES))('on %s', (_place, prepare) => {
  let there: string[]
  let dara: string
  let blue: string
  beforeEach(async () => {
    people++
    dara = `Dara ${people}`
    blue = `Blue ${people}`
    there = await prepare(dara)
  })
  const type = (...words: string[]) => terminal.type(...words, ...there)
  const json = async (...words: string[]) => JSON.parse((await type(...words, '--json')).out)

  test('a team is made, filled, given a budget, emptied and removed', async () => {
    const made = await type('teams', 'create', ` ${blue} `, '--budget', '200usd/month')
    expect(made).toMatchObject({ code: 0, out: `The team ${blue} is there; "sluice teams add" puts members into it.` })
    expect((await type('teams', 'add', blue.toUpperCase(), dara)).out).toBe(`${dara} is in the team ${blue}.`)
    const listed = (await json('teams', 'list')) as { name: string }[]
    expect(listed.find(({ name }) => name === blue)).toMatchObject({ members: [dara], budget: { usd: 200 } })
    expect((await type('teams', 'budget', blue, '--budget', '5Mtokens/day')).out).toContain('every day, next at')
    expect((await type('teams', 'leave', blue, dara)).out).toBe(`${dara} is in no team now.`)
    expect(await type('teams', 'leave', blue, dara)).toMatchObject({
      code: 1,
      err: `${dara} is not in the team ${blue}.`,
    })
    expect((await type('teams', 'remove', blue)).out).toBe(`The team ${blue} is removed.`)
    expect((await type('teams', 'add', blue, dara)).err).toStartWith(`There is no team "${blue}"`)
  })

  test('a member has a budget, which is taken away again', async () => {
    expect((await type('members', 'budget', dara)).out).toBe(`${dara} has no budget.`)
    const told = await json('members', 'budget', dara.toLowerCase(), '--budget', '$20/week', '--warn-at', '50')
    expect(told).toMatchObject({ name: dara, budget: { usd: 20, renews: 'week', warn_at: [50] } })
    expect((await json('members', 'budget', dara, '--budget', 'none')).budget).toBeNull()
    expect(await type('members', 'budget', 'Nobody')).toMatchObject({
      ...{ code: 1, err: expect.stringContaining('There is no member "Nobody"') },
    })
  })

  test('the whole gateway has one', async () => {
    expect((await type('budget')).out).toBe('The gateway has no budget.')
    expect((await type('budget', '500usd/month')).out).toMatch(/^The gateway: 0\.00 of 500\.00 USD used/)
    expect((await json('budget', '1000usd')).budget).toMatchObject({ usd: 1000, renews: 'never' })
    expect((await json('budget', 'none')).budget).toBeNull()
    expect(await type('budget', '--warn-at', '50')).toMatchObject({ code: 2, err: '--warn-at goes with a budget.' })
    expect(await type('budget', 'much')).toMatchObject({
      code: 2,
      err: expect.stringContaining('BUDGET: found "much"'),
    })
  })

  test('a session that is not there cannot be ended', async () => {
    expect(await type('sessions', 'end', 'ses_0123456789abcdef')).toMatchObject({
      ...{ code: 1, err: expect.stringContaining('There is no') },
    })
    expect((await type('sessions', 'end')).err).toBe('Name a session, or a member with --member.')
  })
})

test('sessions are listed, and ended one by one or all of a member', async () => {
  const there = await PLACES["another machine's server"]('Sok')
  const type = (...words: string[]) => terminal.type('sessions', ...words, ...there)
  const list = async () => JSON.parse((await type('list', '--member', 'sok', '--json')).out) as { id: string }[]
  const [only, ...none] = await list()
  expect(none).toEqual([])
  expect(only).toMatchObject({ member: { name: 'Sok' } })
  expect((await type('list')).out).toMatch(/^ID +MEMBER +FROM +LAST USED.*\n(?:.*\n)*.* Sok .* Unknown browser$/)
  expect(await type('end', only?.id ?? '')).toEqual({ code: 0, out: 'The session has ended.', err: '' })
  expect(await list()).toEqual([])
  const [told] = await desk.server.gateway.store.audit({ limit: 1 })
  expect(told).toMatchObject({ action: 'session.end', actor: { kind: 'token' } })
  expect((await type('end', '--member', 'Sok')).out).toBe('0 sessions have ended.')
})

test("the configuration's own budget of the gateway is changed there alone", async () => {
  writeFileSync(join(terminal.cwd, 'sluice.yaml'), 'budget: { usd: 5, renews: month }')
  expect(await terminal.type('budget', '7usd')).toMatchObject({
    ...{
      code: 1,
      err: expect.stringMatching(/^The configuration sets it \(budget in .*sluice\.yaml\): change it there\.$/),
    },
  })
})

test('whom to let in is for people: a token says so', async () => {
  Object.assign(terminal.env, { SLUICE_SERVER: desk.url, SLUICE_TOKEN: 'sl-admin-x' })
  for (const words of [
    ['members', 'invite', 'X'],
    ['members', 'remove', 'X'],
  ])
    expect(await terminal.type(...words)).toMatchObject({
      code: 2,
      err: expect.stringContaining('a token lets nobody in'),
    })
})

test('what was set at run time is in force after a start, and gives way to the file', async () => {
  const { store } = desk.server.gateway
  const set = (budget: object | null) => desk.call('budgets.put', desk.admin, { id: GATEWAY, budget })
  expect((await set({ usd: 9, renews: 'day' })).budget).toMatchObject({ usd: 9, renews: 'day' })
  const owned = (await desk.call('budgets.list', desk.admin)).items.find(({ id }) => id === GATEWAY)
  expect(owned).toMatchObject({ kind: 'gateway', managed: 'store', owner: null })
  const { setBudget } = await import('../../src/server/own-books.ts')
  const at = async (budget: { usd: number } | undefined) => {
    await setBudget({ config: { ...desk.server.gateway.config, budget }, store })
    return store.budgets.get(GATEWAY)?.amount
  }
  expect([await at({ usd: 4 }), await at(undefined)]).toEqual([4_000_000, 9_000_000])
  await set(null)
  expect([await at(undefined), await at({ usd: 4 }), await at(undefined)]).toEqual([undefined, 4_000_000, undefined])
})
