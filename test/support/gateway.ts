// A whole gateway for a test: a listening server on a port of its own, in front of the providers it is given.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { type DemoProviders, startDemoProviders } from '../../src/demo/index.ts'
import type { Actor, NewKey } from '../../src/keys/key.ts'
import type { Journal } from '../../src/ledger/journal.ts'
import type { Log } from '../../src/observe/log.ts'
import { blankProvider } from '../../src/provider/builtin.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { type Server, startServer } from '../../src/server/serve.ts'
import type { SqliteStore, Store } from '../../src/store/store.ts'
import { silentLog } from './silent-log.ts'

/** The books of a gateway that keeps them itself. */
export const journalOf = ({ store }: { store: Store }): Journal => (store as SqliteStore).journal

export type TestGateway = {
  url: string
  server: Server
  /** The secret of a key with room for everything. */
  secret: string
  config: Config
  issue(input?: Partial<NewKey>): Promise<{ id: string; secret: string }>
  /** POST JSON with the key. A string goes out as it is. */
  post(path: string, body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>
  get(path: string, headers?: Record<string, string>): Promise<Response>
  /** Resolves once no exchange is open and all is written. */
  idle(): Promise<void>
  stop(): Promise<void>
}

export type GatewayFor = {
  /** Base URLs; without one the provider is not configured. vendor_b's ends in `/v1`. */
  vendorA?: string
  vendorB?: string
  keys?: { vendorA?: string; vendorB?: string }
  /** What the configuration file would say besides. */
  config?: Partial<Config>
  /** The gateway's time, where the test tells it. */
  clock?: () => number
  log?: Log
}

/** A provider that serves every built-in model under its own id, reached on all text wires unless `more` says otherwise. */
export const onlyProvider = (baseUrl: string, more: Partial<Provider> & { credential?: string }): Partial<Config> => {
  const { credential = 'secret', ...rest } = more
  const provider: Provider = {
    ...blankProvider('only'),
    wires: ['messages', 'responses', 'chat-completions'],
    accounts: [{ name: 'main', baseUrl, credential, weight: 1 }],
    ...rest,
  }
  const models = BUILTIN_MODELS.map((model) => ({ ...model, provider: provider.id, upstream: model.id, quirks: {} }))
  return { providers: [provider], models }
}

/** Who the audit names for what a test does by its own hand. */
export const SYSTEM: Actor = { kind: 'system', id: 'test' }

const YEAR_MS = 365 * 86_400_000

export const startGateway = async ({
  vendorA,
  vendorB,
  keys = {},
  config = {},
  clock,
  log = silentLog,
}: GatewayFor): Promise<TestGateway> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  const env = {
    ...(vendorA === undefined ? {} : { VENDOR_A_BASE_URL: vendorA, VENDOR_A_API_KEY: keys.vendorA ?? 'secret-a' }),
    ...(vendorB === undefined ? {} : { VENDOR_B_BASE_URL: vendorB, VENDOR_B_API_KEY: keys.vendorB ?? 'secret-b' }),
  }
  const loaded = loadConfig({ flags: { host: '127.0.0.1', port: '0', data: directory }, env, cwd: directory })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const whole: Config = { ...loaded.config, drainMs: 1_000, ...config }
  const server = await startServer(whole, { err: () => undefined }, { log, clock })
  const issue: TestGateway['issue'] = async (input = {}) => {
    const made = await server.gateway.store.keys.issue(
      {
        label: 'test',
        tokensTotal: 1_000_000_000,
        expiresAt: (clock ?? Date.now)() + YEAR_MS,
        models: ['*'],
        ...input,
      },
      SYSTEM,
    )
    return { id: made.key.id, secret: made.secret }
  }
  const { secret } = await issue()
  const authorized = (headers: Record<string, string>): Record<string, string> =>
    'authorization' in headers || 'x-api-key' in headers ? headers : { authorization: `Bearer ${secret}`, ...headers }
  return {
    url: server.url,
    server,
    secret,
    config: whole,
    issue,
    post: (path, body, headers = {}, signal) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorized(headers) },
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    get: (path, headers = {}) => fetch(server.url + path, { headers: authorized(headers) }),
    idle: async () => {
      const { open, live, ledger } = server.gateway
      const { promise: none, resolve } = Promise.withResolvers<void>()
      const look = (): void => {
        if (open.size === 0) resolve()
      }
      const unwatch = live.watch(look)
      look()
      await none
      unwatch()
      await ledger.flush()
    },
    stop: async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export type DemoGateway = TestGateway & { demo: DemoProviders }

/** A gateway in front of the demo's vendors, which stop with it. */
export const startDemoGateway = async (config: Partial<Config> = {}): Promise<DemoGateway> => {
  const demo = await startDemoProviders()
  const { vendorA, vendorB } = demo
  const gateway = await startGateway({
    vendorA: vendorA.baseUrl,
    vendorB: vendorB.baseUrl,
    keys: { vendorA: vendorA.apiKey, vendorB: vendorB.apiKey },
    config,
  })
  return {
    ...gateway,
    demo,
    stop: async () => {
      await gateway.stop()
      await demo.stop()
    },
  }
}
