// A gateway under test as processes of its own, in whichever form: asked as clients ask, and its books read beside it.

import { expect } from 'bun:test'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import { createMembership } from '../../src/members/membership.ts'
import type { Store } from '../../src/store/store.ts'
import type { Child } from '../binary/support/process.ts'
import { CHAT } from '../chaos/support/stories.ts'
import { SYSTEM } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import type { Books } from './books.ts'

export { until }

/** One of the addresses of a gateway, and the process that was started for it. */
export type Node = {
  url: string
  child: Child
  directory: string
  /** On a connection of its own. */
  ask(secret: string, more?: object, init?: RequestInit): Promise<Response>
  admin(path: string, init?: RequestInit): Promise<Response>
  metrics(): Promise<(prefix: string) => number>
}

export type Fleet = {
  all: Node[]
  at(index: number): Node
  /** The secret of a key with room for everything. */
  secret: string
  /** Of an admin. */
  token: string
  newKey(more?: object): Promise<{ id: string; secret: string }>
  /** What the database says, read beside those that serve. */
  reading: Books
  /** Stops all that run, and holds the books to what they must say then; the exchanges by their rows. */
  books(): Promise<Settled[]>
  stop(): Promise<void>
}

export type Settled = { id: string; outcome: string; input: number | null; output: number | null }

/** What is in the books before anything runs. */
export type Prepare = (store: Store) => Promise<unknown>

export const nodeAt = (url: string, child: Child, directory: string, people: Pick<People, 'token'>): Node => ({
  ...{ url, child, directory },
  ask: (secret, more = {}, init = {}) =>
    fetch(url + CHAT.path, {
      ...{ method: 'POST', ...init },
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ ...CHAT.request(false), max_tokens: 100, ...more }),
    }),
  admin: (path, init = {}) =>
    fetch(`${url}/admin/api${path}`, {
      ...init,
      headers: { authorization: `Bearer ${people.token}`, 'content-type': 'application/json', connection: 'close' },
    }),
  metrics: () => metricsOf(url),
})

/** The sum of all series of a name, or of labels too, as `/metrics` tells them. */
export const metricsOf = async (url: string): Promise<(prefix: string) => number> => {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n')
  return (prefix) =>
    lines
      .filter((line) => line.startsWith(prefix))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/** What all forms have in common; `made` grows as nodes are started. */
export const fleetOf = (
  made: Node[],
  reading: Books,
  { token, secret }: People,
): Omit<Fleet, 'stop'> & { killAll(): Promise<void> } => {
  const at = (index: number): Node => {
    const node = made[index]
    if (node === undefined) throw new Error(`there is no node ${index}`)
    return node
  }
  return {
    ...{ all: made, at, reading, secret, token },
    async newKey(more = {}) {
      const response = await at(0).admin('/keys', { method: 'POST', body: JSON.stringify({ label: 'k', ...more }) })
      if (response.status >= 300) throw new Error(await response.text())
      const { key, secret: made } = (await response.json()) as { key: { id: string }; secret: string }
      return { id: key.id, secret: made }
    },
    async books() {
      for (const { child } of made) child.kill('SIGTERM')
      await Promise.all(made.map(({ child }) => child.exited))
      expect(await reading.broken()).toEqual([])
      expect(await reading.query('SELECT * FROM reservations')).toEqual([])
      return reading.query<Settled>('SELECT id, outcome, input, output FROM exchanges ORDER BY row')
    },
    async killAll() {
      for (const { child } of made) child.kill('SIGKILL')
      await Promise.all(made.map(({ child }) => child.exited))
    },
  }
}

export type People = { token: string; secret: string }

/** An admin's token, and a key with room for everything. */
export const letIn = async (store: Store, isNew = false): Promise<People> => {
  const adminToken = async (): Promise<string> => {
    const first = { name: 'nodes', role: 'admin', limits: DEFAULT_LIMITS, passwordHash: 'none' } as const
    const admin = await store.members.add(first, SYSTEM)
    return (await createMembership({ store, clock: Date.now }).issueToken('nodes', undefined, admin)).secret
  }
  const token = isNew ? '' : await adminToken()
  return { token, secret: (await issue(store, { label: 'nodes' })).secret }
}

export const issue = (store: Store, more: object = {}) =>
  store.keys.issue(
    { label: 'k', tokensTotal: 1_000_000_000, expiresAt: Date.now() + 86_400_000, models: ['*'], ...more },
    SYSTEM,
  )

export const statusOf = async (asked: Promise<Response>): Promise<number> => {
  const response = await asked
  await response.text()
  return response.status
}

/** A stream that has begun, and the rest of it; `cut` where it breaks off. */
export const begun = (node: Pick<Node, 'ask'>, secret: string, more: object = {}) =>
  streamOf(node.ask(secret, { stream: true, ...more }))

export const streamOf = async (asked: Promise<Response>) => {
  const response = await asked
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
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
  return { rest, hears: (words: string) => until(() => read.includes(words)) }
}

/** What the live page of an admin hears, until they leave it. */
export const watchLive = async (url: string, token: string) => {
  const leaving = new AbortController()
  const response = await fetch(`${url}/admin/api/live`, {
    headers: { authorization: `Bearer ${token}` },
    signal: leaving.signal,
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const text = new TextDecoder()
  let heard = ''
  return {
    heard: () => heard,
    async hears(what: RegExp): Promise<void> {
      while (!what.test(heard)) heard += text.decode((await reader.read()).value, { stream: true })
    },
    leave: () => leaving.abort(),
  }
}
