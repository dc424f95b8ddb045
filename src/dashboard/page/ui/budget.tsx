// Budgets: the fields that set one, and how much of it is gone.

import type { Budget, BudgetTerms } from '../../../admin-api/schema.ts'
import { compact, count, countField, dateTime, percent, usd } from '../lib/format.ts'
import { needCount, Select, Text } from './fields.tsx'
import { Meter } from './parts.tsx'

type Unit = 'usd' | 'tokens'
type Renews = Budget['renews']

/** As it stands in a form. An empty amount is no budget. */
export type BudgetDraft = { amount: string; unit: Unit; renews: Renews; warnAt: string }

const USUAL = [80, 100]

export const budgetDraft = (budget: Budget | null | undefined): BudgetDraft => ({
  amount: budget == null ? '' : budget.usd === null ? countField(budget.tokens ?? 0) : String(budget.usd),
  unit: budget != null && budget.usd === null ? 'tokens' : 'usd',
  renews: budget?.renews ?? 'month',
  warnAt: (budget?.warn_at ?? USUAL).join(', '),
})

/** What a form asks for; null for no budget. Throws what to write. */
export const needBudget = ({ amount, unit, renews, warnAt }: BudgetDraft): BudgetTerms | null => {
  if (amount.trim() === '') return null
  const warn_at = warnAt
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map((part) => {
      const mark = Number(part.replace(/%$/, ''))
      if (Number.isInteger(mark) && mark >= 1 && mark <= 1_000) return mark
      throw new Error('Tell at: write whole numbers of percent, such as 80, 100.')
    })
  if (unit === 'tokens') return { tokens: needCount(amount, 'Budget'), renews, warn_at }
  const money = Number(amount.replace(/[\s$_']/g, ''))
  if (!Number.isFinite(money) || money < 0) throw new Error('Budget: write an amount of USD, such as 50 or 0.25.')
  return { usd: money, renews, warn_at }
}

const UNITS: readonly (readonly [Unit, string])[] = [
  ['usd', 'USD'],
  ['tokens', 'Tokens'],
]

const RENEWS: readonly (readonly [Renews, string])[] = [
  ['day', 'Every day'],
  ['week', 'Every Monday'],
  ['month', 'Every month'],
  ['never', 'Never'],
]

/** `of`: whom it bounds, for the hint. */
export const BudgetFields = ({
  value,
  onChange,
  hint = 'Empty for none',
}: {
  value: BudgetDraft
  onChange: (value: BudgetDraft) => void
  hint?: string
}) => {
  const set = (change: Partial<BudgetDraft>): void => onChange({ ...value, ...change })
  return (
    <div class="pair">
      <Text
        label="Budget"
        value={value.amount}
        onChange={(amount) => set({ amount })}
        inputMode="decimal"
        placeholder="None"
        hint={hint}
      />
      <Select label="In" value={value.unit} options={UNITS} onChange={(unit) => set({ unit })} />
      <Select label="Begins again" value={value.renews} options={RENEWS} onChange={(renews) => set({ renews })} />
      <Text
        label="Tell at"
        value={value.warnAt}
        onChange={(warnAt) => set({ warnAt })}
        placeholder="Never"
        hint="Percent, such as 80, 100"
      />
    </div>
  )
}

const shownIn = ({ usd: money }: Budget): ((amount: number) => string) => (money === null ? count : usd)
const wholeOf = ({ usd: money, tokens }: Budget): number => (money === null ? (tokens ?? 0) : Math.round(money * 1e6))

/** $50.00 a month */
const budgetText = (budget: Budget): string => {
  const whole = budget.usd === null ? `${compact(wholeOf(budget))} tokens` : usd(wholeOf(budget))
  return budget.renews === 'never' ? whole : `${whole} a ${budget.renews}`
}

export const budgetLeft = (budget: Budget): string => shownIn(budget)(budget.remaining)

/** When it begins again, after how much it is. */
export const budgetNote = (budget: Budget): string =>
  budget.renews_at === null ? budgetText(budget) : `${budgetText(budget)}, again from ${dateTime(budget.renews_at)}`

/** Above 1 where its last request went past it. */
export const shareUsed = (budget: Budget): number => {
  const whole = wholeOf(budget)
  return whole === 0 ? 1 : budget.used / whole
}

/** $12.00 of $50.00 a month */
export const usedText = (budget: Budget): string =>
  `${budget.usd === null ? compact(budget.used) : usd(budget.used)} of ${budgetText(budget)}`

export const BudgetMeter = ({ of }: { of: Budget }) => {
  const share = shareUsed(of)
  const shown = shownIn(of)
  return (
    <Meter share={share} label={`${percent(share)} of the budget used: ${shown(of.used)} of ${shown(wholeOf(of))}`} />
  )
}

/** In a table. */
export const BudgetCell = ({ of }: { of: Budget | null }) =>
  of === null ? (
    <span class="muted">none</span>
  ) : (
    <>
      {budgetText(of)} <BudgetMeter of={of} />
    </>
  )
