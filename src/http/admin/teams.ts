// Teams, and the budgets of all that has one.

import type * as S from '../../admin-api/schema.ts'
import { GatewayError } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { type Budget, budgetOf, GATEWAY, ownerOfBudget, termsOf } from '../../keys/budget.ts'
import { iso } from '../../lib/iso-time.ts'
import type { Team } from '../../members/member.ts'
import { cleanName } from '../../members/membership.ts'
import { shownBudget, shownBudgetOf } from '../../observe/shown.ts'
import { actorOf, type Call, keysOf, limitedMember, type Part } from './call.ts'
import { termsOfGateway } from './view.ts'

export const teams: Part<
  'teams.list' | 'teams.create' | 'teams.update' | 'teams.remove' | 'budgets.list' | 'budgets.reset'
> = {
  'teams.list': async ({ gateway }) => ({
    items: (await gateway.store.teams.list()).map(await viewer(gateway)),
  }),
  'teams.create': async ({ gateway, caller }, { name, budget = null }) => {
    const made = { name: cleanName(name), budget: budget && termsOf(budget) }
    const team = await gateway.store.teams.add(made, actorOf(caller))
    return (await viewer(gateway))(team)
  },
  'teams.update': async ({ gateway, caller }, { id, name, budget }) => {
    const patch = {
      ...(name === undefined ? {} : { name: cleanName(name) }),
      ...(budget === undefined ? {} : { budget: budget && termsOf(budget) }),
    }
    const team = await gateway.store.teams.update(id, patch, actorOf(caller))
    return (await viewer(gateway))(team)
  },
  'teams.remove': async ({ gateway, caller }, { id }) => {
    await gateway.store.teams.remove(id, actorOf(caller))
    return { done: true }
  },
  'budgets.list': async (call) => ({
    items: await Promise.all(budgetsOf(call).map((budget) => ownedView(call.gateway, budget))),
  }),
  'budgets.reset': async ({ gateway, caller }, { id }) => {
    if (gateway.store.budgets.get(id) === undefined) throw new GatewayError('not_found', 'There is no such budget.')
    await gateway.store.budgets.renew(id, actorOf(caller))
    const budget = gateway.store.budgets.get(id)
    if (budget === undefined) throw new GatewayError('not_found', 'There is no such budget.')
    return shownBudget(budget, termsOfGateway(gateway))
  },
}

const viewer = async (gateway: Gateway): Promise<(team: Team) => S.Team> => {
  const members = Map.groupBy(await gateway.store.members.list(), ({ teamId }) => teamId)
  const keys = Map.groupBy(gateway.store.keys.list(), ({ ownerId }) => ownerId)
  return ({ id, name, createdAt }) => {
    const own = members.get(id) ?? []
    return {
      id,
      name,
      members: own.map((member) => ({ id: member.id, name: member.name })),
      keys: own.reduce((sum, member) => sum + (keys.get(member.id)?.length ?? 0), 0),
      budget: shownBudgetOf(budgetOf('team', id), termsOfGateway(gateway)),
      created_at: iso(createdAt),
    }
  }
}

/** Those a caller may see: an admin all of them, a member what their own requests count against. The widest first. */
const budgetsOf = (call: Call): Budget[] => {
  const { budgets } = call.gateway.store
  const member = limitedMember(call.caller)
  if (member === undefined) return budgets.list().toSorted(widestFirst)
  const own = new Set([{ id: '', ownerId: member.id }, ...keysOf(call)].flatMap((key) => [...budgets.of(key)]))
  return [...own].filter(({ id }) => id !== GATEWAY).toSorted(widestFirst)
}

const ORDER = ['gateway', 'team', 'member', 'key']

const widestFirst = (a: Budget, b: Budget): number => orderOf(a) - orderOf(b) || (a.id < b.id ? -1 : 1)
const orderOf = ({ id }: Budget): number => ORDER.indexOf(ownerOfBudget(id).kind)

const ownedView = async (gateway: Gateway, budget: Budget): Promise<S.OwnedBudget> => {
  const { kind, id } = ownerOfBudget(budget.id)
  return {
    kind,
    owner: kind === 'gateway' ? null : { id, name: (await gateway.store.budgets.nameOf(budget.id)) ?? id },
    budget: shownBudget(budget, termsOfGateway(gateway)),
  }
}
