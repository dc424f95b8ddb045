// Budgets as the command line takes and shows them.

import type { Budget } from '../admin-api/schema.ts'
import { type BudgetTerms, termsOf } from '../keys/budget.ts'
import { RENEWALS } from '../keys/renewal.ts'
import { type Io, printJson, usageError } from './io.ts'
import { readCount } from './read.ts'
import { grouped, usd } from './table.ts'

/** What a budget is, in the words of help. */
export const BUDGET = 'such as 50usd/month, 5Mtokens/day or 20usd, which never renews; none takes it away'

/** `50usd/month`, `$50/month`, `5Mtokens/day`, `20usd`; null for `none`. */
export const readBudget = (flag: string, text: string, marks?: string): BudgetTerms | null => {
  if (text === 'none' && marks === undefined) return null
  const found = /^(\$)?(\d[\d_]*(?:\.\d+)?[kmb]?)\s*(usd|tokens?)?(?:\s*\/\s*(day|week|month))?$/i.exec(text.trim())
  const [, dollar, digits = '', word = dollar, period] = found ?? []
  if (word === undefined || (dollar !== undefined && /^t/i.test(word)))
    throw usageError(`${flag}: found "${text}", allowed: an amount with its unit, ${BUDGET}.`)
  const renews = RENEWALS.find((name) => name === period?.toLowerCase()) ?? 'never'
  const warn_at = marks === undefined ? undefined : readMarks('--warn-at', marks)
  if (/^t/i.test(word)) return termsOf({ tokens: readCount(flag, digits) ?? 0, renews, warn_at })
  const usd = Number(digits.replaceAll('_', ''))
  if (Number.isNaN(usd)) throw usageError(`${flag}: found "${text}", allowed: an amount of USD such as 50 or 0.25.`)
  return termsOf({ usd, renews, warn_at })
}

const readMarks = (flag: string, text: string): number[] =>
  text === 'none'
    ? []
    : text.split(',').map((part) => {
        const mark = Number(part.trim().replace(/%$/, ''))
        if (Number.isInteger(mark) && mark >= 1 && mark <= 1_000) return mark
        throw usageError(`${flag}: found "${text}", allowed: whole numbers of percent such as 80,100, or none.`)
      })

/** The flags of a budget, the same wherever one is set. */
export const BUDGET_FLAGS = {
  budget: { type: 'string', valueHint: 'BUDGET', description: `What may be used, ${BUDGET}` },
  'warn-at': { type: 'string', valueHint: 'LIST', description: 'With --budget: percent at which it is told (80,100)' },
} as const

/** Absent where none was named; null: it is taken away. */
export type BudgetChange = { budget?: BudgetTerms | null }

export const readBudgetFlags = (args: {
  budget?: string | undefined
  'warn-at'?: string | undefined
}): BudgetChange => {
  const { budget, 'warn-at': marks } = args
  if (budget === undefined && marks !== undefined) throw usageError('--warn-at goes with --budget.')
  return budget === undefined ? {} : { budget: readBudget('--budget', budget, marks) }
}

/** `12.50 of 50.00 USD used, 37.50 left, every month, next at 2026-12-01T00:00:00.000Z`. */
export const budgetLine = (budget: Budget): string => {
  const shown = (amount: number): string => (budget.usd === null ? grouped(amount) : usd(amount))
  const whole = `${shown(budget.used)} of ${amountOf(budget)} used, ${shown(budget.remaining)} left`
  return budget.renews_at === null ? whole : `${whole}; every ${budget.renews}, next at ${budget.renews_at}`
}

/** `50.00 USD/month`. */
export const budgetShort = (budget: Budget): string =>
  `${amountOf(budget)}${budget.renews === 'never' ? '' : `/${budget.renews}`}`

const amountOf = ({ usd: money, tokens }: Budget): string =>
  money === null ? `${grouped(tokens ?? 0)} tokens` : `${usd(Math.round(money * 1e6))} USD`

/** What somebody may use. */
export const printBudget = (
  name: string,
  budget: Budget | null,
  told: { json?: boolean | undefined },
  io: Io,
): void => {
  if (told.json) printJson(io, { name, budget })
  else io.out(budget === null ? `${name} has no budget.` : `${name}: ${budgetLine(budget)}`)
}
