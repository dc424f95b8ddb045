// The data directory as a backend: straight on the database, beside a running server too.

import { listed } from '../catalogue/catalogue.ts'
import { createSettings } from '../config/settings.ts'
import type { Config } from '../config.ts'
import type { JsonObject } from '../ir/json.ts'
import type { Key } from '../keys/key.ts'
import { isoOrNull } from '../lib/iso-time.ts'
import { DAY_MS } from '../lib/spans.ts'
import { labelsOf, ownersOf } from '../observe/groups.ts'
import { type ShownKey, shownKey, shownModel, shownSums, shownZone } from '../observe/shown.ts'
import type { Store } from '../store/store.ts'
import type { Backend, Where } from './backend.ts'
import { noSuchKey } from './backend.ts'
import { hasNone, requireData, withStore } from './data.ts'
import { CLI_ACTOR, failure, type Io } from './io.ts'
import { keptIn } from './kept.ts'
import { requireModels } from './read.ts'

/** The database is opened for each call and closed again; only making a key makes one. */
export const localBackend = (where: Where, io: Io): Backend => {
  const config = requireData(where, io)
  const read = <T>(use: (store: Store) => T | Promise<T>): Promise<T> => withStore(config, io, 'read', use)
  /** With what stands beside the file. A folder without a database has nothing of that, and is told of elsewhere. */
  const inForce = async (): Promise<Config> =>
    hasNone(config) ? config : read(async (store) => (await keptIn(store, config)).entries.config())
  const shown = (key: Key, { budgets }: Store): ShownKey =>
    shownKey(key, { now: io.now(), calendar: config.calendar, budgets })
  // What an admin has set on the dashboard stands over the file, here as in the server.
  const settingsOf = async (store: Store) =>
    (await createSettings({ ...config, limits: { ...config.limits } }, store.settings)).values()
  return {
    calendar: async () => config.calendar,
    createKey: async ({ models, ...input }) => {
      const named = models && requireModels('--models', models, await inForce())
      return withStore(config, io, 'write', async (store) => {
        const usual = (await settingsOf(store)).key_defaults
        const { key, secret } = await store.keys.issue(
          {
            ...{ tokensTotal: usual.tokens_total, expiresAt: io.now() + usual.expires_days * DAY_MS },
            ...{ ...input, models: named ?? usual.models },
          },
          CLI_ACTOR,
        )
        return { key: shown(key, store), secret }
      })
    },
    listKeys: () =>
      read((store) =>
        store.keys
          .list()
          .filter(({ purpose }) => purpose === undefined)
          .toSorted(oldestFirst)
          .map((key) => shown(key, store)),
      ),
    getKey: (id) => read((store) => shown(requireKey(store, id), store)),
    updateKey: async (id, { models, resetUsage, ...change }) => {
      const named = models === undefined ? {} : { models: requireModels('--models', models, await inForce()) }
      const reset = resetUsage ? { tokensUsed: 0 as const } : {}
      return read(async (store) => {
        requireKey(store, id)
        return shown(await store.keys.update(id, { ...change, ...named, ...reset }, CLI_ACTOR), store)
      })
    },
    revokeKey: (id) =>
      read(async (store) => {
        requireKey(store, id)
        return shown(await store.keys.revoke(id, CLI_ACTOR), store)
      }),
    rotateKey: (id, graceMs) =>
      read(async (store) => {
        requireKey(store, id)
        const { key, secret } = await store.keys.rotate(id, graceMs, CLI_ACTOR)
        return { key: shown(key, store), secret }
      }),
    usage: ({ keyId, ...query }) =>
      read(async (store) => {
        if (keyId !== undefined) requireKey(store, keyId)
        const labelOf = await labelsOf(store, query.by)
        const ownerOf = await ownersOf(store)
        const { since, rows } = await store.usage({ ...query, keyIds: keyId === undefined ? undefined : [keyId] })
        return {
          since: isoOrNull(since),
          rows: rows.map((row) => ({
            ...shownSums(row),
            ...{ group: row.group, label: labelOf(row.group) },
            ...(row.day === undefined ? {} : { day: row.day }),
            ...(query.by === 'key' ? { owner: ownerOf(row.group) } : {}),
            ...(row.serverTools === undefined ? {} : { server_tools: row.serverTools }),
          })),
          khr_per_usd: (await settingsOf(store)).khr_per_usd,
          ...(await shownZone(store.settings)),
        }
      }),
    models: async () => {
      const { models, aliases, brands } = await inForce()
      return {
        items: listed(models).map(shownModel),
        aliases,
        brands: brands.map(({ neutral, branded }) => ({ neutral, branded })),
      }
    },
    priced: () =>
      read(async (store) => {
        const { entries } = await keptIn(store, config)
        const { models, brands, providers, written } = entries.config()
        const kept = entries.list().filter(({ section }) => section === 'models')
        return {
          models: listed(models).map(shownModel),
          brands: brands.map(({ neutral, branded }) => ({ neutral, branded })),
          presetOf: Object.fromEntries(
            providers.flatMap(({ id, preset }) => (preset === undefined ? [] : [[id, preset]])),
          ),
          kept: Object.fromEntries(kept.map(({ name, value }) => [name, value as JsonObject])),
          inFile: written.models,
        }
      }),
    setModels: (models) =>
      withStore(config, io, 'write', async (store) =>
        (await keptIn(store, config)).entries.change(
          models.map(({ name, value }) => ({ section: 'models', name, value })),
          CLI_ACTOR,
        ),
      ),
  }
}

/** In the order of the admin API: keys of one moment by their ids. */
const oldestFirst = (a: Key, b: Key): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)

const requireKey = (store: Store, id: string): Key => {
  const key = store.keys.get(id)
  if (key) return key
  throw failure(noSuchKey(id))
}
