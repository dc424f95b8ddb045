// What is done once for all nodes, and what is changed at one of them: renewals and alerts go on where their node is killed or
// stands still, each once; settings, entries, budgets and accounts are in force at the others, and live pages show what they serve.

import { describe, expect, test } from 'bun:test'
import type { FileConfig } from '../../src/config/schema.ts'
import type { PostgresStore } from '../../src/store/postgres/open.ts'
import { type Hook, startHook } from '../alerts/support.ts'
import { providersAt } from '../chaos/support/gateway.ts'
import { CHAT, whole } from '../chaos/support/stories.ts'
import { postgresMissing } from '../support/postgres.ts'
import { type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { type Node, statusOf, until, watchLive } from './fleet.ts'
import { IS_LONG } from './forms.ts'
import { type How, type Nodes, startNodes } from './nodes.ts'

const stopping = stopsAfterEach()

type Named = { nodes: Nodes; vendor: Scripted; nameOf(node: Node): string; keeper(): Promise<Node> }

/** Whose job it is to keep house is found by the names of nodes, which are begun one after the other for that. */
const three = async (file: FileConfig = {}, how: How = {}): Promise<Named> => {
  const vendor = stopping(await startScripted(() => whole(CHAT)))
  const nodes = stopping(await startNodes(1, { providers: providersAt({ b: [vendor.origin] }), ...file }, how))
  const names = new Map<Node, string>()
  const meet = async (node: Node): Promise<void> => {
    const found = (await nodes.reading.query<{ id: string }>('SELECT id FROM nodes')).map(({ id }) => id)
    const [name] = found.filter((id) => ![...names.values()].includes(id))
    if (name === undefined) throw new Error('it has no lease')
    names.set(node, name)
  }
  await meet(nodes.at(0))
  for (let i = 0; i < 2; i++) await meet(await nodes.start())
  const holder = async (): Promise<string | undefined> =>
    (await nodes.reading.query<{ node: string }>("SELECT node FROM jobs WHERE name = 'housekeeping'"))[0]?.node
  const nameOf = (node: Node): string => names.get(node) ?? ''
  return {
    ...{ nodes, vendor, nameOf },
    async keeper() {
      let found: Node | undefined
      await until(async () => {
        const name = await holder()
        found = nodes.all.find((each) => nameOf(each) === name)
        return found !== undefined
      })
      return found as Node
    },
  }
}

/** Another does it from now on. */
const isTakenOver = ({ keeper }: Named, from: Node): Promise<void> => until(async () => (await keeper()) !== from)

const SECRET = `whsec_${btoa('0123456789abcdef0123456789abcdef')}`

/** Its keys are told of from the first request on. */
const telling = (hook: Hook): FileConfig => ({
  alerts: { webhooks: { desk: { url: hook.url, secret: SECRET, only: ['quota'] } }, marks: [1] },
})
const aKey = (node: Node): Promise<string> => {
  const made = node.admin('/keys', { method: 'POST', body: JSON.stringify({ label: 'k', tokens_total: 400 }) })
  return made.then(async (response) => ((await response.json()) as { secret: string }).secret)
}
const idsOf = (hook: Hook): string[] => hook.requests.map(({ headers }) => headers.get('webhook-id') ?? '')

describe.skipIf(postgresMissing !== undefined)('what is done once for all nodes', () => {
  test('a renewal that comes due while its node is killed is made by another, once', async () => {
    const all = await three()
    const { nodes, keeper } = all
    const key = await nodes.newKey({ renews: 'day' })
    const killed = await keeper()
    await nodes.reading.query(`
      WITH v AS (UPDATE versions SET n = n + 1 WHERE what = 'changes' RETURNING n)
      UPDATE keys SET tokens_used = 5, renewed_at = 1, version = v.n FROM v WHERE id = '${key.id}'`)
    killed.child.kill('SIGKILL')
    await isTakenOver(all, killed)
    const renewed = (): Promise<object[]> => nodes.reading.query("SELECT 1 FROM audit WHERE action = 'key.renew'")
    await until(async () => (await renewed()).length > 0)
    // Whoever comes next finds that it is done.
    const second = await keeper()
    second.child.kill('SIGTERM')
    await second.child.exited
    await isTakenOver(all, second)
    expect(await statusOf((await keeper()).ask(nodes.secret))).toBe(200)
    expect(await renewed()).toHaveLength(1)
    expect(await nodes.reading.query(`SELECT tokens_used AS used FROM keys WHERE id = '${key.id}'`)).toEqual([
      { used: 0 },
    ])
  })

  test.skipIf(!IS_LONG)(
    'each cause is told once, whichever node served it and whoever looks for it at the time',
    async () => {
      const hook = stopping(startHook())
      const all = await three(telling(hook))
      const { nodes, keeper } = all
      const serve = async (on: readonly Node[]): Promise<void> => {
        for (const node of on) {
          const secret = await aKey(node)
          for (const other of on) expect(await statusOf(other.ask(secret))).toBe(200)
        }
      }
      /** A receiver knows by its id what came again: of a node that was killed before it could say that it was sent. */
      const causes = (): string[] => {
        const sent = new Map(idsOf(hook).map((id, at) => [id, hook.requests[at]?.text ?? '']))
        return [...sent.values()].flatMap((text) =>
          (JSON.parse(text) as { data: { items: { cause: string }[] } }).data.items.map(({ cause }) => cause),
        )
      }
      const told = (count: number): Promise<void> => until(() => causes().length >= count)
      await serve(nodes.all)
      await told(3)
      const killed = await keeper()
      killed.child.kill('SIGKILL')
      await isTakenOver(all, killed)
      const rest = nodes.all.filter((node) => node !== killed)
      await serve(rest)
      await told(5)
      // Beyond its lease, in which others take over; it goes on and finds that it does not look any more.
      const stood = await keeper()
      stood.child.kill('SIGSTOP')
      await isTakenOver(all, stood)
      await serve([await keeper()])
      await told(6)
      stood.child.kill('SIGCONT')
      await serve([await keeper()])
      await told(7)
      // Each looks a last time before it ends.
      for (const { child } of rest) child.kill('SIGTERM')
      for (const { child } of rest) await child.exited
      expect(causes()).toHaveLength(7)
      expect(new Set(causes()).size).toBe(7)
    },
    120_000,
  )

  test('what a receiver did not take is sent by the node that takes over, and by no other', async () => {
    const hook = stopping(startHook())
    hook.behave(503)
    const all = await three(telling(hook))
    const { nodes, keeper } = all
    const killed = await keeper()
    expect(await statusOf(nodes.at(2).ask(await aKey(nodes.at(1))))).toBe(200)
    await hook.until(1)
    hook.behave('take')
    killed.child.kill('SIGKILL')
    await until(async () => (await nodes.reading.query("SELECT 1 FROM audit WHERE action = 'alert.send'")).length > 0)
    const sent = idsOf(hook)
    expect(new Set(sent).size).toBe(1)
    const rest = nodes.all.filter((node) => node !== killed)
    for (const { child } of rest) child.kill('SIGTERM')
    for (const { child } of rest) await child.exited
    expect(idsOf(hook)).toEqual(sent)
    expect(await nodes.reading.query("SELECT 1 FROM audit WHERE action = 'alert.send'")).toHaveLength(1)
  })

  // Each looks once a minute for what has become too old.
  test.skipIf(!IS_LONG)(
    'what is too old is removed by the node that takes over where another was killed amid it',
    async () => {
      const [OLD, NEW] = [6_000, 50]
      const all = await three(
        { retention: '1d' },
        {
          prepare: async (store) => {
            await (store as PostgresStore).client.query(
              `INSERT INTO exchanges (id, key_id, model, wire, stream, started_at, input_estimate, reserved, outcome, input)
             SELECT 'x' || i, 'key_past', 'm', 'messages', false,
               sluice_now() - CASE WHEN i <= $1::bigint THEN 864000000 - i ELSE 60000 END, 1, 1, 'done', 3
             FROM generate_series(1::bigint, $2::bigint) AS i`,
              [OLD, OLD + NEW],
            )
            await store.usage({ by: 'day' })
          },
        },
      )
      const { nodes, keeper } = all
      const sums = () => nodes.reading.query('SELECT day, requests, input FROM usage_days ORDER BY day')
      const left = async (): Promise<number> =>
        (await nodes.reading.query<{ n: number }>("SELECT count(*) AS n FROM exchanges WHERE key_id = 'key_past'"))[0]
          ?.n ?? 0
      const before = await sums()
      const killed = await keeper()
      await until(async () => (await left()) < OLD, 120_000)
      killed.child.kill('SIGKILL')
      expect(await left()).toBeGreaterThan(NEW)
      await isTakenOver(all, killed)
      await until(async () => (await left()) === NEW, 180_000)
      expect(await statusOf((await keeper()).ask(nodes.secret))).toBe(200)
      expect(await left()).toBe(NEW)
      expect(await sums()).toEqual(expect.arrayContaining(before))
    },
    400_000,
  )
})

describe.skipIf(postgresMissing !== undefined)('what is changed at one node', () => {
  const put = async (node: Node, path: string, body: object, method = 'PUT'): Promise<void> => {
    const response = await node.admin(path, { method, body: JSON.stringify(body) })
    if (response.status >= 300) throw new Error(await response.text())
  }
  const two = async (): Promise<{ nodes: Nodes; vendor: Scripted; other: Scripted }> => {
    const vendor = stopping(await startScripted(() => whole(CHAT)))
    const other = stopping(await startScripted(() => whole(CHAT)))
    const file = { providers: providersAt({ b: [vendor.origin] }) }
    const SLUICE_KEY = Buffer.alloc(32, 9).toString('base64')
    return { vendor, other, nodes: stopping(await startNodes(2, file, { env: () => ({ SLUICE_KEY }) })) }
  }

  test('is in force at the other: settings, names, budgets, and accounts with their credentials', async () => {
    const { nodes, vendor, other } = await two()
    const [here, there] = [nodes.at(0), nodes.at(1)]
    // Settings: limits of keys without their own.
    await put(here, '/settings', { limits: { rpm: 2 } })
    const limited = async (): Promise<boolean> => {
      const { secret } = await nodes.newKey()
      const statuses = await Promise.all(Array.from({ length: 5 }, () => statusOf(there.ask(secret))))
      return statuses.filter((status) => status === 429).length === 3
    }
    await until(limited)
    await put(there, '/settings', { limits: null })
    const { secret } = await nodes.newKey()
    await until(async () => {
      const statuses = await Promise.all(Array.from({ length: 5 }, () => statusOf(here.ask(secret))))
      return statuses.every((status) => status === 200)
    })
    // Names.
    await put(here, '/entries/aliases/mine', { value: 'vendorB-5.5' })
    await until(async () => (await statusOf(there.ask(secret, { model: 'mine' }))) === 200)
    // Accounts: what the other node reaches, with a credential that only the first was given.
    const account = { provider: 'mine', name: 'own', base_url: `${other.origin}/v1`, credential: 'sk-given-here' }
    await put(here, '/entries/providers/mine', { value: { wires: ['chat-completions'], auth: 'bearer' } })
    await put(here, '/accounts', account, 'POST')
    await put(here, '/entries/models/own-model', { value: { provider: 'mine' } })
    await until(async () => (await statusOf(there.ask(secret, { model: 'own-model' }))) === 200)
    expect(other.requests.at(-1)?.headers.authorization).toBe('Bearer sk-given-here')
    await put(there, '/accounts/mine/own', {}, 'DELETE')
    await until(async () => (await statusOf(here.ask(secret, { model: 'own-model' }))) >= 400)
    // Budgets: exactly what is left, wherever it is asked for.
    await put(here, '/budgets/gateway', { budget: { tokens: 1 } })
    await until(async () => (await statusOf(there.ask(secret))) === 402)
    expect(await statusOf(here.ask(secret))).toBe(402)
    await put(there, '/budgets/gateway', { budget: null })
    await until(async () => (await statusOf(here.ask(secret))) === 200)
    expect(vendor.requests.length).toBeGreaterThan(0)
    await nodes.books()
  })

  test('and what the other serves are shown on a live page', async () => {
    const { nodes } = await two()
    const { heard, hears, leave } = await watchLive(nodes.at(1).url, nodes.token)
    await hears(/event: counters/)
    for (let i = 0; i < 4; i++) expect(await statusOf(nodes.at(i % 2).ask(nodes.secret))).toBe(200)
    await hears(/(event: exchange[\s\S]*){4}/)
    // Each once: two more counters come after all of them.
    await hears(/(event: exchange[\s\S]*){4}(event: counters[\s\S]*){2}/)
    const ids = [...heard().matchAll(/event: exchange\ndata: (.*)/g)].map(([, data = '{}']) => JSON.parse(data).id)
    expect(ids).toHaveLength(4)
    expect(new Set(ids).size).toBe(4)
    leave()
  })
})
