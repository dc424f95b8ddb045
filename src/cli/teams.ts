// `teams`: named groups of members, and what each may use together. What is changed on a data directory a running server takes up
// within a second.

import { BACKEND_FLAGS } from './backend.ts'
import { BUDGET_FLAGS, budgetShort, readBudgetFlags } from './budget.ts'
import { command } from './command.ts'
import { JSON_FLAG } from './data.ts'
import { EXIT, failure, printJson } from './io.ts'
import { openPeople } from './open-people.ts'
import { budgetCommand, budgetIdOf, named } from './people.ts'
import { columns } from './table.ts'

const TEAM = { type: 'positional', required: true, description: 'Its name' } as const
const MEMBER = { type: 'positional', required: true, description: 'Their name, as they sign in with it' } as const

export const teamsList = command({
  name: 'list',
  summary: 'List the teams, who is in them and what they may use',
  args: { ...BACKEND_FLAGS, ...JSON_FLAG },
  run: async (args, io) => {
    const teams = await (await openPeople(args, io)).teams()
    if (args.json) printJson(io, teams)
    else if (teams.length === 0) io.out('There are no teams; "sluice teams create NAME" makes one.')
    else {
      const rows = teams.map(({ name, members, budget }) => [
        name,
        budget === null ? '' : budgetShort(budget),
        members.join(', '),
      ])
      io.out(columns([['NAME', 'BUDGET', 'MEMBERS'], ...rows]).join('\n'))
    }
    return EXIT.ok
  },
})

export const teamsCreate = command({
  name: 'create',
  summary: 'Make a team',
  args: { team: TEAM, ...BUDGET_FLAGS, ...BACKEND_FLAGS },
  examples: ['sluice teams create Blue --budget 200usd/month'],
  run: async (args, io) => {
    const { budget = null } = readBudgetFlags(args)
    const name = await (await openPeople(args, io)).createTeam(args.team, budget)
    io.out(`The team ${name} is there; "sluice teams add" puts members into it.`)
    return EXIT.ok
  },
})

export const teamsAdd = command({
  name: 'add',
  summary: 'Put a member into a team; they leave the one they were in',
  args: { team: TEAM, member: MEMBER, ...BACKEND_FLAGS },
  examples: ['sluice teams add Blue Dara'],
  run: async (args, io) => {
    const people = await openPeople(args, io)
    const team = named('team', await people.teams(), args.team)
    const member = named('member', await people.members(), args.member)
    await people.addToTeam(team.id, member.id)
    io.out(`${member.name} is in the team ${team.name}.`)
    return EXIT.ok
  },
})

export const teamsLeave = command({
  name: 'leave',
  summary: 'Take a member out of their team',
  args: { team: TEAM, member: MEMBER, ...BACKEND_FLAGS },
  run: async (args, io) => {
    const people = await openPeople(args, io)
    const team = named('team', await people.teams(), args.team)
    const member = named('member', await people.members(), args.member)
    if (member.team !== team.name) throw failure(`${member.name} is not in the team ${team.name}.`)
    await people.leaveTeam(team.id, member.id)
    io.out(`${member.name} is in no team now.`)
    return EXIT.ok
  },
})

export const teamsRemove = command({
  name: 'remove',
  summary: 'Remove a team and its budget; its members stay, in no team',
  args: { team: TEAM, ...BACKEND_FLAGS },
  run: async (args, io) => {
    const people = await openPeople(args, io)
    const team = named('team', await people.teams(), args.team)
    await people.removeTeam(team.id)
    io.out(`The team ${team.name} is removed.`)
    return EXIT.ok
  },
})

export const teamsBudget = command({
  name: 'budget',
  summary: 'Show what a team may use, or set it',
  args: { team: TEAM, ...BUDGET_FLAGS, ...BACKEND_FLAGS, ...JSON_FLAG },
  examples: ['sluice teams budget Blue', 'sluice teams budget Blue --budget 300usd/month'],
  run: async (args, io) => {
    const change = readBudgetFlags(args)
    const people = await openPeople(args, io)
    const team = named('team', await people.teams(), args.team)
    return budgetCommand(people, { id: budgetIdOf('team', team), name: team.name }, { ...change, json: args.json }, io)
  },
})
