// Answers made in the background: whoever leaves, and whatever restarts, they are billed by what their provider says in
// the end; and only the key that asked for one can ask for it again.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { databasePath } from '../../src/config.ts'
import { background } from '../../src/http/background.ts'
import { pollAnswer, resumeAnswers, stopPolling } from '../../src/relay/background/polling.ts'
import { createBackground } from '../../src/relay/background/watched.ts'
import type { Ended } from '../../src/relay/exchange.ts'
import { type Server, startServer } from '../../src/server/serve.ts'
import { whileAnotherWrites } from '../support/another-writer.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import {
  type Gate,
  gate,
  json,
  type Script,
  type Scripted,
  type ScriptedRequest,
  startScripted,
} from '../support/provider/scripted.ts'
import { silentLog } from '../support/silent-log.ts'
import { booksOf, latestOf, loadTokenizer, type Money, totalOf } from './support.ts'

const MODEL = 'vendorB-5.5'
const SECRET_WORD = 'vendor-secret-marker'
const BILLED = { input: 1_234, output: 77 }
const USAGE = {
  ...{ input_tokens: BILLED.input, input_tokens_details: { cached_tokens: 34 } },
  ...{ output_tokens: BILLED.output, output_tokens_details: { reasoning_tokens: 7 }, total_tokens: 1_311 },
}
const TOTAL = BILLED.input + BILLED.output

/** What the vendor keeps, by id. */
type Kept = { status: string; output: unknown[] | null | undefined; usage: unknown; error: unknown }
const answers = new Map<string, Kept>()
const asked: string[] = []
/** Without those of others, which the gateway may poll at any time. */
const askedOf = (id: string): string[] => asked.filter((one) => one.split(/[/?]/)[1] === id)
let vendor: Scripted
/** What the vendor waits for before it answers a new request, and in the middle of a stream. */
let before: Gate
let amid: Gate
let made = 0
/** Called when the vendor removes an answer. */
let removing = (): void => undefined
/** What it calls the next answers; by number where it is undefined. */
let called: string | undefined

const bodyOf = (id: string, kept: Kept) => ({
  ...{ id, object: 'response', created_at: 1, background: true, model: 'up', ...kept },
  ...{ incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: true, tools: [] },
  ...{ temperature: 1, top_p: 1, tool_choice: 'auto' },
})
const said = (text: string) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [] }],
})
const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
const unknown = (id: string): Script =>
  json({ error: { message: `Response '${id}' ${SECRET_WORD} not found.`, type: 'invalid_request_error' } }, 404)

const finish = (id: string, end: Partial<Kept> = {}): void => {
  answers.set(id, { status: 'completed', output: [said('hello')], usage: USAGE, error: null, ...end })
}

const open = async (text: string): Promise<Script> => {
  const body = JSON.parse(text)
  const id = called ?? `resp_${++made}`
  const output = body.input === 'no output' ? undefined : body.input === 'null output' ? null : []
  const kept: Kept = { status: body.background ? 'queued' : 'completed', output, usage: null, error: null }
  answers.set(id, kept)
  if (body.input === 'at once') finish(id)
  await before.opened
  if (body.stream !== true) return json(bodyOf(id, answers.get(id) ?? kept))
  const steps = [
    event('response.created', { sequence_number: 0, response: bodyOf(id, kept) }),
    event('response.output_text.delta', { sequence_number: 1, item_id: 'msg_1', output_index: 0, delta: 'hel' }),
    amid,
  ]
  return { headers: { 'content-type': 'text/event-stream' }, steps, end: 'cut' }
}

const keptStream = (id: string, kept: Kept): Script => ({
  headers: { 'content-type': 'text/event-stream' },
  steps: [
    event('response.output_text.delta', { sequence_number: 2, item_id: 'msg_1', output_index: 0, delta: 'lo' }),
    event('response.completed', { sequence_number: 3, response: bodyOf(id, kept) }),
  ],
})

beforeAll(async () => {
  await loadTokenizer()
  vendor = await startScripted(async ({ method, path, text }) => {
    const { pathname, searchParams } = new URL(path, 'http://vendor')
    const [, id = '', below] = /^\/v1\/responses\/([^/]+)\/?(\w+)?$/.exec(pathname) ?? []
    if (id === '') return open(text)
    asked.push(`${method} ${path.replace('/v1/responses', '')}`)
    const kept = answers.get(id)
    if (kept === undefined) return unknown(id)
    if (kept.status === 'silent') return { end: 'hang' }
    if (kept.status === 'failing')
      return {
        headers: { 'content-type': 'text/event-stream' },
        steps: [event('error', { code: 'server_error', message: SECRET_WORD })],
        end: 'stall',
      }
    if (kept.status === 'refused') return json({ error: { message: SECRET_WORD, type: 'server_error' } })
    if (below === 'input_items') return json({ object: 'list', data: [{ id: 'msg_0', type: 'message' }] })
    if (below === 'cancel') {
      if (kept.status === 'completed')
        return json({ error: { message: 'It is over.', type: 'invalid_request_error' } }, 400)
      answers.set(id, { ...kept, status: 'cancelled' })
    }
    if (method === 'DELETE') {
      removing()
      answers.delete(id)
      return json({ id, object: 'response', deleted: true })
    }
    return searchParams.get('stream') === 'true' ? keptStream(id, kept) : json(bodyOf(id, answers.get(id) ?? kept))
  })
})
afterAll(() => vendor.stop())
beforeEach(() => {
  before = gate()
  before.open()
  amid = gate()
  asked.length = 0
  removing = () => undefined
  called = undefined
})

const start = (more: Partial<Parameters<typeof startGateway>[0]> = {}): Promise<TestGateway> =>
  startGateway({ vendorB: `${vendor.origin}/v1`, ...more })

let gateway: TestGateway
beforeAll(async () => {
  gateway = await start()
})
afterAll(() => gateway.stop())

/** A key of its own, so that its books are this test's alone. */
const withKey = async (on: TestGateway = gateway) => {
  const { id, secret } = await on.issue({ tokensTotal: 100_000 })
  const headers = { authorization: `Bearer ${secret}` }
  return {
    id,
    headers,
    ask: (more: object = {}, signal?: AbortSignal) =>
      on.post('/v1/responses', { model: MODEL, input: 'hi', background: true, ...more }, headers, signal),
    get: (path: string, signal?: AbortSignal) =>
      fetch(`${on.url}/v1/responses/${path}`, { headers, ...(signal === undefined ? {} : { signal }) }),
    send: (method: string, path: string) => fetch(`${on.url}/v1/responses/${path}`, { method, headers }),
    used: () => on.server.gateway.store.keys.get(id)?.tokensUsed,
    held: () => on.server.gateway.ledger.heldBy(id),
    row: () => latestOf(on, id),
    books: () => booksOf(on as Pick<Money, 'server'>, id),
  }
}

const idOf = async (response: Response): Promise<string> => String(((await response.json()) as { id: string }).id)

/** An answer that its provider has not finished, and that the gateway does not poll by itself. */
const queued = async (on: TestGateway = gateway) => {
  const key = await withKey(on)
  const id = await idOf(await key.ask())
  for (const { answer, timer } of on.server.gateway.background.watched.values())
    if (answer.keyId === key.id) clearTimeout(timer)
  return { key, id }
}

/** Looks once at what is open for a key, as the gateway does by itself. */
const look = async (keyId: string, { server }: Pick<TestGateway, 'server'> = gateway): Promise<void> => {
  for (const { answer } of server.gateway.background.watched.values())
    if (answer.keyId === keyId) await pollAnswer(server.gateway, answer)
}

/** The next request to the vendor of this method and path: the gateway's own, for answers that are open, may come before. */
const reached = (method: string, path: string): Promise<ScriptedRequest> =>
  vendor.next((request) => request.method === method && request.path === `/v1/responses${path}`)

/** Resolves once an answer of a key is watched. */
const watched = async (keyId: string, { server }: Pick<TestGateway, 'server'> = gateway): Promise<void> => {
  const { background } = server.gateway
  while (![...background.watched.values()].some(({ answer }) => answer.keyId === keyId)) await Bun.sleep(1)
}

const expectBilled = async (key: Awaited<ReturnType<typeof withKey>>, total = TOTAL): Promise<void> => {
  expect(await key.books()).toMatchObject({ rows: 1, total, used: total, held: 0, sums: [total, total, total] })
}

describe('a queued answer', () => {
  test('reaches the client as the provider sent it, and its reservation is held until it ends', async () => {
    const key = await withKey()
    const response = await key.ask()
    const body = (await response.json()) as { id: string; model: string; status: string; usage: unknown }
    expect(response.status).toBe(200)
    expect(body).toMatchObject({ model: MODEL, status: 'queued', usage: null })
    expect([key.used(), (await key.row())?.outcome ?? null]).toEqual([0, null])
    expect(key.held()).toBeGreaterThan(1_000)
    expect(gateway.server.gateway.open.size).toBe(0)
    finish(body.id)
    await look(key.id)
    await expectBilled(key)
    expect(await key.row()).toMatchObject({ outcome: 'done', status: 200, input: 1_200, cacheRead: 34, output: 77 })
  })

  test('without an output member, or with a null one, is accepted', async () => {
    for (const input of ['no output', 'null output']) {
      const key = await withKey()
      const response = await key.ask({ input })
      expect(response.status).toBe(200)
      finish(await idOf(response))
      await look(key.id)
      await expectBilled(key)
    }
  })

  test('is billed as soon as its client reads its end', async () => {
    const { key, id } = await queued()
    expect(await (await key.get(id)).json()).toMatchObject({ id, status: 'queued', model: MODEL })
    expect(key.used()).toBe(0)
    finish(id)
    expect(await (await key.get(id)).json()).toMatchObject({ id, status: 'completed', model: MODEL, usage: USAGE })
    await expectBilled(key)
    await key.get(id)
    await expectBilled(key)
  })

  test('is polled by the gateway, whether its client reads it or not', async () => {
    const key = await withKey()
    finish(await idOf(await key.ask()))
    const { promise: settled, resolve } = Promise.withResolvers<void>()
    const unwatch = gateway.server.gateway.live.watch((exchange) => {
      if (exchange.key.id === key.id) resolve()
    })
    await settled
    unwatch()
    await expectBilled(key)
  })

  test('that ends at once is billed at once, and can be read later', async () => {
    const key = await withKey()
    const id = await idOf(await key.ask({ input: 'at once' }))
    await expectBilled(key)
    expect(await (await key.get(id)).json()).toMatchObject({ id, status: 'completed' })
  })

  test('goes on when its client disconnects before it was queued', async () => {
    const key = await withKey()
    before = gate()
    const leaving = new AbortController()
    const asking = reached('POST', '')
    const response = key.ask({}, leaving.signal).catch(() => undefined)
    const request = await asking
    leaving.abort()
    await response
    before.open()
    expect(await request.closed).toBe('done')
    await watched(key.id)
    finish(`resp_${made}`)
    await look(key.id)
    await expectBilled(key)
  })

  test.each(['', '/input_items', '?stream=true'])(
    'asks its provider nothing (GET %p) for a client that left before it was looked at',
    async (path) => {
      const { key, id } = await queued()
      asked.length = 0
      const left = new Request(`${gateway.url}/v1/responses/${id}${path}`, {
        headers: key.headers,
        signal: AbortSignal.abort(),
      })
      const response = await background(gateway.server.gateway).handle(left)
      await response.body?.cancel()
      expect(askedOf(id)).toEqual([])
    },
  )

  test('that failed is billed by the provider’s figures, and not at all without any', async () => {
    const failed = { status: 'failed', output: [], error: { code: 'server_error', message: SECRET_WORD } }
    for (const [usage, total] of [
      [USAGE, TOTAL],
      [null, 0],
    ] as const) {
      const key = await withKey()
      finish(await idOf(await key.ask()), { ...failed, usage })
      await look(key.id)
      await expectBilled(key, total)
      expect(await key.row()).toMatchObject({ outcome: 'failed', errorCode: 'upstream_error', estimated: false })
      const text = await (await key.get(`resp_${made}`)).text()
      expect(JSON.parse(text)).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
      expect(text).not.toContain(SECRET_WORD)
    }
  })

  test.each([
    ['a refusal', { error: { message: SECRET_WORD, type: 'server_error' } }, 502],
    ['no answer at all', {}, 502],
    ['an answer on its way to its end', { status: 'cancelling', output: [], usage: null, error: null }, 200],
  ])('stays open while its provider answers %s', async (_, told, status) => {
    const { key, id } = await queued()
    answers.set(id, told as Kept)
    const response = await key.get(id)
    expect(response.status).toBe(status)
    expect(await response.text()).not.toContain(SECRET_WORD)
    await look(key.id)
    expect(key.held()).toBeGreaterThan(0)
    finish(id)
    await look(key.id)
    await expectBilled(key)
  })

  test('is found by a long id, and by one that its provider has used before', async () => {
    const key = await withKey()
    called = `resp_${'x'.repeat(500)}`
    for (let i = 0; i < 2; i++) {
      const response = await key.ask({ max_output_tokens: 100 })
      const exchangeId = response.headers.get('x-request-id')
      const id = await idOf(response)
      expect(await gateway.server.gateway.store.background.find(key.id, id)).toMatchObject({ id, exchangeId })
      expect((await key.get(id)).status).toBe(200)
    }
    finish(called)
    await look(key.id)
    expect(await key.books()).toMatchObject({ rows: 2, total: 2 * TOTAL, held: 0 })
  })

  test.each(['', '.', '..', 'x'.repeat(1_025)])(
    'that is given the id %p is billed at once, for nobody could ask for it',
    async (id) => {
      const key = await withKey()
      called = id
      expect((await key.ask()).status).toBe(200)
      expect(await gateway.server.gateway.store.background.find(key.id, id)).toBeUndefined()
      expect(await key.row()).toMatchObject({ outcome: 'done', estimated: true })
      expect(key.held()).toBe(0)
    },
  )

  test('that its provider no longer has is billed by the estimate of its prompt', async () => {
    const key = await withKey()
    answers.delete(await idOf(await key.ask()))
    for (let misses = 0; misses < 3; misses++) {
      expect(key.held()).toBeGreaterThan(0)
      await look(key.id)
    }
    const row = await key.row()
    expect(row).toMatchObject({ outcome: 'failed', estimated: true, output: 0 })
    await expectBilled(key, row?.inputEstimate)
  })

  test('that its provider finds again is not given up, however often it was missed before', async () => {
    const { key, id } = await queued()
    const kept = answers.get(id)
    if (kept === undefined) throw new Error('the answer is not kept')
    for (let rounds = 0; rounds < 2; rounds++) {
      answers.delete(id)
      for (let misses = 0; misses < 2; misses++) await look(key.id)
      answers.set(id, kept)
      await look(key.id)
    }
    expect(key.held()).toBeGreaterThan(0)
    finish(id)
    await look(key.id)
    await expectBilled(key)
  })

  test('stays open while its provider cannot be reached', async () => {
    const { key, id } = await queued()
    answers.set(id, 'not an object' as unknown as Kept)
    const { gateway: inside } = gateway.server
    const fetched = inside.fetch
    inside.fetch = () => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))
    await look(key.id)
    inside.fetch = fetched
    expect(key.held()).toBeGreaterThan(0)
    finish(id)
    await look(key.id)
    await expectBilled(key)
  })

  /** On a gateway whose clock is moved by hand; `wait` looks once the time is over. */
  const overdue = async () => {
    let now = Date.now()
    const slow = await start({ clock: () => now })
    const wait = (ms: number): Promise<void> => {
      now += ms
      return look(key.id, slow)
    }
    const { key, id } = await queued(slow)
    return { slow, key, id, wait }
  }

  test('that exceeds the total timeout is cancelled, and billed as far as is known', async () => {
    const { slow, key, id, wait } = await overdue()
    await wait(3_600_000)
    expect(askedOf(id)).toEqual([`GET /${id}`, `POST /${id}/cancel`])
    expect(await key.row()).toMatchObject({ outcome: 'aborted', estimated: true })
    expect(key.held()).toBe(0)
    await slow.stop()
  })

  test('is not too late because the time of day was set forward', async () => {
    let now = Date.now()
    const slow = await start({ clock: () => now })
    slow.server.gateway.stopwatch = () => performance.now()
    const key = await withKey(slow)
    const id = await idOf(await key.ask())
    now += 3_600_000
    await look(key.id, slow)
    expect(askedOf(id)).toEqual([`GET /${id}`])
    expect(key.held()).toBeGreaterThan(0)
    finish(id)
    await look(key.id, slow)
    await expectBilled(key)
    await slow.stop()
  })

  test('that ended unnoticed is billed by its figures, however late', async () => {
    const { slow, key, id, wait } = await overdue()
    finish(id)
    await wait(3_600_000)
    await expectBilled(key)
    expect(askedOf(id)).toEqual([`GET /${id}`])
    await slow.stop()
  })

  test('that takes too long is cancelled even where it cannot be read', async () => {
    const { slow, key, id, wait } = await overdue()
    const { fetch } = slow.server.gateway
    slow.server.gateway.fetch = (url, init) =>
      init.method === 'GET'
        ? Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))
        : fetch(url, init)
    await wait(3_600_000)
    expect(askedOf(id)).toEqual([`POST /${id}/cancel`])
    expect(await key.row()).toMatchObject({ outcome: 'aborted', estimated: true })
    await slow.stop()
  })

  test('that can be neither read nor cancelled is given up in the end', async () => {
    const { slow, key, wait } = await overdue()
    slow.server.gateway.fetch = () => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))
    await wait(7_199_000)
    expect(key.held()).toBeGreaterThan(0)
    await wait(1_000)
    expect(await key.row()).toMatchObject({ outcome: 'failed', errorCode: 'gateway_timeout', estimated: true })
    await expectBilled(key, (await key.row())?.inputEstimate)
    await slow.stop()
  })
})

describe('a streamed background answer', () => {
  type Reader = { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>; cancel(): Promise<void> }
  const heard = async (response: Response): Promise<Reader> => {
    const reader = response.body?.getReader()
    if (reader === undefined) throw new Error('no body')
    let text = ''
    while (!text.includes('hel')) text += new TextDecoder().decode((await reader.read()).value)
    return reader
  }

  test('goes on when its client disconnects in the middle, and is billed by its end', async () => {
    const key = await withKey()
    const reader = await heard(await key.ask({ stream: true }))
    await reader.cancel()
    await watched(key.id)
    expect(key.used()).toBe(0)
    finish(`resp_${made}`)
    await look(key.id)
    await expectBilled(key)
    expect(await key.row()).toMatchObject({ outcome: 'done', status: 200 })
  })

  test.each([
    ['before it has an answer to be begun with', 20_000],
    ['before it is begun without an answer', 50],
  ])('goes on when its client disconnects %s', async (_, earlyStartMs) => {
    const early = await start({ config: { earlyStartMs } })
    try {
      const key = await withKey(early)
      before = gate()
      const leaving = new AbortController()
      const asking = reached('POST', '')
      const response = key.ask({ stream: true }, leaving.signal).catch(() => undefined)
      await asking
      leaving.abort()
      await response
      // Set after the gateway's own timer, and so over after it.
      if (earlyStartMs < 1_000) await Bun.sleep(earlyStartMs)
      before.open()
      await watched(key.id, early)
      finish(`resp_${made}`)
      await look(key.id, early)
      await expectBilled(key)
    } finally {
      await early.stop()
    }
  })

  test('whose provider breaks off ends with the error frame, can be resumed, and is billed once', async () => {
    const key = await withKey()
    const reader = await heard(await key.ask({ stream: true }))
    const id = `resp_${made}`
    amid.open()
    let rest = ''
    for (let read = await reader.read(); !read.done; read = await reader.read())
      rest += new TextDecoder().decode(read.value)
    expect(rest).toContain('event: error')
    await watched(key.id)
    finish(id)
    const again = await key.get(`${id}?stream=true&starting_after=1&secret=no`)
    expect(again.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const text = await again.text()
    expect(text).toContain('"delta":"lo"')
    expect(text).toContain(`"model":"${MODEL}"`)
    expect(text).not.toContain('"model":"up"')
    expect(askedOf(id)).toContain(`GET /${id}?stream=true&starting_after=1`)
    await look(key.id)
    await expectBilled(key)
  })
})

describe('the client of a background answer', () => {
  test('cancels it, and pays for its output', async () => {
    const { key, id } = await queued()
    const kept = { status: 'in_progress', output: [said('The quick brown fox jumps')], usage: null, error: null }
    answers.set(id, kept)
    const response = await key.send('POST', `${id}/cancel`)
    expect(await response.json()).toMatchObject({ id, status: 'cancelled', model: MODEL })
    expect(await key.row()).toMatchObject({ outcome: 'aborted', status: 200, estimated: true })
    expect((await key.row())?.output ?? 0).toBeGreaterThanOrEqual(5)
    expect(key.held()).toBe(0)
  })

  test('deletes it, and pays for it: one that has not ended is cancelled first', async () => {
    const { key, id } = await queued()
    expect(await (await key.send('DELETE', id)).json()).toEqual({ id, object: 'response', deleted: true })
    expect(askedOf(id)).toEqual([`GET /${id}`, `POST /${id}/cancel`, `DELETE /${id}`])
    expect(await key.row()).toMatchObject({ outcome: 'aborted', estimated: true })
    expect(key.held()).toBe(0)
    expect((await key.get(id)).status).toBe(404)
  })

  test('deletes it only once its settlement is durable', async () => {
    const { key, id } = await queued()
    finish(id)
    const rows: unknown[] = []
    removing = () => {
      const database = new Database(databasePath(gateway.config), { readonly: true })
      rows.push(database.query('SELECT outcome, output FROM exchanges WHERE key_id = ?').get(key.id))
      database.close()
    }
    expect((await key.send('DELETE', id)).status).toBe(200)
    expect(rows).toEqual([{ outcome: 'done', output: BILLED.output }])
  })

  test('deletes it even while another process is writing', async () => {
    const { key, id } = await queued()
    finish(id)
    const other = new Database(databasePath(gateway.config))
    removing = () => void other.run('BEGIN IMMEDIATE')
    const deleted = await key.send('DELETE', id)
    other.close()
    expect([deleted.status, (await key.get(id)).status]).toEqual([200, 404])
  })

  test('cannot delete it under its own stream: it is cancelled and settled first', async () => {
    const key = await withKey()
    const response = await key.ask({ stream: true })
    const id = `resp_${made}`
    const early = await key.send('DELETE', id)
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1'])
    expect(askedOf(id)).toEqual([`POST /${id}/cancel`])
    amid.open()
    await response.text()
    await watched(key.id)
    finish(id)
    expect((await key.send('DELETE', id)).status).toBe(200)
    await expectBilled(key)
  })

  test('can read its input items', async () => {
    const { key, id } = await queued()
    expect(await (await key.get(`${id}/input_items?limit=5&order=asc`)).json()).toMatchObject({ object: 'list' })
    expect(askedOf(id)).toEqual([`GET /${id}/input_items?limit=5&order=asc`])
  })

  test('may poll without limit, even with no tokens and no concurrency left', async () => {
    const { id, secret } = await gateway.issue({ tokensTotal: TOTAL, rpm: 1, concurrency: 1 })
    const headers = { authorization: `Bearer ${secret}` }
    const body = { model: MODEL, input: 'at once', background: true }
    const answer = await idOf(await gateway.post('/v1/responses', body, headers))
    expect(gateway.server.gateway.store.keys.get(id)?.tokensUsed).toBe(TOTAL)
    for (let i = 0; i < 3; i++) expect((await gateway.get(`/v1/responses/${answer}`, headers)).status).toBe(200)
  })

  test.each(['', '/input_items', '?stream=true'])(
    'disconnects, and its call to the provider ends: %s',
    async (path) => {
      const { key, id } = await queued()
      const kept = answers.get(id) as Kept
      answers.set(id, { ...kept, status: 'silent' })
      const leaving = new AbortController()
      const reading = reached('GET', `/${id}${path}`)
      const response = key.get(`${id}${path}`, leaving.signal).catch(() => undefined)
      const request = await reading
      leaving.abort()
      await response
      expect(await request.closed).toBe('aborted')
      answers.set(id, kept)
      expect((await key.get(id)).status).toBe(200)
    },
  )

  test('gets an error for a stream that begins with one, and its call to the provider ends', async () => {
    const { key, id } = await queued()
    answers.set(id, { ...(answers.get(id) as Kept), status: 'failing' })
    const reading = reached('GET', `/${id}?stream=true`)
    expect((await key.get(`${id}?stream=true`)).status).toBe(502)
    expect(await (await reading).closed).toBe('aborted')
  })

  test('gets 404 for another key’s, for an unknown one, and for one its provider does not have', async () => {
    const { key, id } = await queued()
    const other = await withKey()
    answers.delete(id)
    for (const response of [await other.get(id), await key.get('resp_none'), await key.get(id)]) {
      const text = await response.text()
      expect([response.status, response.headers.get('x-gateway-error-code')]).toEqual([404, 'not_found'])
      expect(text).toContain('background: true')
      expect(text).not.toContain(SECRET_WORD)
    }
    expect((await gateway.get(`/v1/responses/${id}`, { authorization: 'Bearer x' })).status).toBe(401)
    expect((await fetch(`${gateway.url}/v1/responses/${id}`)).status).toBe(401)
  })

  test('never gets the provider’s words for a refusal, whatever its status', async () => {
    const key = await withKey()
    const id = await idOf(await key.ask({ input: 'at once' }))
    answers.set(id, { ...(answers.get(id) as Kept), status: 'refused' })
    for (const [method, path] of [
      ['GET', id],
      ['GET', `${id}/input_items`],
      ['POST', `${id}/cancel`],
      ['DELETE', id],
    ] as const) {
      const response = await key.send(method, path)
      expect([response.status, response.headers.get('x-gateway-error-code')]).toEqual([502, 'upstream_error'])
      expect(await response.text()).not.toContain(SECRET_WORD)
    }
    expect(await gateway.server.gateway.store.background.find(key.id, id)).toMatchObject({ id })
  })

  test('gets 405 with the methods of each path', async () => {
    const key = await withKey()
    for (const [method, path, allow] of [
      ['PUT', 'resp_1', 'GET, HEAD, DELETE'],
      ['GET', 'resp_1/cancel', 'POST'],
      ['GET', 'input_tokens', 'POST'],
      ['DELETE', 'input_tokens', 'POST'],
    ] as const) {
      const response = await key.send(method, path)
      expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
    }
    expect((await key.send('POST', 'resp_1')).status).toBe(405)
  })
})

test('a stopped server leaves background answers to the next one, which holds the same tokens', async () => {
  const first = await start()
  const { config } = first
  const key = await withKey(first)
  const id = await idOf(await key.ask())
  const held = key.held()
  let second: Server | undefined
  try {
    await first.server.stop()
    const told: string[] = []
    const log = { ...silentLog, exchange: ({ id, key }: Ended) => void told.push(`${id} ${key.label}`) }
    second = await startServer(config, { err: () => undefined }, { log })
    expect(second.gateway.ledger.heldBy(key.id)).toBe(held)
    finish(id)
    await look(key.id, { server: second })
    expect(await booksOf({ server: second }, key.id)).toMatchObject({ rows: 1, total: TOTAL, used: TOTAL, held: 0 })
    const row = await latestOf({ server: second }, key.id)
    expect(row).toMatchObject({ outcome: 'done', provider: 'vendor_b', upstreamModel: MODEL, estimated: false })
    expect(totalOf(row as NonNullable<typeof row>)).toBe(TOTAL)
    expect(told).toEqual([`${row?.id} ${second.gateway.store.keys.get(key.id)?.label}`])
    expect(second.gateway.live.counts()).toEqual({ finished: 1, errors: 0 })
    const again = await fetch(`${second.url}/v1/responses/${id}`, { headers: key.headers })
    expect(await again.json()).toMatchObject({ id, model: MODEL })
  } finally {
    await second?.stop()
    rmSync(config.dataDir, { recursive: true, force: true })
  }
})

test('answers left by another server are polled one by one, however old they are', async () => {
  const { gateway: inside } = gateway.server
  const resumed = Array.from({ length: 500 }, (_, at) => ({
    reservation: { exchangeId: `old_${at}`, keyId: 'k', startedAt: 0, reserved: 1, outputCap: undefined },
    ...{ model: MODEL, wire: 'responses' as const, stream: false, inputEstimate: 1, usage: {} },
  }))
  const of = (exchangeId: string) => ({
    ...{ id: exchangeId, exchangeId, keyId: 'k', provider: 'vendor_b', account: 'main', model: MODEL },
    createdAt: 0,
  })
  const relay = {
    ...inside,
    ledger: { ...inside.ledger, resumed },
    background: createBackground({ ...inside.store.background, of: async (id) => of(id) }),
  }
  const timers = spyOn(globalThis, 'setTimeout')
  await resumeAnswers(relay, { keyOf: (id) => ({ id, label: id }), onSettled: () => undefined })
  const pauses = timers.mock.calls.map(([, pause]) => Number(pause))
  timers.mockRestore()
  stopPolling(relay)
  expect(pauses).toHaveLength(500)
  // A hundred a second: no more than two hundred within any second.
  const sorted = pauses.toSorted((a, b) => a - b)
  const crowded = sorted.filter((pause, at) => (sorted[at + 200] ?? Number.POSITIVE_INFINITY) - pause < 1_000)
  expect(crowded).toEqual([])
})

test('an answer at an account that is no longer configured is billed as the model that made it', async () => {
  const { gateway: inside } = gateway.server
  const reservation = { exchangeId: 'left', keyId: 'k', startedAt: 0, reserved: 1, outputCap: undefined }
  const answer = {
    ...{ id: 'resp_left', exchangeId: 'left', keyId: 'k', provider: 'gone', account: 'main', model: 'vendorB-5.4' },
    createdAt: 0,
  }
  const settled: object[] = []
  const told: string[] = []
  const relay = {
    ...inside,
    ledger: {
      ...inside.ledger,
      resumed: [{ reservation, model: MODEL, wire: 'responses' as const, stream: false, inputEstimate: 7, usage: {} }],
      settle: (_: object, how: object) => {
        settled.push(how)
        return { costMicroUsd: 0, written: Promise.resolve() }
      },
    },
    background: createBackground({ ...inside.store.background, of: async () => answer }),
  }
  await resumeAnswers(relay, { keyOf: (id) => ({ id, label: id }), onSettled: ({ model }) => told.push(model.id) })
  await pollAnswer(relay, answer)
  expect(settled).toMatchObject([
    {
      outcome: 'failed',
      model: 'vendorB-5.4',
      provider: 'gone',
      account: 'main',
      usage: { input: 7 },
      estimated: true,
    },
  ])
  // Like any other it is told of by the model that was asked for.
  expect(told).toEqual([MODEL])
})

test('an answer is recorded even if another process is writing at first', async () => {
  const key = await withKey()
  before = gate()
  const asking = reached('POST', '')
  const response = key.ask()
  await asking
  const { result: id, waited } = await whileAnotherWrites(
    gateway.config,
    async () => {
      before.open()
      return idOf(await response)
    },
    1,
  )
  expect([waited, (await key.get(id)).status]).toEqual([1, 200])
  finish(id)
  await look(key.id)
  await expectBilled(key)
})

test('a stop waits for another process that is writing, and then writes what was settled', async () => {
  const first = await start()
  const key = await withKey(first)
  before = gate()
  const asking = reached('POST', '')
  const response = key.ask({ background: false, input: 'at once' })
  await asking
  const { waited } = await whileAnotherWrites(first.config, async () => {
    before.open()
    await (await response).json()
    await first.server.stop()
  })
  const written = new Database(databasePath(first.config), { readonly: true })
  expect([waited, written.query('SELECT outcome FROM exchanges').get()]).toEqual([2, { outcome: 'done' }])
  written.close()
  rmSync(first.config.dataDir, { recursive: true, force: true })
})

test('a stop aborts background requests without an id yet, with an error', async () => {
  const first = await start({ config: { drainMs: 1 } })
  const key = await withKey(first)
  before = gate()
  const asking = reached('POST', '')
  const response = key.ask()
  const request = await asking
  await first.server.stop()
  expect([(await response).status, await request.closed]).toEqual([503, 'aborted'])
  before.open()
  const database = new Database(databasePath(first.config), { readonly: true })
  const left = database.query('SELECT count(*) AS open, (SELECT outcome FROM exchanges) AS outcome FROM reservations')
  expect(left.get()).toEqual({ open: 0, outcome: 'aborted' })
  database.close()
  rmSync(first.config.dataDir, { recursive: true, force: true })
})

test('records of background answers are pruned, unless their exchanges are open', async () => {
  const key = await withKey()
  const done = await idOf(await key.ask({ input: 'at once' }))
  const opened = await idOf(await key.ask())
  const { store, ledger } = gateway.server.gateway
  await ledger.flush()
  while ((await store.prune(Date.now() + 1_000, 50)) === 50);
  expect(await store.background.find(key.id, done)).toBeUndefined()
  expect(await store.background.find(key.id, opened)).toMatchObject({ id: opened })
  finish(opened)
  await look(key.id)
})
