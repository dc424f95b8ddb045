// A database that goes away and comes back: what nodes know goes on meanwhile, and the rest as soon as it is there.

import { afterEach, describe, expect, test } from 'bun:test'
import { openPostgres, type PostgresStore } from '../../../src/store/postgres/open.ts'
import { isStoreError } from '../../../src/store/store.ts'
import { type OwnServer, postgresMissing, startPostgres } from '../../support/postgres.ts'
import { ACTOR, bearer, DAY, newKey } from '../support.ts'

let server: OwnServer | undefined
let store: PostgresStore | undefined

afterEach(async () => {
  await store?.close()
  await server?.stop()
})

describe.skipIf(postgresMissing !== undefined)('while the database is away', () => {
  test.each(['fast', 'immediate'] as const)(
    'known keys are good, and changes are made once it is back (%s)',
    async (how) => {
      server = await startPostgres()
      const { url } = await server.database()
      const node = await openPostgres(url)
      store = node
      const issue = () => node.keys.issue(newKey({ expiresAt: Date.now() + DAY }), ACTOR)
      const known = await issue()
      const stop = node.watch(5)
      await server.halt(how)
      expect(node.keys.authenticate(bearer(known.secret))).toMatchObject({ id: known.key.id })
      const waiting = issue().catch((error: unknown) => error)
      await server.start()
      const waited = await waiting
      // What of it is done is known, or it is said that it is not.
      if (waited instanceof Error) expect(isStoreError(waited)).toBe(true)
      const { key, secret } = await issue()
      expect(await node.keys.authenticate(bearer(secret))).toMatchObject({ id: key.id })
      stop()
      await node.refresh()
      const listed = node.keys.list().length
      await node.close()
      store = await openPostgres(url)
      expect(store.keys.list()).toHaveLength(listed)
    },
    120_000,
  )

  test('one that was never there is said to be so, without its password', async () => {
    const opening = openPostgres('postgres://sluice:hunter2@127.0.0.1:1/none')
    const error: unknown = await opening.catch((cause: unknown) => cause)
    expect(error).toMatchObject({ name: 'StoreError', message: expect.stringContaining('cannot be reached') })
    expect(JSON.stringify(error) + String(error)).not.toContain('hunter2')
  })
})
