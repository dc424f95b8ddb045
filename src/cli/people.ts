// Members, teams, their budgets and sessions as commands see them: on a data directory, or on a running server by its admin API.

import type * as S from '../admin-api/schema.ts'
import { type BudgetId, type BudgetTerms, budgetOf } from '../keys/budget.ts'
import type { Where } from './backend.ts'
import { type BudgetChange, printBudget } from './budget.ts'
import { EXIT, failure, type Io, usageError } from './io.ts'

type ShownMember = {
  id: string
  name: string
  role: string
  status: string
  team: string | null
  budget: S.Budget | null
  keys: number
  created_at: string
  invitation_expires_at: string | null
}

type ShownTeam = { id: string; name: string; members: string[]; budget: S.Budget | null; created_at: string }

/** Ids are those of what was listed before; what is gone meanwhile is a Failure. */
export type People = {
  members(): Promise<ShownMember[]>
  teams(): Promise<ShownTeam[]>
  /** Returns its name as it is kept. */
  createTeam(name: string, budget: BudgetTerms | null): Promise<string>
  addToTeam(team: string, member: string): Promise<void>
  leaveTeam(team: string, member: string): Promise<void>
  removeTeam(team: string): Promise<void>
  budget(id: BudgetId): Promise<S.Budget | null>
  /** Throws a Failure for the gateway's where the configuration sets it. */
  setBudget(id: BudgetId, terms: BudgetTerms | null): Promise<void>
  /** The sessions of all members that last. */
  sessions(): Promise<S.MemberSession[]>
  endSession(id: string): Promise<void>
}

const isCalled = (name: string, wanted: string): boolean =>
  name.toLowerCase() === wanted.trim().normalize('NFC').toLowerCase()

/** Throws a Failure with the names that there are. */
export const named = <T extends { name: string }>(what: 'member' | 'team', items: readonly T[], name: string): T => {
  const found = items.find((item) => isCalled(item.name, name))
  if (found !== undefined) return found
  const there = items.map((item) => item.name).join(', ')
  throw failure(`There is no ${what} "${name}"${there === '' ? '' : `; there are: ${there}`}.`)
}

/** Shows what somebody may use, once it is set where a change was asked for. */
export const budgetCommand = async (
  people: People,
  { id, name }: { id: BudgetId; name: string },
  { budget: terms, json }: BudgetChange & { json?: boolean | undefined },
  io: Io,
): Promise<number> => {
  if (terms !== undefined) await people.setBudget(id, terms)
  printBudget(name, await people.budget(id), { json }, io)
  return EXIT.ok
}

export const budgetIdOf = (kind: 'member' | 'team', { id }: { id: string }): BudgetId => budgetOf(kind, id)

/** For what people alone may do: an admin token is no person. */
export const onlyHere = (where: Where, { env }: Io): void => {
  if (where.config !== undefined || where.data !== undefined || !env.SLUICE_SERVER) return
  throw usageError(
    "SLUICE_SERVER is set, and a token lets nobody in or out: use that server's dashboard, or name a data directory here with --data.",
  )
}

/** Of commands that print a link. */
export const LINK_FLAG = {
  url: {
    type: 'string',
    valueHint: 'URL',
    description: 'Where people reach the gateway (default: the address it is configured to listen on)',
  },
} as const

export const hintUrl = ({ url }: { url?: string | undefined }, io: Io): void => {
  if (url === undefined) io.err('If people reach the gateway at another address, give it with --url.')
}
