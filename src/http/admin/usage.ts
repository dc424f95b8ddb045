// Usage over time, from sums: the whole gateway by model or key, a member's keys, or one key.

import type * as S from '../../admin-api/schema.ts'
import { GatewayError, invalidRequest } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { totalTokens } from '../../ir/usage.ts'
import { dayAfter, dayFrom, nextStep, startOfStep, stepsBetween } from '../../lib/calendar.ts'
import { iso, isoOrNull } from '../../lib/iso-time.ts'
import { DAY_MS } from '../../lib/spans.ts'
import { labelsOf, ownersOf } from '../../observe/groups.ts'
import { shownZone } from '../../observe/shown.ts'
import { addFigures, FIGURES, type Figures, NO_FIGURES } from '../../store/figures.ts'
import { type LatencySample, type Measure, type SeriesBy, type SeriesRow, STEP_MS } from '../../store/insight.ts'
import { isOfAccounts } from '../../store/usage.ts'
import { type Call, keyIdsOf, keyOf, limitedMember, type Part } from './call.ts'
import { timeOf } from './input.ts'
import { sumsView } from './view.ts'

/** Groups with a line of their own; the rest is one. */
const MOST_SERIES = 12
const MOST_POINTS = 1_000
/** How long the order of keys by use is taken from the last look: a long range is read through for it. */
const RANKING_MS = 60_000

export const usage: Part<'usage.get' | 'usage.table' | 'keys.usage'> = {
  'usage.get': async (call, { since, until, step, by, most, key, model, compare }) => {
    requireTold(call, by, key)
    if (model !== undefined && (by === 'account' || by === 'provider' || by === 'tag'))
      throw invalidRequest(`model: usage by ${by} is not told for single models.`, 'model')
    // Tags are summed by day.
    const range = rangeOf(call.gateway, since, until, by === 'tag' ? 'day' : step)
    const keyIds = keyIdsOf(call, key)
    const ofKeys = by === 'key' || by === 'member' || by === 'team' || keyIds !== undefined
    return report(call.gateway, {
      range: ofKeys ? await rangeOfKeys(call.gateway, range) : range,
      by,
      most,
      keyIds,
      model,
      compare,
    })
  },
  'usage.table': async (call, { since, until, by, key, daily }) => {
    requireTold(call, by, key)
    const { store, config } = call.gateway
    const range = {
      sinceMs: since === undefined ? undefined : timeOf(since, 'since', config.calendar),
      untilMs: until === undefined ? undefined : timeOf(until, 'until', config.calendar),
    }
    requireOrder(range.sinceMs, range.untilMs)
    const keyIds = keyIdsOf(call, key)
    if (daily && by === 'key' && keyIds === undefined)
      throw invalidRequest(
        'daily: each day of every key is more than a table holds. Name one key, or leave it out.',
        'daily',
      )
    const { since: from, rows } = await store.insight.usage({ by, daily, keyIds, ...range })
    const labelOf = await labelsOf(store, by)
    const ownerOf = await ownersOf(store)
    return {
      since: isoOrNull(from),
      rows: rows.map(({ group, day, serverTools, ...figures }) => ({
        group,
        label: labelOf(group),
        ...(day === undefined ? {} : { day }),
        ...(by === 'key' ? { owner: ownerOf(group) } : {}),
        ...(serverTools === undefined ? {} : { server_tools: serverTools }),
        ...sumsView(figures, config.khrPerUsd),
      })),
      khr_per_usd: config.khrPerUsd,
      ...(await shownZone(store.settings)),
    }
  },
  'keys.usage': async (call, { id, since, until, step, most }) => {
    const range = await rangeOfKeys(call.gateway, rangeOf(call.gateway, since, until, step))
    const keyIds = [keyOf(call, id).id]
    const { since: from, until: to } = range
    const unfinished = await call.gateway.store.insight.unfinished({ since: from, until: to, keyIds })
    const asked = { range, by: 'model', most, keyIds, model: undefined, compare: false } as const
    return { ...(await report(call.gateway, asked)), unfinished }
  },
}

/** Throws where the caller, or anyone, cannot be told usage by that. */
const requireTold = ({ caller }: Call, by: SeriesBy | 'day', key: string | undefined): void => {
  const isForAdmins = isOfAccounts(by) || by === 'team'
  if (isForAdmins && limitedMember(caller) !== undefined)
    throw new GatewayError('permission_denied', `Only an admin may see usage by ${by}.`, { param: 'by' })
  if (isOfAccounts(by) && key !== undefined)
    throw invalidRequest(`by: usage by ${by} is summed over all keys together. Leave the key out.`, 'by')
}

const requireOrder = (since: number | undefined, until: number | undefined): void => {
  if (since !== undefined && until !== undefined && since >= until)
    throw invalidRequest('since: expected a time before until.', 'since')
}

/** On the steps' boundaries. */
type Range = { step: 'hour' | 'day'; since: number; until: number }

/** Of a range of which only the end is said, if that; the last of them may be under way. */
const USUAL_DAYS = 30

/** Without a step: hours up to three days, then days. */
const rangeOf = (
  gateway: Gateway,
  sinceText: string | undefined,
  untilText: string | undefined,
  asked: 'hour' | 'day' | undefined,
): Range => {
  const { calendar } = gateway.config
  const end = untilText === undefined ? gateway.clock() : timeOf(untilText, 'until', calendar)
  const first = dayAfter(calendar.dayOf(end - 1), 1 - USUAL_DAYS)
  const start = sinceText === undefined ? Math.max(0, calendar.startOf(first)) : timeOf(sinceText, 'since', calendar)
  requireOrder(start, end)
  const step = asked ?? (end - start <= 3 * DAY_MS ? 'hour' : 'day')
  const since = startOfStep(start, step, calendar)
  const last = startOfStep(end, step, calendar)
  const until = last < end ? nextStep(last, step, calendar) : last
  if ((until - since) / STEP_MS[step] > MOST_POINTS) {
    throw invalidRequest(`since: a range of at most ${MOST_POINTS} ${step}s can be shown at once.`, 'since')
  }
  return { step, since, until }
}

/** In whole days where hours of single keys are no longer kept: their sums would lack what was used in those. */
const rangeOfKeys = async (gateway: Gateway, { step, since, until }: Range): Promise<Range> =>
  step === 'day' || (await gateway.store.insight.hoursKept(since))
    ? { step, since, until }
    : rangeOf(gateway, iso(since), iso(until), 'day')

type Ask = {
  range: Range
  by: SeriesBy
  most: Measure
  /** Undefined: every key. */
  keyIds: string[] | undefined
  model: string | undefined
  /** Whether the time before is told, too. */
  compare: boolean
}

const report = async (gateway: Gateway, ask: Ask): Promise<S.Usage> => {
  await gateway.refusals.settle()
  const { range, by, most, keyIds, model } = ask
  const measure = MEASURES[most]
  const { khrPerUsd } = gateway.config
  const rows = await (by === 'key' && keyIds === undefined
    ? byKey(gateway, range, most, model)
    : readRows(gateway, ask))
  const groups = Map.groupBy(rows, (row) => row.group)
  const ranked = [...groups]
    .map(([group, points]) => ({ group, points, totals: points.reduce(addFigures, NO_FIGURES) }))
    .sort((a, b) => Number(a.group === OTHER) - Number(b.group === OTHER) || measure(b.totals) - measure(a.totals))
  const largest = ranked.filter((each, i) => i < MOST_SERIES && each.group !== OTHER)
  const rest = ranked.filter((each) => !largest.includes(each)).flatMap((each) => each.points)
  const lines = rest.length > 0 ? [...largest, { group: OTHER, points: rest }] : largest
  const totals = rows.reduce(addFigures, NO_FIGURES)
  // By hour and key they are counted, not by model.
  const refused =
    model === undefined ? await gateway.store.insight.refused({ since: range.since, until: range.until, keyIds }) : []
  const refusals = refused.reduce((all, { count }) => all + count, 0)
  const prompt = totals.input + totals.cacheRead + totals.cacheWrite
  const labelOf = by === 'none' ? (group: string) => group : await labelsOf(gateway.store, by)
  const placeOf = await placesOf(gateway, by)
  return {
    step: range.step,
    since: iso(range.since),
    until: iso(range.until),
    series: lines.map(({ group, points }) => ({
      group,
      label: group === OTHER ? OTHER : labelOf(group),
      place: placeOf(group),
      ...line(gateway, range, points),
    })),
    totals: sumsView(totals, khrPerUsd),
    refused,
    error_share: shareOf(totals, refusals),
    before: ask.compare ? await beforeOf(gateway, ask) : null,
    cache_hit_share: prompt === 0 ? null : totals.cacheRead / prompt,
    latency: latencyOf(
      await gateway.store.insight.latencies({ since: range.since, until: range.until, keyIds, model }),
    ),
    khr_per_usd: khrPerUsd,
  }
}

const shareOf = ({ requests, errors }: Figures, refused: number): number | null =>
  requests + refused === 0 ? null : (errors + refused) / (requests + refused)

/** The time before, which was as long: in days, of which one may have an hour less or more. */
const beforeOf = async (gateway: Gateway, ask: Ask): Promise<S.Usage['before']> => {
  const { step, since, until } = ask.range
  const { keyIds, model } = ask
  const { calendar } = gateway.config
  const days = (dayFrom(until, calendar) - calendar.dayOf(since)) / DAY_MS
  const from =
    step === 'day'
      ? calendar.startOf(dayAfter(calendar.dayOf(since), -days))
      : startOfStep(since - (until - since), step, calendar)
  const range = { step, since: Math.max(0, from), until: since }
  const { insight } = gateway.store
  const totals = (await insight.series({ ...range, by: 'none', keyIds, model })).reduce(addFigures, NO_FIGURES)
  const codes = model === undefined ? await insight.refused({ ...range, keyIds }) : []
  const refused = codes.reduce((all, { count }) => all + count, 0)
  return { totals: sumsView(totals, gateway.config.khrPerUsd), refused, error_share: shareOf(totals, refused) }
}

const OTHER = 'other'

const MEASURES: Record<Measure, (figures: Figures) => number> = {
  tokens: totalTokens,
  cost: ({ costMicroUsd }) => costMicroUsd,
  requests: ({ requests }) => requests,
}

const readRows = (gateway: Gateway, { range, by, keyIds, model }: Ask): Promise<SeriesRow[]> =>
  gateway.store.insight.series({ ...range, by, keyIds, model })

/** The keys that used most, and what all others used together. */
const byKey = async (
  gateway: Gateway,
  range: Range,
  most: Measure,
  model: string | undefined,
): Promise<SeriesRow[]> => {
  const ids = await ranking(gateway, range, { most, model })
  const rows = await parted(gateway, range, model, ids)
  // So few were all there were: what is left over is of keys that have come since.
  return ids.length < MOST_SERIES && rows.some(({ group }) => group === OTHER)
    ? parted(gateway, range, model, await ranking(gateway, range, { most, model }, true))
    : rows
}

/** These keys, and the whole less theirs. */
const parted = async (
  gateway: Gateway,
  range: Range,
  model: string | undefined,
  keyIds: string[],
): Promise<SeriesRow[]> => {
  const { ofKeys, ofAll } = await gateway.store.insight.shares({ ...range, keyIds, model })
  const others = new Map(ofAll.map((row) => [row.at, { ...row, group: OTHER }]))
  for (const row of ofKeys) {
    const other = others.get(row.at)
    if (other === undefined) continue
    for (const name of FIGURES) other[name] = Math.max(0, other[name] - row[name])
  }
  return [...ofKeys, ...[...others.values()].filter((row) => row.requests > 0)]
}

type Ranked = { at: number; ids: string[] }
const rankings = new WeakMap<Gateway, Map<string, Ranked>>()

const ranking = async (
  gateway: Gateway,
  { since, until }: Range,
  { most, model }: { most: Measure; model: string | undefined },
  anew = false,
): Promise<string[]> => {
  const now = gateway.clock()
  const kept = rankings.get(gateway) ?? new Map<string, Ranked>()
  rankings.set(gateway, kept)
  for (const [name, { at }] of kept) if (now - at >= RANKING_MS || at > now) kept.delete(name)
  const name = `${since} ${until} ${most} ${model ?? ''}`
  const known = kept.get(name)
  if (known !== undefined && !anew) return known.ids
  const ids = await gateway.store.insight.topKeys({ since, until, limit: MOST_SERIES, most, model })
  kept.set(name, { at: now, ids })
  return ids
}

const line = (
  gateway: Gateway,
  { step, since, until }: Range,
  rows: SeriesRow[],
): Pick<S.Series, 'totals' | 'points'> => {
  const { khrPerUsd } = gateway.config
  const at = new Map<number, Figures>()
  for (const row of rows) at.set(row.at, addFigures(at.get(row.at) ?? NO_FIGURES, row))
  const points: S.Point[] = []
  for (const time of stepsBetween(since, until, step, gateway.config.calendar)) {
    points.push({ at: iso(time), ...sumsView(at.get(time) ?? NO_FIGURES, khrPerUsd) })
  }
  return { totals: sumsView(rows.reduce(addFigures, NO_FIGURES), khrPerUsd), points }
}

/** Where a group stands among its kind, whatever it used: what is told apart by colour keeps its own. */
const placesOf = async (gateway: Gateway, by: SeriesBy): Promise<(group: string) => number> => {
  const places = new Map((await kindOf(gateway, by)).map((id, place) => [id, place]))
  return (group) => places.get(group) ?? (group === '' ? places.size : Bun.hash.crc32(group) % MOST_PLACES)
}
const MOST_PLACES = 1_000

const kindOf = async ({ store, catalogue, providers }: Gateway, by: SeriesBy): Promise<string[]> => {
  if (by === 'model') return catalogue.all().map(({ id }) => id)
  if (by === 'key') return inAge(store.keys.list())
  if (by === 'member') return inAge(await store.members.list())
  if (by === 'team') return inAge(await store.teams.list())
  if (by === 'provider') return [...providers.keys()]
  if (by === 'account')
    return [...providers.values()].flatMap(({ id, accounts }) => accounts.map(({ name }) => `${id}/${name}`))
  return []
}

const inAge = (all: readonly { id: string; createdAt: number }[]): string[] =>
  all.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)).map(({ id }) => id)

const latencyOf = (sample: LatencySample[]): S.Latency => ({
  sampled: sample.length,
  first_byte_ms: percentiles(sample.map((each) => each.firstByteMs)),
  total_ms: percentiles(sample.map((each) => each.totalMs)),
})

const percentiles = (values: number[]): S.Latency['total_ms'] => {
  if (values.length === 0) return null
  const sorted = values.sort((a, b) => a - b)
  // The nearest rank: a time that was measured, not one between two.
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
