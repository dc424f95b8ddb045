// Teams, and the budgets of all that has one.

import type * as S from '../../admin-api/schema.ts'
import { GATEWAY_BUDGET } from '../../config/settings.ts'
import { GatewayError, invalidRequest } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import {
  type Budget,
  type BudgetKind,
  budgetOf,
  GATEWAY,
  ownerOfBudget,
  termsOf,
  writtenBudget,
} from '../../keys/budget.ts'
import { iso } from '../../lib/iso-time.ts'
import type { Member, Team } from '../../members/member.ts'
import { cleanName } from '../../members/membership.ts'
import { labelsOf } from '../../observe/groups.ts'
import { shownBudget, shownBudgetOf } from '../../observe/shown.ts'
import { actorOf, type Call, keysOf, limitedMember, type Part } from './call.ts'
import { termsOfGateway } from './view.ts'

export const teams: Part<
  | 'teams.list'
  | 'teams.create'
  | 'teams.update'
  | 'teams.remove'
  | 'teams.add-member'
  | 'teams.remove-member'
  | 'budgets.list'
  | 'budgets.put'
  | 'budgets.reset'
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
  'teams.add-member': async ({ gateway, caller }, { id, member }) => {
    const team = await requireTeam(gateway, id)
    await requireMember(gateway, member)
    await gateway.store.members.update(member, { teamId: id }, actorOf(caller))
    return (await viewer(gateway))(team)
  },
  'teams.remove-member': async ({ gateway, caller }, { id, member }) => {
    const team = await requireTeam(gateway, id)
    const { name, teamId } = await requireMember(gateway, member)
    if (teamId !== id) throw new GatewayError('not_found', `${name} is not in the team ${team.name}.`)
    await gateway.store.members.update(member, { teamId: null }, actorOf(caller))
    return (await viewer(gateway))(team)
  },
  'budgets.list': async (call) => {
    const nameOf = await ownersNamed(call.gateway)
    return { items: budgetsOf(call).map((budget) => ownedView(call.gateway, budget, nameOf)) }
  },
  'budgets.put': async ({ gateway, caller }, { id, budget: written }) => {
    const { store } = gateway
    await requireOwner(gateway, id)
    const terms = written && termsOf(written)
    if (id === GATEWAY) {
      if (gateway.config.budget !== undefined)
        throw invalidRequest('budget: the configuration file sets it: change it there.', 'budget')
      await store.settings.write({ [GATEWAY_BUDGET]: terms && writtenBudget(terms) }, actorOf(caller))
    }
    await store.budgets.set(id, terms, actorOf(caller))
    const budget = store.budgets.get(id)
    return { budget: budget === undefined ? null : shownBudget(budget, termsOfGateway(gateway)) }
  },
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
  if (member === undefined)
    return budgets
      .list()
      .filter((budget) => isOfUse(call.gateway, budget))
      .toSorted(widestFirst)
  const own = new Set([{ id: '', ownerId: member.id }, ...keysOf(call)].flatMap((key) => [...budgets.of(key)]))
  return [...own].filter(({ id }) => id !== GATEWAY).toSorted(widestFirst)
}

/** What a revoked key might have used is over. */
const isOfUse = ({ store }: Gateway, budget: Budget): boolean => {
  const { kind, id } = ownerOfBudget(budget.id)
  return kind !== 'key' || store.keys.get(id)?.revokedAt === undefined
}

const requireTeam = async ({ store }: Gateway, id: string): Promise<Team> => {
  const team = await store.teams.get(id)
  if (team === undefined) throw new GatewayError('not_found', 'There is no such team.')
  return team
}

const requireMember = async ({ store }: Gateway, id: string): Promise<Member> => {
  const member = await store.members.get(id)
  if (member === undefined) throw new GatewayError('not_found', 'There is no such member.')
  return member
}

/** Throws `not_found` for a budget that nobody could have. */
const requireOwner = async (gateway: Gateway, budget: string): Promise<void> => {
  if (budget === GATEWAY) return
  const { kind, id } = ownerOfBudget(budget)
  if (kind === 'team') await requireTeam(gateway, id)
  else if (kind === 'member') await requireMember(gateway, id)
  else if (kind !== 'key' || gateway.store.keys.get(id)?.revokedAt !== undefined || !gateway.store.keys.get(id))
    throw new GatewayError('not_found', 'There is nobody and nothing that this could be the budget of.')
}

const ORDER = ['gateway', 'team', 'member', 'key']

const widestFirst = (a: Budget, b: Budget): number => orderOf(a) - orderOf(b) || (a.id < b.id ? -1 : 1)
const orderOf = ({ id }: Budget): number => ORDER.indexOf(ownerOfBudget(id).kind)

type NameOf = (kind: Exclude<BudgetKind, 'gateway'>, id: string) => string

/** Read together, however many there are. */
const ownersNamed = async ({ store }: Gateway): Promise<NameOf> => {
  const names = {
    key: await labelsOf(store, 'key'),
    member: await labelsOf(store, 'member'),
    team: await labelsOf(store, 'team'),
  }
  return (kind, id) => names[kind](id)
}

const ownedView = (gateway: Gateway, budget: Budget, nameOf: NameOf): S.OwnedBudget => {
  const { kind, id } = ownerOfBudget(budget.id)
  return {
    ...{ id: budget.id, kind },
    managed: kind === 'gateway' && gateway.config.budget !== undefined ? 'file' : 'store',
    owner: kind === 'gateway' ? null : { id, name: nameOf(kind, id) },
    budget: shownBudget(budget, termsOfGateway(gateway)),
  }
}
