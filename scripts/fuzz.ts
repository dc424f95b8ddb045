// A fuzz test: malformed HTTP, and malformed and hostile bodies, on every client endpoint, page and admin route, before a
// provider that is malformed itself. Then the accounts are checked: no 500, no request that hangs, nothing left open, memory
// and descriptors given back, sums that agree. How long the event loop was held is told in processor time of its thread, with
// the large bodies that were asked meanwhile (Linux only).
//   bun scripts/fuzz.ts [--minutes 20] [--seed 1] [--workers 4] [--short]

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { probedIn } from '../bench/holds/probed.ts'
import { ADMIN_BASE, ROUTES } from '../src/admin-api/routes.ts'
import { ENDPOINTS } from '../src/http/endpoints.ts'
import { launch, PROGRAM } from '../test/binary/support/process.ts'
import { startRaw } from '../test/chaos/support/socket.ts'
import { audit } from './audit.ts'
import { figuresOf } from './figures.ts'
import { answerOf } from './fuzz/answers.ts'
import { type Body, bodyOf } from './fuzz/bodies.ts'
import { type Chance, createChance } from './fuzz/chance.ts'
import { malformedHttp } from './fuzz/http.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '4' },
    short: { type: 'boolean', default: false },
  },
})
const MINUTES = values.short ? 20 / 60 : Number(values.minutes)
const WORKERS = Number(values.workers)
const SEED = Number(values.seed)
if (!(MINUTES > 0 && WORKERS > 0 && Number.isInteger(SEED)))
  throw new Error('--minutes and --workers take numbers above 0, --seed a whole one')

/** A request that takes longer hangs: the provider's timeouts are far below. */
const HANGS_MS = 60_000
const SETTLE_MS = 30_000
const SAMPLE_MS = 1_000
/** What the event loop should be held for at most, in processor time. */
const HOLD_MS = 50
const MOST_TOLD = 10
const LARGE_BYTES = 64 * 1024
/** What may be left in memory of the largest bodies, which the runtime keeps to use again. */
const MOST_GROWN_BYTES = 400 * 1024 * 1024

const ORIGIN_ONLY = new Set(['session.sign-out', 'session.sign-out-everywhere', 'session.password', 'live'])
const ADMIN_ROUTES = Object.entries(ROUTES).filter(([name]) => !ORIGIN_ONLY.has(name))
const PAGES = [
  '/',
  '/usage',
  '/docs',
  '/docs/openapi.json',
  '/dashboard',
  '/dashboard/keys',
  '/healthz',
  '/readyz',
  '/none',
]

type Target = { url: string; key: string; cookie: string }
type Counts = {
  sent: number
  hung: number
  statuses: Map<string, number>
  wrong: Set<string>
  /** Large bodies that were sent since the loop was last looked at: small ones cost little whatever they hold. */
  asked: Set<string>
}

const note = (counts: Counts, what: string, status: number, body: string): void => {
  counts.sent++
  const told = String(status)
  counts.statuses.set(told, (counts.statuses.get(told) ?? 0) + 1)
  if ((status === 500 || body.includes('"code":"internal_error"')) && counts.wrong.size < 20)
    counts.wrong.add(`${what}: ${status} ${body.slice(0, 300)}`)
}

/** Half a surrogate pair cannot be written in a URL. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

const idIn = (path: string, chance: Chance): string =>
  path.replace(/\{id\}|:id/, () => encoded(chance.pick(['resp_1', '../x', 'x'.repeat(3_000), '\u0000', 'ខ្មែរ', "'"])))

type Asked = { method: string; path: string; headers?: Record<string, string>; body?: Body | undefined }

/** Sends one request by the runtime's own client, and reads its answer to the end, or leaves it. */
const ask = async (
  { url, ...target }: Target,
  { method, path, headers, body }: Asked,
  chance: Chance,
  counts: Counts,
): Promise<void> => {
  const leaving = new AbortController()
  const leaves = chance.of(0.05)
  let hung = false
  const timer = setTimeout(
    () => {
      hung = !leaves
      leaving.abort()
    },
    leaves ? chance.below(50) : HANGS_MS,
  )
  const what = `${method} ${path.slice(0, 80)} ${body?.name ?? ''}`
  const size = body?.bytes.byteLength ?? 0
  if (size >= LARGE_BYTES) counts.asked.add(`${what}, ${Math.round(size / 1024)} KB`)
  try {
    const response = await fetch(url + path, {
      method,
      headers: { cookie: target.cookie, origin: url, ...headers, ...body?.headers },
      redirect: 'manual',
      signal: leaving.signal,
      ...(body === undefined ? {} : { body: body.stream?.() ?? body.bytes }),
    })
    note(counts, what, response.status, await response.text())
  } catch {
    if (hung) {
      counts.hung++
      counts.wrong.add(`${what}: hangs`)
    }
  } finally {
    clearTimeout(timer)
  }
}

const clientRequest = (target: Target, chance: Chance, counts: Counts): Promise<void> => {
  const { method, path } = chance.pick(ENDPOINTS)
  const key = chance.of(0.95) ? target.key : chance.text()
  const headers: Record<string, string> = chance.of(0.5) ? { authorization: `Bearer ${key}` } : { 'x-api-key': key }
  const query = chance.of(0.1) ? `?${encoded(chance.text())}=${encoded(chance.text())}` : ''
  const body = method === 'POST' ? bodyOf(path, chance) : undefined
  return ask(target, { method, path: idIn(path, chance) + query, headers, body }, chance, counts)
}

const adminRequest = (target: Target, chance: Chance, counts: Counts): Promise<void> => {
  const [, { method, path }] = chance.pick(ADMIN_ROUTES)
  const takesBody = method !== 'GET' && method !== 'DELETE'
  const query =
    method === 'GET' && chance.of(0.5)
      ? `?${chance.pick(['limit', 'since', 'until', 'by', 'q'])}=${encoded(chance.text())}`
      : ''
  const body = takesBody ? bodyOf('', chance) : undefined
  return ask(target, { method, path: ADMIN_BASE + idIn(path, chance) + query, body }, chance, counts)
}

const pageRequest = (target: Target, chance: Chance, counts: Counts): Promise<void> =>
  ask(
    target,
    {
      method: chance.pick(['GET', 'GET', 'HEAD', 'POST', 'PUT', 'OPTIONS']),
      path: chance.pick(PAGES) + (chance.of(0.3) ? `/${encoded(chance.text())}` : ''),
    },
    chance,
    counts,
  )

/** Bytes that are no HTTP, or nearly: what counts is that the server answers others, and no 500. */
const rawRequest = async (target: Target, chance: Chance, counts: Counts): Promise<void> => {
  const { hostname, port } = new URL(target.url)
  const { promise: over, resolve } = Promise.withResolvers<void>()
  let heard = ''
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, data) => {
        heard = (heard + data.toString('latin1')).slice(0, 10_000)
      },
      close: () => resolve(),
      error: () => resolve(),
    },
  })
  socket.write(malformedHttp(target.key, chance))
  // Some wait for more, rightly.
  const timer = setTimeout(() => socket.end(), 100 + chance.below(400))
  await over
  clearTimeout(timer)
  for (const [, status] of heard.matchAll(/^HTTP\/1\.1 (\d{3})/gm))
    note(counts, 'malformed HTTP', Number(status), heard)
}

const worker = async (target: Target, chance: Chance, until: number, counts: Counts): Promise<void> => {
  while (performance.now() < until) {
    const kind = chance.pick([clientRequest, clientRequest, clientRequest, adminRequest, pageRequest, rawRequest])
    await kind(target, chance, counts)
  }
}

/** The session of the admin who sets the server up. */
const signUp = async (url: string, setupLink: string): Promise<string> => {
  const response = await fetch(`${url}${ADMIN_BASE}/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token: setupLink.split('#')[1], name: 'fuzz', password: 'kind hearts and coronets 1949' }),
  })
  if (!response.ok) throw new Error(`set-up failed: ${await response.text()}`)
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}

const mb = (bytes: number): number => Math.round(bytes / 1024 / 1024)

const fuzz = async (cwd: string): Promise<boolean> => {
  const providers = createChance(SEED)
  const provider = await startRaw((socket) => {
    socket.on('data', (data) => answerOf(socket, data.toString('latin1', 0, 100), providers))
  })
  const env = {
    ...{ VENDOR_A_BASE_URL: provider.origin, VENDOR_A_API_KEY: 'a' },
    ...{ VENDOR_B_BASE_URL: `${provider.origin}/v1`, VENDOR_B_API_KEY: 'b' },
  }
  writeFileSync(
    join(cwd, 'sluice.yaml'),
    `metrics: { enabled: true }
log: { level: silent }
providers:
  vendor_a: { timeouts: { connect: 1s, first_byte: 2s, idle: 1s, total: 10s } }
  vendor_b: { timeouts: { connect: 1s, first_byte: 2s, idle: 1s, total: 10s } }
`,
  )
  const words = ['keys', 'create', '--label', 'fuzz', '--tokens', '1000000000000', '--json']
  const { key } = JSON.parse(await launch(PROGRAM, words, cwd, env).out)
  const probe = process.platform === 'linux' ? probedIn(cwd) : undefined
  const server = launch(PROGRAM, ['serve', '--port', '0'], cwd, { ...env, ...probe?.env })
  try {
    const url = await server.ready()
    const target = { url, key, cookie: await signUp(url, await server.says(/^Setup\s+(\S+)/)) }
    const counts: Counts = { sent: 0, hung: 0, statuses: new Map(), wrong: new Set(), asked: new Set() }
    const first = await figuresOf(url)
    const holds: { ms: number; asked: string[] }[] = []
    let most = 0
    const sample = async (): Promise<void> => {
      const held = await probe?.begin()
      if (held !== undefined) holds.push({ ms: held.cpuMs, asked: [...counts.asked] })
      counts.asked.clear()
      const figure = await figuresOf(url)
      most = Math.max(most, figure('process_resident_memory_bytes '))
    }
    const sampling = setInterval(() => void sample().catch(() => undefined), SAMPLE_MS)
    const until = performance.now() + MINUTES * 60_000
    await Promise.all(
      Array.from({ length: WORKERS }, (_, at) => worker(target, createChance(SEED * 1_000 + at + 1), until, counts)),
    )
    clearInterval(sampling)
    const settledBy = performance.now() + SETTLE_MS
    let last = await figuresOf(url)
    const left = (): number =>
      ['open_exchanges', 'arriving_requests', 'open_reservations'].reduce(
        (sum, name) => sum + last(`sluice_${name} `),
        0,
      )
    while (left() > 0 && performance.now() < settledBy) {
      await Bun.sleep(100)
      last = await figuresOf(url)
    }
    const grown = (name: string): number => last(name) - first(name)
    server.kill('SIGTERM')
    const code = await server.exited
    const { rows, tokens, ...books } = audit(join(cwd, 'data', 'sluice.db'), [])
    const verdicts: [string, number | string, boolean][] = [
      ...[...counts.wrong].map((wrong): [string, string, boolean] => ['answered', wrong, false]),
      ['hung', counts.hung, counts.hung === 0],
      ['leftOpen', left(), left() === 0],
      ['fdsGrown', grown('process_open_fds '), grown('process_open_fds ') < 2 * WORKERS + 20],
      [
        'memoryGrown',
        `${mb(grown('process_resident_memory_bytes '))} MB`,
        grown('process_resident_memory_bytes ') < MOST_GROWN_BYTES,
      ],
      ...Object.entries(books).map(([name, value]): [string, number, boolean] => [name, value, value === 0]),
      ['exitCode', code, code === 0],
    ]
    const statuses = Object.fromEntries([...counts.statuses].sort())
    console.log(`seed ${SEED}, ${Math.round(MINUTES * 60)} s, ${counts.sent} answers: ${JSON.stringify(statuses)}`)
    console.log(`${rows} exchanges, ${tokens} tokens, memory ${mb(most)} MB at most`)
    const longest = holds.sort((a, b) => b.ms - a.ms)
    const long = longest.filter(({ ms }) => ms > HOLD_MS)
    console.log(
      `event loop held ${Math.round(longest[0]?.ms ?? 0)} ms at most, past ${HOLD_MS} ms in ${long.length} of ${holds.length} s`,
    )
    for (const { ms, asked } of long.slice(0, MOST_TOLD))
      console.log(`  ${Math.round(ms)} ms among ${asked.join('; ') || 'no large body'}`)
    for (const [name, value, good] of verdicts) console.log(`${good ? 'ok   ' : 'WRONG'} ${name} ${value}`)
    return verdicts.every(([, , good]) => good)
  } finally {
    server.kill('SIGKILL')
    await server.exited
    await provider.stop()
  }
}

const cwd = mkdtempSync(join(tmpdir(), 'sluice-fuzz-'))
try {
  process.exitCode = (await fuzz(cwd)) ? 0 : 1
} finally {
  rmSync(cwd, { recursive: true, force: true })
}
