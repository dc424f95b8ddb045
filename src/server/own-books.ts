// The books of a process that keeps them itself, and what its configuration writes into the store at the start.

import { gatewayBudget, zoneIn } from '../config/settings.ts'
import type { Gateway, OwnBooks } from '../gateway.ts'
import { GATEWAY, isSameBudget } from '../keys/budget.ts'
import type { Actor } from '../keys/key.ts'
import { createLedger } from '../ledger/create.ts'
import { createLimits } from '../ledger/limits.ts'
import type { Log } from '../observe/log.ts'
import type { SqliteStore } from '../store/store.ts'

/** The books of a process that keeps them itself, and settles what a killed one left. */
export const ownBooksIn = (store: SqliteStore) => async (own: OwnBooks) => {
  const { config, prices, log, clock, stopwatch, othersRun, failed } = own
  const ledger = createLedger({
    ...{ store, clock, prices, onFailure: failed, calendar: config.calendar },
    onRefused: reportRefused(log),
    isResumed: (exchangeId) => othersRun || store.journal.answerOf(exchangeId) !== undefined,
  })
  reportRecovered(log, ledger.recovered)
  await setBudget({ config, store })
  await noteZone({ config, store, log, clock })
  return { ledger, limits: createLimits({ clock, stopwatch, defaults: config.limits }) }
}

export const reportRefused =
  (log: Log) =>
  (exchange: string, cause: unknown): void =>
    log.error('the database refused the figures of an exchange: it is settled by what was set aside for it', {
      exchange,
      cause: String(cause),
    })

/** Tells of exchanges that nobody was left to settle. */
export const reportRecovered = (log: Log, exchanges: number): void => {
  if (exchanges > 0)
    log.warn('a previous process was killed: what it left open is settled by its last figures', { exchanges })
}

/** Who changes what the configuration says, in the audit. */
const CONFIGURATION: Actor = { kind: 'system', id: 'configuration' }

/**
 * The budget of the whole gateway as the configuration has it, or as it was set at run time. What was used of it stays where
 * only its terms change.
 */
export const setBudget = async ({ config: { budget }, store }: Pick<Gateway, 'config' | 'store'>): Promise<void> => {
  const terms = await gatewayBudget(budget, store.settings)
  const known = store.budgets.get(GATEWAY)
  const same = terms === null ? known === undefined : known !== undefined && isSameBudget(known, terms)
  if (!same) await store.budgets.set(GATEWAY, terms, CONFIGURATION)
}

/** Sums that are kept by the day stay as they were when the time zone changes: it is noted from when on they go by it. */
export const noteZone = async ({
  config,
  store,
  log,
  clock,
}: Pick<Gateway, 'config' | 'store' | 'log' | 'clock'>): Promise<void> => {
  const known = await zoneIn(store.settings)
  const { timeZone: zone } = config
  if (known.zone === zone) return
  const { rows } = await store.usage({ by: 'model' })
  if (rows.length === 0) return store.settings.write({ time_zone: { zone } }, CONFIGURATION)
  const since = new Date(clock()).toISOString()
  await store.settings.write({ time_zone: { zone, since, before: known.zone } }, CONFIGURATION)
  log.warn('the time zone has changed: days of single keys before now stay those of the one before', {
    ...{ zone, before: known.zone },
  })
}
