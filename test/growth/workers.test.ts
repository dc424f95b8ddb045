// Several processes that serve as one, as processes of their own: quotas and limits to the token, kills in the midst of
// streams, one address for everything.

import { describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileConfig } from '../../src/config/schema.ts'
import { whyNotSeveral } from '../../src/server/workers/supervisor.ts'
import { isRunning, PROGRAM } from '../binary/support/process.ts'
import { type Attacked, openGateway, providersAt } from '../chaos/support/gateway.ts'
import { CHAT, MESSAGES, RESPONSES, streamed, whole } from '../chaos/support/stories.ts'
import { startOtlpReceiver } from '../observe/otlp-receiver.ts'
import { freePort } from '../support/free-port.ts'
import { gate, type Handler, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { openSocket } from '../support/socket.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { fileBooks } from './books.ts'
import { statusOf, streamOf, until, watchLive } from './fleet.ts'
import { IS_LONG } from './forms.ts'
import { COUNTS, connectionsTo, kill, partOf, partsOf, processesOf } from './parts.ts'

const stopping = stopsAfterEach()
const provider = async (handler: Handler): Promise<Scripted> => stopping(await startScripted(handler))
const gatewayOf = async (file: FileConfig & { workers: number }, program = PROGRAM): Promise<Attacked> =>
  stopping(await openGateway(file, { apart: true, program }))

const answering: Handler = ({ text }) => (JSON.parse(text).stream === true ? streamed(CHAT) : whole(CHAT))
const usual = async (workers: number, handler: Handler = answering) => {
  const vendor = await provider(handler)
  return { vendor, gateway: await gatewayOf({ workers, providers: providersAt({ b: [vendor.origin] }) }) }
}

/** On a connection of its own, which goes to any of the processes. */
const ask = (gateway: Attacked, secret = gateway.secret, more: object = {}): Promise<Response> =>
  gateway.post(
    CHAT.path,
    { ...CHAT.request(false), max_tokens: 100, ...more },
    { headers: { authorization: `Bearer ${secret}`, connection: 'close' } },
  )
const admin = (gateway: Attacked, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${gateway.url}/admin/api${path}`, {
    ...init,
    headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json', connection: 'close' },
  })
const newKey = async (gateway: Attacked, more: object = {}): Promise<{ id: string; secret: string }> => {
  const made = await admin(gateway, '/keys', { method: 'POST', body: JSON.stringify({ label: 'k', ...more }) })
  const { key, secret } = (await made.json()) as { key: { id: string }; secret: string }
  return { id: key.id, secret }
}

const allServe = (gateway: Attacked, workers: number): Promise<void> =>
  until(async () => {
    if (partsOf(gateway.child).length !== processesOf(workers)) return false
    return (await admin(gateway, '/state').catch(() => undefined))?.status === 200
  })

const STILL_MS = 7_000

type Row = { outcome: string; input: number | null; output: number | null }

/** What the file says once the server has stopped: nothing is held, and every figure is what its rows come to. */
const booksOf = async (gateway: Attacked, isStopping = false): Promise<Row[]> => {
  // A second request to stop would end it at once.
  if (!isStopping) gateway.child?.kill('SIGTERM')
  expect(await gateway.child?.exited).toBe(0)
  const reading = fileBooks(join(gateway.directory, 'data', 'sluice.db'))
  try {
    expect(await reading.broken()).toEqual([])
    expect(await reading.query('SELECT * FROM reservations')).toEqual([])
    return await reading.query<Row>('SELECT outcome, input, output FROM exchanges ORDER BY row')
  } finally {
    await reading.close()
  }
}

const begun = (gateway: Attacked, secret = gateway.secret) => streamOf(ask(gateway, secret, { stream: true }))

describe.skipIf(whyNotSeveral() !== undefined).each(COUNTS)('%i processes that serve', (workers) => {
  test('refuse a revoked key and a replaced secret everywhere from the answer on', async () => {
    const { gateway } = await usual(workers)
    const [one, two] = [await newKey(gateway), await newKey(gateway)]
    const load = Array.from({ length: 8 }, async () => {
      while ((await statusOf(ask(gateway, one.secret))) === 200);
    })
    expect((await admin(gateway, `/keys/${one.id}/revoke`, { method: 'POST' })).status).toBe(200)
    const rotated = await admin(gateway, `/keys/${two.id}/rotate`, { method: 'POST', body: '{"grace_seconds":0}' })
    const { secret } = (await rotated.json()) as { secret: string }
    const after = await Promise.all(
      Array.from({ length: 30 }, (_, i) => statusOf(ask(gateway, i % 2 === 0 ? one.secret : two.secret))),
    )
    expect(new Set(after)).toEqual(new Set([401]))
    await Promise.all(load)
    const known = await Promise.all(Array.from({ length: 10 }, () => statusOf(ask(gateway, secret))))
    expect(new Set(known)).toEqual(new Set([200]))
    await booksOf(gateway)
  })

  test('go on when one of them is killed: what it had is settled at once, and another takes its place', async () => {
    const end = gate()
    const { vendor, gateway } = await usual(workers, () => streamed(CHAT, CHAT.word('hello'), end))
    const streams = []
    for (let i = 0; i < 24; i++) streams.push(await begun(gateway))
    const killed = partOf(gateway.child, 'worker')
    const left = 24 - connectionsTo(Number(new URL(vendor.origin).port), killed)
    expect(left).toBeLessThan(24)
    await kill(killed)
    await allServe(gateway, workers)
    await until(async () => (await gateway.figures()).reservations === left)
    end.open()
    const texts = await Promise.all(streams.map(({ rest }) => rest))
    const ended = texts.filter((text) => text.includes('[DONE]')).length
    expect(ended).toBe(left)
    expect((await gateway.quiet()).reservations).toBe(0)
    const rows = await booksOf(gateway)
    expect(rows.filter(({ outcome }) => outcome === 'done')).toHaveLength(ended)
    expect(rows.filter(({ outcome }) => outcome === 'failed')).toHaveLength(24 - ended)
  })

  test('go on when the owner of the books is killed: streams of others end whole and are billed by their real figures', async () => {
    const end = gate()
    const { vendor, gateway } = await usual(workers, ({ text }) =>
      JSON.parse(text).stream === true ? streamed(CHAT, CHAT.word('hello'), end) : whole(CHAT),
    )
    const streams = []
    for (let i = 0; i < 12; i++) streams.push(await begun(gateway))
    const before = partOf(gateway.child, 'owner')
    const own = connectionsTo(Number(new URL(vendor.origin).port), before)
    if (workers > 2) expect(own).toBe(0)
    await kill(before)
    // Meanwhile requests are refused with a word that clients ask again on.
    const during = await Promise.all(Array.from({ length: 12 }, () => ask(gateway).catch(() => undefined)))
    for (const response of during)
      if (response !== undefined && response.status !== 200)
        expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    await allServe(gateway, workers)
    expect(partOf(gateway.child, 'owner').pid).not.toBe(before.pid)
    await until(async () => (await statusOf(ask(gateway))) === 200)
    end.open()
    const texts = await Promise.all(streams.map(({ rest }) => rest))
    const ended = texts.filter((text) => text.includes('[DONE]')).length
    // Its own break off with it, where it has any.
    expect(ended).toBe(12 - own)
    await gateway.quiet()
    const rows = await booksOf(gateway)
    const billed = rows.filter(({ outcome, input, output }) => outcome === 'done' && input === 3 && output === 5)
    expect(billed.length).toBeGreaterThan(ended)
    // What was refused because nobody could say what became of it costs nothing.
    const cut = rows.filter(({ outcome, input, output }) => outcome !== 'done' && (input ?? 0) + (output ?? 0) > 0)
    expect(cut).toHaveLength(12 - ended)
  })

  test.skipIf(!IS_LONG && workers !== 3)(
    'have the figures of one that stood still while the owner of the books was replaced',
    async () => {
      const end = gate()
      const { vendor, gateway } = await usual(workers, () => streamed(CHAT, CHAT.word('hello'), end))
      const streams = []
      for (let i = 0; i < 12; i++) streams.push(await begun(gateway))
      const before = partOf(gateway.child, 'owner')
      const own = connectionsTo(Number(new URL(vendor.origin).port), before)
      const still = partOf(gateway.child, 'worker')
      process.kill(still.pid, 'SIGSTOP')
      await kill(before)
      await until(() => partsOf(gateway.child).some(({ pid, role }) => role === 'owner' && pid !== before.pid))
      // As long as a busy machine may make it, and not so long that it is ended as one that hangs.
      await Bun.sleep(STILL_MS)
      process.kill(still.pid, 'SIGCONT')
      await allServe(gateway, workers)
      end.open()
      const texts = await Promise.all(streams.map(({ rest }) => rest))
      expect(texts.filter((text) => text.includes('[DONE]'))).toHaveLength(12 - own)
      await gateway.quiet()
      const rows = await booksOf(gateway)
      expect(rows.filter(({ outcome }) => outcome === 'done')).toHaveLength(12 - own)
      expect(rows).toHaveLength(12)
    },
    120_000,
  )

  test.each(IS_LONG ? ['worker', 'owner'] : [workers === 2 ? 'owner' : 'worker'])(
    'end and replace a process that hangs: the %s',
    async (role) => {
      const end = gate()
      const { vendor, gateway } = await usual(workers, () => streamed(CHAT, CHAT.word('hello'), end))
      const streams = []
      for (let i = 0; i < 12; i++) streams.push(await begun(gateway))
      const hanging = partOf(gateway.child, role)
      const left = 12 - connectionsTo(Number(new URL(vendor.origin).port), hanging)
      process.kill(hanging.pid, 'SIGSTOP')
      await until(() => !partsOf(gateway.child).some(({ pid }) => pid === hanging.pid), 30_000)
      await allServe(gateway, workers)
      // What the owner keeps for others goes on without it; the rest is settled once those have said what they have.
      await until(async () => (await gateway.figures()).reservations === left)
      end.open()
      const texts = await Promise.all(streams.map(({ rest }) => rest))
      expect(texts.filter((text) => text.includes('[DONE]'))).toHaveLength(left)
      await gateway.quiet()
      const rows = await booksOf(gateway)
      expect(rows.filter(({ outcome }) => outcome === 'done')).toHaveLength(left)
      expect(rows).toHaveLength(12)
    },
    120_000,
  )

  test.skipIf(!IS_LONG && workers !== 2)(
    'are started anew as what they were, when an upgrade has taken their file away and put another there',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-upgraded-'))
      stopping({ stop: async () => rmSync(folder, { recursive: true, force: true }) })
      const [file = '', ...words] = PROGRAM
      const installed = join(folder, 'sluice')
      copyFileSync(file, installed)
      const vendor = await provider(answering)
      const providers = providersAt({ b: [vendor.origin] })
      const gateway = await gatewayOf({ workers, providers }, [installed, ...words])
      rmSync(installed)
      await kill(partOf(gateway.child, 'worker'))
      await allServe(gateway, workers)
      writeFileSync(installed, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
      await kill(partOf(gateway.child, 'owner'))
      await allServe(gateway, workers)
      expect(await statusOf(ask(gateway))).toBe(200)
      await booksOf(gateway)
    },
    120_000,
  )

  test('have no more open together than they may, and as many, wherever they come in', async () => {
    const end = gate()
    const vendor = await provider(() => streamed(CHAT, CHAT.word('hello'), end))
    const gateway = await gatewayOf({ workers, providers: providersAt({ b: [vendor.origin] }), max_open_exchanges: 5 })
    let refused = 0
    const asked = Array.from({ length: 40 }, async () => {
      const response = await ask(gateway, undefined, { stream: true })
      if (response.status === 503) refused++
      return response.text()
    })
    await until(() => vendor.requests.length + refused === 40)
    expect(vendor.requests).toHaveLength(5)
    end.open()
    const texts = await Promise.all(asked)
    expect(texts.filter((text) => text.includes('[DONE]'))).toHaveLength(5)
    await gateway.quiet()
    expect(await statusOf(ask(gateway))).toBe(200)
  })

  test('end with what started them, and the next start finds the books as after any kill', async () => {
    const never = gate()
    const { gateway } = await usual(workers, () => streamed(CHAT, CHAT.word('hello'), never))
    for (let i = 0; i < 6; i++) await begun(gateway)
    const parts = partsOf(gateway.child)
    gateway.child?.kill('SIGKILL')
    await until(() => !parts.some(({ pid }) => isRunning(pid)))
    never.open()
  })

  test('serve the dashboard, the admin API and its live page at the one address', async () => {
    const { gateway } = await usual(workers)
    const page = await fetch(`${gateway.url}/dashboard`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const html = await page.text()
    const script = /src="(\/dashboard\/assets\/[^"]+)"/.exec(html)?.[1] ?? ''
    expect((await fetch(gateway.url + script)).status).toBe(200)
    expect((await fetch(`${gateway.url}/dashboard`, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${gateway.url}/nowhere`)).status).toBe(404)
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
    const usage = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': gateway.secret } })
    expect(await usage.json()).toMatchObject({ tokens_used: 0, status: 'active' })

    const { hears, leave } = await watchLive(gateway.url, gateway.token)
    await hears(/event: counters/)
    for (let i = 0; i < 6; i++) expect(await statusOf(ask(gateway))).toBe(200)
    await hears(/(event: exchange[\s\S]*){6}/)
    leave()
    await until(async () => {
      const state = (await (await admin(gateway, '/state')).json()) as { live_streams: number }
      return state.live_streams === 0
    })
    const served = async () => (await gateway.figures()).sum('sluice_requests_total{wire="chat-completions"')
    await until(async () => (await served()) === 6)
  })

  test('know who asks at the address of the operators, by the connection and by nothing that is said', async () => {
    const vendor = await provider(answering)
    const at = `127.0.0.1:${freePort()}`
    const providers = providersAt({ b: [vendor.origin] })
    await gatewayOf({ workers, providers, admin: { listen: at }, metrics: { enabled: true } })
    const metrics = (headers: Record<string, string>): Promise<number> =>
      fetch(`http://${at}/metrics`, { headers }).then(({ status }) => status)
    expect(await metrics({})).toBe(200)
    expect(await metrics({ 'x-sluice-peer': '203.0.113.9' })).toBe(200)
  })

  test.skipIf(!IS_LONG && workers !== 2)(
    'send the spans of what each of them serves, from a reload on as from the start',
    async () => {
      const vendor = await provider(answering)
      const paths: string[] = []
      const receiver = Bun.serve({
        ...{ hostname: '127.0.0.1', port: 0 },
        fetch: ({ url }) => {
          paths.push(new URL(url).pathname)
          return new Response()
        },
      })
      stopping({ stop: () => receiver.stop(true) })
      const file = { workers, providers: providersAt({ b: [vendor.origin] }) }
      const otlp = { endpoint: `http://127.0.0.1:${receiver.port}` }
      const gateway = await gatewayOf({ ...file, otlp })
      const spans = async (): Promise<void> => {
        paths.length = 0
        expect(await statusOf(ask(gateway))).toBe(200)
        await until(() => paths.includes('/v1/traces'))
      }
      await spans()
      await gateway.reload(file)
      await gateway.reload({ ...file, otlp })
      await spans()
    },
  )

  test('tell by alerts what only they have seen of an account', async () => {
    const vendor = await provider(() => ({
      status: 402,
      body: '{"error":{"message":"no","code":"insufficient_quota"}}',
    }))
    const types: string[] = []
    const receiver = Bun.serve({
      ...{ hostname: '127.0.0.1', port: 0 },
      fetch: async (request) => {
        types.push(((await request.json()) as { type: string }).type)
        return new Response()
      },
    })
    stopping({ stop: () => receiver.stop(true) })
    const url = `http://127.0.0.1:${receiver.port}/`
    const desk = { url, secret: `whsec_${btoa('0123456789abcdef0123456789abcdef')}` }
    const gateway = await gatewayOf({
      workers,
      providers: providersAt({ b: [vendor.origin] }),
      alerts: { webhooks: { desk } },
    })
    await statusOf(ask(gateway))
    await until(() => types.includes('out-of-credit'))
  })

  test('see at once what is changed in the admin API and by a reload', async () => {
    const { vendor, gateway } = await usual(workers)
    const key = await newKey(gateway)
    const limits = { rpm: 3, tpm: 0, concurrency: 0 }
    expect((await admin(gateway, '/settings', { method: 'PUT', body: JSON.stringify({ limits }) })).status).toBe(200)
    const statuses = await Promise.all(Array.from({ length: 12 }, () => statusOf(ask(gateway, key.secret))))
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
    const file = { workers, providers: providersAt({ b: [vendor.origin] }), aliases: { mine: 'vendorB-5.5' } }
    await gateway.reload(file)
    const other = await newKey(gateway)
    await admin(gateway, '/settings', { method: 'PUT', body: '{"limits":null}' })
    const named = await Promise.all(
      Array.from({ length: 12 }, () => statusOf(ask(gateway, other.secret, { model: 'mine' }))),
    )
    expect(new Set(named)).toEqual(new Set([200]))
    const again = await admin(gateway, '/reload', { method: 'POST', body: '{}' })
    expect(await again.json()).toMatchObject({ changed: [], refused: [] })
  })

  test('refuse a warm-up by WebSocket where nothing is left, whichever process has the connection', async () => {
    const { gateway } = await usual(workers)
    const { secret } = await newKey(gateway, { tokens_total: 50 })
    while ((await statusOf(ask(gateway, secret))) === 200);
    for (let at = 0; at < 2 * workers; at++) {
      const client = await openSocket(gateway.url, { authorization: `Bearer ${secret}` })
      client.send({ type: 'response.create', model: 'vendorB-5.5', input: 'x', store: false, generate: false })
      expect((await client.answer()).at(-1)).toMatchObject({ type: 'error', status: 402 })
      client.close()
    }
  })

  test('go on with a translated answer by its id, whichever process made it', async () => {
    const vendor = await provider(() => whole(MESSAGES))
    const gateway = await gatewayOf({ workers, providers: providersAt({ a: [vendor.origin] }) })
    const say = async (previous: string | undefined): Promise<string> => {
      const response = await gateway.post(
        '/v1/responses',
        { model: MESSAGES.model, input: 'hi', ...(previous === undefined ? {} : { previous_response_id: previous }) },
        { headers: { connection: 'close' } },
      )
      expect(response.status).toBe(200)
      return String(((await response.json()) as { id: string }).id)
    }
    let id: string | undefined
    for (let turn = 0; turn < 8; turn++) id = await say(id)
    const { messages } = JSON.parse(vendor.requests.at(-1)?.text ?? '{}') as { messages: unknown[] }
    expect(messages).toHaveLength(15)
  })

  test('tell of an answer that goes on without its client by its spans, in its client’s trace', async () => {
    const receiver = startOtlpReceiver()
    stopping(receiver)
    let isOver = false
    const vendor = await provider(({ method, path }) => {
      const id = method === 'POST' ? 'resp_1' : (path.split('/').at(-1) ?? '')
      const status = method === 'POST' ? 'queued' : isOver ? 'completed' : 'in_progress'
      const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 }
      return {
        steps: [JSON.stringify({ id, object: 'response', created_at: 1, model: 'up', output: [], usage, status })],
      }
    })
    const gateway = await gatewayOf({
      ...{ workers, providers: providersAt({ b: [vendor.origin] }) },
      otlp: { endpoint: receiver.endpoint, metrics: false },
    })
    await allServe(gateway, workers)
    const traceId = 'ab'.repeat(16)
    const traceparent = `00-${traceId}-${'cd'.repeat(8)}-01`
    const asked = await gateway.post(
      RESPONSES.path,
      { ...RESPONSES.request(false), background: true },
      { headers: { authorization: `Bearer ${gateway.secret}`, connection: 'close', traceparent } },
    )
    expect(asked.status).toBe(200)
    isOver = true
    await until(async () => receiver.spans.length >= 2)
    const [served, attempt] = receiver.spans.toSorted((a, b) => a.kind - b.kind)
    expect(served).toMatchObject({ traceId, parent: 'cd'.repeat(8) })
    expect(served?.attributes).toMatchObject({ 'sluice.outcome': 'done', 'gen_ai.usage.output_tokens': 5 })
    expect(attempt).toMatchObject({ traceId, parent: served?.spanId })
    // The provider was told of the attempt.
    const told = vendor.requests.find(({ method }) => method === 'POST')?.headers.traceparent
    expect(told).toBe(`00-${traceId}-${attempt?.spanId}-01`)
    await booksOf(gateway)
    expect(receiver.spans).toHaveLength(2)
  })

  test('say in the log which of them served', async () => {
    const vendor = await provider(answering)
    const file = { workers, providers: providersAt({ b: [vendor.origin] }), log: { level: 'info' } } as const
    const gateway = await gatewayOf(file)
    const asked = await Promise.all(Array.from({ length: 40 }, () => statusOf(ask(gateway))))
    expect(new Set(asked)).toEqual(new Set([200]))
    await booksOf(gateway)
    const lines = (await gateway.child?.err)?.split('\n').filter((line) => line.includes('"msg":"exchange"')) ?? []
    const served = lines.map((line) => (JSON.parse(line) as { worker?: number }).worker ?? 0)
    expect(served).toHaveLength(40)
    expect([...new Set(served)].toSorted()).toEqual(Array.from({ length: workers }, (_, i) => i + 1))
  })

  test('drain together: streams end, and nothing is left behind', async () => {
    const end = gate()
    const vendor = await provider(() => streamed(CHAT, CHAT.word('hello'), end))
    const gateway = await gatewayOf({ workers, providers: providersAt({ b: [vendor.origin] }), drain: '20s' })
    const streams = []
    for (let i = 0; i < 9; i++) streams.push(await begun(gateway))
    gateway.child?.kill('SIGTERM')
    await until(async () => (await fetch(`${gateway.url}/readyz`).catch(() => undefined))?.status !== 200)
    end.open()
    for (const { rest } of streams) expect(await rest).toContain('[DONE]')
    expect(await booksOf(gateway, true)).toHaveLength(9)
    // The folder of their sockets is in the temporary folder, which is the test's own.
    expect(readdirSync(gateway.directory).filter((name) => name.startsWith('sluice-'))).toEqual([])
  })

  test('reset and renewed quotas count what was used since, under load', async () => {
    const { gateway } = await usual(workers)
    const key = await newKey(gateway)
    let going = true
    let answered = 0
    const load = Array.from({ length: 6 }, async () => {
      while (going) if ((await statusOf(ask(gateway, key.secret))) === 200) answered++
    })
    for (let i = 0; i < 5; i++) {
      await until(() => answered > 20 * (i + 1))
      expect((await admin(gateway, `/keys/${key.id}/reset`, { method: 'POST' })).status).toBe(200)
    }
    going = false
    await Promise.all(load)
    await gateway.quiet()
    const used = (await (await admin(gateway, `/keys/${key.id}`)).json()) as { tokens_used: number }
    // Each costs eight tokens, and five resets have taken some of them back.
    expect(used.tokens_used % 8).toBe(0)
    expect(used.tokens_used).toBeLessThan(8 * answered)
  })
})

describe('a system that does not spread connections', () => {
  test.each(['darwin', 'win32', 'freebsd'])('%s is told so', (platform) => {
    expect(whyNotSeveral(platform)).toContain('leave out --workers')
    expect(whyNotSeveral('linux')).toBeUndefined()
  })
})
