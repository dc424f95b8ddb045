// The server killed in the middle of load: at its next start no exchange is lost, none counted twice, what is on the key is
// what is in the rows, and what a client had whole is billed to the token. The compiled file when SLUICE_BINARY names it;
// SLUICE_KILLS says how often (default 3).

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileConfig } from '../../src/config/schema.ts'
import { CHAT_WIRES } from '../../src/ir/wire.ts'
import { createLedger } from '../../src/ledger/create.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import type { SqliteStore } from '../../src/store/store.ts'
import { type Child, endAll, killWhole, launch, PROGRAM } from '../binary/support/process.ts'
import { fileBooks } from '../growth/books.ts'
import { until } from '../growth/fleet.ts'
import { PATHS } from '../support/paths.ts'
import { type Handler, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { exchangesOf, requestOn, spoken, toldButOpen, totalOf } from './support.ts'

const KILLS = Number(process.env.SLUICE_KILLS ?? 3)
const CLIENTS = 200
const MODELS = ['vendorA-opus-4-8', 'vendorB-5.5', 'vendorB-5.4'] as const
const billed = { input: 30, cached: 2, output: 20 }
/** Every wire of a client with every model, as a stream and whole. */
const ASKED = CHAT_WIRES.flatMap((wire) =>
  MODELS.flatMap((model) => [true, false].map((stream) => ({ wire, model, stream }))),
)
/** How an answer ends that its client has whole, whatever becomes of its connection. */
const LAST_WORDS = {
  messages: /event: message_stop\ndata: .*\n\n$/,
  'chat-completions': /data: \[DONE\]\n\n$/,
  responses: /event: response\.completed\ndata: .*\n\n$/,
}

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
    providers: {
      vendor_a: account(provider.origin),
      vendor_b: account(`${provider.origin}/v1`),
      // A vendor that speaks the one wire alone, so that each is reached from each.
      vendor_c: { ...account(`${provider.origin}/v1`), wires: ['chat-completions'] },
    },
    models: {
      'vendorB-5.4': { provider: 'vendor_c' },
      'vendorB-image-1': { price: { input: 0, output: 0, per_image: { '1024x1024': 0.04, default: 0.2 } } },
    },
    budget: { usd: 1_000_000 },
  }
  writeFileSync(join(directory, 'sluice.yaml'), JSON.stringify(file))
  const key = ['--label', 'x', '--tokens', '1000000000', '--budget', '1000000000tokens']
  const create = launch(PROGRAM, ['keys', 'create', ...key, '--json'], directory)
  if ((await create.exited) !== 0) throw new Error(await create.err)
  return String(JSON.parse(await create.out).key)
}

const start = async (): Promise<{ child: Child; url: string }> => {
  const child = launch(PROGRAM, ['serve'], directory)
  return { child, url: await child.ready() }
}

/** Resolves once so many reservations are as this says: what their progress came to is written every so often. */
const written = async (count: number, where: string): Promise<void> => {
  const reading = fileBooks(join(directory, 'data', 'sluice.db'))
  try {
    await until(async () => (await reading.query(`SELECT 1 FROM reservations WHERE ${where}`)).length >= count)
  } finally {
    await reading.close()
  }
}

/** The next start of a server, as far as its books are concerned. */
const recovered = async <T>(look: (store: SqliteStore) => T | Promise<T>): Promise<T> => {
  const store = openStore(join(directory, 'data', 'sluice.db'))
  try {
    createLedger({ store, clock: Date.now, prices: () => () => undefined })
    return await look(store)
  } finally {
    await store.close()
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
const idOnceBroken = async (asking: Promise<Response>, hears = (_text: string): void => undefined): Promise<string> => {
  const response = await asking
  const bytes = new TextDecoder()
  try {
    for await (const piece of response.body ?? []) hears(bytes.decode(piece, { stream: true }))
  } catch {
    // It has broken.
  }
  return response.headers.get('x-request-id') ?? ''
}

/** Asks without pause until the server is gone: the ids of what was answered whole. */
const load = async (
  url: string,
  secret: string,
  seed: number,
  { heard, kept, refused, enough }: { heard: string[]; kept: string[]; refused: string[]; enough: () => void },
): Promise<void> => {
  for (let i = seed; ; i++) {
    const { wire, model, stream } = ASKED[i % ASKED.length] ?? { wire: 'messages', model: MODELS[0], stream: true }
    let text = ''
    try {
      const response = await post(url, PATHS[wire], requestOn(wire, model, stream, 100), secret)
      if (response.status === 503) {
        // A worker that is not answered in time, as on a busy machine: it may be asked again.
        refused.push(response.headers.get('x-request-id') ?? '')
        await response.text()
        continue
      }
      expect(response.status).toBe(200)
      const bytes = new TextDecoder()
      const whole = () => (stream ? LAST_WORDS[wire].test(text) : text.endsWith('}') && isWhole(text))
      const told = () => {
        if (!whole()) return false
        heard.push(response.headers.get('x-request-id') ?? '')
        // Made of another wire's: the gateway alone can say what its client refers to by that.
        if (wire === 'responses' && model !== 'vendorB-5.5') kept.push(/"id":"(resp_[^"]+)"/.exec(text)?.[1] ?? '')
        enough()
        return true
      }
      // The client may have the last word before the connection says that it was the last.
      let has = false
      for await (const piece of response.body ?? []) {
        text += bytes.decode(piece, { stream: true })
        if (!has) has = told()
      }
      expect([has, text.includes('event: error')]).toEqual([true, false])
    } catch (error) {
      if (error instanceof TypeError || (error as { code?: string }).code !== undefined) return
      throw error
    }
  }
}

const isWhole = (text: string): boolean => {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

describe('a server that is killed', () => {
  test(
    `in the middle of load, ${KILLS} times, loses no exchange, counts none twice and bills what its clients had whole`,
    async () => {
      answers = (request) => spoken(wireOf(request.path), JSON.parse(request.text).stream === true, { billed })
      const secret = await prepare()
      const whole: string[] = []
      const kept: string[] = []
      const refused: string[] = []
      const from = provider.requests.length
      for (let round = 0; round < KILLS; round++) {
        const { child, url } = await start()
        const heard: string[] = []
        const wanted = 300 + Math.floor(Math.random() * 300)
        const { promise: loaded, resolve } = Promise.withResolvers<void>()
        const enough = () => {
          if (heard.length >= wanted) resolve()
        }
        const clients = Array.from({ length: CLIENTS }, (_, at) =>
          load(url, secret, at, { heard, kept, refused, enough }),
        )
        await Promise.race([loaded, Promise.all(clients)])
        await killWhole(child)
        await Promise.all(clients)
        expect(heard.length).toBeGreaterThanOrEqual(wanted)
        whole.push(...heard)
      }
      const asked = provider.requests.length - from
      for (let start = 0; start < 2; start++) {
        await recovered(async (store) => {
          // What was set aside for one that was refused all the same is given back.
          const rows = (await exchangesOf(store)).filter(({ id }) => !refused.includes(id))
          const known = new Map(rows.map((row) => [row.id, row]))
          expect(known.size).toBe(rows.length)
          // Every call of the provider had its reservation before; no request was reserved twice.
          expect(rows.length).toBeGreaterThanOrEqual(asked)
          expect(rows.length).toBeLessThanOrEqual(whole.length + KILLS * CLIENTS)
          expect(rows.filter((row) => row.outcome === null)).toEqual([])
          const billedOf = (id: string) => {
            const row = known.get(id)
            return row && [row.outcome, totalOf(row), row.estimated].join(' ')
          }
          expect(whole.filter((id) => billedOf(id) !== 'done 52 false').map((id) => [id, billedOf(id)])).toEqual([])
          // The vendor bills at least the prompt of what was cut.
          for (const row of rows.filter(({ outcome }) => outcome === 'failed')) {
            expect(row).toMatchObject({ estimated: true })
            expect(row.input).toBeGreaterThan(0)
          }
          const keyId = store.keys.list()[0]?.id ?? ''
          expect(kept.length).toBeGreaterThan(20)
          const found = await Promise.all(kept.map((id) => store.answers.find(keyId, id)))
          expect(kept.filter((_, at) => found[at] === undefined)).toEqual([])
          const total = rows.reduce((sum, row) => sum + totalOf(row), 0)
          expect(store.keys.list()[0]?.tokensUsed).toBe(total)
          const cost = rows.reduce((sum, row) => sum + row.costMicroUsd, 0)
          expect(store.budgets.list().map(({ used }) => used)).toEqual([
            { tokens: total, microUsd: cost },
            { tokens: total, microUsd: cost },
          ])
          expect(cost).toBeGreaterThan(0)
          for (const by of ['key', 'day', 'model'] as const) {
            const sums = (await store.usage({ by })).rows
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
    let sent = 0
    answers = (request) => {
      const wire = wireOf(request.path)
      const { steps } = spoken(wire, true, { billed, steps: [] })
      const { steps: one } = spoken(wire, true, { billed, steps: [WORD] })
      const begin = [...(steps as string[])][0] ?? ''
      const word = [...(one as string[])][1] ?? ''
      async function* talk() {
        yield begin
        for (let said = 1; ; said++) {
          sent = Math.max(sent, said)
          yield word
          await Bun.sleep(EVERY_MS)
        }
      }
      return { headers: { 'content-type': 'text/event-stream' }, steps: talk() }
    }
    const secret = await prepare()
    const { child, url } = await start()
    // By what its clients have heard: on a busy machine the provider is ahead of it.
    const streams = [
      post(url, PATHS.messages, requestOn('messages', MODELS[0], true), secret),
      post(url, PATHS['chat-completions'], requestOn('chat-completions', MODELS[0], true), secret),
      post(url, PATHS.responses, requestOn('responses', MODELS[1], true), secret),
    ].map((asking) => {
      const heardAt: number[] = []
      const hears = (text: string): void => {
        for (const _ of text.matchAll(new RegExp(WORD, 'g'))) heardAt.push(performance.now())
      }
      return { heardAt, ended: idOnceBroken(asking, hears) }
    })
    const due = ({ heardAt }: { heardAt: number[] }, now: number): number =>
      heardAt.filter((at) => at <= now - 2_000).length
    await until(() => streams.every((stream) => due(stream, performance.now()) > 30))
    const killed = performance.now()
    await killWhole(child)
    for (const { ended } of streams) await ended
    await recovered(async (store) => {
      for (const stream of streams) {
        const [row] = await store.exchanges({ limit: 1, id: await stream.ended })
        expect(row).toMatchObject({ outcome: 'failed', estimated: true, errorCode: 'internal_error' })
        // Each word is one token by the gateway's own count of a stream under way.
        expect(row?.output).toBeGreaterThanOrEqual(due(stream, killed))
        expect(row?.output).toBeLessThanOrEqual(sent)
        expect(row?.input).toBeGreaterThan(0)
      }
    })
  })

  test('while pictures are drawn and tools run at the vendor bills both by the piece', async () => {
    const searches = (count: number) =>
      Array.from({ length: count }, (_, index) => {
        const block = { type: 'server_tool_use', id: `srvtoolu_${index}`, name: 'web_search', input: {} }
        const begun = { type: 'content_block_start', index: index + 1, content_block: block }
        const ended = { type: 'content_block_stop', index: index + 1 }
        return [begun, ended].map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join('')
      })
    answers = (request) => {
      if (request.path === PATHS.images) return { end: 'hang' }
      const { steps: begin = [], ...script } = spoken('messages', true, { billed, steps: [], end: 'stall' })
      return { ...script, steps: [...(begin as string[]), ...searches(3)] }
    }
    const secret = await prepare()
    const { child, url } = await start()
    const first = provider.requests.length
    const picture = { model: 'vendorB-image-1', prompt: 'a lock', n: 2, size: '1024x1024' }
    const drawing = post(url, PATHS.images, picture, secret).catch(() => undefined)
    const searching = idOnceBroken(post(url, PATHS.messages, requestOn('messages', MODELS[0], true), secret))
    await provider.arrived(first + 1)
    await written(1, `server_tools = '{"web_search":3}'`)
    await killWhole(child)
    await Promise.all([drawing, searching])
    const again = await start()
    again.child.kill('SIGTERM')
    await again.child.exited
    await recovered(async (store) => {
      const rows = await exchangesOf(store)
      expect(
        rows.map(({ wire, outcome, feesMicroUsd, serverTools }) => [wire, outcome, feesMicroUsd, serverTools]),
      ).toEqual(
        expect.arrayContaining([
          ['images', 'failed', 80_000, null],
          ['messages', 'failed', 30_000, { web_search: 3 }],
        ]),
      )
      const [sums] = (await store.usage({ by: 'key' })).rows
      expect(sums).toMatchObject({ requests: 2, feesMicroUsd: 110_000, serverTools: { web_search: 3 } })
      expect(sums?.costMicroUsd).toBe(rows.reduce((sum, row) => sum + row.costMicroUsd, 0))
    })
  })

  test('behind the last figures of a provider that does not end its stream settles them', async () => {
    const steps = Array.from({ length: 100 }, () => 'four ')
    answers = (request) => toldButOpen(wireOf(request.path), { billed, steps, end: 'stall' })
    const secret = await prepare()
    const { child, url } = await start()
    const first = provider.requests.length
    const streams = [
      post(url, PATHS.messages, requestOn('messages', MODELS[0], true), secret),
      post(url, PATHS['chat-completions'], requestOn('chat-completions', MODELS[0], true), secret),
      post(url, PATHS['chat-completions'], requestOn('chat-completions', MODELS[1], true), secret),
    ].map((asking) => idOnceBroken(asking))
    await provider.arrived(first + streams.length - 1)
    await written(streams.length, `output = ${billed.output}`)
    await killWhole(child)
    const ids = await Promise.all(streams)
    await recovered(async (store) => {
      for (const id of ids) {
        const [row] = await store.exchanges({ limit: 1, id })
        expect(row).toMatchObject({
          outcome: 'failed',
          input: billed.input,
          cacheRead: billed.cached,
          output: billed.output,
        })
      }
    })
  })
})
