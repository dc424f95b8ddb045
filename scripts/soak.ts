// A soak test: a mixed load with clients that leave, providers that fail and slow readers, then the accounts checked: no
// exchange lost, none twice, sums that agree, nothing left open, memory and descriptors that stay level.
//   bun scripts/soak.ts [--minutes 15] [--workers 24] [--short]

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type DemoProviders, startDemoProviders } from '../src/demo/index.ts'
import { launch, PROGRAM } from '../test/binary/support/process.ts'
import { audit } from './audit.ts'
import { figuresOf } from './figures.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '15' },
    workers: { type: 'string', default: '24' },
    short: { type: 'boolean', default: false },
  },
})
const MINUTES = values.short ? 10 / 60 : Number(values.minutes)
const WORKERS = Number(values.workers)
if (!(MINUTES > 0 && WORKERS > 0)) throw new Error('--minutes and --workers take numbers above 0')

const SAMPLE_MS = Math.min(10_000, (MINUTES * 60_000) / 20)
/** Load and rest take turns: only a process at rest has collected what nothing holds any more. */
const ROUND_MS = 45_000
const REST_MS = 15_000
/** Growth per minute that a run long enough to tell may show beyond doubt. */
const MOST_GROWTH = { rssBytes: 1024 * 1024, heapBytes: 512 * 1024, fds: 1 }
const LONG_ENOUGH_MINUTES = 10
/** What a process under this load comes to rest at: twice what was seen. */
const MOST_RSS_BYTES = 600 * 1024 * 1024
/** How long what is still open may take to settle, on a machine that has other things to do. */
const SETTLE_MS = 30_000

const FAULTS = [
  '[[error:500]]',
  '[[error:429]]',
  '[[error:context_length]]',
  '[[cut:5]]one two three four five six',
  '[[eof:5]]one two three four five six',
  '[[malformed:5]]one two three four five six',
  '[[stream-error]]one two three',
  '[[empty]]',
  '[[html]]',
]

type Sample = { atMs: number; rssBytes: number; heapBytes: number; fds: number }
type Counts = { asked: number; whole: number; left: number; failed: number; slow: number }
type Ask = { path: string; body: object }

const chance = (share: number): boolean => Math.random() < share
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T

const askFor = (content: string): Ask => {
  const model = pick(['vendorA-opus-4-8', 'vendorA-haiku-4-5', 'vendorB-5.5', 'vendorB-4o'])
  const stream = chance(0.7)
  const messages = [{ role: 'user', content }]
  switch (pick(['chat', 'responses', 'messages', 'messages', 'images'] as const)) {
    case 'chat':
      return { path: '/v1/chat/completions', body: { model, messages, stream } }
    case 'responses':
      return { path: '/v1/responses', body: { model, input: content, stream } }
    case 'messages':
      return { path: '/v1/messages', body: { model, messages, stream, max_tokens: 500 } }
    case 'images':
      return { path: '/v1/images/generations', body: { model: 'vendorB-image-1', prompt: content, size: '64x64' } }
  }
}

/** `seen` takes the ids of the answers it was given. */
type Client = { url: string; key: string; until: number; seen: Set<string>; counts: Counts }

/** One client for as long as a round lasts. */
const client = async ({ url, key, until, seen, counts }: Client): Promise<void> => {
  while (performance.now() < until) {
    counts.asked++
    const leaves = chance(0.05)
    const dawdles = chance(0.02)
    const { path, body } = askFor(
      chance(0.05) ? pick(FAULTS) : dawdles ? '[[long:3000]]' : `say something ${Math.random()}`,
    )
    const leaving = new AbortController()
    const timer = leaves ? setTimeout(() => leaving.abort(), Math.random() * 30) : undefined
    try {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify(body),
        signal: leaving.signal,
      })
      seen.add(response.headers.get('x-request-id') ?? '')
      if (dawdles) counts.slow++
      const reader = response.body?.getReader()
      let read = 0
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        if (dawdles && read++ < 100) await Bun.sleep(20)
      }
      if (response.ok) counts.whole++
      else counts.failed++
    } catch {
      counts.left++
    } finally {
      clearTimeout(timer)
    }
  }
}

/**
 * Growth per minute over the second half of the rests and its standard error, by least squares: the first half is what
 * a process grows into.
 */
const trendOf = (rests: Sample[], what: keyof typeof MOST_GROWTH): { perMinute: number; error: number } => {
  const late = rests
    .slice(Math.floor(rests.length / 2))
    .map((sample): [number, number] => [sample.atMs / 60_000, sample[what]])
  if (late.length < 3) return { perMinute: 0, error: Number.POSITIVE_INFINITY }
  const mean = (of: (point: [number, number]) => number): number =>
    late.reduce((sum, point) => sum + of(point), 0) / late.length
  const [minute, value] = [mean(([at]) => at), mean(([, seen]) => seen)]
  const spread = mean(([at]) => (at - minute) ** 2)
  const perMinute = mean(([at, seen]) => (at - minute) * (seen - value)) / spread
  const unexplained = mean(([at, seen]) => (seen - value - perMinute * (at - minute)) ** 2)
  return { perMinute, error: Math.sqrt(unexplained / spread / (late.length - 2)) }
}

/** Wrong is what grows beyond doubt: by more than it may, twice its uncertainty taken off. */
const growth = (rests: Sample[]): [string, string, boolean][] =>
  (Object.keys(MOST_GROWTH) as (keyof typeof MOST_GROWTH)[]).map((what) => {
    const { perMinute, error } = trendOf(rests, what)
    const shown = (amount: number): string => (what === 'fds' ? amount.toFixed(2) : `${(amount / 1024).toFixed(0)} KB`)
    return [
      `${what} a minute`,
      MINUTES < LONG_ENOUGH_MINUTES ? 'too short to tell' : `${shown(perMinute)} ± ${shown(error)}`,
      MINUTES < LONG_ENOUGH_MINUTES || perMinute - 2 * error < MOST_GROWTH[what],
    ]
  })

const mb = (bytes = 0): number => Math.round(bytes / 1024 / 1024)

const soak = async (vendors: DemoProviders, cwd: string): Promise<boolean> => {
  const env = vendors.env
  writeFileSync(join(cwd, 'sluice.yaml'), 'metrics: { enabled: true }\nlog: { level: error }\n')
  const words = ['keys', 'create', '--label', 'soak', '--tokens', '1000000000000', '--json']
  const { key } = JSON.parse(await launch(PROGRAM, words, cwd, env).out)
  const server = launch(PROGRAM, ['serve', '--port', '0'], cwd, env)
  try {
    const url = await server.ready()
    const seen = new Set<string>()
    const counts: Counts = { asked: 0, whole: 0, left: 0, failed: 0, slow: 0 }
    const samples: Sample[] = []
    const rests: Sample[] = []
    const begunAt = performance.now()
    const until = begunAt + MINUTES * 60_000
    const sample = async (): Promise<Sample> => {
      const figure = await figuresOf(url)
      const [rssBytes, heapBytes] = [figure('process_resident_memory_bytes '), figure('process_heap_bytes ')]
      const [fds, atMs] = [figure('process_open_fds '), performance.now() - begunAt]
      const taken = { atMs, rssBytes, heapBytes, fds }
      samples.push(taken)
      if (!values.short) {
        console.error(`${Math.round(atMs / 1000)} s  ${mb(rssBytes)} MB, heap ${mb(heapBytes)} MB, ${fds} descriptors`)
      }
      return taken
    }
    const settle = async (): Promise<number> => {
      const settledBy = performance.now() + SETTLE_MS
      for (;;) {
        const figure = await figuresOf(url)
        const left = figure('sluice_open_exchanges ') + figure('sluice_open_reservations ')
        if (left === 0 || performance.now() > settledBy) return left
        await Bun.sleep(50)
      }
    }
    const rest = async (): Promise<void> => {
      await settle()
      const end = performance.now() + REST_MS
      let lowest = await sample()
      while (performance.now() < end) {
        await Bun.sleep(1_000)
        const now = await sample()
        if (now.heapBytes < lowest.heapBytes) lowest = now
      }
      rests.push(lowest)
    }
    await sample()
    const sampling = setInterval(() => void sample().catch(() => undefined), SAMPLE_MS)
    while (performance.now() < until) {
      const roundEnd = Math.min(until, performance.now() + ROUND_MS)
      await Promise.all(Array.from({ length: WORKERS }, () => client({ url, key, until: roundEnd, seen, counts })))
      if (!values.short) await rest()
    }
    clearInterval(sampling)
    const left = await settle()
    await sample()
    const settled = (await figuresOf(url))('sluice_requests_total')
    server.kill('SIGTERM')
    const code = await server.exited
    const { rows, tokens, ...books } = audit(join(cwd, 'data', 'sluice.db'), seen)
    const [first, last] = [samples[0], samples.at(-1)]
    const most = Math.max(...samples.map(({ rssBytes }) => rssBytes))
    const verdicts: [string, number | string, boolean][] = [
      ...Object.entries(books).map(([name, value]): [string, number, boolean] => [name, value, value === 0]),
      ['rowsUncounted', rows - settled, rows === settled],
      ['leftOpen', left, left === 0],
      ['fdsGrown', (last?.fds ?? 0) - (first?.fds ?? 0), (last?.fds ?? 0) - (first?.fds ?? 0) < 2 * WORKERS + 20],
      ['mostMemory', `${mb(most)} MB`, most < MOST_RSS_BYTES],
      ...growth(rests),
      ['exitCode', code, code === 0],
    ]
    const seconds = Math.round(MINUTES * 60)
    console.log(`${seconds} s, ${WORKERS} clients: ${JSON.stringify(counts)}`)
    console.log(`${rows} exchanges, ${tokens} tokens, ${Math.round(rows / seconds)} a second`)
    console.log(`memory ${mb(first?.rssBytes)} → ${mb(last?.rssBytes)} MB, descriptors ${first?.fds} → ${last?.fds}`)
    for (const [name, value, good] of verdicts) console.log(`${good ? 'ok   ' : 'WRONG'} ${name} ${value}`)
    return verdicts.every(([, , good]) => good)
  } finally {
    server.kill('SIGKILL')
    await server.exited
  }
}

const vendors = await startDemoProviders({ record: 0 })
const cwd = mkdtempSync(join(tmpdir(), 'sluice-soak-'))
try {
  process.exitCode = (await soak(vendors, cwd)) ? 0 : 1
} finally {
  await vendors.stop()
  rmSync(cwd, { recursive: true, force: true })
}
