// Answers that the gateway keeps itself: read, listed and deleted by their key alone, and there after a restart.

import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DemoProviders, startDemoProviders } from '../../src/demo/index.ts'
import type { JsonObject } from '../../src/ir/json.ts'
import { type GatewayFor, startGateway, type TestGateway } from '../support/gateway.ts'
import { startScripted } from '../support/provider/scripted.ts'

const MODEL = 'vendorA-opus-4-8'
type Answer = JsonObject & { id: string; output: (JsonObject & { id: string })[] }

const started: { stop(): Promise<void> }[] = []
const folders: string[] = []
afterEach(async () => {
  for (const each of started.splice(0)) await each.stop()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const dataFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-kept-'))
  folders.push(folder)
  return folder
}

type OnDisk = TestGateway & { demo: DemoProviders }

/** A gateway on that folder, which outlives it. */
const startOn = async (dataDir: string, more: GatewayFor['config'] = {}): Promise<OnDisk> => {
  const demo = await startDemoProviders()
  const gateway = await startGateway({
    vendorA: demo.vendorA.baseUrl,
    vendorB: demo.vendorB.baseUrl,
    keys: { vendorA: demo.vendorA.apiKey, vendorB: demo.vendorB.apiKey },
    config: { dataDir, ...more },
  })
  started.push(gateway, demo)
  return { ...gateway, demo }
}

const restarted = async (gateway: OnDisk, more: GatewayFor['config'] = {}): Promise<OnDisk> => {
  await gateway.server.stop()
  return startOn(gateway.config.dataDir, more)
}

const ask = async (gateway: TestGateway, secret: string, body: JsonObject): Promise<Answer> => {
  const response = await gateway.post('/v1/responses', { model: MODEL, ...body }, { authorization: `Bearer ${secret}` })
  const text = await response.text()
  if (response.status !== 200) throw new Error(text)
  if (body.stream !== true) return JSON.parse(text) as Answer
  return (JSON.parse(text.slice(text.lastIndexOf('\ndata: ') + 7)) as { response: Answer }).response
}

const about = async (gateway: TestGateway, secret: string, path: string, method = 'GET') => {
  const headers = { authorization: `Bearer ${secret}` }
  const response = await fetch(`${gateway.url}/v1/responses/${path}`, { method, headers })
  const body = (await response.json()) as JsonObject
  return { status: response.status, body, code: (body.error as JsonObject | undefined)?.code }
}

const sentMessages = ({ demo }: OnDisk): string =>
  JSON.stringify(JSON.parse(demo.requests.at(-1)?.body ?? '{}').messages)

describe.each([{ stream: false }, { stream: true }])('%j', (settings) => {
  test('a conversation goes on after a restart, by its answer’s id and by its items’', async () => {
    const first = await startOn(dataFolder())
    const { secret } = first
    const one = await ask(first, secret, { ...settings, input: 'one' })
    const two = await ask(first, secret, { ...settings, input: 'two', previous_response_id: one.id })
    const second = await restarted(first)
    const three = await ask(second, secret, { ...settings, input: 'three', previous_response_id: two.id })
    expect(sentMessages(second)).toMatch(/one.*two.*three/)
    expect(three.previous_response_id).toBe(two.id)
    const references = one.output.map(({ id }) => ({ type: 'item_reference', id }))
    await ask(second, secret, { ...settings, input: [...references, { role: 'user', content: 'four' }] })
    expect(sentMessages(second)).toMatch(/assistant.*four/)
  })

  test('one of many megabytes goes on too, while others are answered', async () => {
    const first = await startOn(dataFolder())
    const { secret } = first
    const long = Array.from({ length: 30 }, (_, at) => ({ role: 'user', content: `${at} ${'word '.repeat(20_000)}` }))
    const one = await ask(first, secret, { ...settings, input: [...long, { role: 'user', content: 'the end' }] })
    const second = await restarted(first)
    await ask(second, secret, { ...settings, input: 'more', previous_response_id: one.id })
    const messages = sentMessages(second)
    expect(messages.length).toBeGreaterThan(3_000_000)
    expect(messages).toMatch(/the end.*more/)
  })
})

test('an answer is read, its input listed, and deleted, by its own key alone', async () => {
  const gateway = await startOn(dataFolder())
  const { secret } = gateway
  const one = await ask(gateway, secret, { input: 'one' })
  const two = await ask(gateway, secret, { input: [{ role: 'user', content: 'two' }], previous_response_id: one.id })
  expect((await about(gateway, secret, two.id)).body).toEqual(two)
  const listed = (await about(gateway, secret, `${two.id}/input_items?order=asc`)).body
  const items = listed.data as JsonObject[]
  expect(items.map(({ type, role }) => [type, role])).toEqual([
    ['message', 'user'],
    ...one.output.map(({ type, role }) => [type, role]),
    ['message', 'user'],
  ])
  expect(items.at(-1)?.content).toEqual([{ type: 'input_text', text: 'two' }])
  expect(new Set(items.map(({ id }) => id)).size).toBe(items.length)
  const page = (await about(gateway, secret, `${two.id}/input_items?limit=1`)).body
  expect([page.has_more, page.first_id, page.last_id]).toEqual([true, items.at(-1)?.id ?? '', items.at(-1)?.id ?? ''])
  const next = (await about(gateway, secret, `${two.id}/input_items?limit=1&after=${page.last_id}`)).body
  expect(next.first_id).toBe(items.at(-2)?.id ?? '')

  const stranger = (await gateway.issue()).secret
  for (const [path, method] of [
    [two.id, 'GET'],
    [`${two.id}/input_items`, 'GET'],
    [two.id, 'DELETE'],
    [`${two.id}/cancel`, 'POST'],
  ] as const)
    expect(await about(gateway, stranger, path, method)).toMatchObject({ status: 404, code: 'not_found' })

  expect(await about(gateway, secret, `${two.id}/cancel`, 'POST')).toMatchObject({
    status: 400,
    code: 'invalid_request',
  })
  expect(await about(gateway, secret, `${two.id}?stream=true`)).toMatchObject({ status: 400, code: 'invalid_request' })
  expect(await about(gateway, secret, `${two.id}/input_items?limit=0`)).toMatchObject({ status: 400 })
  expect((await about(gateway, secret, two.id, 'DELETE')).body).toEqual({
    id: two.id,
    object: 'response',
    deleted: true,
  })
  expect(await about(gateway, secret, two.id)).toMatchObject({ status: 404, code: 'not_found' })
  expect((await about(gateway, secret, one.id)).status).toBe(200)
})

test('nothing is written where none are to be kept, and what was is removed', async () => {
  const words = 'sparrows over the canal'
  const kept = await startOn(dataFolder())
  const { secret } = kept
  const before = await ask(kept, secret, { input: words })
  const off = { storedAnswers: { keepMs: 0, perKey: 1, total: 1 } }
  const gateway = await restarted(kept, off)
  const { store, clock } = gateway.server.gateway
  expect(await about(gateway, secret, before.id)).toMatchObject({ status: 404 })
  await store.answers.prune(clock(), off.storedAnswers, 100)
  while ((await store.answers.sweep(100)) > 0);
  expect(
    await store.answers.find(
      (await store.keys.authenticate(new Headers({ authorization: `Bearer ${secret}` }))).id,
      before.id,
    ),
  ).toBeUndefined()

  const fresh = await startOn(dataFolder(), off)
  const one = await ask(fresh, fresh.secret, { input: words })
  await ask(fresh, fresh.secret, { input: 'two', previous_response_id: one.id })
  expect(sentMessages(fresh)).toMatch(/sparrows.*two/)
  await fresh.server.stop()
  const files = readdirSync(fresh.config.dataDir).map((name) =>
    readFileSync(join(fresh.config.dataDir, name), 'latin1'),
  )
  expect(files.some((text) => text.includes(words))).toBe(false)
})

test('with several accounts, what a provider keeps is asked of the one that has it after a restart too', async () => {
  const answer = (id: string): string =>
    JSON.stringify({
      ...{ id, object: 'response', created_at: 5, model: 'up', status: 'completed' },
      output: [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }],
      usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
    })
  let made = 0
  const provider = await startScripted(({ headers }) => ({
    steps: [answer(`resp_${headers.authorization?.slice(7)}_${++made}`)],
  }))
  started.push(provider)
  const dataDir = dataFolder()
  const start = async () => {
    const gateway = await startGateway({ vendorB: `${provider.origin}/v1`, config: { dataDir } })
    const vendorB = gateway.server.gateway.providers.get('vendor_b')
    if (vendorB === undefined) throw new Error('vendor_b is not configured')
    const [first] = vendorB.accounts
    if (first === undefined) throw new Error('vendor_b has no account')
    vendorB.accounts.splice(0, 1, ...['a', 'b', 'c', 'd'].map((name) => ({ ...first, name, credential: name })))
    started.push(gateway)
    return gateway
  }
  const before = await start()
  const { secret } = before
  const ids: string[] = []
  for (const input of ['one', 'two', 'three']) ids.push((await ask(before, secret, { model: 'vendorB-5.5', input })).id)
  expect(new Set(ids.map((id) => id.split('_')[1])).size).toBeGreaterThan(1)
  await before.server.stop()
  const after = await start()
  for (const id of ids) {
    await ask(after, secret, { model: 'vendorB-5.5', input: 'go on', previous_response_id: id })
    expect(provider.requests.at(-1)?.headers.authorization).toBe(`Bearer ${id.split('_')[1]}`)
  }
})
