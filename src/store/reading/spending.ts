// Usage by what the sums of keys and models do not know: whose the keys are, which account answered, what a client calls it.

import type { ServerToolCalls } from '../../ir/server-tools.ts'
import { type Calendar, dayFrom, type Step } from '../../lib/calendar.ts'
import { addFigures, FIGURES, type Figures, NO_FIGURES, SUMMED } from '../figures.ts'
import type { UsageBy, UsageRow } from '../usage.ts'
import { type Reading, rowsOf, type Words } from './ask.ts'
import { dayIn, hourIn } from './days.ts'

/** Of a row of sums by key: the member whose key it is, and the team they are in now. '' where there is none. */
const OWNER = { member: "coalesce(keys.owner_id, '')", team: "coalesce(members.team_id, '')" } as const
export type ByOwner = keyof typeof OWNER

export const isByOwner = (by: string): by is ByOwner => Object.hasOwn(OWNER, by)

export const ownerOf = (by: ByOwner): string => OWNER[by]
/** What that needs beside the table of sums. */
export const WITH_OWNERS = 'JOIN keys ON keys.id = key_id LEFT JOIN members ON members.id = keys.owner_id'

/** Sums by key as sums by owner. */
export function* byOwner(by: ByOwner, rows: readonly UsageRow[]): Reading<UsageRow[]> {
  const owned = yield* rowsOf<{ id: string; owner: string }>(
    `SELECT keys.id AS id, ${OWNER[by]} AS owner FROM keys LEFT JOIN members ON members.id = keys.owner_id`,
  )
  const owners = new Map(owned.map(({ id, owner }) => [id, owner]))
  const groups = new Map<string, UsageRow>()
  for (const { serverTools, ...row } of rows) {
    const group = owners.get(row.group) ?? ''
    const before = groups.get(group)
    const tools = added(before?.serverTools, serverTools)
    const sums = { ...addFigures(before ?? NO_FIGURES, row), group }
    groups.set(group, tools === undefined ? sums : { ...sums, serverTools: tools })
  }
  return [...groups.values()].sort(inOrder)
}

const added = (a: ServerToolCalls | undefined, b: ServerToolCalls | undefined): ServerToolCalls | undefined => {
  if (a === undefined || b === undefined) return a ?? b
  const sum = { ...a }
  for (const [tool, calls] of Object.entries(b)) sum[tool] = (sum[tool] ?? 0) + calls
  return sum
}

export type ByApart = Extract<UsageBy, 'account' | 'provider' | 'tag'>

export const isApart = (by: string): by is ByApart => by === 'account' || by === 'provider' || by === 'tag'

const APART = {
  account: {
    ...{ table: 'usage_accounts', span: 'hour' },
    group: "CASE WHEN provider = '' THEN '' ELSE provider || '/' || account END",
  },
  provider: { table: 'usage_accounts', span: 'hour', group: 'provider' },
  tag: { table: 'usage_tags', span: 'day', group: 'tag' },
} as const

type Span = { from: number; end: number; keyIds: readonly string[] | undefined }

/**
 * By account, provider or tag; `at` the beginning of the step, 0 for the whole span. Tags are summed by the day. What had none is left
 * to `withRest`.
 */
export function* sumsApart(
  { by, step }: { by: ByApart; step?: Step },
  { from, end, keyIds }: Span,
  calendar: Calendar,
  words: Words,
): Reading<(UsageRow & { at: number })[]> {
  const { table, span, group } = APART[by]
  const ofKeys = by === 'tag' && keyIds !== undefined
  const ofDays = span === 'day'
  const at =
    step === undefined
      ? '0'
      : ofDays
        ? 'day'
        : step === 'day'
          ? dayIn(from, end, calendar)
          : hourIn(from, end, calendar)
  const endDay = end === Number.MAX_SAFE_INTEGER ? end : dayFrom(end, calendar)
  const bounds = ofDays ? [calendar.dayOf(from), endDay] : [from, end]
  const rows = yield* rowsOf<UsageRow & { at: number }>(
    `SELECT ${at} AS at, ${group} AS "group", ${SUMMED} FROM ${table}
     WHERE ${span} >= ? AND ${span} < ? ${ofKeys ? `AND ${words.amongTexts('key_id')}` : ''} GROUP BY 1, 2`,
    [...bounds, ...(ofKeys ? [JSON.stringify(keyIds)] : [])],
  )
  rows.sort((a, b) => inOrder(a, b) || a.at - b.at)
  return step !== undefined && (ofDays || step === 'day')
    ? rows.map((row) => ({ ...row, at: calendar.startOf(row.at) }))
    : rows
}

/** All of what is in `whole`: the parts, and what is in none of them as ''. */
export const withRest = <T extends UsageRow>(
  whole: readonly T[],
  parts: readonly T[],
  stepOf: (row: T) => number,
): T[] => {
  const rest = new Map(whole.map((row) => [stepOf(row), { ...row, group: '' }]))
  const named = parts.filter(({ group }) => group !== '')
  for (const part of named) {
    const left = rest.get(stepOf(part))
    if (left === undefined) continue
    for (const name of FIGURES) left[name] = Math.max(0, left[name] - part[name])
  }
  return [...[...rest.values()].filter(isSome), ...named]
}

const isSome = (figures: Figures): boolean => FIGURES.some((name) => figures[name] > 0)

/** By group. */
export const inOrder = (a: UsageRow, b: UsageRow): number => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0)
