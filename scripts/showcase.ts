// A gateway with a month of mixed traffic behind it, in front of the demo providers: what the screenshots show.
// Everything in it went through the gateway itself, under a clock that was set back.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../src/app.ts'
import { type Config, databasePath, loadConfig, problemLine } from '../src/config.ts'
import { startDemoProviders } from '../src/demo/index.ts'
import { createGateway } from '../src/gateway.ts'
import { ownBooksIn } from '../src/server/own-books.ts'
import { startServer } from '../src/server/serve.ts'
import { openStore } from '../src/store/sqlite/index.ts'
import { silentLog } from '../test/support/silent-log.ts'

type Showcase = {
  url: string
  setupToken: string
  /** The secret of a key with a history. */
  secret: string
  /** Sends some requests now, so that live pages move. */
  traffic(requests: number): Promise<void>
  stop(): Promise<void>
}

const HOUR_MS = 3_600_000
const DAYS = 34

const KEYS = [
  { label: 'support-bot', tokensTotal: 6_000_000, days: 200, models: ['*'] },
  { label: 'claude-code · Dara', tokensTotal: 12_000_000, days: 90, models: ['vendorA-*'] },
  {
    label: 'codex · Sokha',
    tokensTotal: 9_000_000,
    days: 90,
    models: ['vendorB-5.5', 'vendorB-5.4', 'vendorB-5.4-mini'],
  },
  {
    label: 'nightly-evals',
    tokensTotal: 2_000_000,
    days: 30,
    models: ['vendorA-haiku-4-5', 'vendorB-5.4-mini'],
    rpm: 60,
  },
  { label: 'product-images', tokensTotal: 400_000, days: 365, models: ['vendorB-image-1'] },
  { label: 'hackathon 2026', tokensTotal: 2_400, days: 20, models: ['*'] },
]
const MODELS = [
  ['vendorA-opus-4-8', 5],
  ['vendorA-sonnet-5', 6],
  ['vendorA-haiku-4-5', 4],
  ['vendorB-5.5', 4],
  ['vendorB-5.4-mini', 3],
  ['vendorB-4o', 1],
] as const
const PATHS = ['/v1/chat/completions', '/v1/responses', '/v1/messages'] as const

/** The same sequence each time, so that two runs show the same picture. */
const dice = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Long enough to be worth a provider's cache. */
const HANDBOOK = 'Open the lower gates only when the levels are equal, and say so before you do. '.repeat(400)

/** What a ticket is made of, and how many tokens it takes. */
const TICKET = 'The upper gate leaks since the flood. '
const TICKET_TOKENS = 8

type Ask = { path: string; body: object; secret: string }
type Roll = ReturnType<typeof dice>

const pick = (roll: Roll, prefix: string): string => {
  const models = MODELS.filter(([model]) => model.startsWith(prefix))
  let at = roll(models.reduce((sum, [, weight]) => sum + weight, 0))
  for (const [model, weight] of models) {
    at -= weight
    if (at < 0) return model
  }
  return 'auto'
}

const FAULTS = ['[[error:429]]', '[[error:overloaded*1]]', '[[error:500]]', '[[cut]]', '[[error:content_policy]]']

const askFor = (roll: Roll, secrets: string[]): Ask => {
  const secret = secrets[roll(secrets.length)] ?? ''
  if (secret === secrets[4]) {
    return {
      path: '/v1/images/generations',
      secret,
      body: { model: 'vendorB-image-1', prompt: 'A lock on a canal', size: '256x256' },
    }
  }
  const path = PATHS[roll(3)] ?? PATHS[0]
  const fault = roll(22) === 0 ? FAULTS[roll(FAULTS.length)] : ''
  // No figures by order where they would tell: the small key's quota, and what a cache gives back.
  const plain = secret === secrets[5] || secret === secrets[1]
  const [input, output] = [800 + roll(9_000), 120 + roll(1_400)]
  const figures = plain ? '' : `[[usage:${input},${output}]]`
  // As long as the figures say, or more would be billed than was reserved.
  const ticket = plain ? '' : TICKET.repeat(Math.ceil(input / TICKET_TOKENS))
  const text = `Summarise ticket ${roll(9_000)}. ${figures}[[slow:${20 + roll(160)}]]${fault} ${ticket}`
  const of = secrets.indexOf(secret)
  const model = of === 3 ? 'vendorA-haiku-4-5' : pick(roll, of === 1 ? 'vendorA' : of === 2 ? 'vendorB-5' : '')
  const stream = roll(3) > 0
  const turns = [{ role: 'user', content: text }]
  if (secret === secrets[1]) {
    const system = [{ type: 'text', text: HANDBOOK, cache_control: { type: 'ephemeral' } }]
    return {
      path: '/v1/messages',
      secret,
      body: { model, max_tokens: 2_000, system, messages: turns, stream },
    }
  }
  if (path === '/v1/responses') return { path, secret, body: { model, input: text, stream } }
  if (path === '/v1/messages') return { path, secret, body: { model, max_tokens: 2_000, messages: turns, stream } }
  return { path, secret, body: { model, messages: turns, max_tokens: 2_000, stream } }
}

const requestOf = (origin: string, { path, body, secret }: Ask): Request =>
  new Request(origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Plays the past into a data directory; resolves with the keys' secrets. */
const playPast = async (config: Config): Promise<string[]> => {
  const roll = dice(7)
  const real = Date.now()
  let setAt = real - DAYS * 24 * HOUR_MS
  let startedAt = performance.now()
  const now = (): number => Math.round(setAt + performance.now() - startedAt)
  const set = (time: number): void => {
    setAt = time
    startedAt = performance.now()
  }
  const store = openStore(databasePath(config), { clock: now })
  const secrets = await Promise.all(
    KEYS.map(async ({ days, ...key }) => {
      const input = { ...key, expiresAt: real + days * 24 * HOUR_MS }
      return (await store.keys.issue(input, { kind: 'cli', id: 'cli' })).secret
    }),
  )
  const gateway = await createGateway({ config, store, books: ownBooksIn(store), log: silentLog, clock: now })
  const app = createApp(gateway)
  for (let hour = DAYS * 24 - 3; hour >= 0; hour--) {
    const time = real - hour * HOUR_MS
    const ofDay = new Date(time).getUTCHours()
    const busy = [0, 6].includes(new Date(time).getUTCDay()) ? 0.3 : 1
    const shape = ofDay > 0 && ofDay < 11 ? 1 : 0.25
    // Long ago a few hours of each day will do; the last days are looked at hour by hour.
    const wanted = hour > 7 * 24 ? (roll(6) === 0 ? 3 : 0) : 3
    const count = Math.round(wanted * busy * shape * (0.6 + roll(10) / 8))
    if (count === 0) continue
    set(time - roll(HOUR_MS / 2) - HOUR_MS / 4)
    await Promise.all(
      Array.from({ length: count }, async () => {
        const answer = await app.handle(requestOf('http://showcase', askFor(roll, secrets)))
        await answer.arrayBuffer().catch(() => undefined)
      }),
    )
    // What a broken stream used is still counted: the clock moves on when that is done.
    while (gateway.ledger.openCount() > 0) await Bun.sleep(5)
  }
  await gateway.ledger.flush()
  await store.close()
  return secrets
}

export const startShowcase = async (): Promise<Showcase> => {
  const providers = await startDemoProviders({ delayMs: 6, record: 0 })
  const directory = mkdtempSync(join(tmpdir(), 'sluice-showcase-'))
  const loaded = loadConfig({
    flags: { host: '127.0.0.1', port: '0', data: join(directory, 'data') },
    cwd: directory,
    env: providers.env,
  })
  if (!loaded.ok) throw new Error(loaded.problems.map(problemLine).join('\n'))
  const config: Config = { ...loaded.config, fallbacks: { 'vendorA-opus-4-8': ['vendorB-5.5'] } }
  const secrets = await playPast(config)
  const lines: string[] = []
  const server = await startServer(config, { err: (line) => lines.push(line) }, { log: silentLog })
  const roll = dice(11)
  return {
    url: server.url,
    setupToken: lines.find((line) => line.startsWith('Setup'))?.split('#')[1] ?? '',
    secret: secrets[0] ?? '',
    traffic: async (requests) => {
      for (let sent = 0; sent < requests; sent++) {
        const answer = await fetch(requestOf(server.url, askFor(roll, secrets)))
        await answer.arrayBuffer().catch(() => undefined)
      }
    },
    stop: async () => {
      await server.stop()
      await providers.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
