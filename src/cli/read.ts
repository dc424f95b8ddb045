// Flag values as numbers, times and model lists; what cannot be read is a UsageError that names the flag.

import { GRACE_DAYS, LABEL_LENGTH } from '../admin-api/bounds.ts'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { parseDuration } from '../config/units.ts'
import type { Config } from '../config.ts'
import { namedServerTools, SERVER_TOOL_PATTERN, SERVER_TOOLS } from '../ir/server-tools.ts'
import { CAPTURES, type Captured } from '../keys/key.ts'
import { namedModels } from '../keys/models.ts'
import { RENEWALS, type Renewal } from '../keys/renewal.ts'
import type { ServerTools } from '../keys/server-tools.ts'
import { type Calendar, timeOfDate } from '../lib/calendar.ts'
import { parseIsoTime } from '../lib/iso-time.ts'
import { nearest } from '../lib/nearest.ts'
import { isNetwork, MOST_NETWORKS } from '../lib/networks.ts'
import { DAY_MS } from '../lib/spans.ts'
import { isBlank, isPlainLabel } from '../lib/visible.ts'
import { usageError } from './io.ts'

/** A key's name without spaces around it; `empty` is said of one that has nothing else. */
export const readLabel = (flag: string, text: string, empty: string): string => {
  const label = text.trim()
  if (isBlank(label)) throw usageError(`${flag} ${empty}`)
  if (!isPlainLabel(label)) throw usageError(`${flag} must not have line breaks or other invisible characters.`)
  if (label.length <= LABEL_LENGTH) return label
  throw usageError(`${flag}: found ${label.length} characters, allowed: ${LABEL_LENGTH} at most.`)
}

const UNITS: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, b: 1e9 }

/** A whole number, 0 or more; `1_000_000`, `500k` and `1.5M` are some. `or`: a word that the flag takes besides. */
export const readCount = (flag: string, text: string | undefined, or?: string): number | undefined => {
  if (text === undefined) return undefined
  const [, digits, unit] = /^(\d+(?:_\d+)*(?:\.\d+(?=[kmb]))?)([kmb])?$/i.exec(text) ?? []
  const count =
    digits === undefined ? Number.NaN : Number(digits.replaceAll('_', '')) * (UNITS[unit?.toLowerCase() ?? ''] ?? 1)
  // 1.1M is a whole number that floats miss by a hair.
  const whole = Math.round(count)
  if (Number.isSafeInteger(whole) && Math.abs(whole - count) < 1e-6) return whole
  throw usageError(
    `${flag}: found "${text}", allowed: a whole number, 0 or more, such as 500k or 1M${or === undefined ? '' : `, or ${or}`}.`,
  )
}

/**
 * A time from now (`90d`, `12h`), the end of a date by the calendar, or an ISO time, UTC where it names no zone; milliseconds since
 * the epoch.
 */
export const readExpiry = (flag: string, text: string, now: number, calendar: Calendar): number => {
  if (text === 'never') {
    throw usageError(
      `${flag}: every key has an end, so that one that is forgotten does not stay open; give a far one, such as 3650d, and "sluice keys update" moves it.`,
    )
  }
  const length = parseDuration(text)
  const at = length === undefined ? (timeOfDate(text, calendar, true) ?? parseIsoTime(text)) : now + length
  if (at === undefined) {
    throw usageError(
      `${flag}: found "${text}", allowed: a duration such as 90d or 12h, a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z.`,
    )
  }
  if (at <= now) throw usageError(`${flag}: found "${text}", allowed: a time in the future.`)
  if (at <= Date.parse('9999-12-31T23:59:59.999Z')) return at
  throw usageError(`${flag}: found "${text}", allowed: a time before the year 10000.`)
}

/** How often a quota renews; null for `never`. */
export const readRenewal = (flag: string, text: string): Renewal | null => {
  if (text === 'never') return null
  const found = RENEWALS.find((name) => name === text)
  if (found !== undefined) return found
  throw usageError(`${flag}: found "${text}", allowed: ${RENEWALS.join(', ')} or never.`)
}

/** A duration back from now, the beginning of a date by the calendar, or an ISO time; milliseconds since the epoch. */
export const readSince = (
  flag: string,
  text: string | undefined,
  now: number,
  calendar: Calendar,
): number | undefined => {
  if (text === undefined) return undefined
  const length = parseDuration(text)
  const at = length === undefined ? (timeOfDate(text, calendar) ?? parseIsoTime(text)) : now - length
  if (at !== undefined) return Math.max(0, at)
  throw usageError(`${flag}: found "${text}", allowed: a duration such as 30d, or a date such as 2026-09-01.`)
}

/** How long an old secret stays valid; milliseconds. */
export const readGrace = (flag: string, text: string): number => {
  const ms = parseDuration(text)
  if (ms === undefined) throw usageError(`${flag}: found "${text}", allowed: a duration such as 24h, 30m or 0.`)
  if (ms <= GRACE_DAYS * DAY_MS) return ms
  throw usageError(`${flag}: found "${text}", allowed: ${GRACE_DAYS}d at most.`)
}

/** The names of a list such as `auto,vendorA-*`, as they were typed. */
export const readNames = (flag: string, text: string): string[] => {
  const names = text.split(',').flatMap((part) => part.trim() || [])
  if (names.length > 0) return names
  throw usageError(`${flag}: found an empty list, allowed: model ids separated by commas, or *.`)
}

/** Which tools that run at a vendor: `all`, `none`, or names separated by commas. */
export const readServerTools = (flag: string, text: string): ServerTools => {
  if (text === 'all' || text === 'none') return text
  const names = text.split(',').flatMap((part) => part.trim() || [])
  const wrong = names.find((name) => name === 'all' || name === 'none' || !new RegExp(SERVER_TOOL_PATTERN).test(name))
  if (names.length > 0 && wrong === undefined) return namedServerTools(names)
  throw usageError(
    `${flag}: found "${wrong ?? text}", allowed: all, none, or names separated by commas, such as ${SERVER_TOOLS.join(', ')}.`,
  )
}

/** Null for `any`: from anywhere. */
export const readNetworks = (flag: string, text: string): string[] | null => {
  if (text.trim() === 'any') return null
  const networks = text.split(',').flatMap((part) => part.trim() || [])
  const wrong = networks.find((each) => !isNetwork(each))
  if (networks.length > 0 && networks.length <= MOST_NETWORKS && wrong === undefined) return networks
  throw usageError(
    `${flag}: found "${wrong ?? text}", allowed: 1 to ${MOST_NETWORKS} addresses and networks, such as 203.0.113.7,10.0.0.0/8, or any.`,
  )
}

/** What is exported of a key's exchanges; null for `none`. */
export const readCapture = (flag: string, text: string): Captured | null => {
  if (text === 'none') return null
  const found = CAPTURES.find((name) => name === text)
  if (found !== undefined) return found
  throw usageError(`${flag}: found "${text}", allowed: ${CAPTURES.join(', ')} or none.`)
}

/** The names as the models of a key. A name or a pattern that no model has is refused. */
export const requireModels = (flag: string, names: readonly string[], config: Config): string[] => {
  const catalogue = createCatalogue(config)
  const found = namedModels(catalogue, config.brands, names)
  if ('models' in found) return found.models
  const { unknown } = found
  if (unknown.includes('*')) {
    throw usageError(`${flag}: found "${unknown}", which no model's id matches; "sluice models" lists them.`)
  }
  const near = nearest(unknown, catalogue.names())
  throw usageError(
    `${flag}: found "${unknown}", which is no known model; ${near === undefined ? '' : `did you mean "${near}"? `}"sluice models" lists them.`,
  )
}
