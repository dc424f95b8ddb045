// The owner of the books as its workers find it: what they have said counts, and over one connection each.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import type { Ask } from '../../src/ledger/shared.ts'
import type { Figures } from '../../src/observe/workers.ts'
import { startServer } from '../../src/server/serve.ts'
import { createLink, type Link } from '../../src/server/workers/link.ts'
import { BOOKS, type FromOwner, type FromWorker } from '../../src/server/workers/messages.ts'
import { createApart } from '../../src/server/workers/owner.ts'
import { settlement } from '../ledger/support.ts'
import { SYSTEM } from '../support/gateway.ts'
import { silentLog } from '../support/silent-log.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { until } from '../support/until.ts'

const stopping = stopsAfterEach()

const FIGURES: Figures = {
  ...{ open: 1, arriving: 2, pending: 3, sockets: 4, rssBytes: 5, heapBytes: 6, openFiles: 7, cpuSeconds: 8 },
  targets: [],
}

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
    ...{ apart, store, reserve, gateway: server.gateway, open: () => server.gateway.workers?.open() },
    /** Resolves once it is welcome. `hear`: all else that it is told. */
    async worker(name: string, running: string[] = [], hear = (_: FromOwner): void => undefined): Promise<Link> {
      const welcome = Promise.withResolvers<void>()
      const link = await createLink({
        ...{ path: join(dir, BOOKS), hello: () => ({ what: 'hello', name, number: 1, running }) },
        heard: (message) => (message.what === 'welcome' ? welcome.resolve() : hear(message)),
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

test('what a worker learns of a conversation the owner and the others know, and it does not hear it again', async () => {
  const { gateway, worker } = await startOwner()
  const heard: Record<string, FromOwner[]> = { a: [], b: [] }
  const learnt = (name: string): FromOwner[] =>
    (heard[name] ?? []).filter(({ what }) => what === 'placed' || what === 'continues')
  const [a] = [
    await worker('1-a', [], (message) => void heard.a?.push(message)),
    await worker('1-b', [], (message) => void heard.b?.push(message)),
  ]
  const placed: FromWorker & FromOwner = { what: 'placed', name: 'key_1:x', account: 'vendor_a/main', forMs: 60_000 }
  const continues: FromWorker & FromOwner = { what: 'continues', keyId: 'key_1', answerId: 'resp_1', tokens: 7 }
  a.send(placed)
  a.send(continues)
  await until(() => learnt('b').length === 2)
  expect(learnt('b')).toEqual([placed, continues])
  expect(gateway.affinity.accountOf('key_1:x')).toBe('vendor_a/main')
  // What the owner learns itself goes to all, and once.
  for (const _ of [1, 2]) gateway.affinity.remember('key_1:y', 'vendor_a/other')
  gateway.affinity.remember('key_1:x', 'vendor_a/main')
  gateway.continued.remember('key_1', 'resp_2', 9)
  await until(() => learnt('b').length === 4 && learnt('a').length === 2)
  const own = [
    { what: 'placed', name: 'key_1:y', account: 'vendor_a/other' },
    { what: 'continues', keyId: 'key_1', answerId: 'resp_2', tokens: 9 },
  ]
  expect(learnt('a')).toEqual(own as FromOwner[])
  expect(learnt('b').slice(2)).toEqual(own as FromOwner[])
})

test('workers are told of what has changed, and asked how they do', async () => {
  const { gateway, store, worker } = await startOwner()
  const heard: FromOwner[] = []
  const link = await worker('1-a', [], (message) => {
    heard.push(message)
    if (message.what === 'how') link.send({ what: 'figures', n: message.n, figures: FIGURES })
  })
  await store.keys.issue({ label: 'y', tokensTotal: 1, expiresAt: Date.now() + 86_400_000, models: ['*'] }, SYSTEM)
  await until(() => heard.some(({ what }) => what === 'look'))
  expect(heard.filter(({ what }) => what === 'config')).toEqual([])
  await gateway.workers?.ask()
  expect(gateway.workers?.figures()).toEqual([FIGURES])
  // Nothing has changed since.
  const before = heard.length
  await gateway.workers?.tell()
  expect(heard.slice(before)).toEqual([])
})
