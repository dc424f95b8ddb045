// Settings an admin changes while the gateway runs, over what the configuration says. They outlive a restart.

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Config } from './config.ts'
import type { Actor } from './keys/key.ts'
import type { SettingStore } from './members/member.ts'

const DAY_MS = 86_400_000

const Count = Type.Integer({ minimum: 0 })

/** What each may be. Anything else in the store is passed over. */
const SCHEMAS = {
  khr_per_usd: Type.Number({ exclusiveMinimum: 0 }),
  /** 0 keeps single exchanges for ever. */
  retention_days: Type.Number({ minimum: 0 }),
  /** For keys that set none; 0 is no limit. */
  limits: Type.Object({ rpm: Count, tpm: Count, concurrency: Count }),
  /** What a new key gets where its maker says nothing. */
  key_defaults: Type.Object({
    tokens_total: Count,
    expires_days: Type.Integer({ minimum: 1 }),
    models: Type.Array(Type.String(), { minItems: 1 }),
  }),
  /** Whether X-Forwarded-For, -Host and -Proto are believed. */
  trust_proxy: Type.Boolean(),
} satisfies Record<string, TSchema>

export type SettingValues = { [name in keyof typeof SCHEMAS]: Static<(typeof SCHEMAS)[name]> }
type SettingName = keyof SettingValues

export type Settings = {
  /** In force now. */
  values(): Readonly<SettingValues>
  /** Those set here rather than by the configuration. */
  overridden(): SettingName[]
  /** The configuration was read anew: what is set here stays over it. */
  rebase(config: Config): void
  /** Null goes back to the configuration's. In force at once. */
  change(patch: { [name in SettingName]?: SettingValues[name] | null }, actor: Actor): void
}

/** `config` is the gateway's own copy: what is set here is written into it, and read from there by everyone else. */
export const createSettings = (config: Config, store: SettingStore): Settings => {
  const baseOf = (given: Config): SettingValues => ({
    khr_per_usd: given.khrPerUsd,
    retention_days: given.retentionMs / DAY_MS,
    limits: { ...given.limits },
    key_defaults: { tokens_total: 1_000_000, expires_days: 365, models: ['*'] },
    trust_proxy: false,
  })
  let base = baseOf(config)
  let set: Partial<SettingValues> = {}
  let values = base

  const load = (): void => {
    const stored = store.read()
    set = Object.fromEntries(
      Object.entries(SCHEMAS).flatMap(([name, schema]) =>
        name in stored && Value.Check(schema, stored[name]) ? [[name, stored[name]]] : [],
      ),
    )
    values = { ...base, ...set }
    config.khrPerUsd = values.khr_per_usd
    config.retentionMs = values.retention_days * DAY_MS
    Object.assign(config.limits, values.limits)
  }
  load()

  return {
    values: () => values,
    overridden: () => Object.keys(set) as SettingName[],
    rebase(given) {
      base = baseOf(given)
      load()
    },
    change(patch, actor) {
      store.write(patch, actor)
      load()
    },
  }
}
