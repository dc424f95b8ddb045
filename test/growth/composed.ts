// What docs/scale/compose.yaml describes, piece by piece on this machine: its nodes, their database and the HAProxy in front, by
// the commands, environments and files that it names. Addresses, ports and folders are of this machine, nothing else is changed.

import { expect } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileConfig } from '../../src/config/schema.ts'
import { UTC } from '../../src/lib/calendar.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { type Child, launch, PROGRAM } from '../binary/support/process.ts'
import { freePort } from '../support/free-port.ts'
import { type Haproxy, startHaproxy } from '../support/haproxy.ts'
import { type OwnServer, postgresPrograms, startPostgres } from '../support/postgres.ts'
import { postgresBooks } from './books.ts'
import { issue, metricsOf, until } from './fleet.ts'

const DOCS = new URL('../../docs/', import.meta.url).pathname

type Service = {
  image: string
  env_file?: string
  environment?: Record<string, string>
  volumes?: string[]
  ports?: string[]
  tmpfs?: string
  healthcheck?: { test: string[] }
}

/** With the variables of the `.env` beside it; and what it says of the configuration that nodes need. */
const readCompose = (env: Readonly<Record<string, string>>) => {
  const text = readFileSync(join(DOCS, 'scale/compose.yaml'), 'utf8').replace(/\$\{(\w+)\}/g, (_, name) => {
    const value = env[name]
    if (value === undefined) throw new Error(`nothing says ${name}`)
    return value
  })
  const { services } = Bun.YAML.parse(text) as { services: Record<string, Service> }
  const [, told] = /# sluice\.yaml in it, the same for all: (.*)$/m.exec(text) ?? []
  return { services, file: Bun.YAML.parse(`{ ${told} }`) as FileConfig }
}

/** The image of its nodes. */
const readImage = () => {
  const [, text = ''] = /```dockerfile\n([\s\S]*?)```/.exec(readFileSync(join(DOCS, 'operations.md'), 'utf8')) ?? []
  const line = (word: string): string => {
    const [, found] = new RegExp(`^${word} (.*)$`, 'm').exec(text) ?? []
    if (found === undefined) throw new Error(`the Dockerfile has no ${word}`)
    return found
  }
  const [program, ...words] = [...JSON.parse(line('ENTRYPOINT')), ...JSON.parse(line('CMD'))] as string[]
  if (program !== 'sluice') throw new Error('the image starts something else')
  const env = Object.fromEntries(
    line('ENV')
      .split(' ')
      .map((pair) => pair.split('=')),
  )
  return { words, folder: line('WORKDIR'), env: env as Record<string, string> }
}

/** Puts one thing in another's place, which must be there once. */
const inPlaceOf = (text: string, what: string, instead: string): string => {
  const parts = text.split(what)
  if (parts.length !== 2) throw new Error(`"${what}" stands there ${parts.length - 1} times`)
  return parts.join(instead)
}

export type ComposedNode = {
  name: string
  child: Child
  port: number
  /** How many requests it has answered. */
  answered(): Promise<number>
  /** In the place of the one that was, as its orchestrator would. */
  again(): Promise<void>
}

export type Composed = {
  /** Of HAProxy. */
  url: string
  nodes: ComposedNode[]
  server: OwnServer
  haproxy: Haproxy
  /** One more HAProxy, by a configuration that differs: its URL. */
  front(change: (configuration: string) => string): Promise<string>
  /** The secret of a key with room for everything. */
  secret: string
  query<R extends object>(text: string): Promise<R[]>
  /** Resolves once HAProxy has so many nodes up. */
  up(count: number): Promise<void>
  /** Stops all nodes, and holds the books to what they must say then. */
  books(): Promise<void>
  stop(): Promise<void>
}

export const startComposed = async (file: FileConfig): Promise<Composed> => {
  const root = mkdtempSync(join(tmpdir(), 'sluice-composed-'))
  const dotEnv = { POSTGRES_PASSWORD: 'anything', SLUICE_KEY: Buffer.alloc(32, 7).toString('base64') }
  const { services, file: told } = readCompose(dotEnv)
  const image = readImage()
  const { db, haproxy: front, ...others } = services
  const server = await startPostgres()
  const database = await server.database()

  const isHealthy = (): boolean => {
    const [how, ...words] = db?.healthcheck?.test ?? []
    const { hostname, port } = new URL(database.url)
    const bin = postgresPrograms()
    if (how !== 'CMD' || bin === undefined) throw new Error('the database is not asked by a command')
    const env = { PGHOST: hostname, PGPORT: port, PATH: bin }
    // Some builds have a server's programs alone: one that was started takes statements.
    if (Bun.which(words[0] ?? '', { PATH: bin }) === null) return true
    return Bun.spawnSync(words, { env, cwd: root }).exitCode === 0
  }
  await until(isHealthy)

  /** The URL of the store as its nodes have it, at the database that is there instead. */
  const storeFor = (written: string): string => {
    const { hostname, username, password, pathname } = new URL(written)
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = db?.environment ?? {}
    const [told, made] = [
      [hostname, username, password, pathname],
      ['db', POSTGRES_USER, POSTGRES_PASSWORD, `/${POSTGRES_DB}`],
    ]
    if (JSON.stringify(told) !== JSON.stringify(made)) throw new Error(`nodes go to ${told}, and there is ${made}`)
    return database.url
  }

  const opened = await openPostgres(database.url, { calendar: UTC })
  const { secret } = await issue(opened, { label: 'composed' })
  await opened.close()

  const begin = async (name: string, service: Service): Promise<ComposedNode> => {
    const conf = join(root, name, 'conf')
    mkdirSync(conf, { recursive: true })
    if (!Array.isArray(told.trust_proxy)) throw new Error('HAProxy is not believed')
    const ours = { log: { level: 'warn' }, metrics: { enabled: true }, trust_proxy: ['127.0.0.1'] }
    const content = { ...told, ...ours, ...file }
    writeFileSync(join(conf, 'sluice.yaml'), JSON.stringify(content))
    const environment: Record<string, string> = {
      ...image.env,
      ...(service.env_file === '.env' ? dotEnv : {}),
      ...service.environment,
    }
    const mounted = (service.volumes ?? []).some((volume) => volume === `./conf:${image.folder}:ro`)
    if (!mounted || environment.SLUICE_DATA !== service.tmpfs) throw new Error(`${name} has not the folders it needs`)
    if (environment.SLUICE_HOST !== '0.0.0.0') throw new Error(`nobody reaches ${name}`)
    const start = async (port: number): Promise<{ child: Child; port: number }> => {
      const child = launch(PROGRAM, image.words, conf, {
        ...environment,
        ...{ SLUICE_HOST: '127.0.0.1', SLUICE_PORT: String(port), SLUICE_DATA: mkdtempSync(join(root, 'data-')) },
        SLUICE_STORE: storeFor(environment.SLUICE_STORE ?? ''),
      })
      return { child, port: Number(new URL(await child.ready()).port) }
    }
    const node: ComposedNode = {
      name,
      ...(await start(freePort())),
      answered: async () => (await metricsOf(`http://127.0.0.1:${node.port}`))('sluice_requests_total'),
      again: async () => void Object.assign(node, await start(node.port)),
    }
    return node
  }
  const nodes = await Promise.all(Object.entries(others).map(([name, service]) => begin(name, service)))

  const inside = /^127\.0\.0\.1:\d+:(\d+)$/.exec(front?.ports?.[0] ?? '')?.[1]
  const fronts: Haproxy[] = []
  const begun = async (change: (configuration: string) => string): Promise<{ url: string; haproxy: Haproxy }> => {
    const port = freePort()
    let configuration = readFileSync(join(DOCS, 'scale/haproxy.cfg'), 'utf8')
    configuration = inPlaceOf(configuration, `bind :${inside}\n`, `bind 127.0.0.1:${port}\n`)
    for (const node of nodes)
      configuration = inPlaceOf(configuration, `server ${node.name} ${node.name}:8080\n`, serverLine(node))
    const haproxy = await startHaproxy(change(configuration))
    fronts.push(haproxy)
    return { url: `http://127.0.0.1:${port}`, haproxy }
  }
  const { url, haproxy } = await begun((text) => text)
  const reading = postgresBooks(database.url)
  const up = (count: number): Promise<void> =>
    until(async () => {
      const states = await haproxy.states()
      return nodes.filter(({ name }) => states[name]?.startsWith('UP')).length === count
    })
  const ended = (signal: NodeJS.Signals): Promise<number[]> => {
    for (const { child } of nodes) child.kill(signal)
    return Promise.all(nodes.map(({ child }) => child.exited))
  }
  return {
    ...{ url, nodes, server, haproxy, secret, up },
    front: async (change) => (await begun(change)).url,
    query: (text) => reading.query(text),
    async books() {
      await ended('SIGTERM')
      expect(await reading.broken()).toEqual([])
    },
    async stop() {
      await Promise.all(fronts.map((each) => each.stop()))
      await ended('SIGKILL')
      await reading.close()
      await server.stop()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

const serverLine = ({ name, port }: ComposedNode): string => `server ${name} 127.0.0.1:${port}\n`
