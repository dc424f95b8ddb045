// The configuration: what a gateway runs with, normalised, from flags, environment, file and defaults in that order.
// The only place that reads any of them; its parts are in config/.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { AlertRules } from './alerts/alert.ts'
import type { Brand } from './catalogue/catalogue.ts'
import type { Model } from './catalogue/model.ts'
import { readAlerts } from './config/alerts.ts'
import { type Flags, readData, readHost, readLimitsStore, readPlace, readPort, readWorkers } from './config/given.ts'
import { defaultMaxMemory } from './config/memory.ts'
import { readBrands, readModels, readNames } from './config/models.ts'
import { type Address, readAddress } from './config/origin.ts'
import { type OtlpSettings, readOtlp } from './config/otlp.ts'
import { NOTHING_KEPT, type Overlay } from './config/overlay.ts'
import { servedOnly } from './config/preset-models.ts'
import { mismatch, type Problem } from './config/problem.ts'
import { readProviders } from './config/providers.ts'
import { createReader, type Reader } from './config/reader.ts'
import { type FileConfig, FileSchema } from './config/schema.ts'
import { type Env, reasonOf } from './config/secret.ts'
import { checkShape, soundPart } from './config/shape.ts'
import { type AccountSource, sourcesOf, type Written, writtenIn } from './config/sources.ts'
import { readStoreUrl } from './config/store.ts'
import { parseDuration, parseSize } from './config/units.ts'
import { parseYaml } from './config/yaml.ts'
import { namedServerTools } from './ir/server-tools.ts'
import { type Calendar, calendarOf, UTC } from './lib/calendar.ts'
import { isNetwork } from './lib/networks.ts'
import { parseSealKeys, SEAL_KEY_FORM, type SealKey } from './lib/sealed-text.ts'
import { DAY_MS } from './lib/spans.ts'
import type { Provider } from './provider/provider.ts'

export type { Flags } from './config/given.ts'
export { type Problem, problemLine } from './config/problem.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Durations in milliseconds, sizes in bytes, paths absolute, secrets resolved. */
export type Config = {
  /** The file it was read from, if any. */
  file: string | undefined
  /** Port 0 lets the system choose. */
  listen: Address
  /** Processes that serve. 1: this one, which does everything. */
  workers: number
  /** Where dashboard, admin API and metrics are served, where they stand apart; undefined: at `listen`. */
  adminListen: Address | undefined
  /** `hosts`: who asks for none of these gets no dashboard; none: any. `api`: where clients reach the API, if it is said. */
  admin: { hosts: string[]; api: string | undefined }
  dataDir: string
  /** The PostgreSQL database that nodes share, by its URL, which may hold a password; undefined: the data directory has its own. */
  store: string | undefined
  /** Where nodes count the limits of keys, likewise; undefined: in that database. */
  limitsStore: string | undefined
  /** IANA: by whose clocks days, renewals, bills and dates without a time go. `calendar` is that zone's. */
  timeZone: string
  calendar: Calendar
  /** Of the whole gateway; undefined: none. */
  budget: FileConfig['budget']
  bodyLimitBytes: number
  /** How long a request's body may take to arrive, beside what its size takes at 16 KB a second. */
  bodyTimeoutMs: number
  khrPerUsd: number
  /** vendor_a and vendor_b first, configured or not. */
  providers: Provider[]
  /** The built-in models with their overrides, then the configuration's own. */
  models: Model[]
  /** Name → catalogue id; `auto` is always there. */
  aliases: Record<string, string>
  brands: Brand[]
  /** Catalogue id → catalogue ids to try after it, in order. */
  fallbacks: Record<string, string[]>
  /** For keys that set none; 0 is no limit. */
  limits: { rpm: number; tpm: number; concurrency: number }
  /** Which tools that run at a vendor any key may use. */
  serverTools: NonNullable<FileConfig['server_tools']>
  /** Whether the responses wire is spoken by WebSocket too. */
  websockets: boolean
  keepAliveMs: number
  earlyStartMs: number
  /** How long a stop goes on taking requests in, while it says that it is not ready. */
  lingerMs: number
  /** How long a stop waits for exchanges in flight. */
  drainMs: number
  /** Attempts of one exchange, the first included. */
  maxTries: number
  /** Exchanges at once in the whole gateway; 0 is no limit. */
  maxOpenExchanges: number
  /** Resident memory past which new exchanges are refused; 0 is no limit. */
  maxMemoryBytes: number
  /** Whose word for the client's address, host and scheme is believed: any peer's, nobody's, or that of these networks. */
  trustProxy: boolean | string[]
  /** A model the key may not use answers 404 rather than 403. */
  hideForbiddenModels: boolean
  /** How long single exchanges are kept; 0 keeps them for ever. The totals are always kept. */
  retentionMs: number
  /**
   * Translated answers that clients may refer to: how long after their last use they are kept, 0 where none is written; how
   * many bytes of one key, and of all.
   */
  storedAnswers: { keepMs: number; perKey: number; total: number }
  log: { level: LogLevel }
  /** `GET /metrics`; `token` is the bearer token it asks for, if any. */
  metrics: { enabled: boolean; token: string | undefined }
  /** The keys that seal credentials set at run time, the first of them new ones; undefined: those of the data directory. */
  sealKeys: readonly SealKey[] | undefined
  /** Whether accounts may be set at run time, and where they may lead. */
  runTimeAccounts: 'any' | 'presets' | 'none'
  /** What the configuration says itself, and may not be set at run time. */
  written: Written
  /** Where each account's credential comes from, by `provider/account`. */
  accountSources: Readonly<Record<string, AccountSource>>
  /** What is served once that stands beside the file; what is wrong with it is told. */
  extend(kept: Overlay): Extended
  /** Where traces and metrics are exported to; undefined: nowhere. */
  otlp: OtlpSettings | undefined
  /** Who is told of trouble, and of what. */
  alerts: AlertRules
  /** Sentences for the operator, free of secrets. */
  warnings: string[]
}

/** `warnings`: all of the configuration's. */
export type Extended = { served: Served; warnings: string[]; problems: Problem[] }

/** The database within the data directory. */
export const databasePath = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'sluice.db')

type LoadOptions = {
  flags?: Flags
  env: Env
  /** What relative paths of flags and environment start from. */
  cwd: string
  /** `skip` leaves accounts and credentials unread, for commands that only need the data directory. */
  secrets?: 'resolve' | 'skip'
}

export type Loaded = { ok: true; config: Config } | { ok: false; problems: Problem[] }

const DEFAULT_FILE = 'sluice.yaml'
/** As easily written. */
const OTHER_FILE = 'sluice.yml'

/** Reads everything once. Never throws for what an operator wrote: that comes back as problems, all at once. */
export const loadConfig = ({ flags = {}, env, cwd, secrets = 'resolve' }: LoadOptions): Loaded => {
  const problems: Problem[] = []
  const warnings: string[] = []
  const { file, source, path, faults } = readFile(flags, env, cwd, problems)
  if (problems.length > 0) return { ok: false, problems }
  if (path === undefined && existsSync(resolve(cwd, OTHER_FILE)))
    warnings.push(`${OTHER_FILE} is not read: rename it to ${DEFAULT_FILE}, or start with --config ${OTHER_FILE}`)

  const directory = path === undefined ? cwd : dirname(path)
  const resolves = secrets === 'resolve'
  const base = { file, source, directory, env, resolves }
  const reader = createReader({ ...base, kept: NOTHING_KEPT, problems, warnings })
  const served = readServed(reader)
  const servedWarnings = warnings.length
  const calendar = readCalendar(reader)
  const token = file.metrics?.token
  const given = { flags, env, file, source }
  const listen = { host: readHost(given, problems), port: readPort(given, problems) }
  const placed = { ...given, cwd, directory }
  const store = readPlace(placed, { name: 'store', inFile: file.store, read: readStoreUrl }, problems, warnings)
  const limitsStore = readLimitsStore(placed, problems, warnings)
  const config: Config = {
    file: path,
    listen,
    workers: readWorkers(given, store !== undefined, problems),
    adminListen: readAdminListen(reader, listen),
    admin: {
      hosts: (file.admin?.hosts ?? []).map((host) => host.toLowerCase()),
      api: file.admin?.api?.replace(/\/+$/, '').replace(/\/v1$/, ''),
    },
    dataDir: readData(given, cwd, directory, problems),
    store,
    limitsStore,
    timeZone: calendar.zone,
    calendar,
    budget: readBudget(reader),
    bodyLimitBytes: readBodyLimit(reader),
    bodyTimeoutMs: reader.duration('body_timeout', file.body_timeout, 30_000),
    khrPerUsd: file.rate?.khr_per_usd ?? 4100,
    ...served,
    limits: { rpm: 0, tpm: 0, concurrency: 0, ...file.limits },
    serverTools: namedServerTools(file.server_tools ?? 'all'),
    websockets: file.websockets ?? true,
    keepAliveMs: reader.duration('keep_alive', file.keep_alive, 15_000),
    earlyStartMs: reader.duration('early_start', file.early_start, 20_000),
    lingerMs: reader.duration('linger', file.linger, 0),
    drainMs: reader.duration('drain', file.drain, 30_000),
    maxTries: file.max_tries ?? 3,
    maxOpenExchanges: file.max_open_exchanges ?? 0,
    maxMemoryBytes: file.max_memory === undefined ? defaultMaxMemory() : (parseSize(file.max_memory) ?? 0),
    trustProxy: readTrustProxy(reader),
    hideForbiddenModels: file.hide_forbidden_models ?? false,
    retentionMs: parseDuration(file.retention ?? '') ?? 90 * DAY_MS,
    storedAnswers: {
      keepMs: parseDuration(file.stored_answers?.keep ?? '') ?? (file.stored_answers?.keep === 0 ? 0 : 30 * DAY_MS),
      perKey: parseSize(file.stored_answers?.per_key ?? '') ?? 64 * 1024 ** 2,
      total: parseSize(file.stored_answers?.total ?? '') ?? 1024 ** 3,
    },
    log: { level: file.log?.level ?? 'info' },
    metrics: {
      enabled: file.metrics?.enabled ?? false,
      token: token === undefined || !resolves ? undefined : reader.secret('metrics.token', token),
    },
    sealKeys: readSealKeys(env, problems),
    runTimeAccounts: file.admin?.accounts ?? 'any',
    written: writtenIn(file, served),
    extend(kept) {
      const told = { problems: [] as Problem[], warnings: [] as string[] }
      const extended = readServed(createReader({ ...base, kept, ...told }))
      return { served: extended, problems: told.problems, warnings: [...told.warnings, ...otherWarnings] }
    },
    otlp: readOtlp(reader),
    alerts: readAlerts(reader),
    warnings,
  }
  const otherWarnings = warnings.slice(servedWarnings)
  const all = [...faults, ...problems.filter((problem) => !followsFrom(problem, faults))]
  return all.length > 0 ? { ok: false, problems: all } : { ok: true, config }
}

/** What is served, by whom and by which names: the part that may have something beside what the file says. */
const readServed = (reader: Reader) => {
  const providers = readProviders(reader)
  const brands = readBrands(providers)
  const models = readModels(reader, providers, brands)
  const names = readNames(reader, providers, models, brands)
  const served = servedOnly(models, providers, names.fallbacks)
  return { providers, brands, models: served, ...names, accountSources: sourcesOf(reader, providers) }
}

type Served = ReturnType<typeof readServed>

const readSealKeys = (env: Env, problems: Problem[]): SealKey[] | undefined => {
  const written = env.SLUICE_KEY
  if (!written) return undefined
  const keys = parseSealKeys(written)
  if (keys === undefined)
    problems.push({ source: 'SLUICE_KEY', path: '', message: `found something else, allowed: ${SEAL_KEY_FORM}` })
  return keys
}

/** What is wrong only because what it needs was left out as wrong already: told once is enough. */
const followsFrom = ({ source, path }: Problem, faults: readonly Problem[]): boolean =>
  faults.some(
    (fault) =>
      fault.source === source &&
      (path.startsWith(fault.path) ||
        fault.path.startsWith(path) ||
        // Whatever names a provider or a model that was left out.
        /^(?:providers|models)$/.test(fault.path) ||
        (/^models\b|\.preset$/.test(fault.path) && entryOf(path) === entryOf(fault.path))),
  )

/** `models.mine.price` → `models.mine`. */
const entryOf = (path: string): string => /^\w+(?:\.[\w-]+|\["(?:[^"\\]|\\.)*"\])?/.exec(path)?.[0] ?? path

const readCalendar = ({ file, report }: Reader): Calendar => {
  const zone = file.time_zone ?? 'UTC'
  const calendar = calendarOf(zone)
  if (calendar === undefined)
    report('time_zone', mismatch(zone, 'a time zone such as UTC, Asia/Phnom_Penh or Europe/Berlin'))
  return calendar ?? UTC
}

const readBudget = ({ file: { budget }, report }: Reader): FileConfig['budget'] => {
  if (budget === undefined || (budget.usd === undefined) !== (budget.tokens === undefined)) return budget
  report('budget', `found ${budget.usd === undefined ? 'neither' : 'both'} usd and tokens, allowed: one of them`)
  return undefined
}

/** In bytes. No request of a model fits into a kilobyte for long: who wrote so few meant another unit. */
const readBodyLimit = ({ file, warn }: Reader): number => {
  const bytes = parseSize(file.body_limit ?? '') ?? 25 * 1024 ** 2
  if (bytes < 1024) warn(`body_limit is ${bytes} bytes, and larger bodies are refused; is ${bytes}MB meant?`)
  return bytes
}

const readTrustProxy = ({ file, report }: Reader): boolean | string[] => {
  const written = file.trust_proxy ?? false
  if (typeof written === 'boolean') return written
  for (const [i, each] of written.entries())
    if (!isNetwork(each)) report(`trust_proxy[${i}]`, mismatch(each, 'an address or a network, such as 10.0.0.0/8'))
  return written
}

const readAdminListen = ({ file, report }: Reader, listen: Address): Address | undefined => {
  const written = file.admin?.listen
  if (written === undefined) return undefined
  const address = readAddress(written)
  const { host, port } = address
  if (port > 65535) report('admin.listen', mismatch(written, 'a port from 0 to 65535'))
  if (port !== 0 && port === listen.port && host === listen.host)
    report('admin.listen', `found ${written}, which is listen itself; allowed: another port`)
  return address
}

/** `faults`: of its members; they are left out of `file`. */
type Read = { file: FileConfig; source: string; path: string | undefined; faults: Problem[] }

/** The file named by flag or environment, else ./sluice.yaml where there is one, else an empty one. */
const readFile = (flags: Flags, env: Env, cwd: string, problems: Problem[]): Read => {
  const named = chosen(flags.config, env.SLUICE_CONFIG)
  const path = resolve(cwd, named ?? DEFAULT_FILE)
  const source = named ?? DEFAULT_FILE
  if (named === undefined && !existsSync(path))
    return { file: {}, source: 'configuration', path: undefined, faults: [] }
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const todo = 'name one that this user may read, or write one with "sluice config init"'
    problems.push({ source, path: '', message: `the file cannot be read (${reasonOf(error)}); ${todo}` })
    return { file: {}, source, path, faults: [] }
  }
  const parsed = parseYaml(text.replace(/^\uFEFF/, ''))
  if ('line' in parsed) {
    problems.push({ source: `${source}:${parsed.line}`, path: '', message: `not valid YAML: ${parsed.reason}` })
    return { file: {}, source, path, faults: [] }
  }
  const value = parsed.value ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    problems.push({ source, path: '', message: mismatch(value, 'a mapping', true) })
    return { file: {}, source, path, faults: [] }
  }
  const faults: Problem[] = []
  checkShape(FileSchema, value, (at, message) => faults.push({ source, path: at, message }))
  return { file: (soundPart(FileSchema, value) ?? {}) as FileConfig, source, path, faults }
}

/** The flag, else the environment variable; an empty variable counts as not set. */
const chosen = (flag: string | undefined, variable: string | undefined): string | undefined =>
  flag ?? (variable || undefined)
