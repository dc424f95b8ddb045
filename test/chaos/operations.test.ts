// What an operator sees and does: metrics, readiness, a changed configuration, a full disk, faults, a stop.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFaults } from '../../src/cli/faults.ts'
import type { FileConfig } from '../../src/config/schema.ts'
import { createMemory, createRoom } from '../../src/observe/memory.ts'
import type { Summary } from '../../src/relay/exchange.ts'
import { BINARY } from '../binary/support/process.ts'
import { journalOf, SYSTEM } from '../support/gateway.ts'
import { gate, type Handler, json, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { silentLog } from '../support/silent-log.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { type Attacked, type OpenOptions, openGateway, providersAt } from './support/gateway.ts'
import { CHAT, streamed, whole } from './support/stories.ts'

const stopping = stopsAfterEach()

const provider = async (handler: Handler): Promise<Scripted> => stopping(await startScripted(handler))

const gatewayOf = async (file: FileConfig, options: OpenOptions = {}): Promise<Attacked> =>
  stopping(await openGateway(file, options))

const answering: Handler = ({ text }) => (JSON.parse(text).stream === true ? streamed(CHAT) : whole(CHAT))

describe('GET /metrics', () => {
  const read = (url: string, headers: Record<string, string> = {}) => fetch(`${url}/metrics`, { headers })

  test('counts requests, tokens, times and attempts by names of the configuration only', async () => {
    const vendor = await provider(answering)
    const gateway = await gatewayOf({ providers: providersAt({ b: [vendor.origin] }) })
    await (await gateway.post(CHAT.path, CHAT.request(false))).text()
    await (await gateway.post(CHAT.path, CHAT.request(true))).text()
    await (await gateway.post(CHAT.path, { ...CHAT.request(false), model: 'client-text-7' })).text()
    await (await gateway.post(CHAT.path, '{"client-text-7"')).text()
    await gateway.quiet()
    const response = await read(gateway.url)
    expect(response.headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
    const text = await response.text()
    const chat = 'wire="chat-completions"'
    for (const line of [
      `sluice_requests_total{${chat},model="vendorB-5.5",outcome="done",status="200"} 2`,
      `sluice_requests_total{${chat},model="",outcome="refused",status="404"} 1`,
      `sluice_requests_total{${chat},model="",outcome="refused",status="400"} 1`,
      `sluice_errors_total{${chat},code="invalid_model"} 1`,
      'sluice_tokens_total{model="vendorB-5.5",class="input"} 6',
      'sluice_tokens_total{model="vendorB-5.5",class="output"} 10',
      'sluice_attempts_total{provider="vendor_b",account="one",code="ok"} 2',
      `sluice_exchange_duration_seconds_count{${chat},stream="true"} 1`,
      `sluice_first_byte_seconds_count{${chat},model="vendorB-5.5"} 2`,
      'sluice_breaker_state{provider="vendor_b",account="one",model="vendorB-5.5"} 0',
      'sluice_open_exchanges 0',
      'sluice_ledger_write_failures_total 0',
    ]) {
      expect(text.split('\n')).toContain(line)
    }
    expect(text).toMatch(/^process_resident_memory_bytes [1-9]/m)
    expect(text).toMatch(/^sluice_event_loop_hold_seconds [0-9.e-]+$/m)
    if (process.platform === 'linux') expect(text).toMatch(/^process_open_fds [1-9]/m)
    expect(text).not.toContain('client-text-7')
  })

  test('is for this machine alone without a token, and not for requests through a proxy', async () => {
    const gateway = await gatewayOf({})
    expect((await read(gateway.url)).status).toBe(200)
    for (const name of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'Via']) {
      const refused = await read(gateway.url, { [name]: '127.0.0.1' })
      expect([refused.status, refused.headers.get('x-gateway-error-code')]).toEqual([403, 'permission_denied'])
    }
  })

  test('is refused without a token to a page that had its own name lead to this machine', async () => {
    const gateway = await gatewayOf({})
    for (const host of ['rebound.example', 'rebound.example:8080', '127.0.0.1.rebound.example', 'localhost.']) {
      expect((await read(gateway.url, { host })).status).toBe(403)
    }
    for (const host of ['localhost:8080', 'sluice.localhost', '127.0.0.1', '[::1]:8080', 'gateway:8080']) {
      expect((await read(gateway.url, { host })).status).toBe(200)
    }
  })

  test('exists only if enabled, and needs its token where one is set', async () => {
    const gateway = await gatewayOf({})
    await gateway.reload({ metrics: { enabled: true, token: 'read-me' } })
    expect((await read(gateway.url)).status).toBe(401)
    expect((await read(gateway.url, { authorization: 'Bearer read-you' })).status).toBe(401)
    expect((await read(gateway.url, { authorization: 'Bearer read-me', 'x-forwarded-for': '1.2.3.4' })).status).toBe(
      200,
    )
    await gateway.reload({ metrics: { enabled: false } })
    const gone = await read(gateway.url, { authorization: 'Bearer read-me' })
    expect([gone.status, gone.headers.get('x-gateway-error-code')]).toEqual([404, 'not_found'])
  })
})

describe('GET /readyz', () => {
  const ready = async (url: string) => {
    const response = await fetch(`${url}/readyz`)
    return [response.status, await response.json()] as const
  }

  test('says what is missing', async () => {
    const none = await gatewayOf({})
    expect(await ready(none.url)).toEqual([
      503,
      { status: 'not ready', missing: ['accounts: none is configured, see "sluice config init"'] },
    ])
    expect((await fetch(`${none.url}/readyz`)).headers.get('retry-after')).toBe('1')
    expect((await fetch(`${none.url}/healthz`)).status).toBe(200)
    await none.reload({ providers: providersAt({ b: ['http://127.0.0.1:9'] }) })
    expect(await ready(none.url)).toEqual([200, { status: 'ready' }])
  })

  test('says when every account has failed, while the process itself is well', async () => {
    const vendor = await provider(() => json({ error: { message: 'no', type: 'server_error' } }, 500))
    const gateway = await gatewayOf({ providers: providersAt({ b: [vendor.origin, vendor.origin] }) })
    expect(await ready(gateway.url)).toEqual([200, { status: 'ready' }])
    for (let at = 0; at < 5; at++) await (await gateway.post(CHAT.path, CHAT.request(false))).text()
    expect(await ready(gateway.url)).toEqual([
      503,
      { status: 'not ready', missing: ['accounts: every one has failed of late'] },
    ])
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  })

  test.skipIf(BINARY !== undefined)(
    'says when the store cannot be written, and when the server is stopping',
    async () => {
      const gateway = await gatewayOf({ providers: providersAt({ b: ['http://127.0.0.1:9'] }) })
      const here = gateway.server?.gateway
      if (here === undefined) throw new Error('not in this process')
      here.store.probe = () => {
        throw new Error('disk full')
      }
      here.draining = true
      expect(await ready(gateway.url)).toEqual([
        503,
        {
          status: 'not ready',
          missing: ['draining: the server is stopping', 'store: the database cannot be written'],
        },
      ])
    },
  )

  test('says when usage cannot be written, though the file takes a write', async () => {
    const vendor = await provider(answering)
    const gateway = await gatewayOf({ providers: providersAt({ b: [vendor.origin] }) })
    const other = new Database(join(gateway.directory, 'data/sluice.db'))
    other.run('ALTER TABLE usage_models RENAME TO elsewhere')
    await (await gateway.post(CHAT.path, CHAT.request(false))).text()
    while ((await ready(gateway.url))[0] === 200);
    expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(503)
    other.run('ALTER TABLE elsewhere RENAME TO usage_models')
    other.close()
    while ((await ready(gateway.url))[0] !== 200);
    expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
  })

  test('is as patient with another process that is writing as requests are', async () => {
    const gateway = await gatewayOf({ providers: providersAt({ b: ['http://127.0.0.1:9'] }) })
    const other = new Database(join(gateway.directory, 'data/sluice.db'))
    other.run('BEGIN IMMEDIATE')
    const began = performance.now()
    while ((await ready(gateway.url))[0] === 200);
    expect(performance.now() - began).toBeGreaterThan(1_300)
    expect(await ready(gateway.url)).toEqual([
      503,
      { status: 'not ready', missing: ['store: the database cannot be written'] },
    ])
    other.run('ROLLBACK')
    other.close()
    while ((await ready(gateway.url))[0] !== 200);
  })
})

describe.skipIf(BINARY !== undefined)('a time of day that is set', () => {
  test.each([-3_600_000, 3_600_000])('by %d ms during an exchange does not count as its duration', async (step) => {
    const clock = { at: 1_790_000_000_000 }
    const vendor = await provider((request, index) => {
      clock.at += step
      return answering(request, index)
    })
    const gateway = await gatewayOf({ providers: providersAt({ b: [vendor.origin] }) }, { clock: () => clock.at })
    const here = gateway.server?.gateway
    const told: Summary[] = []
    here?.live.watch((exchange, summary) => {
      told.push(summary)
      expect(exchange.firstByteMs).toBeWithin(0, 60_000)
    })
    for (const stream of [false, true]) await (await gateway.post(CHAT.path, CHAT.request(stream))).text()
    await gateway.quiet()
    expect(told).toHaveLength(2)
    for (const { totalMs } of told) expect(totalMs).toBeWithin(0, 60_000)
    for (const row of (await here?.store.exchanges({ limit: 2 })) ?? []) {
      expect(row.totalMs).toBeWithin(0, 60_000)
      expect(row.firstByteMs).toBeWithin(0, 60_000)
    }
  })
})

describe('a changed configuration', () => {
  test('is in force for new exchanges, while a running stream ends as it began', async () => {
    const finish = gate()
    const old = await provider(() => streamed(CHAT, CHAT.word('old'), finish, CHAT.word('still old')))
    const fresh = await provider(() => whole(CHAT))
    const gateway = await gatewayOf({ providers: providersAt({ b: [old.origin] }) })
    const response = await gateway.post(CHAT.path, CHAT.request(true))
    await gateway.reload({
      providers: providersAt({ b: [fresh.origin] }),
      aliases: { mine: CHAT.model },
      models: { [CHAT.model]: { upstream: 'renamed-upstream' } },
      rate: { khr_per_usd: 5000 },
      limits: { rpm: 3 },
    })
    const answer = await gateway.post(CHAT.path, { ...CHAT.request(false), model: 'mine' })
    expect([answer.status, ((await answer.json()) as { model: string }).model]).toEqual([200, CHAT.model])
    expect(JSON.parse(fresh.requests[0]?.text ?? '{}').model).toBe('renamed-upstream')
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('3')
    const usage = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': gateway.secret } })
    expect(await usage.json()).toMatchObject({ rate: { khr_per_usd: 5000 } })
    finish.open()
    const text = await response.text()
    expect(text).toContain('still old')
    expect(text).toContain('[DONE]')
    // What the running one began is counted where it ran.
    await gateway.quiet()
  })

  test.skipIf(BINARY !== undefined)('is told to have no effect where admins have set it otherwise', async () => {
    const { server } = await gatewayOf({ providers: providersAt({ b: ['http://127.0.0.1:9'] }) })
    if (server === undefined) throw new Error('it runs in this process')
    const { config, settings } = server.gateway
    const limits = { rpm: 0, tpm: 0, concurrency: 0 }
    await settings.change({ khr_per_usd: 4200, limits: { ...limits, rpm: 9 } }, SYSTEM)
    const next = { ...config, khrPerUsd: 5000, limits: { ...limits, tpm: 7 }, keepAliveMs: 9_000 }
    const told = { changed: ['keep_alive'], overridden: ['rate.khr_per_usd', 'limits.tpm'], refused: [] }
    expect(await server.reload(next)).toEqual(told)
    expect(settings.values()).toMatchObject({ khr_per_usd: 4200, limits: { rpm: 9, tpm: 0 } })
  })

  test('may remove an account with running streams: they end as they began, and no others go there', async () => {
    const finish = gate()
    const leaving = await provider(({ text }) =>
      JSON.parse(text).stream === true ? streamed(CHAT, CHAT.word('old'), finish, CHAT.word('still old')) : whole(CHAT),
    )
    const staying = await provider(answering)
    const both = providersAt({ b: [staying.origin, leaving.origin] })
    const [one, two] = both.vendor_b.accounts
    const gateway = await gatewayOf({ providers: { vendor_b: { accounts: two === undefined ? [] : [two] } } })
    const streams = await Promise.all([0, 1, 2].map(() => gateway.post(CHAT.path, CHAT.request(true))))
    await gateway.reload({ providers: { vendor_b: { accounts: one === undefined ? [] : [one] } } })
    for (let at = 0; at < 10; at++) await (await gateway.post(CHAT.path, CHAT.request(false))).text()
    expect([leaving.requests.length, staying.requests.length]).toEqual([3, 10])
    finish.open()
    for (const stream of streams) expect(await stream.text()).toContain('[DONE]')
    const figures = await gateway.quiet()
    expect(figures.sum('sluice_attempts_total{provider="vendor_b",account="two",code="ok"}')).toBe(3)
    expect(figures.sum('sluice_breaker_state{provider="vendor_b",account="two"')).toBe(0)
    expect(figures.sum('sluice_tokens_total')).toBe(13 * 8)
  })

  test('that is gone changes nothing, and the log says so', async () => {
    const vendor = await provider(answering)
    const gateway = await gatewayOf({ providers: providersAt({ b: [vendor.origin] }) }, { apart: true })
    const { child, directory } = gateway
    rmSync(join(directory, 'sluice.yaml'))
    child?.kill('SIGHUP')
    expect(await child?.says(/^\{.*configuration.*reloaded.*/)).toContain('not reloaded')
    expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
  })

  test('that is wrong changes nothing, and the log says why', async () => {
    const vendor = await provider(answering)
    const gateway = await gatewayOf({ providers: providersAt({ b: [vendor.origin] }) }, { apart: true })
    const { child, directory } = gateway
    writeFileSync(join(directory, 'sluice.yaml'), 'limits: { rpm: fast }\nproviders: {}\n')
    child?.kill('SIGHUP')
    const line = JSON.parse((await child?.says(/^\{.*not reloaded.*/)) ?? '{}')
    expect(line.problems).toEqual([expect.stringContaining('limits.rpm: found "fast"')])
    expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
  })

  test('says in the log what changed and what needs a restart, never a value', async () => {
    const vendor = await provider(answering)
    const gateway = await gatewayOf({ providers: providersAt({ b: [vendor.origin] }) }, { apart: true })
    const { child, directory } = gateway
    const file = {
      listen: { port: 1 },
      data: './elsewhere',
      log: { level: 'warn' },
      providers: { ...providersAt({ b: [vendor.origin] }), extra: { wires: ['messages'], accounts: [] } },
      fallbacks: { 'vendorB-5.5': ['vendorB-5.4'] },
      keep_alive: '9s',
      metrics: { enabled: true, token: 'a-secret-token' },
    }
    writeFileSync(join(directory, 'sluice.yaml'), JSON.stringify(file))
    child?.kill('SIGHUP')
    const text = (await child?.says(/^\{.*configuration reloaded.*/)) ?? '{}'
    const { changed, refused, msg } = JSON.parse(text)
    expect(msg).toBe('configuration reloaded, but a restart is needed for listen and data')
    expect(changed.sort()).toEqual(
      ['drain', 'fallbacks.vendorB-5.5', 'keep_alive', 'metrics.token', 'providers.extra'].sort(),
    )
    expect(refused).toEqual(['listen', 'data'])
    expect(text).not.toContain('a-secret-token')
    // The next one is held against this one, and what needs a restart still does.
    writeFileSync(join(directory, 'sluice.yaml'), JSON.stringify({ ...file, keep_alive: '8s' }))
    child?.kill('SIGHUP')
    const next = JSON.parse((await child?.says(/^\{.*"changed":\["keep_alive"\].*/)) ?? '{}')
    expect([next.changed, next.refused]).toEqual([['keep_alive'], ['listen', 'data']])
    expect((await fetch(`${gateway.url}/v1`)).status).toBe(200)
  })
})

describe('a store that cannot be written', () => {
  test.skipIf(BINARY !== undefined)(
    'refuses new requests with 503, keeps what is to be written, and recovers',
    async () => {
      const finish = gate()
      const vendor = await provider(({ text }, index) =>
        JSON.parse(text).stream === true && index === 0 ? streamed(CHAT, finish, CHAT.word('hello')) : whole(CHAT),
      )
      const gateway = await gatewayOf({ providers: providersAt({ b: [vendor.origin] }) })
      const here = gateway.server?.gateway
      if (here === undefined) throw new Error('not in this process')
      const running = gateway.post(CHAT.path, CHAT.request(true)).then((response) => response.text())
      await vendor.arrived(0)
      const journal = journalOf(here)
      const { write } = journal
      journal.write = () => {
        throw new Error('database or disk is full')
      }
      const refused = await gateway.post(CHAT.path, CHAT.request(false))
      expect([refused.status, refused.headers.get('x-gateway-error-code')]).toEqual([503, 'service_unavailable'])
      expect(refused.headers.get('retry-after')).not.toBeNull()
      expect(vendor.requests).toHaveLength(1)
      // The one that runs is answered all the same; its settlement waits for the store.
      finish.open()
      expect(await running).toContain('[DONE]')
      expect((await gateway.figures()).sum('sluice_ledger_write_failures_total')).toBeGreaterThan(0)
      journal.write = write
      expect((await gateway.post(CHAT.path, CHAT.request(false))).status).toBe(200)
      await gateway.quiet()
      await here.ledger.flush()
      const rows = await here.store.exchanges({ limit: 10 })
      expect(rows.map(({ outcome, output }) => [outcome, output])).toEqual([
        ['done', 5],
        ['done', 5],
      ])
    },
  )

  const mountable = process.platform === 'linux' && process.getuid?.() === 0 && canMount()
  test.skipIf(!mountable)(
    'on a disk that is really full: 503 while it is, and every row once it is not',
    async () => {
      const disk = mkdtempSync(join(tmpdir(), 'sluice-disk-'))
      expect(Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk]).exitCode).toBe(0)
      try {
        const vendor = await provider(answering)
        const gateway = await openGateway({ providers: providersAt({ b: [vendor.origin] }), data: join(disk, 'data') })
        const ask = async () => (await gateway.post(CHAT.path, CHAT.request(false))).status
        expect(await ask()).toBe(200)
        // Whoever asks for sums has them written: nothing waits then, and that nothing can be written the disk alone says.
        await gateway.quiet()
        const history = `${gateway.url}/v1/usage/history`
        expect((await fetch(history, { headers: { 'x-api-key': gateway.secret } })).status).toBe(200)
        // As much as there is, whatever is written beside it meanwhile.
        expect(() => writeFileSync(join(disk, 'filler'), new Uint8Array(4 * 1024 * 1024))).toThrow('ENOSPC')
        let answered = 1
        let status = 200
        while (status === 200 && answered < 5_000) {
          status = await ask()
          if (status === 200) answered++
        }
        expect(status).toBe(503)
        expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503)
        rmSync(join(disk, 'filler'))
        expect(await ask()).toBe(200)
        answered++
        await gateway.quiet()
        const usage = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': gateway.secret } })
        expect(((await usage.json()) as { tokens_used: number }).tokens_used).toBe(answered * 8)
        await gateway.stop()
      } finally {
        Bun.spawnSync(['umount', '-l', disk])
        rmSync(disk, { recursive: true, force: true })
      }
    },
    120_000,
  )
})

describe('uncaught errors', () => {
  test('are logged without long quotations, and the tenth within a minute stops the server', () => {
    const said: [string, object | undefined][] = []
    const log = { ...silentLog, error: (message: string, facts?: object) => void said.push([message, facts]) }
    let now = 0
    let stopped = 0
    const fault = createFaults(
      log,
      () => stopped++,
      () => now,
    )
    for (let at = 0; at < 30; at++) {
      fault(new TypeError('x'.repeat(5_000)))
      now += 10_000
    }
    expect(stopped).toBe(0)
    expect(JSON.stringify(said[0]).length).toBeLessThan(2_500)
    for (let at = 0; at < 10; at++) fault('thrown as it is')
    expect(stopped).toBe(1)
  })
})

describe('the bound on memory', () => {
  test('asks for a collection before it refuses, and never refuses a request that is alone', () => {
    let bytes = 200
    let collected = 0
    const frees = createMemory(
      () => bytes,
      () => {
        collected++
        bytes = 50
      },
    )
    expect([frees.past(100, 5, 0), collected]).toEqual([false, 1])
    const full = createMemory(
      () => 200,
      () => undefined,
    )
    expect([full.past(100, 1, 0), full.past(100, 0, 0), full.past(300, 1, 0)]).toEqual([true, false, false])
  })

  test.each([
    [10, 1_000],
    [400, 8_000],
  ])('where a collection takes %d ms, asks for the next after %d', (takesMs, pauseMs) => {
    let now = 0
    const collected: number[] = []
    const full = createMemory(
      () => 200,
      () => {
        collected.push(now)
        now += takesMs
      },
      () => now,
    )
    for (; now < 3 * (takesMs + pauseMs); now += 50) expect(full.past(100, 1, 0)).toBe(true)
    expect(collected).toEqual([0, 1, 2].map((times) => times * (takesMs + pauseMs)))
  })

  test.each([
    [1, 20],
    [2 * 1024 * 1024, 200],
  ])('with %d bytes on their way, looks %d times a second however many come', (announced, looks) => {
    let now = 0
    let looked = 0
    const read = () => {
      looked++
      return 0
    }
    const memory = createMemory(
      read,
      () => undefined,
      () => now,
    )
    for (; now < 1_000; now++) for (let at = 0; at < 3; at++) memory.past(1e9, 1, announced)
    expect(looked).toBe(looks)
  })

  test('counts announced bodies that have not arrived', () => {
    const MB = 1024 * 1024
    const memory = createMemory(
      () => 100 * MB,
      () => undefined,
    )
    const after = [20, 60, 90].map((announced) => memory.past(400 * MB, 1, announced * MB))
    expect(after).toEqual([false, false, true])
    expect(memory.past(400 * MB, 0, 90 * MB)).toBe(false)
  })

  test('has room for whole answers until they are given back; for a large part of it not even for one that is alone', () => {
    const MB = 1024 * 1024
    const memory = createMemory(
      () => 100 * MB,
      () => undefined,
    )
    // 400 MB beside what is left to small bodies.
    const room = createRoom(memory, () => (400 * MB * 16) / 15)
    expect([room.take(0, 70 * MB), room.take(0, 10 * MB), room.take(70 * MB, 6 * MB)]).toEqual([true, false, false])
    room.give(70 * MB)
    expect([room.take(0, 75 * MB), room.take(75 * MB, MB)]).toEqual([true, false])
    room.give(75 * MB)
    const full = createRoom(memory, () => 80 * MB)
    expect([full.take(0, 9 * MB), full.take(9 * MB, MB), full.take(0, MB)]).toEqual([true, true, false])
    full.give(10 * MB)
    expect(full.take(0, 11 * MB)).toBe(false)
    expect(createRoom(memory, () => 0).take(0, 1000 * MB)).toBe(true)
  })
})

describe('a stop', () => {
  test('lets a running stream finish', async () => {
    const finish = gate()
    const vendor = await provider(() => streamed(CHAT, CHAT.word('hello'), finish, CHAT.word('goodbye')))
    const gateway = await openGateway({ providers: providersAt({ b: [vendor.origin] }), drain: '10s' })
    const response = await gateway.post(CHAT.path, CHAT.request(true))
    const stopped = gateway.stop()
    finish.open()
    const text = await response.text()
    expect(text).toContain('goodbye')
    expect(text).toContain('[DONE]')
    await stopped
  })

  test('ends what outlasts its time with an error', async () => {
    const vendor = await provider(() => streamed(CHAT, CHAT.word('hello'), gate()))
    const gateway = await openGateway({ providers: providersAt({ b: [vendor.origin] }), drain: '100ms' })
    const response = await gateway.post(CHAT.path, CHAT.request(true))
    const stopped = gateway.stop()
    const text = await response.text()
    expect(text).toContain('hello')
    expect(text).toContain('event: error')
    expect(text).toContain('service_unavailable')
    await stopped
    expect(await vendor.requests[0]?.closed).toBe('aborted')
  })
})

/** Whether this process may mount, as containers often may not. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-mount-'))
  const able = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).exitCode === 0
  if (able) Bun.spawnSync(['umount', folder])
  rmSync(folder, { recursive: true, force: true })
  return able
}
