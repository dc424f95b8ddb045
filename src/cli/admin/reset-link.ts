// `admin reset-link`: the way back in for whoever lost their password, where nobody is left to make them a link.

import { adminOriginOf } from '../../config/origin.ts'
import { iso } from '../../lib/iso-time.ts'
import { HOUR_MS } from '../../lib/spans.ts'
import type { Member } from '../../members/member.ts'
import { createMembership } from '../../members/membership.ts'
import type { Store } from '../../store/store.ts'
import { addressIn } from '../backend.ts'
import { command } from '../command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData, withStore } from '../data.ts'
import { CLI_ACTOR, EXIT, failure, printJson, usageError } from '../io.ts'
import { hintUrl, LINK_FLAG } from '../people.ts'
import { columns } from '../table.ts'

/** It opens everything: it is made to be used at once. */
const VALID_MS = HOUR_MS

export const adminResetLink = command({
  name: 'reset-link',
  summary: 'Print a one-time link: sets a new password, removes the second factor',
  args: {
    name: {
      type: 'positional',
      required: false,
      description: 'The member; may be left out where there is only one admin',
    },
    ...LINK_FLAG,
    ...DATA_FLAGS,
    ...JSON_FLAG,
  },
  examples: ['sluice admin reset-link', 'sluice admin reset-link Dara --url https://gateway.example'],
  run: (args, io) => {
    const config = requireData(args, io)
    const base =
      args.url === undefined ? adminOriginOf(config, config.adminListen ?? config.listen) : readBase(args.url)
    return withStore(config, io, 'read', async (store) => {
      const { id, name, role } = await theOne(store, args.name)
      const membership = createMembership({ store, clock: io.now })
      const { token, expiresAt } = await membership.invite(id, CLI_ACTOR, { validMs: VALID_MS, endsFactor: true })
      const url = `${base}/dashboard/invite#${token}`
      const expires_at = iso(expiresAt)
      if (args.json) printJson(io, { url, name, role, expires_at })
      else
        io.out(
          columns([
            ['link', url],
            ['for', `${name} (${role})`],
            ['until', expires_at],
          ]).join('\n'),
        )
      const factor = (await membership.factor.isEnabled(id)) ? ', removes the second factor' : ''
      io.err(`The link works once: it sets a new password${factor} and ends the sessions and admin tokens there are.`)
      hintUrl(args, io)
      return EXIT.ok
    })
  },
})

/** The member of that name, or the only admin. */
const theOne = async (store: Store, name: string | undefined): Promise<Member> => {
  const members = await store.members.list()
  if (name !== undefined) {
    const found = members.find((member) => member.name.toLowerCase() === name.trim().normalize('NFC').toLowerCase())
    if (found !== undefined) return found
    const known =
      members.length === 0 ? 'nobody has used the setup link of "sluice serve" yet' : `there are: ${named(members)}`
    throw failure(`There is no member "${name}"; ${known}.`)
  }
  const admins = members.filter(({ role, active }) => role === 'admin' && active)
  const [only] = admins
  if (only === undefined) throw failure('There is no admin yet; "sluice serve" prints a link to set up the first one.')
  if (admins.length > 1) throw usageError(`Name one of the admins: ${named(admins)}.`)
  return only
}

const named = (members: Member[]): string => members.map(({ name }) => name).join(', ')

const readBase = (text: string): string => {
  const url = addressIn(text)
  if (url !== undefined) return url
  throw usageError(`--url: found "${text}", allowed: an address such as https://gateway.example.`)
}
