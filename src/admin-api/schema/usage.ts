// What was used: sums over a time, by step for charts and by group for tables.

import { type Static, Type } from '@sinclair/typebox'
import { Count, Nullable, oneOf, Time } from './forms.ts'

/** Its classes are disjoint; reasoning is part of output. */
export const Tokens = {
  input: Count,
  cache_read: Count,
  cache_write: Count,
  output: Count,
  reasoning: Count,
  tokens: Count,
}

/** `cost_khr` is whole riel. `fees_micro_usd`: the part of the cost that is of calls, pictures and the like, and not of tokens. */
export const Sums = Type.Object({
  requests: Count,
  errors: Count,
  ...Tokens,
  cost_micro_usd: Count,
  cost_khr: Count,
  fees_micro_usd: Count,
})
export type Sums = Static<typeof Sums>

/** `at` is the start of an hour or of a day of the time zone. */
export const Point = Type.Composite([Type.Object({ at: Time }), Sums])
export type Point = Static<typeof Point>

/**
 * One line of a chart: `group` is as in the table, `all`, or `other` for all groups past the largest. It has a
 * point for every step from `since` to `until`, empty ones included.
 */
export const Series = Type.Object({
  group: Type.String(),
  label: Type.String(),
  place: Type.Integer({ minimum: 0, description: 'Where it stands among its kind, whatever it used.' }),
  totals: Sums,
  points: Type.Array(Point),
})
export type Series = Static<typeof Series>

const Percentiles = Type.Object({ p50: Count, p95: Count, p99: Count })

export const Latency = Type.Object({
  sampled: Type.Integer({ description: 'Answered exchanges looked at: an even sample over the range.' }),
  first_byte_ms: Nullable(Percentiles),
  total_ms: Nullable(Percentiles),
})
export type Latency = Static<typeof Latency>

export const Step = oneOf(['hour', 'day'])

/** `whole`: false where there may be more than were looked at. */
const Unfinished = Type.Object(
  { requests: Count, tokens: Count, whole: Type.Boolean() },
  {
    description:
      'Answers that broke off or that the client left, billed by an estimate of their prompt: a client that asks again for a broken stream is billed for each.',
  },
)

/** Sums of a time, and what was refused in it. */
const Whole = Type.Object({
  totals: Sums,
  refused: Count,
  error_share: Nullable(Type.Number()),
})

/** `step` is a day where hours were asked for that are no longer kept for single keys. */
export const Usage = Type.Object({
  step: Step,
  since: Time,
  until: Time,
  series: Type.Array(Series),
  totals: Sums,
  refused: Type.Array(Type.Object({ code: Type.String(), count: Count }), {
    description: 'Requests that were refused before they became exchanges, most first; they are not in the sums.',
  }),
  error_share: Nullable(
    Type.Number({ description: '0 to 1 of all requests, refused ones included; null without requests.' }),
  ),
  before: Nullable(Whole),
  cache_hit_share: Nullable(Type.Number({ description: '0 to 1 of prompt tokens that were read from a cache.' })),
  latency: Latency,
  /** Of one key. */
  unfinished: Type.Optional(Unfinished),
  khr_per_usd: Type.Number(),
})
export type Usage = Static<typeof Usage>

/** Calls of tools that ran at the vendor, by tool. */
export const ServerToolCalls = Type.Record(Type.String(), Count, {
  description: 'Calls of tools that ran at the vendor.',
})

/**
 * Sums by group, whole: `group` is the id of a model, key, member or team, `provider/account`, a provider, a tag or a day
 * (`2026-09-01`) of the time zone, in that order; '' is what has none.
 */
export const UsageTable = Type.Object({
  /** From when it counts, which may be earlier than was asked for; null: from the beginning. */
  since: Nullable(Time),
  rows: Type.Array(
    Type.Composite([
      Type.Object({
        group: Type.String(),
        label: Type.String(),
        day: Type.Optional(
          Type.String({ description: 'Where each day is told by itself, in their order: 2026-09-01.' }),
        ),
        owner: Type.Optional(Nullable(Type.String({ description: 'By key: the name of the member whose it is.' }))),
        server_tools: Type.Optional(ServerToolCalls),
      }),
      Sums,
    ]),
  ),
  khr_per_usd: Type.Number(),
  /** By which days are counted: since when, and by which before. Null: since the beginning. */
  time_zone: Type.String(),
  time_zone_since: Nullable(Time),
  time_zone_before: Nullable(Type.String()),
})
export type UsageTable = Static<typeof UsageTable>
