// `teams`: named groups of members, and what each may use together. Changed on the data directory; a running server takes it up
// within a second.

import { budgetOf } from '../keys/budget.ts'
import { iso } from '../lib/iso-time.ts'
import type { Team } from '../members/member.ts'
import { cleanName } from '../members/membership.ts'
import { shownBudgetOf } from '../observe/shown.ts'
import type { Store } from '../store/store.ts'
import { BUDGET_FLAGS, budgetShort, printBudget, readBudgetFlags } from './budget.ts'
import { command } from './command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData, withStore } from './data.ts'
import { CLI_ACTOR, EXIT, failure, printJson } from './io.ts'
import { namedMember, onlyHere } from './members.ts'
import { columns } from './table.ts'

const TEAM = { type: 'positional', required: true, description: 'Its name' } as const
const MEMBER = { type: 'positional', required: true, description: 'Their name, as they sign in with it' } as const

export const teamsList = command({
  name: 'list',
  summary: 'List the teams, who is in them and what they may use',
  args: { ...DATA_FLAGS, ...JSON_FLAG },
  run: (args, io) => {
    onlyHere(args, io)
    const config = requireData(args, io)
    return withStore(config, io, 'read', async (store) => {
      const terms = { now: io.now(), calendar: config.calendar, budgets: store.budgets }
      const members = Map.groupBy(await store.members.list(), ({ teamId }) => teamId)
      const shown = (await store.teams.list()).map(({ id, name, createdAt }) => ({
        id,
        name,
        members: (members.get(id) ?? []).map((member) => member.name),
        budget: shownBudgetOf(budgetOf('team', id), terms),
        created_at: iso(createdAt),
      }))
      if (args.json) printJson(io, shown)
      else if (shown.length === 0) io.out('There are no teams; "sluice teams create NAME" makes one.')
      else {
        const rows = shown.map(({ name, members: own, budget }) => [
          name,
          budget === null ? '' : budgetShort(budget),
          own.join(', '),
        ])
        io.out(columns([['NAME', 'BUDGET', 'MEMBERS'], ...rows]).join('\n'))
      }
      return EXIT.ok
    })
  },
})

export const teamsCreate = command({
  name: 'create',
  summary: 'Make a team',
  args: { team: TEAM, ...BUDGET_FLAGS, ...DATA_FLAGS },
  examples: ['sluice teams create Blue --budget 200usd/month'],
  run: (args, io) => {
    onlyHere(args, io)
    const budget = readBudgetFlags(args)
    return withStore(requireData(args, io), io, 'write', async (store) => {
      const { name } = await store.teams.add({ name: cleanName(args.team), ...budget }, CLI_ACTOR)
      io.out(`The team ${name} is there; "sluice teams add" puts members into it.`)
      return EXIT.ok
    })
  },
})

export const teamsAdd = command({
  name: 'add',
  summary: 'Put a member into a team; they leave the one they were in',
  args: { team: TEAM, member: MEMBER, ...DATA_FLAGS },
  examples: ['sluice teams add Blue Dara'],
  run: (args, io) => {
    onlyHere(args, io)
    return withStore(requireData(args, io), io, 'read', async (store) => {
      const { id, name } = await namedTeam(store, args.team)
      const member = await namedMember(store, args.member)
      await store.members.update(member.id, { teamId: id }, CLI_ACTOR)
      io.out(`${member.name} is in the team ${name}.`)
      return EXIT.ok
    })
  },
})

export const teamsLeave = command({
  name: 'leave',
  summary: 'Take a member out of their team',
  args: { team: TEAM, member: MEMBER, ...DATA_FLAGS },
  run: (args, io) => {
    onlyHere(args, io)
    return withStore(requireData(args, io), io, 'read', async (store) => {
      const { id, name } = await namedTeam(store, args.team)
      const member = await namedMember(store, args.member)
      if (member.teamId !== id) throw failure(`${member.name} is not in the team ${name}.`)
      await store.members.update(member.id, { teamId: null }, CLI_ACTOR)
      io.out(`${member.name} is in no team now.`)
      return EXIT.ok
    })
  },
})

export const teamsRemove = command({
  name: 'remove',
  summary: 'Remove a team and its budget; its members stay, in no team',
  args: { team: TEAM, ...DATA_FLAGS },
  run: (args, io) => {
    onlyHere(args, io)
    return withStore(requireData(args, io), io, 'read', async (store) => {
      const { id, name } = await namedTeam(store, args.team)
      await store.teams.remove(id, CLI_ACTOR)
      io.out(`The team ${name} is removed.`)
      return EXIT.ok
    })
  },
})

export const teamsBudget = command({
  name: 'budget',
  summary: 'Show what a team may use, or set it',
  args: { team: TEAM, ...BUDGET_FLAGS, ...DATA_FLAGS, ...JSON_FLAG },
  examples: ['sluice teams budget Blue', 'sluice teams budget Blue --budget 300usd/month'],
  run: (args, io) => {
    onlyHere(args, io)
    const config = requireData(args, io)
    const change = readBudgetFlags(args)
    return withStore(config, io, 'read', async (store) => {
      const { id, name } = await namedTeam(store, args.team)
      if (change.budget !== undefined) await store.teams.update(id, change, CLI_ACTOR)
      printBudget(name, budgetOf('team', id), store, { args, config, io })
      return EXIT.ok
    })
  },
})

const namedTeam = async (store: Store, name: string): Promise<Team> => {
  const teams = await store.teams.list()
  const found = teams.find((team) => team.name.toLowerCase() === name.trim().normalize('NFC').toLowerCase())
  if (found !== undefined) return found
  const there = teams.map((team) => team.name).join(', ')
  throw failure(`There is no team "${name}"${there === '' ? '' : `; there are: ${there}`}.`)
}
