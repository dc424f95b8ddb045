// What groups of usage are called: by the label or the name of whose they are, and of what has none.

import { expect, test } from 'bun:test'
import { labelsOf, ownersOf } from '../../src/observe/groups.ts'
import type { Store } from '../../src/store/store.ts'
import { USAGE_BY } from '../../src/store/usage.ts'

const people = {
  keys: { get: (id: string) => ({ mine: { label: 'Mine', ownerId: 'm1' }, ours: { label: 'Ours' } })[id] },
  members: { list: async () => [{ id: 'm1', name: 'Mia' }] },
  teams: { list: async () => [{ id: 't1', name: 'Blue' }] },
} as unknown as Store

test.each([
  ['key', 'mine', 'Mine'],
  ['key', 'gone', 'gone'],
  ['member', 'm1', 'Mia'],
  ['member', 'm2', 'removed member'],
  ['member', '', "the gateway's own"],
  ['team', 't1', 'Blue'],
  ['team', 't2', 'removed team'],
  ['team', '', 'no team'],
  ['model', 'm1', 'm1'],
  ['account', 'a/b', 'a/b'],
  ['account', '', 'no account'],
  ['provider', '', 'no provider'],
  ['tag', 'nightly', 'nightly'],
  ['tag', '', 'no tag'],
  ['day', '20301', '20301'],
] as const)('by %s, %j is %s', async (by, group, label) => {
  expect((await labelsOf(people, by))(group)).toBe(label)
})

test('what is known of nobody stays as it is, by whatever else', async () => {
  for (const by of USAGE_BY.filter((each) => each !== 'member' && each !== 'team'))
    expect((await labelsOf(people, by))('m1')).toBe('m1')
})

test('a key is its member’s, the gateway’s own, or that of one who was removed', async () => {
  const removed = { ...people, members: { list: async () => [] } } as unknown as Store
  const [owners, left] = [await ownersOf(people), await ownersOf(removed)]
  expect([owners('mine'), owners('ours'), owners('gone'), left('mine')]).toEqual(['Mia', null, null, 'removed member'])
})
