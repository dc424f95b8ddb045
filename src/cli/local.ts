// The data directory as a backend: straight on the database, beside a running server too.

import type { Config } from '../config.ts'
import type { Key } from '../keys/key.ts'
import { statusOf } from '../keys/status.ts'
import { createSettings } from '../settings.ts'
import type { Store, UsageRow } from '../store/store.ts'
import type { Backend, ShownKey, ShownModel, Where } from './backend.ts'
import { requireData, withStore } from './data.ts'
import { CLI_ACTOR, failure, type Io } from './io.ts'
import { noSuchKey } from './keys/show.ts'
import { requireModels } from './read.ts'

/** The database is opened for each call and closed again; only making a key makes one. */
export const localBackend = (where: Where, io: Io): Backend => {
  const config = requireData({ config: where.config, data: where.data }, io)
  const read = <T>(use: (store: Store) => T): Promise<T> => withStore(config, io, 'read', use)
  const shown = (key: Key): ShownKey => shownKey(key, io.now())
  return {
    createKey: async ({ models, ...input }) => {
      const named = requireModels('--models', models, config)
      return withStore(config, io, 'write', (store) => {
        const { key, secret } = store.keys.issue({ ...input, models: named }, CLI_ACTOR)
        return { key: shown(key), secret }
      })
    },
    listKeys: () => read((store) => store.keys.list().toSorted(oldestFirst).map(shown)),
    getKey: (id) => read((store) => shown(requireKey(store, id))),
    updateKey: async (id, { models, addTokens, resetUsage, ...change }) => {
      const named = models === undefined ? {} : { models: requireModels('--models', models, config) }
      return read((store) => {
        const { tokensTotal } = requireKey(store, id)
        const total = addTokens === undefined ? {} : { tokensTotal: tokensTotal + addTokens }
        const reset = resetUsage ? { tokensUsed: 0 as const } : {}
        return shown(store.keys.update(id, { ...change, ...named, ...total, ...reset }, CLI_ACTOR))
      })
    },
    revokeKey: (id) =>
      read((store) => {
        requireKey(store, id)
        return shown(store.keys.revoke(id, CLI_ACTOR))
      }),
    rotateKey: (id, graceMs) =>
      read((store) => {
        requireKey(store, id)
        const { key, secret } = store.keys.rotate(id, graceMs, CLI_ACTOR)
        return { key: shown(key), secret }
      }),
    usage: (query) =>
      read((store) => {
        if (query.keyId !== undefined) requireKey(store, query.keyId)
        const labelOf = (group: string) => (query.by === 'key' ? (store.keys.get(group)?.label ?? group) : group)
        return {
          rows: store.usage(query).map((row) => ({ ...shownSums(row), group: row.group, label: labelOf(row.group) })),
          // What an admin has set on the dashboard stands over the file, here as in the server.
          khr_per_usd: createSettings({ ...config, limits: { ...config.limits } }, store.settings).values().khr_per_usd,
        }
      }),
    models: async () => ({
      items: config.models.map(shownModel),
      aliases: config.aliases,
      brands: config.brands.map(({ neutral, branded }) => ({ neutral, branded })),
    }),
  }
}

/** In the order of the admin API: keys of one moment by their ids. */
const oldestFirst = (a: Key, b: Key): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)

const requireKey = (store: Store, id: string): Key => {
  const key = store.keys.get(id)
  if (key) return key
  throw failure(noSuchKey(id))
}

const shownKey = (key: Key, now: number): ShownKey => ({
  id: key.id,
  label: key.label,
  tokens_total: key.tokensTotal,
  tokens_used: key.tokensUsed,
  tokens_remaining: Math.max(0, key.tokensTotal - key.tokensUsed),
  expires_at: new Date(key.expiresAt).toISOString(),
  models: key.models,
  rpm: key.rpm ?? null,
  tpm: key.tpm ?? null,
  concurrency: key.concurrency ?? null,
  status: statusOf(key, now),
  created_at: new Date(key.createdAt).toISOString(),
})

const shownSums = (row: UsageRow) => ({
  requests: row.requests,
  errors: row.errors,
  input: row.input,
  cache_read: row.cacheRead,
  cache_write: row.cacheWrite,
  output: row.output,
  reasoning: row.reasoning,
  cost_micro_usd: row.costMicroUsd,
})

const shownModel = (model: Config['models'][number]): ShownModel => ({
  id: model.id,
  provider: model.provider,
  upstream: model.upstream,
  family: model.family,
  display_name: model.displayName,
  kind: model.kind,
  input_modalities: model.inputModalities,
  output_modalities: model.outputModalities,
  context_window: model.contextWindow,
  max_output_tokens: model.maxOutput,
  tokens_per_image: model.tokensPerImage,
  price: {
    input: model.price.input,
    output: model.price.output,
    cache_read: model.price.cacheRead,
    cache_write: model.price.cacheWrite,
  },
})
