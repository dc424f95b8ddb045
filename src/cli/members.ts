// `members`: who may sign in to the dashboard. Whom they let in is decided by people, not tokens: a server's members can
// be listed from elsewhere, and changed in its dashboard or on its own machine.

import type * as S from '../admin-api/schema.ts'
import { adminOriginOf } from '../config/origin.ts'
import type { Config } from '../config.ts'
import { budgetOf } from '../keys/budget.ts'
import { iso, isoOrNull } from '../lib/iso-time.ts'
import { DEFAULT_LIMITS, type Member } from '../members/member.ts'
import { createMembership } from '../members/membership.ts'
import { shownBudgetOf } from '../observe/shown.ts'
import type { Store } from '../store/store.ts'
import { addressIn, BACKEND_FLAGS, serverAddress, type Where } from './backend.ts'
import { BUDGET_FLAGS, budgetShort, printBudget, readBudgetFlags } from './budget.ts'
import { command } from './command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData, withStore } from './data.ts'
import { CLI_ACTOR, EXIT, failure, type Io, printJson, usageError } from './io.ts'
import { columns } from './table.ts'

type Shown = {
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

export const membersList = command({
  name: 'list',
  summary: 'List those who may sign in to the dashboard, and those invited',
  args: { ...BACKEND_FLAGS, ...JSON_FLAG },
  run: async (args, io) => {
    const address = serverAddress(args, io)
    const members =
      address === undefined
        ? await shownHere(args, io)
        : (await (await import('./remote.ts')).remoteMembers(address)).map(shownOf)
    if (args.json) printJson(io, members)
    else if (members.length === 0)
      io.out('There are no members; "sluice serve" prints a link to set up the first admin.')
    else {
      const rows = members.map(({ name, role, status, team, budget, keys, created_at, invitation_expires_at }) => [
        name,
        role,
        invitation_expires_at === null ? status : `${status} until ${invitation_expires_at}`,
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

const NAME = { type: 'positional', required: true, description: 'Their name, as they sign in with it' } as const

export const membersInvite = command({
  name: 'invite',
  summary: 'Make a one-time link by which somebody becomes a member',
  args: {
    name: NAME,
    role: { type: 'enum', options: ['member', 'admin'], description: 'member or admin', default: 'member' },
    url: {
      type: 'string',
      valueHint: 'URL',
      description: 'Where people reach the gateway (default: the address it is configured to listen on)',
    },
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
      if (args.url === undefined) io.err('If people reach the gateway at another address, give it with --url.')
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
      const { id, name } = await namedMember(store, args.name)
      await store.members.remove(id, args['keep-keys'] ? 'keep' : 'revoke', CLI_ACTOR)
      io.out(`${name} is removed${args['keep-keys'] ? '' : ', and their keys are revoked'}.`)
      return EXIT.ok
    })
  },
})

export const membersBudget = command({
  name: 'budget',
  summary: 'Show what a member may use, or set it',
  args: {
    name: NAME,
    ...BUDGET_FLAGS,
    ...DATA_FLAGS,
    ...JSON_FLAG,
  },
  examples: ['sluice members budget Dara', 'sluice members budget Dara --budget 20usd/month --warn-at 50,80,100'],
  run: (args, io) => {
    onlyHere(args, io)
    const config = requireData(args, io)
    const change = readBudgetFlags(args)
    return withStore(config, io, 'read', async (store) => {
      const { id, name } = await namedMember(store, args.name)
      if (change.budget !== undefined) await store.members.update(id, change, CLI_ACTOR)
      printBudget(name, budgetOf('member', id), store, { args, config, io })
      return EXIT.ok
    })
  },
})

export const onlyHere = (where: { config?: string | undefined; data?: string | undefined }, { env }: Io): void => {
  if (where.config !== undefined || where.data !== undefined || !env.SLUICE_SERVER) return
  throw usageError(
    "SLUICE_SERVER is set, and a token lets nobody in or out: use that server's dashboard, or name a data directory here with --data.",
  )
}

export const namedMember = async (store: Store, name: string): Promise<Member> => {
  const members = await store.members.list()
  const found = members.find((member) => member.name.toLowerCase() === name.trim().normalize('NFC').toLowerCase())
  if (found !== undefined) return found
  const there = members.map((member) => member.name).join(', ')
  throw failure(`There is no member "${name}"${there === '' ? '' : `; there are: ${there}`}.`)
}

const shownHere = (where: Where, io: Io): Promise<Shown[]> => {
  const config = requireData(where, io)
  return withStore(config, io, 'read', (store) => shownMembers(store, config, io))
}

const shownMembers = async (store: Store, { calendar }: Config, io: Io): Promise<Shown[]> => {
  const keys = store.keys.list()
  const terms = { now: io.now(), calendar, budgets: store.budgets }
  const teams = new Map((await store.teams.list()).map(({ id, name }) => [id, name]))
  return (await store.members.list()).map((member) => ({
    id: member.id,
    name: member.name,
    role: member.role,
    status: member.active ? 'active' : 'invited',
    keys: keys.filter(({ ownerId, purpose }) => ownerId === member.id && purpose === undefined).length,
    team: teams.get(member.teamId ?? '') ?? null,
    budget: shownBudgetOf(budgetOf('member', member.id), terms),
    created_at: iso(member.createdAt),
    invitation_expires_at: isoOrNull(member.invitationExpiresAt),
  }))
}

const shownOf = ({ id, name, role, status, team, budget, keys, ...times }: S.Member): Shown => ({
  ...{ id, name, role, status, team: team?.name ?? null, budget, keys },
  ...{ created_at: times.created_at, invitation_expires_at: times.invitation_expires_at },
})
