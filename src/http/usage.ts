// The calling key's remaining tokens, and its usage by day and model.

import { Elysia } from 'elysia'
import { invalidRequest } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import { ownerOfBudget } from '../keys/budget.ts'
import type { Key } from '../keys/key.ts'
import { nextRenewal } from '../keys/renewal.ts'
import { dayAfter, stepsBetween } from '../lib/calendar.ts'
import { iso } from '../lib/iso-time.ts'
import { shownBudget } from '../observe/shown.ts'
import { addFigures, NO_FIGURES } from '../store/figures.ts'
import { sumsView } from './admin/view.ts'
import { pathsOf } from './endpoints.ts'
import { guarded } from './guarded.ts'

export const usage = (gateway: Gateway) => {
  const app = new Elysia({ name: 'usage' })
  for (const path of pathsOf('/v1/usage')) {
    app
      .get(path, ({ request }) =>
        guarded(gateway, request, async (key) => remaining(gateway, await asItIs(gateway, key))),
      )
      .get(`${path}/history`, ({ request }) =>
        guarded(gateway, request, async (key) =>
          history(gateway, await asItIs(gateway, key), new URL(request.url).searchParams),
        ),
      )
  }
  return app
}

/** With what it has used by now, at whichever node. */
const asItIs = async ({ together, store }: Gateway, key: Key): Promise<Key> => {
  await together?.catchUp()
  return store.keys.get(key.id) ?? key
}

const remaining = (gateway: Gateway, key: Key) => {
  const left = Math.max(0, key.tokensTotal - key.tokensUsed)
  return {
    label: key.label,
    tokens_total: key.tokensTotal,
    tokens_used: key.tokensUsed,
    tokens_remaining: left,
    expires_at: iso(key.expiresAt),
    status: left > 0 ? 'active' : 'exhausted',
    rate: { khr_per_usd: gateway.config.khrPerUsd },
  }
}

const MOST_DAYS = 366

/** The calling key's own usage over the last `days` days (30), today included: by day, oldest first, and by model. */
const history = async (gateway: Gateway, key: Key, query: URLSearchParams) => {
  const days = readDays(query.get('days'))
  const now = gateway.clock()
  const { calendar, khrPerUsd } = gateway.config
  const after = dayAfter(calendar.dayOf(now))
  const until = calendar.startOf(after)
  const since = calendar.startOf(dayAfter(after, -days))
  const rows = await gateway.store.insight.series({ step: 'day', by: 'model', since, until, keyIds: [key.id] })
  const byDay = Map.groupBy(rows, (row) => row.at)
  const byModel = [...Map.groupBy(rows, (row) => row.group)]
  return {
    object: 'usage.history',
    since: iso(since),
    until: iso(until),
    days: stepsBetween(since, until, 'day', calendar).map((at) => ({
      at: iso(at),
      ...sumsView((byDay.get(at) ?? []).reduce(addFigures, NO_FIGURES), khrPerUsd),
    })),
    models: byModel
      .map(([model, each]) => ({ model, ...sumsView(each.reduce(addFigures, NO_FIGURES), khrPerUsd) }))
      .sort((a, b) => b.tokens - a.tokens || (a.model < b.model ? -1 : 1)),
    key: termsOf(gateway, key),
    rate: { khr_per_usd: khrPerUsd },
  }
}

/** What the key may be used for, and when its quota renews: nobody should learn that from a refusal. */
const termsOf = ({ clock, config: { limits, calendar }, store: { budgets } }: Gateway, key: Key) => ({
  renews: key.renews === undefined ? null : { every: key.renews, at: iso(nextRenewal(key.renews, clock(), calendar)) },
  budgets: budgets.of(key).map((budget) => ({
    of: ownerOfBudget(budget.id).kind,
    ...shownBudget(budget, { now: clock(), calendar }),
  })),
  time_zone: calendar.zone,
  allowed_models: key.models,
  capture: key.capture ?? 'none',
  limits: {
    rpm: boundOf(key.rpm ?? limits.rpm),
    tpm: boundOf(key.tpm ?? limits.tpm),
    concurrency: boundOf(key.concurrency ?? limits.concurrency),
  },
})

/** 0 is no limit. */
const boundOf = (limit: number): number | null => (limit === 0 ? null : limit)

const readDays = (text: string | null): number => {
  if (text === null) return 30
  const days = Number(text)
  if (Number.isInteger(days) && days >= 1 && days <= MOST_DAYS) return days
  throw invalidRequest(`days: expected a whole number from 1 to ${MOST_DAYS}.`, 'days')
}
