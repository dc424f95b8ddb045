// Several nodes over one PostgreSQL database, each a process of its own, as the compiled file where SLUICE_BINARY names it.

import { expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileConfig } from '../../src/config/schema.ts'
import { UTC } from '../../src/lib/calendar.ts'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import { createMembership } from '../../src/members/membership.ts'
import { createClient } from '../../src/store/postgres/client.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { type Child, launch, PROGRAM } from '../binary/support/process.ts'
import { CHAT } from '../chaos/support/stories.ts'
import { SYSTEM } from '../support/gateway.ts'
import { type TestServer, testPostgres } from '../support/postgres.ts'

export type Node = {
  url: string
  child: Child
  directory: string
  /** On a connection of its own. */
  ask(secret: string, more?: object): Promise<Response>
  admin(path: string, init?: RequestInit): Promise<Response>
  metrics(): Promise<(prefix: string) => number>
}

export type Nodes = {
  /** The database. */
  store: string
  all: Node[]
  at(index: number): Node
  /** The secret of a key with room for everything. */
  secret: string
  /** Of an admin. */
  token: string
  newKey(more?: object): Promise<{ id: string; secret: string }>
  /** One more node. */
  start(): Promise<Node>
  /** The command line beside them: what it printed. */
  run(...words: string[]): Promise<string>
  query<R extends object>(text: string): Promise<R[]>
  /** Stops all that run, and holds the books to what they must say then; the exchanges by their rows. */
  books(): Promise<Settled[]>
  stop(): Promise<void>
}

export type Settled = { outcome: string; input: number | null; output: number | null }

export const until = async (holds: () => boolean | Promise<boolean>, forMs = 20_000): Promise<void> => {
  for (const end = performance.now() + forMs; !(await holds()); ) {
    if (performance.now() > end) throw new Error('it has not come to that')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export const statusOf = async (asked: Promise<Response>): Promise<number> => {
  const response = await asked
  await response.text()
  return response.status
}

/** A stream that has begun, and the rest of it; `cut` where it breaks off. */
export const begun = async (node: Node, secret: string) => {
  const response = await node.ask(secret, { stream: true })
  expect(response.status).toBe(200)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const text = new TextDecoder()
  let read = text.decode((await reader.read()).value)
  const rest = (async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return read
      read += text.decode(value)
    }
  })().catch(() => 'cut')
  return { rest }
}

type How = {
  /** The database as nodes have it, where that is not the tests' own way to it. */
  store?: (url: string) => string
  env?: (index: number) => Record<string, string>
  /** Has the database, in place of the one that all tests use. */
  server?: TestServer
  /** Nobody has been let in yet. */
  isNew?: boolean
}

export const startNodes = async (count: number, file: FileConfig, how: How = {}): Promise<Nodes> => {
  const database = await (how.server ?? (await testPostgres())).database()
  const store = how.store?.(database.url) ?? database.url
  const root = mkdtempSync(join(tmpdir(), 'sluice-nodes-'))
  const own = createClient(database.url, { max: 2 })
  const made: Node[] = []
  const env = (index: number) => ({ SLUICE_STORE: store, ...how.env?.(index) })

  const begin = async (token: string): Promise<Node> => {
    const index = made.length
    const directory = mkdtempSync(join(root, 'node-'))
    const content = { listen: { port: 0 }, drain: '1s', log: { level: 'warn' }, metrics: { enabled: true }, ...file }
    writeFileSync(join(directory, 'sluice.yaml'), JSON.stringify(content))
    const child = launch(PROGRAM, ['serve'], directory, env(index))
    const url = await child.ready()
    const node: Node = {
      ...{ url, child, directory },
      ask: (secret, more = {}) =>
        fetch(url + CHAT.path, {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', connection: 'close' },
          body: JSON.stringify({ ...CHAT.request(false), max_tokens: 100, ...more }),
        }),
      admin: (path, init = {}) =>
        fetch(`${url}/admin/api${path}`, {
          ...init,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
        }),
      async metrics() {
        const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n')
        return (prefix) =>
          lines
            .filter((line) => line.startsWith(prefix))
            .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
      },
    }
    made.push(node)
    return node
  }

  const opened = await openPostgres(database.url, { calendar: UTC })
  const adminToken = async (): Promise<string> => {
    const first = { name: 'nodes', role: 'admin', limits: DEFAULT_LIMITS, passwordHash: 'none' } as const
    const admin = await opened.members.add(first, SYSTEM)
    return (await createMembership({ store: opened, clock: Date.now }).issueToken('nodes', undefined, admin)).secret
  }
  const token = how.isNew === true ? '' : await adminToken()
  const { secret } = await opened.keys.issue(
    { label: 'nodes', tokensTotal: 1_000_000_000, expiresAt: Date.now() + 86_400_000, models: ['*'] },
    SYSTEM,
  )
  await opened.close()
  await Promise.all(Array.from({ length: count }, () => begin(token)))
  const at = (index: number): Node => {
    const node = made[index]
    if (node === undefined) throw new Error(`there is no node ${index}`)
    return node
  }
  const end = async (): Promise<number[]> => {
    for (const { child } of made) child.kill('SIGTERM')
    return Promise.all(made.map(({ child }) => child.exited))
  }
  return {
    ...{ store, all: made, at, secret, token },
    start: () => begin(token),
    async newKey(more = {}) {
      const response = await at(0).admin('/keys', { method: 'POST', body: JSON.stringify({ label: 'k', ...more }) })
      const { key, secret } = (await response.json()) as { key: { id: string }; secret: string }
      return { id: key.id, secret }
    },
    async run(...words) {
      const child = launch(PROGRAM, words, root, env(0))
      const code = await child.exited
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${await child.err}`)
      return child.out
    },
    query: (text) => own.query(text),
    async books() {
      await end()
      await requireSound(own)
      return own.query<Settled>('SELECT outcome, input, output FROM exchanges ORDER BY row')
    },
    async stop() {
      for (const { child } of made) child.kill('SIGKILL')
      await Promise.all(made.map(({ child }) => child.exited))
      await own.close()
      await database.drop()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

type Books = Pick<ReturnType<typeof createClient>, 'query'>

/** What holds of the books at any moment: one statement sees them as they are at one. */
export const requireSound = async (books: Books): Promise<void> => {
  const [found] = await books.query(`
    SELECT
      (SELECT count(*) FROM keys WHERE tokens_held <> (
        SELECT coalesce(sum(reserved), 0) FROM reservations WHERE key_id = keys.id)) AS held_wrong,
      (SELECT count(*) FROM keys WHERE tokens_used <> (
        SELECT coalesce(sum(coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) + coalesce(output, 0)), 0)
        FROM exchanges WHERE key_id = keys.id)) AS used_wrong,
      (SELECT count(*) FROM keys WHERE tokens_used + tokens_held > tokens_total + tokens_extra) AS overspent,
      (SELECT count(*) - count(DISTINCT id) FROM exchanges) AS twice`)
  expect(found).toEqual({ held_wrong: 0, used_wrong: 0, overspent: 0, twice: 0 })
}
