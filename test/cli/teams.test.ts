// `teams`, and budgets on the command line.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { openTerminal, type Terminal } from './terminal.ts'

let terminal: Terminal
beforeEach(() => {
  terminal = openTerminal()
})
afterEach(() => terminal.close())
const type = (...words: string[]) => terminal.type(...words)
const json = async (...words: string[]) => JSON.parse((await type(...words, '--json')).out)

test('a team is made, filled, emptied and removed', async () => {
  expect((await type('teams', 'list')).out).toContain('There are no teams')
  expect((await type('teams', 'create', 'Blue', '--budget', '200usd/month')).code).toBe(0)
  await type('members', 'invite', 'Dara')
  expect((await type('teams', 'add', 'blue', 'dara')).out).toBe('Dara is in the team Blue.')
  expect(await json('teams', 'list')).toMatchObject([{ name: 'Blue', members: ['Dara'], budget: { usd: 200 } }])
  expect((await type('teams', 'list')).out).toMatch(/Blue +200\.00 USD\/month +Dara/)
  expect(await json('members', 'list')).toMatchObject([{ name: 'Dara', team: 'Blue', budget: null }])
  expect((await type('teams', 'leave', 'Blue', 'Dara')).code).toBe(0)
  expect(await type('teams', 'leave', 'Blue', 'Dara')).toMatchObject({ code: 1 })
  expect((await type('teams', 'remove', 'Blue')).out).toBe('The team Blue is removed.')
  expect(await json('teams', 'list')).toEqual([])
  expect(await type('teams', 'add', 'Blue', 'Dara')).toMatchObject({ code: 1, err: 'There is no team "Blue".' })
})

describe('a budget', () => {
  test.each([
    ['50usd/month', { usd: 50, tokens: null, renews: 'month' }],
    ['$0.25/day', { usd: 0.25, renews: 'day' }],
    ['1_000 USD', { usd: 1000, renews: 'never' }],
    ['5Mtokens/week', { usd: null, tokens: 5_000_000, renews: 'week' }],
    ['12 tokens', { tokens: 12, renews: 'never' }],
  ])('%s is read', async (text, budget) => {
    const made = await json('keys', 'create', '--label', 'alice', '--budget', text)
    expect(made.budget).toMatchObject({ ...budget, warn_at: [80, 100], used: 0 })
  })

  test.each(['50', '5usd/year', '$5tokens', 'much', '-5usd', '1e3usd', ''])('"%s" is none', async (text) => {
    const refused = await type('keys', 'create', '--label', 'alice', '--budget', text)
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--budget')])
  })

  test('of a key, a member and a team is changed and taken away', async () => {
    const { id } = await json('keys', 'create', '--label', 'alice', '--budget', '5usd', '--warn-at', '50,90')
    expect((await type('keys', 'show', id)).out).toMatch(/budget +0\.00 of 5\.00 USD used, 5\.00 left/)
    expect((await json('keys', 'update', id, '--budget', '7usd/day')).budget).toMatchObject({ usd: 7, renews: 'day' })
    expect((await json('keys', 'update', id, '--budget', 'none')).budget).toBeNull()
    await type('members', 'invite', 'Dara')
    expect((await type('members', 'budget', 'Dara')).out).toBe('Dara has no budget.')
    expect((await type('members', 'budget', 'Dara', '--budget', '20usd/month')).out).toContain('every month, next at')
    expect((await json('members', 'budget', 'Dara', '--budget', 'none')).budget).toBeNull()
    await type('teams', 'create', 'Blue')
    const told = await json('teams', 'budget', 'Blue', '--budget', '1ktokens', '--warn-at', 'none')
    expect(told).toMatchObject({ name: 'Blue', budget: { tokens: 1000, warn_at: [] } })
  })

  test.each([
    [['--warn-at', '80'], '--warn-at goes with --budget'],
    [['--budget', '5usd', '--warn-at', '0'], '--warn-at: found "0"'],
  ])('%j is refused', async (flags, sentence) => {
    expect(await type('keys', 'create', '--label', 'a', ...flags)).toMatchObject({
      ...{ code: 2, err: expect.stringContaining(sentence) },
    })
  })
})
