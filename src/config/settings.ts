// Settings that admins change while the gateway runs. They override the configuration and outlive a restart.

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { MOST_SESSION_DAYS } from '../admin-api/bounds.ts'
import { BudgetTerms as WrittenTerms } from '../admin-api/schema.ts'
import type { Config } from '../config.ts'
import { type BudgetTerms, termsOf } from '../keys/budget.ts'
import type { Actor } from '../keys/key.ts'
import { createInOrder } from '../lib/in-order.ts'
import { DAY_MS } from '../lib/spans.ts'
import type { SettingStore } from '../members/member.ts'
import { SESSION_DAYS } from '../members/sessions.ts'

const Count = Type.Integer({ minimum: 0 })

/** The valid values of each. Anything else in the store is ignored. */
const SCHEMAS = {
  khr_per_usd: Type.Number({ exclusiveMinimum: 0 }),
  /** 0 keeps single exchanges for ever. */
  retention_days: Type.Number({ minimum: 0 }),
  /** For keys without limits of their own; 0 is no limit. */
  limits: Type.Object({ rpm: Count, tpm: Count, concurrency: Count }),
  /** The defaults of a new key. */
  key_defaults: Type.Object({
    tokens_total: Count,
    expires_days: Type.Integer({ minimum: 1 }),
    models: Type.Array(Type.String(), { minItems: 1 }),
  }),
  /** Whose X-Forwarded-For, -Host and -Proto are trusted: any peer's, or that of the networks listed. */
  trust_proxy: Type.Union([Type.Boolean(), Type.Array(Type.String())]),
  /** Whether every admin must have a second factor. */
  second_factor_for_admins: Type.Boolean(),
  /** Days after sign-in until a session of the dashboard ends. */
  session_days: Type.Integer({ minimum: 1, maximum: MOST_SESSION_DAYS }),
} satisfies Record<string, TSchema>

type SettingValues = { [name in keyof typeof SCHEMAS]: Static<(typeof SCHEMAS)[name]> }
export type SettingName = keyof SettingValues

export type Settings = {
  /** The values in force. */
  values(): Readonly<SettingValues>
  /** Those that override the configuration. */
  overridden(): SettingName[]
  /** The configuration was reloaded: these settings still override it. */
  rebase(config: Config): void
  /** Reads what another process has changed; in force then. */
  refresh(): Promise<void>
  /** In force once it is written. Null returns to the configuration's value. */
  change(patch: { [name in SettingName]?: SettingValues[name] | null }, actor: Actor): Promise<void>
}

/** `config` is the gateway's own copy: the values in force are written into it, and read from there. */
export const createSettings = async (config: Config, store: SettingStore): Promise<Settings> => {
  const baseOf = (given: Config): SettingValues => ({
    khr_per_usd: given.khrPerUsd,
    retention_days: given.retentionMs / DAY_MS,
    limits: { ...given.limits },
    key_defaults: { tokens_total: 1_000_000, expires_days: 365, models: ['*'] },
    trust_proxy: given.trustProxy,
    second_factor_for_admins: false,
    session_days: SESSION_DAYS,
  })
  let base = baseOf(config)
  let set: Partial<SettingValues> = {}
  let values = base

  const inOrder = createInOrder()
  const load = async (): Promise<void> => {
    const stored = await store.read()
    set = Object.fromEntries(
      Object.entries(SCHEMAS).flatMap(([name, schema]) =>
        name in stored && Value.Check(schema, stored[name]) ? [[name, stored[name]]] : [],
      ),
    )
    apply()
  }
  const apply = (): void => {
    values = { ...base, ...set }
    config.khrPerUsd = values.khr_per_usd
    config.retentionMs = values.retention_days * DAY_MS
    Object.assign(config.limits, values.limits)
  }
  await load()

  return {
    values: () => values,
    overridden: () => Object.keys(set) as SettingName[],
    rebase(given) {
      base = baseOf(given)
      apply()
    },
    refresh: () => inOrder(load),
    change: (patch, actor) =>
      inOrder(async () => {
        await store.write(patch, actor)
        await load()
      }),
  }
}

/**
 * The budget of the whole gateway in force: as the configuration says, else as it was set at run time; null: there is none.
 */
export const gatewayBudget = async (
  written: Config['budget'],
  store: Pick<SettingStore, 'read'>,
): Promise<BudgetTerms | null> => {
  const budget = written ?? (await store.read())[GATEWAY_BUDGET]
  return Value.Check(WrittenTerms, budget) ? termsOf(budget) : null
}

/** What it is called among the settings. */
export const GATEWAY_BUDGET = 'budget'

/** Without a time and a zone before, where nothing had been used by then. */
const Zone = Type.Object({
  zone: Type.String(),
  since: Type.Optional(Type.String()),
  before: Type.Optional(Type.String()),
})

/** By which time zone the sums of days are kept: since when, and by which before; UTC from the beginning where none was noted. */
export const zoneIn = async (
  store: Pick<SettingStore, 'read'>,
): Promise<{ zone: string; since?: string; before?: string }> => {
  const { time_zone: noted } = await store.read()
  return Value.Check(Zone, noted) ? noted : { zone: 'UTC' }
}
