// What a gateway has done, counted for Prometheus. Labels are catalogue ids, names of the configuration and codes of
// the contract, never a client's text, so that their number is bounded.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import type { Wire } from '../ir/wire.ts'
import { leftOfBudget } from '../keys/budget.ts'
import type { Budgets } from '../keys/budgets.ts'
import type { Keys } from '../keys/key.ts'
import type { AttemptNote } from '../ledger/ledger.ts'
import type { ClientRequest, CountSummary, Ended, Summary } from '../relay/exchange.ts'
import { type Standing, targetName } from '../relay/health.ts'
import type { Relay } from '../relay/services.ts'
import type { Together } from '../store/together.ts'
import { VERSION } from '../version.ts'
import { allFigures, sumOf, type Workers } from './workers.ts'

/** What of a request whose prompt was counted is told. */
export type CountedRequest = Pick<ClientRequest, 'wire' | 'attempts' | 'firstByteMs'> & {
  readonly model: Pick<ClientRequest['model'], 'id'>
}

export type Metrics = {
  settled(exchange: Ended, summary: Summary): void
  /** A prompt was counted, or could not be. */
  counted(request: CountedRequest, how: CountSummary): void
  /** A request that was refused before it was admitted. */
  refused(wire: Wire, status: number, code: string): void
  /** The store could not write what the ledger gave it. */
  unwritten(): void
  /** The text format, with the figures of this moment. */
  text(): Promise<string>
  /** The same as values. */
  told(): Promise<MetricObjectWithValues<MetricValue<string>>[]>
}

/** The gateway's figures of this moment, read when the text is asked for. */
export type Measured = Pick<Relay, 'catalogue' | 'providers' | 'health'> & {
  readonly ledger: Pick<Relay['ledger'], 'openCount'>
  readonly open: { readonly size: number }
  readonly arriving: { readonly count: number }
  readonly draining: boolean
  readonly sockets: { readonly count: number }
  readonly store: { readonly keys: Pick<Keys, 'list'>; readonly budgets: Pick<Budgets, 'list'> }
  readonly otlp: { dropped(): { traces: number; metrics: number } } | undefined
  clock(): number
  readonly listener: { pending(): number } | undefined
  readonly workers: Workers | undefined
  readonly together?: Pick<Together, 'limitsAway'> | undefined
}

/** Seconds; from a cached answer to the longest a model thinks. */
const DURATIONS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640]
/** How often the event loop is looked at. */
const LOOP_MS = 10
const BREAKERS = { closed: 0, 'half-open': 1, open: 2 } as const

/** Counting touches nothing but its own figures. */
export const createMetrics = (gateway: Measured): Metrics => {
  const registry = new Registry()
  /** Over all processes that serve. */
  const summed = (name: Parameters<typeof sumOf>[1]): number => sumOf(allFigures(gateway), name)
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers })
  const histogram = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Histogram({ name, help, labelNames, registers, buckets: DURATIONS })
  const gauge = (name: string, help: string, read: () => number | undefined) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = read()
        if (value !== undefined) this.set(value)
      },
    })
  const targetGauge = (name: string, help: string, read: (at: Standing) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['provider', 'account', 'model'] as const,
      registers,
      collect() {
        this.reset()
        for (const { labels, ...at } of targets(gateway)) this.set(labels, read(at))
      },
    })

  const requests = counter(
    'sluice_requests_total',
    'Requests by how they ended. No model: refused before one was known.',
    ['wire', 'model', 'outcome', 'status'],
  )
  const counts = counter('sluice_counts_total', 'Prompts counted for clients, by how that ended.', [
    'wire',
    'model',
    'status',
  ])
  const errors = counter('sluice_errors_total', 'Errors that clients were given.', ['wire', 'code'])
  const tokens = counter('sluice_tokens_total', 'Tokens billed, in disjoint classes.', ['model', 'class'])
  const attempts = counter('sluice_attempts_total', 'Attempts at providers; the code is ok, or the error.', [
    'provider',
    'account',
    'code',
  ])
  const costs = counter('sluice_cost_micro_usd_total', 'What requests cost, in millionths of a USD.', ['model'])
  const durations = histogram('sluice_exchange_duration_seconds', 'From accepted to settled.', ['wire', 'stream'])
  const firstBytes = histogram('sluice_first_byte_seconds', "From accepted to the provider's first byte of output.", [
    'wire',
    'model',
  ])
  const unwritten = counter(
    'sluice_ledger_write_failures_total',
    'Writes of the ledger that the store could not make. They are tried again; new requests answer 503.',
    [],
  )

  gauge('sluice_open_exchanges', 'Exchanges in flight, and prompts being counted.', () => summed('open'))
  gauge('sluice_arriving_requests', 'Requests that are read and checked.', () => summed('arriving'))
  gauge('sluice_websockets', 'Open WebSockets.', () => summed('sockets'))
  gauge('sluice_open_reservations', 'Reservations not yet settled.', () => gateway.ledger.openCount())
  if (gateway.together?.limitsAway() !== undefined)
    gauge('sluice_limits_store_up', '0 while limits are counted in the database, their own store being away.', () =>
      Number(gateway.together?.limitsAway() !== true),
    )
  gauge('sluice_draining', '1 once the server is stopping.', () => Number(gateway.draining))
  targetGauge(
    'sluice_breaker_state',
    'By account and model: 0 closed, 1 half-open, 2 open.',
    (at) => BREAKERS[at.state],
  )
  targetGauge(
    'sluice_attempts_in_flight',
    'By account and model: attempts that wait for an answer to begin.',
    (at) => at.inFlight,
  )
  new Gauge({ name: 'sluice_info', help: 'The running version.', labelNames: ['version'] as const, registers }).set(
    { version: VERSION },
    1,
  )
  const delays = monitorEventLoopDelay({ resolution: LOOP_MS })
  delays.enable()
  gauge('sluice_event_loop_hold_seconds', 'The longest the event loop was held since this was last read.', () => {
    const { max } = delays
    delays.reset()
    return max / 1e9
  })
  gauge('process_resident_memory_bytes', 'Resident memory.', () => summed('rssBytes'))
  gauge('process_heap_bytes', 'Memory of it that holds objects, those not yet collected included.', () =>
    summed('heapBytes'),
  )
  gauge('process_open_fds', 'Open file descriptors.', () => summed('openFiles') || undefined)
  gauge('process_start_time_seconds', 'When the process began.', () => Date.now() / 1000 - process.uptime())
  gauge('process_cpu_seconds_total', 'Processor time, user and system.', () => summed('cpuSeconds'))

  new Gauge({
    name: 'sluice_quota_remaining_tokens',
    help: `Tokens left of quotas, of the ${MOST_SHOWN} keys in force with the smallest part left.`,
    labelNames: ['key'] as const,
    registers,
    collect() {
      this.reset()
      for (const { id, left } of scarce(quotasLeft(gateway))) this.set({ key: id }, left)
    },
  })
  new Gauge({
    name: 'sluice_budget_remaining',
    help: `What is left of budgets, of the ${MOST_SHOWN} with the smallest part left.`,
    labelNames: ['budget', 'unit'] as const,
    registers,
    collect() {
      this.reset()
      for (const { id, unit, left } of scarce(budgetsLeft(gateway))) this.set({ budget: id, unit }, left)
    },
  })
  new Counter({
    name: 'sluice_otlp_dropped_total',
    help: 'Spans, and readings of these figures, that OpenTelemetry was not given.',
    labelNames: ['signal'] as const,
    registers,
    collect() {
      this.reset()
      for (const [signal, count] of Object.entries(gateway.otlp?.dropped() ?? {})) this.inc({ signal }, count)
    },
  })

  const tried = (tries: readonly AttemptNote[], firstByteMs: number | undefined): void => {
    for (const { provider, account, errorCode } of tries) {
      attempts.inc({ provider, account, code: errorCode ?? (firstByteMs === undefined ? 'aborted' : 'ok') })
    }
  }

  return {
    settled: ({ wire, stream, model, attempts: tries, firstByteMs, resumed }, summary) => {
      requests.inc({ wire, model: model.id, outcome: summary.outcome, status: summary.status })
      if (summary.errorCode !== undefined) errors.inc({ wire, code: summary.errorCode })
      for (const [name, amount] of Object.entries(summary.tokens)) {
        if (amount > 0) tokens.inc({ model: model.id, class: CLASSES[name] ?? name }, amount)
      }
      // Its attempts were counted by the process that made them.
      if (resumed !== true) tried(tries, firstByteMs)
      if (summary.costMicroUsd > 0) costs.inc({ model: model.id }, summary.costMicroUsd)
      durations.observe({ wire, stream: String(stream) }, summary.totalMs / 1000)
      if (firstByteMs !== undefined) firstBytes.observe({ wire, model: model.id }, firstByteMs / 1000)
    },
    counted: ({ wire, model, attempts: tries, firstByteMs }, { status, errorCode }) => {
      counts.inc({ wire, model: model.id, status })
      if (errorCode !== undefined) errors.inc({ wire, code: errorCode })
      tried(tries, firstByteMs)
    },
    refused: (wire, status, code) => {
      requests.inc({ wire, model: '', outcome: 'refused', status })
      errors.inc({ wire, code })
    },
    unwritten: () => unwritten.inc(),
    text: () => registry.metrics(),
    told: () => registry.getMetricsAsJSON(),
  }
}

/** The number of labels is bounded, however many keys there are. */
const MOST_SHOWN = 500

type Left = { id: string; left: number; total: number }

const scarce = <Each extends Left>(all: Each[]): Each[] =>
  all.toSorted((a, b) => a.left * b.total - b.left * a.total).slice(0, MOST_SHOWN)

const quotasLeft = ({ store, clock }: Measured): Left[] => {
  const now = clock()
  const live = store.keys.list().filter((key) => key.revokedAt === undefined && key.expiresAt > now)
  return live.map(({ id, tokensTotal, tokensUsed }) => ({
    ...{ id, left: Math.max(0, tokensTotal - tokensUsed), total: tokensTotal },
  }))
}

const budgetsLeft = ({ store }: Measured): (Left & { unit: string })[] =>
  store.budgets.list().map((budget) => ({
    ...{ id: budget.id, left: leftOfBudget(budget), total: budget.amount },
    unit: budget.unit === 'usd' ? 'micro_usd' : 'tokens',
  }))

const CLASSES: Record<string, string> = { cacheRead: 'cache_read', cacheWrite: 'cache_write' }

/** What the health knows of the accounts and models that the configuration has now. */
const targets = (gateway: Measured) =>
  [...gateway.providers.values()].flatMap(({ id, accounts }) =>
    accounts.flatMap((account) =>
      gateway.catalogue.list().flatMap((model) => {
        const name = targetName(id, account.name, model.id)
        const at = model.provider === id ? gateway.health.standingOf(name) : undefined
        return at === undefined ? [] : [{ ...at, labels: { provider: id, account: account.name, model: model.id } }]
      }),
    ),
  )
