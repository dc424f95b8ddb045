// `sessions`: who is signed in to the dashboard, from where, and how that is ended.

import { deviceOf } from '../lib/device.ts'
import { BACKEND_FLAGS } from './backend.ts'
import { command } from './command.ts'
import { JSON_FLAG } from './data.ts'
import { EXIT, printJson, usageError } from './io.ts'
import { openPeople } from './open-people.ts'
import { named } from './people.ts'
import { columns } from './table.ts'

const MEMBER = { type: 'string', valueHint: 'NAME', description: 'Only those of this member' } as const

export const sessionsList = command({
  name: 'list',
  summary: 'List who is signed in to the dashboard, and from where',
  args: { member: MEMBER, ...BACKEND_FLAGS, ...JSON_FLAG },
  run: async (args, io) => {
    const people = await openPeople(args, io)
    const of = args.member === undefined ? undefined : named('member', await people.members(), args.member)
    const sessions = (await people.sessions()).filter(({ member }) => of === undefined || member.id === of.id)
    if (args.json) printJson(io, sessions)
    else if (sessions.length === 0) io.out('Nobody is signed in.')
    else {
      const rows = sessions.map(({ id, member, address, agent, seen_at, expires_at }) => [
        ...[id, member.name, address ?? '', seen_at, expires_at, deviceOf(agent)],
      ])
      io.out(columns([['ID', 'MEMBER', 'FROM', 'LAST USED', 'UNTIL', 'BROWSER'], ...rows]).join('\n'))
    }
    return EXIT.ok
  },
})

export const sessionsEnd = command({
  name: 'end',
  summary: 'End a session, or all of a member; they sign in again',
  args: {
    id: { type: 'positional', required: false, description: 'The session, as "sluice sessions list" shows it' },
    member: { ...MEMBER, description: 'All of this member' },
    ...BACKEND_FLAGS,
  },
  examples: ['sluice sessions end ses_0123456789abcdef', 'sluice sessions end --member Dara'],
  run: async (args, io) => {
    if ((args.id === undefined) === (args.member === undefined))
      throw usageError('Name a session, or a member with --member.')
    const people = await openPeople(args, io)
    const of = args.member === undefined ? undefined : named('member', await people.members(), args.member)
    const ids =
      args.id === undefined
        ? (await people.sessions()).filter(({ member }) => member.id === of?.id).map(({ id }) => id)
        : [args.id]
    for (const id of ids) await people.endSession(id)
    io.out(ids.length === 1 ? 'The session has ended.' : `${ids.length} sessions have ended.`)
    return EXIT.ok
  },
})
