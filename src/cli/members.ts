// `members`: who may sign in to the dashboard. Whom to let in is decided by people, not tokens: a server's members can be listed
// from elsewhere, and be given budgets; they are invited and removed in its dashboard or on its own machine.

import { adminOriginOf } from '../config/origin.ts'
import { iso } from '../lib/iso-time.ts'
import { DEFAULT_LIMITS } from '../members/member.ts'
import { createMembership } from '../members/membership.ts'
import { addressIn, BACKEND_FLAGS } from './backend.ts'
import { BUDGET_FLAGS, budgetShort, readBudgetFlags } from './budget.ts'
import { command } from './command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData, withStore } from './data.ts'
import { CLI_ACTOR, EXIT, printJson, usageError } from './io.ts'
import { openPeople } from './open-people.ts'
import { budgetCommand, budgetIdOf, hintUrl, LINK_FLAG, named, onlyHere } from './people.ts'
import { columns } from './table.ts'

export const membersList = command({
  name: 'list',
  summary: 'List those who may sign in to the dashboard, and those invited',
  args: { ...BACKEND_FLAGS, ...JSON_FLAG },
  run: async (args, io) => {
    const members = await (await openPeople(args, io)).members()
    if (args.json) printJson(io, members)
    else if (members.length === 0)
      io.out('There are no members; "sluice serve" prints a link to set up the first admin.')
    else {
      const rows = members.map(({ name, role, status, team, budget, keys, created_at, invitation_expires_at }) => [
        name,
        role,
        statusText(status, invitation_expires_at),
        team ?? '',
        budget === null ? '' : `${budgetShort(budget)}`,
        `${keys}`,
        created_at.slice(0, 10),
      ])
      io.out(columns([['NAME', 'ROLE', 'STATUS', 'TEAM', 'BUDGET', 'KEYS', 'SINCE'], ...rows], '', [5]).join('\n'))
    }
    return EXIT.ok
  },
})

/** Of who is in already, the end is that of a link for a new password. */
const statusText = (status: string, linkUntil: string | null): string => {
  if (linkUntil === null) return status
  return status === 'invited' ? `invited until ${linkUntil}` : `${status}, link until ${linkUntil}`
}

const NAME = { type: 'positional', required: true, description: 'Their name, as they sign in with it' } as const

export const membersInvite = command({
  name: 'invite',
  summary: 'Make a one-time link by which somebody becomes a member',
  args: {
    name: NAME,
    role: {
      type: 'enum',
      options: ['member', 'admin'],
      valueHint: 'ROLE',
      description: 'member or admin',
      default: 'member',
    },
    ...LINK_FLAG,
    ...DATA_FLAGS,
    ...JSON_FLAG,
  },
  examples: ['sluice members invite Dara', 'sluice members invite Mia --role admin --url https://gateway.example'],
  run: (args, io) => {
    onlyHere(args, io)
    const config = requireData(args, io)
    const base =
      args.url === undefined ? adminOriginOf(config, config.adminListen ?? config.listen) : addressIn(args.url)
    if (base === undefined) {
      throw usageError(`--url: found "${args.url}", allowed: an address such as https://gateway.example.`)
    }
    return withStore(config, io, 'write', async (store) => {
      const membership = createMembership({ store, clock: io.now })
      const role = args.role === 'admin' ? 'admin' : 'member'
      const invited = await membership.inviteNew({ name: args.name, role, limits: DEFAULT_LIMITS }, CLI_ACTOR)
      const shown = {
        url: `${base}/dashboard/invite#${invited.token}`,
        name: invited.member.name,
        role,
        expires_at: iso(invited.expiresAt),
      }
      if (args.json) printJson(io, shown)
      else {
        const rows = [
          ['link', shown.url],
          ['for', `${shown.name} (${role})`],
          ['until', shown.expires_at],
        ]
        io.out(columns(rows).join('\n'))
      }
      io.err('The link works once: whoever opens it sets the password.')
      hintUrl(args, io)
      return EXIT.ok
    })
  },
})

export const membersRemove = command({
  name: 'remove',
  summary: 'Remove a member, or take an invitation back; their keys are revoked',
  args: {
    name: NAME,
    'keep-keys': { type: 'boolean', description: 'Leave their keys as they are' },
    ...DATA_FLAGS,
  },
  examples: ['sluice members remove Dara --keep-keys'],
  run: (args, io) => {
    onlyHere(args, io)
    return withStore(requireData(args, io), io, 'read', async (store) => {
      const { id, name } = named('member', await store.members.list(), args.name)
      await store.members.remove(id, args['keep-keys'] ? 'keep' : 'revoke', CLI_ACTOR)
      io.out(`${name} is removed${args['keep-keys'] ? '' : ', and their keys are revoked'}.`)
      return EXIT.ok
    })
  },
})

export const membersBudget = command({
  name: 'budget',
  summary: 'Show what a member may use, or set it',
  args: { name: NAME, ...BUDGET_FLAGS, ...BACKEND_FLAGS, ...JSON_FLAG },
  examples: ['sluice members budget Dara', 'sluice members budget Dara --budget 20usd/month --warn-at 50,80,100'],
  run: async (args, io) => {
    const change = readBudgetFlags(args)
    const people = await openPeople(args, io)
    const member = named('member', await people.members(), args.name)
    return budgetCommand(
      people,
      { id: budgetIdOf('member', member), name: member.name },
      { ...change, json: args.json },
      io,
    )
  },
})
