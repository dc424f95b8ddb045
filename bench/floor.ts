// What the runtime leaves to any gateway: the least that authenticates, reserves on disk before it calls, settles after,
// ends the call when its client leaves, and logs a line. No routing, limits, translation, retries or checks, and no streams.
// `bun bench/floor.ts BASE FOLDER parsed|unread`: whether it reads the request body at all. Prints its port as its first line.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

const [base = '', folder = '', reading = 'parsed'] = process.argv.slice(2)

const CALL_MS = 60_000
/** Settlements are written together, as the gateway does. */
const SETTLED_GROUP = 128
const LOG_CHARS = 64 * 1024

const db = new Database(join(folder, 'floor.db'))
for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', 'wal_autocheckpoint = 0'])
  db.run(`PRAGMA ${pragma}`)
db.run('CREATE TABLE reservations (row INTEGER PRIMARY KEY, id TEXT, key TEXT, model TEXT, at INTEGER, bytes INTEGER)')
db.run('CREATE TABLE exchanges (row INTEGER PRIMARY KEY, id TEXT, key TEXT, model TEXT, at INTEGER, usage TEXT)')
const begin = db.query('BEGIN IMMEDIATE')
const commit = db.query('COMMIT')
const reserve = db.query('INSERT INTO reservations VALUES (?, ?, ?, ?, ?, ?)')
const free = db.query('DELETE FROM reservations WHERE row = ?')
const settle = db.query('INSERT INTO exchanges VALUES (?, ?, ?, ?, ?, ?)')

type Exchange = { row: number; id: string; key: string; model: string; bytes: number; at: number; durable: () => void }
type Settled = { exchange: Exchange; usage: string }

let rows = 0
let waiting: Exchange[] = []
let settled: Settled[] = []

const write = (): void => {
  const opened = waiting
  waiting = []
  begin.run()
  for (const each of opened) {
    each.row = ++rows
    reserve.run(each.row, each.id, each.key, each.model, each.at, each.bytes)
  }
  if (settled.length >= SETTLED_GROUP) {
    for (const { exchange, usage } of settled) {
      free.run(exchange.row)
      settle.run(exchange.row, exchange.id, exchange.key, exchange.model, Date.now(), usage)
    }
    settled = []
  }
  commit.run()
  for (const each of opened) each.durable()
}

const open = (key: string, model: string, bytes: number): Promise<Exchange> =>
  new Promise((resolve) => {
    const id = Bun.randomUUIDv7('base64url')
    const exchange: Exchange = { row: 0, id, key, model, bytes, at: Date.now(), durable: () => resolve(exchange) }
    waiting.push(exchange)
    if (waiting.length === 1) setImmediate(write)
  })

const log = Bun.file(join(folder, 'floor.log')).writer({ highWaterMark: LOG_CHARS })
const keys = new Set<string>()
const text = new TextDecoder()

/** Any key is taken: the first request brings it. */
const authenticate = (headers: Headers): string => {
  const hash = new Bun.CryptoHasher('sha256').update(headers.get('authorization') ?? '').digest('hex')
  keys.add(hash)
  return hash
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 240,
  async fetch(request) {
    const { headers, url, signal } = request
    const key = authenticate(headers)
    const body = await request.arrayBuffer()
    const model = reading === 'unread' ? '' : (JSON.parse(text.decode(body)) as { model: string }).model
    const exchange = await open(key, model, body.byteLength)
    const abort = new AbortController()
    signal.addEventListener('abort', () => abort.abort(), { once: true })
    const timer = setTimeout(() => abort.abort(), CALL_MS)
    const response = await fetch(base + url.slice(url.indexOf('/', 8)), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'floor', authorization: 'Bearer secret' },
      body,
      signal: abort.signal,
    })
    const answer = await response.text()
    clearTimeout(timer)
    const { usage } = JSON.parse(answer) as { usage: object }
    settled.push({ exchange, usage: JSON.stringify(usage) })
    log.write(
      `${JSON.stringify({ time: new Date(), request: exchange.id, key, model, status: response.status, usage })}\n`,
    )
    return new Response(answer, { headers: { 'content-type': 'application/json', 'x-request-id': exchange.id } })
  },
})

console.log(server.port)
