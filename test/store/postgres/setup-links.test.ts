// Links that make the first admin, of every node that starts.

import { afterEach, describe, expect, test } from 'bun:test'
import { createMembership } from '../../../src/members/membership.ts'
import type { PostgresStore } from '../../../src/store/postgres/open.ts'
import { postgresMissing } from '../../support/postgres.ts'
import { dropAll, newDatabase, nodeOn, twoNodes } from './support.ts'

afterEach(dropAll)

const membershipOf = (store: PostgresStore) =>
  createMembership({ store, clock: Date.now, attempts: store.attempts, setupLinks: store.setupLinks })

const count = async ({ client }: PostgresStore, table: string): Promise<number> =>
  (await client.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]?.n ?? 0

describe.skipIf(postgresMissing !== undefined)('set-up links of nodes', () => {
  test('however often nodes are started, no more than ten links are left, and nothing in settings or the audit', async () => {
    const store = await nodeOn(await newDatabase())
    const before = [await count(store, 'settings'), await count(store, 'audit')]
    const links: string[] = []
    for (let i = 0; i < 25; i++) links.push((await membershipOf(store).offerSetup()) ?? '')
    expect(await count(store, 'setup_links')).toBe(10)
    expect([await count(store, 'settings'), await count(store, 'audit')]).toEqual(before)
    await expect(
      membershipOf(store).setUp(links[0] ?? '', 'Ann', 'a longer passphrase 71', undefined),
    ).rejects.toThrow()
    const { member } = await membershipOf(store).setUp(links[24] ?? '', 'Ann', 'a longer passphrase 71', undefined)
    expect(member).toMatchObject({ name: 'Ann', role: 'admin' })
  })

  test('one of any node holds at every node, until there is an admin', async () => {
    const [here, there] = await twoNodes()
    const [mine, theirs] = [await membershipOf(here).offerSetup(), await membershipOf(there).offerSetup()]
    await membershipOf(there).setUp(mine ?? '', 'Ann', 'a longer passphrase 71', undefined)
    expect(await count(here, 'setup_links')).toBe(0)
    await expect(membershipOf(here).setUp(theirs ?? '', 'Bob', 'a longer passphrase 72', undefined)).rejects.toThrow(
      'There is an admin already',
    )
    expect(await membershipOf(here).offerSetup()).toBeUndefined()
  })
})
