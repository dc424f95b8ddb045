// The owner of the books as its workers find it: what they have said counts, and over one connection each.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import type { Ask } from '../../src/ledger/shared.ts'
import { startServer } from '../../src/server/serve.ts'
import { createLink, type Link } from '../../src/server/workers/link.ts'
import { BOOKS } from '../../src/server/workers/messages.ts'
import { createApart } from '../../src/server/workers/owner.ts'
import { settlement } from '../ledger/support.ts'
import { SYSTEM } from '../support/gateway.ts'
import { silentLog } from '../support/silent-log.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { until } from '../support/until.ts'

const stopping = stopsAfterEach()

const startOwner = async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-owner-'))
  stopping({ stop: async () => rmSync(dir, { recursive: true, force: true }) })
  const loaded = loadConfig({ flags: { host: '127.0.0.1', port: '0', data: join(dir, 'data') }, env: {}, cwd: dir })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const apart = createApart({
    ...{ role: 'owner', name: '0-a', number: 0, dir, port: 0, count: 1, serves: false, again: false },
  })
  const server = stopping(
    await startServer({ ...loaded.config, drainMs: 0 }, { err: () => undefined }, { log: silentLog, apart }),
  )
  const { store } = server.gateway
  const { key } = await store.keys.issue(
    { label: 'x', tokensTotal: 1_000_000, expiresAt: Date.now() + 86_400_000, models: ['*'] },
    SYSTEM,
  )
  const reserve = (id: string): Ask => ({
    ...{ do: 'reserve', id },
    ask: {
      ...{ keyId: key.id, keysSeen: store.keys.versionOf(key.id), model: 'm', wire: 'messages', stream: true },
      ...{ inputEstimate: 100, outputCap: undefined, maxOutput: 1_000 },
    },
  })
  return {
    ...{ apart, store, reserve, open: () => server.gateway.workers?.open() },
    /** Resolves once it is welcome. */
    async worker(name: string, running: string[] = []): Promise<Link> {
      const welcome = Promise.withResolvers<void>()
      const link = await createLink({
        ...{ path: join(dir, BOOKS), hello: () => ({ what: 'hello', name, number: 1, running }) },
        heard: ({ what }) => what === 'welcome' && welcome.resolve(),
      })
      stopping({ stop: async () => link.close() })
      await welcome.promise
      return link
    },
  }
}

test('what a worker has said before it ended is heard before it counts as gone', async () => {
  const { apart, store, reserve, worker, open } = await startOwner()
  const link = await worker('1-a')
  expect((await link.carry([reserve('req_1')]))[0]?.reservation).toBeDefined()
  const usage = { input: 100, output: 7 }
  void link.carry([{ do: 'settle', id: 'req_1', settlement: settlement({ usage }) }]).catch(() => undefined)
  // It has gone out with the end of this turn, and is heard in none before the next.
  await Promise.resolve()
  link.close()
  apart.gone('1-a')
  await until(() => open() === 0)
  expect((await store.exchanges({ limit: 1 }))[0]).toMatchObject({ outcome: 'done', output: 7, estimated: false })
})

test('a worker that has ended without a word is gone: what it had is settled', async () => {
  const { apart, store, reserve, worker, open } = await startOwner()
  const link = await worker('1-a')
  await link.carry([reserve('req_1')])
  link.close()
  apart.gone('1-a')
  await until(() => open() === 0)
  expect((await store.exchanges({ limit: 1 }))[0]).toMatchObject({ outcome: 'failed', input: 100, estimated: true })
})

test('what comes over a connection that its worker has left is not carried out, and said to be lost', async () => {
  const { reserve, worker, open } = await startOwner()
  const left = await worker('1-a')
  const link = await worker('1-a')
  expect(await left.carry([reserve('req_1'), reserve('req_2')])).toEqual([{ lost: true }, { lost: true }])
  expect(open()).toBe(0)
  expect((await link.carry([reserve('req_1')]))[0]?.reservation).toBeDefined()
})
