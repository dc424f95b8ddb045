// Hours in minutes: a mixed load with clients that leave, providers that fail and readers that dawdle, and then the
// books: no exchange lost, none twice, sums that agree, nothing left open, memory and descriptors that stay.
//   bun scripts/soak.ts [--minutes 15] [--workers 24] [--short]

import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type DemoProviders, startDemoProviders } from '../src/demo/index.ts'
import { ROOT } from './run.ts'

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

const PROGRAM = process.env.SLUICE_BINARY ? [process.env.SLUICE_BINARY] : [process.execPath, join(ROOT, 'src/main.ts')]
const SAMPLE_MS = Math.min(10_000, (MINUTES * 60_000) / 20)
/** Growth that a run long enough to tell may show, in KB per minute. */
const MOST_KB_PER_MINUTE = 1_024
const LONG_ENOUGH_MINUTES = 10

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

type Sample = { atMs: number; rssBytes: number; fds: number }
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

/** One client for as long as the run lasts. `seen` takes the ids of the answers it was given. */
const client = async (url: string, key: string, until: number, seen: Set<string>, counts: Counts): Promise<void> => {
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

const figuresOf = async (url: string): Promise<(name: string) => number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return (name) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(name))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/**
 * KB per minute over the second half, by least squares: the first is what a process grows into. Of each minute the
 * lowest sample counts, for that is what a collection has left.
 */
const slopeOf = (samples: Sample[]): number => {
  const lowest = new Map<number, Sample>()
  for (const sample of samples) {
    const minute = Math.floor(sample.atMs / 60_000)
    const known = lowest.get(minute)
    if (known === undefined || sample.rssBytes < known.rssBytes) lowest.set(minute, sample)
  }
  const late = [...lowest.values()].slice(Math.floor(lowest.size / 2))
  const meanAt = late.reduce((sum, { atMs }) => sum + atMs, 0) / late.length
  const mean = late.reduce((sum, { rssBytes }) => sum + rssBytes, 0) / late.length
  const above = late.reduce((sum, { atMs, rssBytes }) => sum + (atMs - meanAt) * (rssBytes - mean), 0)
  const below = late.reduce((sum, { atMs }) => sum + (atMs - meanAt) ** 2, 0)
  return below === 0 ? 0 : ((above / below) * 60_000) / 1024
}

/** What the books say against what the clients were told. */
const audit = (path: string, seen: Set<string>) => {
  const db = new Database(path, { readonly: true })
  const one = (sql: string): number => db.query<{ n: number | null }, []>(sql).get()?.n ?? 0
  const sum = 'sum(coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) + coalesce(output, 0))'
  const ids = new Set(
    db
      .query<{ id: string }, []>('SELECT id FROM exchanges')
      .all()
      .map(({ id }) => id),
  )
  const billed = one(`SELECT ${sum} AS n FROM exchanges`)
  const found = {
    rows: one('SELECT count(*) AS n FROM exchanges'),
    tokens: billed,
    lost: [...seen].filter((id) => !ids.has(id)).length,
    double: one('SELECT count(*) - count(DISTINCT id) AS n FROM exchanges'),
    open: one('SELECT count(*) AS n FROM reservations'),
    keyDiffers: one('SELECT sum(tokens_used) AS n FROM keys') - billed,
    daysDiffer: one(`SELECT ${sum} AS n FROM usage_days`) - billed,
    hoursDiffer: one(`SELECT ${sum} AS n FROM usage_hours`) - billed,
    requestsDiffer: one('SELECT sum(requests) AS n FROM usage_days') - one('SELECT count(*) AS n FROM exchanges'),
  }
  db.close()
  return found
}

const mb = (bytes = 0): number => Math.round(bytes / 1024 / 1024)

const spawn = (words: string[], cwd: string, env: Record<string, string>) =>
  Bun.spawn([...PROGRAM, ...words], {
    ...{ cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    env: { PATH: process.env.PATH ?? '', ...env },
  })

const urlOf = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> => {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const [, url] = /^API\s+(\S+)\/v1$/m.exec(text) ?? []
    if (url !== undefined) {
      // Read on, so that the server never waits to be heard.
      void (async () => {
        while (!(await reader.read()).done);
      })()
      return url
    }
    const { done, value } = await reader.read()
    if (done) throw new Error(text)
    text += value
  }
}

const soak = async (vendors: DemoProviders, cwd: string): Promise<boolean> => {
  const env = {
    VENDOR_A_BASE_URL: vendors.vendorA.baseUrl,
    VENDOR_A_API_KEY: vendors.vendorA.apiKey,
    VENDOR_B_BASE_URL: vendors.vendorB.baseUrl,
    VENDOR_B_API_KEY: vendors.vendorB.apiKey,
  }
  writeFileSync(join(cwd, 'sluice.yaml'), 'metrics: { enabled: true }\nlog: { level: error }\n')
  const made = spawn(['keys', 'create', '--label', 'soak', '--tokens', '1000000000000', '--json'], cwd, env)
  const { key } = JSON.parse(await new Response(made.stdout).text())
  const server = spawn(['serve', '--port', '0'], cwd, env)
  try {
    const url = await urlOf(server.stderr)
    const seen = new Set<string>()
    const counts: Counts = { asked: 0, whole: 0, left: 0, failed: 0, slow: 0 }
    const samples: Sample[] = []
    const begunAt = performance.now()
    const until = begunAt + MINUTES * 60_000
    const sample = async (): Promise<void> => {
      const figure = await figuresOf(url)
      const [rssBytes, fds] = [figure('process_resident_memory_bytes '), figure('process_open_fds ')]
      const atMs = performance.now() - begunAt
      samples.push({ atMs, rssBytes, fds })
      if (!values.short) console.error(`${Math.round(atMs / 1000)} s  ${mb(rssBytes)} MB  ${fds} descriptors`)
    }
    await sample()
    const sampling = setInterval(() => void sample().catch(() => undefined), SAMPLE_MS)
    await Promise.all(Array.from({ length: WORKERS }, () => client(url, key, until, seen, counts)))
    clearInterval(sampling)
    const settledBy = performance.now() + 5_000
    let figure = await figuresOf(url)
    while (
      figure('sluice_open_exchanges ') + figure('sluice_open_reservations ') > 0 &&
      performance.now() < settledBy
    ) {
      await Bun.sleep(50)
      figure = await figuresOf(url)
    }
    const left = figure('sluice_open_exchanges ') + figure('sluice_open_reservations ')
    await sample()
    const settled = figure('sluice_requests_total')
    server.kill('SIGTERM')
    const code = await server.exited
    const { rows, tokens, ...books } = audit(join(cwd, 'data', 'sluice.db'), seen)
    const slope = slopeOf(samples)
    const [first, last] = [samples[0], samples.at(-1)]
    const verdicts: [string, number, boolean][] = [
      ...Object.entries(books).map(([name, value]): [string, number, boolean] => [name, value, value === 0]),
      ['rowsUncounted', rows - settled, rows === settled],
      ['leftOpen', left, left === 0],
      ['fdsGrown', (last?.fds ?? 0) - (first?.fds ?? 0), (last?.fds ?? 0) - (first?.fds ?? 0) < 2 * WORKERS + 20],
      ['kbPerMinute', Math.round(slope), MINUTES < LONG_ENOUGH_MINUTES || slope < MOST_KB_PER_MINUTE],
      ['exitCode', code, code === 0],
    ]
    const seconds = Math.round(MINUTES * 60)
    console.log(`${seconds} s, ${WORKERS} clients: ${JSON.stringify(counts)}`)
    console.log(`${rows} exchanges, ${tokens} tokens, ${Math.round(rows / seconds)} a second`)
    console.log(`memory ${mb(first?.rssBytes)} → ${mb(last?.rssBytes)} MB, descriptors ${first?.fds} → ${last?.fds}`)
    for (const [name, value, good] of verdicts) console.log(`${good ? 'ok   ' : 'WRONG'} ${name} ${value}`)
    return verdicts.every(([, , good]) => good)
  } finally {
    if (server.exitCode === null) server.kill('SIGKILL')
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
