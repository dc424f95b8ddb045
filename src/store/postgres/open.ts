// Opens a PostgreSQL database as a Store: migrated first, then loaded.

import { type Calendar, UTC } from '../../lib/calendar.ts'
import { hostsOf, postgresUrls } from '../../lib/postgres-url.ts'
import type { Store } from '../store.ts'
import type { Together } from '../together.ts'
import { createAlertStore } from './alerts.ts'
import { createAttemptStore } from './attempts.ts'
import { createBackground } from './background.ts'
import { createBudgetRing } from './budgets.ts'
import { createChanges } from './change.ts'
import { type Client, createClient } from './client.ts'
import { createEntries } from './entries.ts'
import { createFactors } from './factors.ts'
import { createInsight } from './insight.ts'
import { createJobs } from './jobs.ts'
import { createKeptAnswers } from './kept-answers.ts'
import { createKeyRing } from './keys.ts'
import { createMembers } from './members.ts'
import { migrate, tryOut } from './migrate.ts'
import { goOnCounting } from './numbering.ts'
import { ormOf } from './orm.ts'
import { createPrices } from './prices.ts'
import { createQueries } from './queries.ts'
import { createRefusals } from './refusals.ts'
import { createSessions } from './sessions.ts'
import { createSettings } from './settings.ts'
import { createSetupLinks } from './setup-links.ts'
import { createSums } from './sums.ts'
import { createTeams } from './teams.ts'
import { createTokens } from './tokens.ts'
import { createVersions } from './versions.ts'

/** `clock`: in place of the database's, for tests; milliseconds since the epoch. `calendar`: whose days sums are kept by. */
type PostgresOptions = { clock?: (() => number) | undefined; calendar?: Calendar }

export type PostgresStore = Store & Omit<Together, 'limitsAway'> & { client: Client }

/** Throws a StoreError for a database that cannot be reached or used, which is left as it was. */
export const openPostgres = async (url: string, options: PostgresOptions = {}): Promise<PostgresStore> => {
  const client = createClient(url)
  try {
    return await storeOf(client, whereOf(url), options)
  } catch (error) {
    await client.close()
    throw error
  }
}

/** The version of its server. Throws a StoreError for a database that `openPostgres` would refuse, and leaves each as it was. */
export const tryPostgres = async (url: string): Promise<string> => {
  const client = createClient(url, { max: 1 })
  try {
    const [row] = await client.query<{ version: string }>("SELECT current_setting('server_version') AS version")
    await tryOut(client, whereOf(url), PROBE)
    return row?.version ?? ''
  } finally {
    await client.close()
  }
}

/** In words, without a password. */
const whereOf = (url: string): string => {
  const urls = postgresUrls(url)
  return urls === undefined ? 'that was named' : `${urls[0].pathname.slice(1)} at ${hostsOf(urls)}`
}

const storeOf = async (
  client: Client,
  where: string,
  { clock: own, calendar = UTC }: PostgresOptions,
): Promise<PostgresStore> => {
  await migrate(client, where)
  const orm = ormOf(client)
  const clock = (): number => versions.clock()
  const refresh = (): Promise<boolean> => versions.refresh()
  const requireUsable = (): void => versions.requireUsable()
  const changes = createChanges(client, requireUsable, own)
  const ofBudgets = createBudgetRing(orm, changes)
  const ring = createKeyRing({ orm, changes, clock, refresh, ofBudgets })
  const versions = await createVersions(
    client,
    where,
    {
      async changed(after) {
        if (after === 0) await goOnCounting(client)
        const take = await ring.reload(after)
        await ofBudgets.reload(after)
        take()
      },
      async moved(since) {
        await ring.reloadSince(since)
        await ofBudgets.reloadSince(since)
      },
      passed: ofBudgets.passed,
    },
    own,
  )
  const sums = createSums(client, calendar)
  let unwatch: (() => void) | undefined
  return {
    client,
    clock,
    catchUp: versions.catchUp,
    jobs: createJobs(client),
    attempts: createAttemptStore(client, own),
    setupLinks: createSetupLinks(client),
    keys: ring.keys,
    budgets: ofBudgets.budgets,
    members: createMembers({ orm, changes, ring, ofBudgets, refresh }),
    teams: createTeams(orm, changes, ofBudgets),
    sessions: createSessions(orm, changes),
    factors: createFactors(orm, changes),
    tokens: createTokens(orm, changes),
    settings: createSettings(orm, changes),
    prices: createPrices(orm, clock),
    entries: createEntries(orm, changes),
    refusals: createRefusals(client, requireUsable),
    background: createBackground(client),
    answers: createKeptAnswers(client, clock),
    alerts: createAlertStore(orm, changes),
    insight: createInsight(client, calendar, sums),
    ...createQueries(client, clock, calendar, sums),
    refresh,
    watch(intervalMs = 250) {
      unwatch?.()
      const [others, adding] = [versions.watch(intervalMs), sums.watch()]
      unwatch = () => {
        others()
        adding()
      }
      return unwatch
    },
    async probe() {
      requireUsable()
      await client.query(PROBE, [], { deadlineMs: PROBE_MS })
    },
    async close() {
      unwatch?.()
      await client.close()
    },
  }
}

/** Who asks whether it can be written wants to know soon. */
const PROBE_MS = 2_000
/** A row that is written, unchanged: a database that takes no writes says so. */
const PROBE = `
  INSERT INTO versions (what, n) VALUES ('probe', 0) ON CONFLICT (what) DO UPDATE SET n = versions.n`
