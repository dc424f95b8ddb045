// Applies a changed configuration while the server runs: new exchanges see it, those in flight end as they began.

import { FIXED } from '../config/fixed.ts'
import type { Reloaded } from '../config/reloaded.ts'
import type { SettingName } from '../config/settings.ts'
import type { Config } from '../config.ts'
import { type Gateway, takeOver } from '../gateway.ts'
import { setBudget } from './own-books.ts'

/** Members that are not in the file itself, or in no file. */
type Derived = 'file' | 'brands' | 'calendar' | 'warnings' | 'written' | 'accountSources' | 'extend' | 'sealKeys'

/** `byName`: reported by the members that changed. `setting`: what admins override it by. */
type Part = { path: string; byName?: boolean; setting?: SettingName }

/** All that can change. */
const PARTS: Record<Exclude<keyof Config, keyof typeof FIXED | Derived>, Part> = {
  admin: { path: 'admin', byName: true },
  budget: { path: 'budget' },
  runTimeAccounts: { path: 'admin.accounts' },
  bodyLimitBytes: { path: 'body_limit' },
  bodyTimeoutMs: { path: 'body_timeout' },
  khrPerUsd: { path: 'rate.khr_per_usd', setting: 'khr_per_usd' },
  providers: { path: 'providers', byName: true },
  models: { path: 'models', byName: true },
  aliases: { path: 'aliases', byName: true },
  fallbacks: { path: 'fallbacks', byName: true },
  limits: { path: 'limits', byName: true, setting: 'limits' },
  serverTools: { path: 'server_tools' },
  websockets: { path: 'websockets' },
  keepAliveMs: { path: 'keep_alive' },
  earlyStartMs: { path: 'early_start' },
  drainMs: { path: 'drain' },
  lingerMs: { path: 'linger' },
  maxTries: { path: 'max_tries' },
  maxOpenExchanges: { path: 'max_open_exchanges' },
  maxMemoryBytes: { path: 'max_memory' },
  trustProxy: { path: 'trust_proxy', setting: 'trust_proxy' },
  hideForbiddenModels: { path: 'hide_forbidden_models' },
  retentionMs: { path: 'retention', setting: 'retention_days' },
  storedAnswers: { path: 'stored_answers' },
  log: { path: 'log', byName: true },
  metrics: { path: 'metrics', byName: true },
  alerts: { path: 'alerts', byName: true },
  otlp: { path: 'otlp', byName: true },
}

/** Applies `next`. `before` is the configuration read last. Settings that admins have changed override both. */
export const reload = async (gateway: Gateway, before: Config, next: Config): Promise<Reloaded> => {
  takeOver(gateway, await gateway.entries.rebase(next))
  await setBudget(gateway)
  gateway.log.setLevel(gateway.config.log.level)
  await applyMetrics(gateway)
  await applyOtlp(gateway)
  gateway.alerts.reconfigured()
  return changes(before, next, gateway.settings.overridden())
}

/** Turns metrics on or off. Their library is loaded only when they are on. */
export const applyMetrics = async (gateway: Gateway): Promise<void> => {
  const { metrics, otlp } = gateway.config
  if (!metrics.enabled && otlp?.metrics !== true) gateway.metrics = undefined
  else gateway.metrics ??= (await import('../observe/metrics.ts')).createMetrics(gateway)
}

/** Begins, changes or ends what is exported. Its library is loaded only where something is. */
export const applyOtlp = async (gateway: Gateway): Promise<void> => {
  const { otlp: settings } = gateway.config
  const before = gateway.otlp
  if (Bun.deepEquals(before?.settings, settings)) return
  gateway.otlp =
    settings === undefined ? undefined : (await import('../observe/otlp/otlp.ts')).startOtlp(settings, gateway)
  // What was gathered for the other goes there still.
  void before?.stop()
}

const changes = (before: Config, next: Config, set: readonly SettingName[]): Reloaded => {
  const differs = (name: keyof Config): boolean => !Bun.deepEquals(before[name], next[name])
  const names = (Object.keys(PARTS) as (keyof typeof PARTS)[]).filter(differs)
  const fixed = (Object.keys(FIXED) as (keyof typeof FIXED)[]).filter(differs)
  const paths = (of: typeof names): string[] =>
    of.flatMap((name) => {
      const { path, byName } = PARTS[name]
      return byName ? membersChanged(path, before[name], next[name]) : [path]
    })
  const isSet = (name: keyof typeof PARTS): boolean => set.some((setting) => setting === PARTS[name].setting)
  return {
    changed: paths(names.filter((name) => !isSet(name))),
    overridden: paths(names.filter(isSet)),
    refused: fixed.map((name) => FIXED[name]),
  }
}

/** Paths only: a value may be a secret. */
const membersChanged = (path: string, before: unknown, next: unknown): string[] => {
  const [old, now] = [named(before), named(next)]
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((name) => !Bun.deepEquals(old[name], now[name]))
    .map((name) => `${path}.${name}`)
}

const named = (value: unknown): Record<string, unknown> =>
  Array.isArray(value)
    ? Object.fromEntries(value.map((each: { id: string }) => [each.id, each]))
    : { ...(value as Record<string, unknown>) }
