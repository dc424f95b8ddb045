// The server killed in the middle of load: at its next start no exchange is lost, none counted twice, and what is on the
// key is what is in the rows. The compiled file when SLUICE_BINARY names it; SLUICE_KILLS says how often (default 3).

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileConfig } from '../../src/config/schema.ts'
import { CHAT_WIRES } from '../../src/ir/wire.ts'
import { createLedger } from '../../src/ledger/create.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import type { Store } from '../../src/store/store.ts'
import { type Child, endAll, launch, PROGRAM } from '../binary/support/process.ts'
import { PATHS } from '../support/paths.ts'
import { type Handler, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { requestOn, spoken, toldButOpen, totalOf } from './support.ts'

const KILLS = Number(process.env.SLUICE_KILLS ?? 3)
const CLIENTS = 24
const MODELS = ['vendorA-opus-4-8', 'vendorB-5.5'] as const
const billed = { input: 30, cached: 2, output: 20 }
/** Settlements wait some milliseconds to be written together; a busy machine is given time for it. */
const SETTLED_MS = 500

let provider: Scripted
let answers: Handler
let directory: string
beforeAll(async () => {
  provider = await startScripted((request, index) => answers(request, index))
})
afterAll(() => provider.stop())
afterEach(async () => {
  await endAll()
  rmSync(directory, { recursive: true, force: true })
})

/** A data directory with a key in it. */
const prepare = async (): Promise<string> => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-killed-'))
  const account = (base_url: string) => ({ accounts: [{ name: 'main', base_url, credential: 'secret' }] })
  const file: FileConfig = {
    ...{ listen: { port: 0 }, data: './data', log: { level: 'silent' } },
    providers: { vendor_a: account(provider.origin), vendor_b: account(`${provider.origin}/v1`) },
  }
  writeFileSync(join(directory, 'sluice.yaml'), JSON.stringify(file))
  const create = launch(PROGRAM, ['keys', 'create', '--label', 'x', '--tokens', '1000000000', '--json'], directory)
  if ((await create.exited) !== 0) throw new Error(await create.err)
  return String(JSON.parse(await create.out).key)
}

const start = async (): Promise<{ child: Child; url: string }> => {
  const child = launch(PROGRAM, ['serve'], directory)
  return { child, url: await child.ready() }
}

const kill = async (child: Child): Promise<void> => {
  child.kill('SIGKILL')
  await child.exited
}

/** The next start of a server, as far as its books are concerned. */
const recovered = <T>(look: (store: Store) => T): T => {
  const store = openStore(join(directory, 'data', 'sluice.db'))
  try {
    createLedger({ store, clock: Date.now, prices: () => () => undefined })
    return look(store)
  } finally {
    store.close()
  }
}

const wireOf = (path: string) => CHAT_WIRES.find((wire) => PATHS[wire] === path) ?? 'messages'

const post = (url: string, path: string, body: object, secret: string): Promise<Response> =>
  fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** The exchange's id, once the stream has been read until the connection breaks: nothing holds the provider back. */
const idOnceBroken = async (asking: Promise<Response>): Promise<string> => {
  const response = await asking
  await response.text().catch(() => undefined)
  return response.headers.get('x-request-id') ?? ''
}

type Heard = { id: string; at: number }

/** Asks without pause until the server is gone; what was answered whole, and when. */
const load = async (url: string, secret: string, seed: number, heard: Heard[], enough: () => void): Promise<void> => {
  for (let i = seed; ; i++) {
    const wire = CHAT_WIRES[i % 3] ?? 'messages'
    const model = MODELS[i % 2] ?? MODELS[0]
    const stream = i % 4 < 2
    try {
      const response = await post(url, PATHS[wire], requestOn(wire, model, stream, 100), secret)
      const text = await response.text()
      expect([response.status, text.includes('event: error')]).toEqual([200, false])
      heard.push({ id: response.headers.get('x-request-id') ?? '', at: performance.now() })
      enough()
    } catch (error) {
      if (error instanceof TypeError || (error as { code?: string }).code !== undefined) return
      throw error
    }
  }
}

describe('a server that is killed', () => {
  test(
    `in the middle of load, ${KILLS} times, loses no exchange and counts none twice`,
    async () => {
      answers = (request) => spoken(wireOf(request.path), JSON.parse(request.text).stream === true, { billed })
      const secret = await prepare()
      const whole: (Heard & { round: number })[] = []
      const killedAt: number[] = []
      const from = provider.requests.length
      for (let round = 0; round < KILLS; round++) {
        const { child, url } = await start()
        const heard: Heard[] = []
        const wanted = 150 + Math.floor(Math.random() * 200)
        const { promise: loaded, resolve } = Promise.withResolvers<void>()
        const enough = () => {
          if (heard.length >= wanted) resolve()
        }
        const clients = Array.from({ length: CLIENTS }, (_, at) => load(url, secret, at, heard, enough))
        await Promise.race([loaded, Promise.all(clients)])
        killedAt.push(performance.now())
        await kill(child)
        await Promise.all(clients)
        expect(heard.length).toBeGreaterThanOrEqual(wanted)
        whole.push(...heard.map((each) => ({ ...each, round })))
      }
      const asked = provider.requests.length - from
      for (let start = 0; start < 2; start++) {
        recovered((store) => {
          const rows = store.exchanges({ limit: 1_000_000 })
          const known = new Map(rows.map((row) => [row.id, row]))
          expect(known.size).toBe(rows.length)
          // Every call of the provider had its reservation before; no request was reserved twice.
          expect(rows.length).toBeGreaterThanOrEqual(asked)
          expect(rows.length).toBeLessThanOrEqual(whole.length + KILLS * CLIENTS)
          expect(rows.filter((row) => row.outcome === null)).toEqual([])
          for (const { id, at, round } of whole) {
            const row = known.get(id)
            if (row === undefined) throw new Error(`${id} was answered and is not on the books`)
            if (at > (killedAt[round] ?? 0) - SETTLED_MS && row.outcome === 'failed') continue
            expect([row.outcome, totalOf(row), row.estimated]).toEqual(['done', 52, false])
          }
          const total = rows.reduce((sum, row) => sum + totalOf(row), 0)
          expect(store.keys.list()[0]?.tokensUsed).toBe(total)
          for (const by of ['key', 'day', 'model'] as const) {
            const sums = store.usage({ by }).rows
            expect(sums.reduce((sum, row) => sum + row.requests, 0)).toBe(rows.length)
            expect(sums.reduce((sum, row) => sum + row.input + row.cacheRead + row.cacheWrite + row.output, 0)).toBe(
              total,
            )
          }
        })
      }
    },
    60_000 + KILLS * 15_000,
  )

  test('in the middle of streams loses at most two seconds of each', async () => {
    const WORD = 'four'
    const EVERY_MS = 20
    const RUNS_MS = 3_200
    const sentAt = new Map<string, number[]>()
    answers = (request) => {
      const wire = wireOf(request.path)
      const { steps } = spoken(wire, true, { billed, steps: [] })
      const { steps: one } = spoken(wire, true, { billed, steps: [WORD] })
      const begin = [...(steps as string[])][0] ?? ''
      const word = [...(one as string[])][1] ?? ''
      const times: number[] = []
      sentAt.set(`${wire} ${request.text.length}`, times)
      async function* talk() {
        yield begin
        for (;;) {
          times.push(performance.now())
          yield word
          await Bun.sleep(EVERY_MS)
        }
      }
      return { headers: { 'content-type': 'text/event-stream' }, steps: talk() }
    }
    const secret = await prepare()
    const { child, url } = await start()
    const first = provider.requests.length
    const streams = [
      post(url, PATHS.messages, requestOn('messages', MODELS[0], true), secret),
      post(url, PATHS['chat-completions'], requestOn('chat-completions', MODELS[0], true), secret),
      post(url, PATHS.responses, requestOn('responses', MODELS[1], true), secret),
    ].map(idOnceBroken)
    await provider.arrived(first + 2)
    await Bun.sleep(RUNS_MS)
    const killed = performance.now()
    await kill(child)
    const ids = await Promise.all(streams)
    // Each word is one token by the gateway's own count of a stream under way.
    const due = [...sentAt.values()].map((times) => times.filter((at) => at <= killed - 2_000).length)
    const sent = [...sentAt.values()].map((times) => times.length)
    expect(Math.min(...due)).toBeGreaterThan(10)
    recovered((store) => {
      for (const id of ids) {
        const [row] = store.exchanges({ limit: 1, id })
        expect(row).toMatchObject({ outcome: 'failed', estimated: true, errorCode: 'internal_error' })
        expect(row?.output).toBeGreaterThanOrEqual(Math.min(...due))
        expect(row?.output).toBeLessThanOrEqual(Math.max(...sent))
        expect(row?.input).toBeGreaterThan(0)
      }
    })
  }, 60_000)

  test('behind the last figures of a provider that does not end its stream settles them', async () => {
    const RUNS_MS = 2_000
    const steps = Array.from({ length: 100 }, () => 'four ')
    answers = (request) => toldButOpen(wireOf(request.path), { billed, steps, end: 'stall' })
    const secret = await prepare()
    const { child, url } = await start()
    const first = provider.requests.length
    const streams = [
      post(url, PATHS.messages, requestOn('messages', MODELS[0], true), secret),
      post(url, PATHS['chat-completions'], requestOn('chat-completions', MODELS[0], true), secret),
      post(url, PATHS['chat-completions'], requestOn('chat-completions', MODELS[1], true), secret),
    ].map(idOnceBroken)
    await provider.arrived(first + streams.length - 1)
    await Bun.sleep(RUNS_MS)
    await kill(child)
    const ids = await Promise.all(streams)
    recovered((store) => {
      for (const id of ids) {
        const [row] = store.exchanges({ limit: 1, id })
        expect(row).toMatchObject({
          outcome: 'failed',
          input: billed.input,
          cacheRead: billed.cached,
          output: billed.output,
        })
      }
    })
  }, 60_000)
})
