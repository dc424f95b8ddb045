// What whoever runs the gateway is told of: each rule looks at what the gateway knows already.

import { statfsSync } from 'node:fs'
import type { Holding, Rule } from '../alerts/alerts.ts'
import type { Gateway } from '../gateway.ts'
import { type Budget, marksPassed, ownerOfBudget, usedOf } from '../keys/budget.ts'
import type { Key } from '../keys/key.ts'
import type { Renewal } from '../keys/renewal.ts'
import { iso } from '../lib/iso-time.ts'
import type { Known } from '../lib/known.ts'
import { DAY_MS, HOUR_MS } from '../lib/spans.ts'
import { type Standing, targetName } from '../relay/health.ts'
import { isStoreError } from '../store/store.ts'
import { VERSION } from '../version.ts'

const MINUTE_MS = 60_000
/** What comes and goes is told once in this time. */
const QUIET_MS = HOUR_MS
/** An account's failures in a row that a breaker may not have opened for: there were too few requests at a time. */
const FAILURES = 5

/** What the ledger's failed writes are told by. */
export type Trouble = { failedWrites: number; cause: unknown }

export const alertRules = (gateway: Gateway, trouble: Trouble): Rule[] => [
  quotas(gateway),
  budgets(gateway),
  expiring(gateway),
  resting(gateway),
  outOfCredit(gateway),
  errorRate(gateway),
  storage(gateway, trouble),
  newAdmins(gateway),
  upgraded(gateway),
]

/** Looks only where something changed, or so much time has passed. */
const whenChanged = (
  { stopwatch }: Gateway,
  everyMs: number,
  version: () => Known<string | number>,
  look: () => Known<Holding[]>,
): (() => Promise<Holding[] | undefined>) => {
  let seen: string | number | undefined
  let at = Number.NEGATIVE_INFINITY
  return async () => {
    const now = await version()
    if (now === seen && stopwatch() - at < everyMs) return undefined
    const held = await look()
    seen = now
    at = stopwatch()
    return held
  }
}

/** What is spent at other nodes is known by its figures alone: those are looked at each time. */
const spentWithin = ({ together }: Gateway): number => (together === undefined ? MINUTE_MS : 0)

/** The row that was written last, 0 where there is none. */
const lastAudit = async ({ store }: Gateway): Promise<number> => (await store.audit({ limit: 1 }))[0]?.row ?? 0

/** What the gateway made for a page is nobody's to top up. */
const isLive = ({ purpose, revokedAt, expiresAt }: Key, now: number): boolean =>
  purpose === undefined && revokedAt === undefined && expiresAt > now

const quotas = (gateway: Gateway): Rule => {
  const { store, live, clock, config } = gateway
  const marksOf = (key: Key): Holding[] => {
    const { id, label, tokensTotal, tokensUsed } = key
    const mark = config.alerts.marks.findLast((each) => tokensUsed * 100 >= tokensTotal * each)
    if (mark === undefined || tokensTotal <= 0) return []
    return [
      {
        subject: id,
        // A quota that was renewed or topped up is another one.
        period: `${mark}@${key.renewedAt ?? 0}/${tokensTotal}`,
        text: `The key ${named(label, id)} has used ${percentOf(tokensUsed, tokensTotal)} % of its quota of ${tokensTotal} tokens${renewalIn(key.renews)}.`,
        facts: { key: id, label, mark, used: tokensUsed, total: tokensTotal, renews: key.renews ?? null },
      },
    ]
  }
  return {
    type: 'quota',
    look: whenChanged(
      gateway,
      spentWithin(gateway),
      () => `${live.counts().finished} ${store.keys.changes()} ${config.alerts.marks}`,
      () => {
        const now = clock()
        return store.keys.list().flatMap((key) => (isLive(key, now) ? marksOf(key) : []))
      },
    ),
  }
}

const budgets = (gateway: Gateway): Rule => {
  const { store, live } = gateway
  const markOf = async (budget: Budget): Promise<Holding[]> => {
    const { id, unit, amount, renews, since } = budget
    const mark = marksPassed(budget, 0).at(-1)
    // Nothing is used up by a budget of nothing.
    if (mark === undefined || amount === 0) return []
    const used = usedOf(budget)
    const { kind, id: owner } = ownerOfBudget(id)
    const whose =
      kind === 'gateway' ? 'the gateway' : `the ${kind} ${named((await store.budgets.nameOf(id)) ?? owner, owner)}`
    const much = unit === 'usd' ? dollarsOf(amount) : `${amount} tokens`
    const share = percentOf(used, amount)
    return [
      {
        subject: id,
        period: `${mark}@${since}/${amount} ${unit}`,
        text: `The budget of ${whose} is used to ${share} %: ${much}${renewalIn(renews)}.`,
        facts: { budget: id, mark, unit, used, total: amount, renews: renews ?? null },
      },
    ]
  }
  return {
    type: 'budget',
    look: whenChanged(
      gateway,
      spentWithin(gateway),
      async () => `${live.counts().finished} ${await lastAudit(gateway)}`,
      async () => (await Promise.all(store.budgets.list().map(markOf))).flat(),
    ),
  }
}

/** Whole, rounded down. A division before would make 29 of 100 a little less. */
const percentOf = (used: number, whole: number): number => Math.floor((used * 100) / whole)

const CENT = 10_000

/** 50.00 USD; what no cents can say by its own digits. */
const dollarsOf = (microUsd: number): string =>
  `${microUsd % CENT === 0 ? (microUsd / 1e6).toFixed(2) : microUsd / 1e6} USD`

const renewalIn = (renews: Renewal | undefined): string =>
  renews === undefined ? '' : `, which renews every ${renews}`

const expiring = (gateway: Gateway): Rule => {
  const { store, clock, config } = gateway
  const soon = (subject: string, what: string, begun: number | undefined, end: number | undefined): Holding[] => {
    const now = clock()
    const { expiringMs } = config.alerts
    if (end === undefined || end <= now || end - now > expiringMs) return []
    // What was made for so short a time was meant to end.
    if (begun !== undefined && end - begun <= expiringMs) return []
    const text = `${what} expires on ${iso(end).slice(0, 16).replace('T', ' at ')} UTC.`
    return [{ subject, period: `${end}`, text, facts: { what: subject, expires_at: iso(end) } }]
  }
  const keys = (): Holding[] =>
    store.keys
      .list()
      .filter((key) => key.revokedAt === undefined)
      .flatMap(({ id, label, createdAt, expiresAt }) => soon(id, `The key ${named(label, id)}`, createdAt, expiresAt))
  const tokens = async (): Promise<Holding[]> =>
    (await store.tokens.list())
      .filter(({ revokedAt }) => revokedAt === undefined)
      .flatMap(({ id, label, createdAt, expiresAt }) =>
        soon(id, `The admin token ${named(label, id)}`, createdAt, expiresAt),
      )
  const credentials = (): Holding[] =>
    accountsOf(gateway).flatMap(({ name, credential }) => {
      const { begun, end } = lifeOf(credential)
      return soon(name, `The credential of the account ${name}`, begun, end)
    })
  return {
    type: 'expiring',
    look: whenChanged(
      gateway,
      MINUTE_MS,
      () => `${store.keys.changes()} ${config.alerts.expiringMs}`,
      async () => [...keys(), ...(await tokens()), ...credentials()],
    ),
  }
}

/** When a credential that says so itself begins and ends: a JSON web token. */
const lifeOf = (credential: string): { begun: number | undefined; end: number | undefined } => {
  const [, middle, signature] = credential.split('.')
  try {
    const { iat, exp } = JSON.parse(Buffer.from(signature === undefined ? '' : (middle ?? ''), 'base64url').toString())
    return { begun: msOf(iat), end: msOf(exp) }
  } catch {
    return { begun: undefined, end: undefined }
  }
}

const msOf = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && seconds > 0 && seconds < 1e11 ? seconds * 1_000 : undefined

/** `found`: the models of an account that something was sent to, and how they do. */
type Tried = { name: string; credential: string; found: { model: string; at: Standing }[] }

const accountsOf = ({ providers, catalogue, health }: Gateway): Tried[] => {
  const models = catalogue.list()
  return [...providers.values()].flatMap(({ id, accounts }) =>
    accounts.map(({ name, credential }) => ({
      name: `${id}/${name}`,
      credential,
      found: models.flatMap(({ id: model }) => {
        const at = health.standingOf(targetName(id, name, model))
        return at === undefined ? [] : [{ model, at }]
      }),
    })),
  )
}

/** After a restart nothing is known of an account until it is asked again. */
const isUntried =
  (gateway: Gateway) =>
  (subject: string): boolean =>
    accountsOf(gateway).some(({ name, found }) => name === subject && found.length === 0)

const resting = (gateway: Gateway): Rule => ({
  type: 'account-resting',
  quietMs: QUIET_MS,
  isUnknown: isUntried(gateway),
  look: () => {
    const since = gateway.clock() - gateway.config.alerts.restingMs
    return accountsOf(gateway).flatMap(({ name, found }): Holding[] => {
      const down = found.flatMap(({ model, at: { state, failing } }) =>
        failing !== undefined && failing.since <= since && (state !== 'closed' || failing.times >= FAILURES)
          ? [{ model, ...failing }]
          : [],
      )
      if (down.length === 0) return []
      const begun = Math.min(...down.map((each) => each.since))
      const minutes = Math.floor((gateway.clock() - begun) / MINUTE_MS)
      const times = down.reduce((sum, each) => sum + each.times, 0)
      const models = down.map(({ model }) => model).join(', ')
      return [
        {
          subject: name,
          text: `The account ${name} has not answered for ${minutes} minutes (${times} attempts): ${models}.`,
          facts: { account: name, models, since: iso(begun), failures: times },
        },
      ]
    })
  },
})

const outOfCredit = (gateway: Gateway): Rule => ({
  type: 'out-of-credit',
  quietMs: QUIET_MS,
  isUnknown: isUntried(gateway),
  look: () =>
    accountsOf(gateway).flatMap(({ name, found }): Holding[] => {
      const models = found.filter(({ at }) => at.trouble === 'no-money').map(({ model }) => model)
      if (models.length === 0) return []
      const text = `The provider says that the account ${name} is out of credit: pay it up, or raise its limit there.`
      return [{ subject: name, text, facts: { account: name, models: models.join(', ') } }]
    }),
})

const errorRate = ({ failures, config }: Gateway): Rule => ({
  type: 'error-rate',
  quietMs: QUIET_MS,
  look: () => {
    const { above, requests: least, withinMs } = config.alerts.errorRate
    return failures.of(withinMs).flatMap(({ model, requests, failed }): Holding[] => {
      if (requests < least || failed / requests <= above) return []
      const share = Math.round((failed / requests) * 100)
      const minutes = Math.max(1, Math.round(withinMs / MINUTE_MS))
      const text = `${share} % of the requests of ${model} failed in the last ${minutes} minutes: ${failed} of ${requests}.`
      return [{ subject: model, text, facts: { model, requests, failed, minutes } }]
    })
  },
})

/** Less than both is left of a disk, or less than the last alone. */
const LEAST_SHARE = 0.05
const LEAST_BYTES = 5 * 1024 ** 3
const TOO_FEW_BYTES = 200 * 1024 ** 2

const storage = (gateway: Gateway, trouble: Trouble): Rule => {
  const { store, ledger, config, stopwatch } = gateway
  let seen = 0
  let lookedAt = Number.NEGATIVE_INFINITY
  let found: Holding[] = []
  const database = async (probes: boolean): Promise<Holding[]> => {
    let cause: unknown = ledger.isStuck() || trouble.failedWrites > seen ? trouble.cause : undefined
    seen = trouble.failedWrites
    try {
      if (probes) await store.probe()
    } catch (thrown) {
      // Another program that writes is no trouble yet.
      if (!isStoreError(thrown) || thrown.busy !== true) cause ??= thrown
    }
    if (cause === undefined) return []
    const why = isStoreError(cause) ? ` ${cause.message}` : ''
    const text = `The database cannot be written: requests wait, or are refused, until it can.${why}`
    return [{ subject: 'database', text, facts: { what: 'database' } }]
  }
  return {
    type: 'storage',
    quietMs: QUIET_MS,
    look: async () => {
      const probes = stopwatch() - lookedAt >= MINUTE_MS
      if (probes) {
        lookedAt = stopwatch()
        found = disk(config.dataDir)
      }
      return [...(await database(probes)), ...found]
    },
  }
}

const disk = (folder: string): Holding[] => {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder)
    const free = bavail * bsize
    const isLow = free < TOO_FEW_BYTES || (free < LEAST_BYTES && bavail < blocks * LEAST_SHARE)
    if (!isLow) return []
    const mb = Math.floor(free / 1024 ** 2)
    const text = `The disk of the database has ${mb} MB left: when it is full, no request is answered.`
    return [{ subject: 'disk', text, facts: { what: 'disk', free_mb: mb } }]
  } catch {
    // A folder that is gone is told as a database that cannot be written.
    return []
  }
}

const newAdmins = (gateway: Gateway): Rule => ({
  type: 'new-admin',
  isSettled: true,
  look: whenChanged(
    gateway,
    DAY_MS,
    () => lastAudit(gateway),
    async () =>
      (await gateway.store.members.list())
        .filter(({ role, active }) => role === 'admin' && active)
        .map(({ id, name }) => ({
          subject: id,
          text: `${name} is an admin of the gateway now. If nobody meant that, see Members and the audit.`,
          facts: { member: id, name },
        })),
  ),
})

const upgraded = (gateway: Gateway): Rule => {
  const { store } = gateway
  return {
    type: 'upgraded',
    isSettled: true,
    look: whenChanged(
      gateway,
      DAY_MS,
      () => store.alerts.migrations(),
      async () => {
        const migrations = await store.alerts.migrations()
        const text = `sluice ${VERSION} runs, and has brought the database to its form: an older version cannot open it any more.`
        return [{ subject: 'database', period: `${migrations}`, text, facts: { version: VERSION, migrations } }]
      },
    ),
  }
}

const named = (label: string, id: string): string => `"${label}" (${id})`
