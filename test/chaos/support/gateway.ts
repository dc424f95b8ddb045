// A gateway under attack: the compiled file as a process of its own when SLUICE_BINARY names it, else in this one. What
// it is asked about itself goes through GET /metrics and the admin API, so that both answer alike.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { State } from '../../../src/admin-api/schema.ts'
import type { FileConfig } from '../../../src/config/schema.ts'
import { databasePath, loadConfig } from '../../../src/config.ts'
import { DEFAULT_LIMITS } from '../../../src/members/member.ts'
import { createMembership } from '../../../src/members/membership.ts'
import { type Server, startServer } from '../../../src/server/serve.ts'
import { openStore } from '../../../src/store/sqlite/index.ts'
import { BINARY, type Child, launch, PROGRAM } from '../../binary/support/process.ts'
import { SYSTEM } from '../../support/gateway.ts'
import { silentLog } from '../../support/silent-log.ts'

export type Figures = {
  open: number
  reservations: number
  fds: number
  rssBytes: number
  /** Any sample by its line's beginning, `sluice_requests_total{wire="messages"` for instance, summed. */
  sum(prefix: string): number
}

export type Attacked = {
  url: string
  secret: string
  directory: string
  /** In this process only. */
  server: Server | undefined
  /** As a process of its own only. */
  child: Child | undefined
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>
  figures(): Promise<Figures>
  /** The bearer token of an admin. */
  token: string
  /** Resolves once nothing is open any more; throws with what is left after a minute: counting tokens may take some of it. */
  quiet(): Promise<Figures>
  /** Writes the file anew and has it read. */
  reload(file: object): Promise<void>
  stop(): Promise<void>
}

/**
 * `clock` is for one in this process; `apart` makes it a process of its own even when it runs from source; `descriptors`
 * does so too, and lets it open no more than so many. `program`: what is run then.
 */
export type OpenOptions = {
  clock?: () => number
  apart?: boolean
  descriptors?: number
  program?: readonly string[]
}

/** Throws unless what is written is a configuration. */
export const openGateway = async (
  file: FileConfig,
  { clock, descriptors, apart = descriptors !== undefined, program = PROGRAM }: OpenOptions = {},
): Promise<Attacked> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-chaos-'))
  const path = join(directory, 'sluice.yaml')
  const write = (content: object): void =>
    writeFileSync(
      path,
      JSON.stringify({
        ...{ listen: { port: 0 }, data: './data', drain: '1s', log: { level: 'warn' } },
        metrics: { enabled: true },
        ...content,
      }),
    )
  write(file)
  const running =
    BINARY === undefined && !apart
      ? await startHere(path, directory, clock)
      : await startThere(limited(program, descriptors), directory)
  const token = await adminToken(databasePath({ dataDir: resolve(directory, file.data ?? 'data') }))
  const state = async (): Promise<State> => {
    const response = await fetch(`${running.url}/admin/api/state`, { headers: { authorization: `Bearer ${token}` } })
    if (response.status !== 200) throw new Error(await response.text())
    return (await response.json()) as State
  }
  const figures = async (): Promise<Figures> => {
    const response = await fetch(`${running.url}/metrics`)
    const text = await response.text()
    if (response.status !== 200) throw new Error(text)
    const sum = (prefix: string): number =>
      text
        .split('\n')
        .filter((line) => line.startsWith(prefix))
        .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
    return {
      open: sum('sluice_open_exchanges '),
      reservations: sum('sluice_open_reservations '),
      fds: sum('process_open_fds '),
      rssBytes: sum('process_resident_memory_bytes '),
      sum,
    }
  }
  return {
    ...running,
    directory,
    token,
    figures,
    post: (route, body, init = {}) =>
      fetch(running.url + route, {
        method: 'POST',
        ...init,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${running.secret}`,
          ...(init.headers as Record<string, string>),
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    quiet: async () => {
      const until = performance.now() + 60_000
      for (;;) {
        const now = await state()
        // One request is the question itself.
        const left = now.open_exchanges + now.open_reservations + now.provider_attempts + now.pending_requests - 1
        if (left === 0) return figures()
        if (performance.now() > until) throw new Error(`left: ${JSON.stringify(now)}`)
        await Bun.sleep(2)
      }
    },
    reload: async (content) => {
      write(content)
      await running.reload()
    },
    stop: async () => {
      await running.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Opens the admin API of whoever serves this database. */
const adminToken = async (path: string): Promise<Promise<Promise<string>>> => {
  const store = openStore(path)
  try {
    const admin = await store.members.add(
      { name: 'chaos', role: 'admin', limits: DEFAULT_LIMITS, passwordHash: 'none' },
      SYSTEM,
    )
    return (await createMembership({ store, clock: Date.now }).issueToken('chaos', undefined, admin)).secret
  } finally {
    await store.close()
  }
}

const startHere = async (path: string, directory: string, clock: (() => number) | undefined) => {
  const read = () => loadConfig({ flags: { config: path }, env: {}, cwd: directory })
  const loaded = read()
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const server = await startServer(loaded.config, { err: () => undefined }, { log: silentLog, clock })
  const { secret } = await server.gateway.store.keys.issue(
    { label: 'chaos', tokensTotal: 1_000_000_000, expiresAt: Date.now() + 86_400_000, models: ['*'] },
    SYSTEM,
  )
  return {
    url: server.url,
    secret,
    server,
    child: undefined,
    reload: async () => {
      const again = read()
      if (again.ok) await server.reload(again.config)
    },
    stop: () => server.stop(),
  }
}

/** The program under a shell's limit. */
const limited = (program: readonly string[], descriptors: number | undefined): string[] =>
  descriptors === undefined ? [...program] : ['sh', '-c', `ulimit -n ${descriptors}; exec "$0" "$@"`, ...program]

const startThere = async (program: string[], directory: string) => {
  const create = launch(program, ['keys', 'create', '--label', 'chaos', '--tokens', '1000000000', '--json'], directory)
  if ((await create.exited) !== 0) throw new Error(await create.err)
  const { key } = JSON.parse(await create.out)
  const child = launch(program, ['serve'], directory)
  return {
    url: await child.ready(),
    secret: String(key),
    server: undefined,
    child,
    reload: async () => {
      child.kill('SIGHUP')
      await child.says(/configuration (not )?reloaded/)
    },
    stop: async () => {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

export type Timeouts = { connect?: string; first_byte?: string; idle?: string; total?: string }

/** The `providers` of a configuration: accounts `one`, `two` … at these origins. */
export const providersAt = (origins: { a?: string[]; b?: string[] }, timeouts: Timeouts = {}) => {
  const accounts = (bases: string[]) =>
    bases.map((base_url, at) => ({ name: NAMES[at] ?? `more${at}`, base_url, credential: 'secret' }))
  return {
    vendor_a: { accounts: accounts(origins.a ?? []), timeouts },
    vendor_b: { accounts: accounts((origins.b ?? []).map((origin) => `${origin}/v1`)), timeouts },
  }
}

const NAMES = ['one', 'two', 'three']
