// What someone made as an admin ends with that: every way of letting people in, by every way their standing ends.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { SYSTEM } from '../../support/gateway.ts'
import { type Desk, PASSWORD, type Person, startDesk } from './support.ts'

let desk: Desk
// One for each: links that open nothing count as attempts to come in.
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.stop())

const NEXT = 'nine slow barges at noon'
let made = 0

/** An admin with everything they can make, in their own name. */
const maker = async () => {
  const turn = ++made
  const person = await desk.join(`Maker ${turn}`, 'admin')
  const victim = await desk.join(`Victim ${turn}`, 'admin')
  const invite = await desk.call('members.invite', person, { name: `Sleeper ${turn}`, role: 'admin' })
  const reset = await desk.call('members.renew-invitation', person, { id: victim.member.id })
  const own = await desk.call('members.renew-invitation', person, { id: person.member.id })
  const token = await desk.call('tokens.create', person, { label: `of maker ${turn}` })
  return {
    ...{ person, victim, id: person.member.id, invited: invite.member.id, own: own.invitation.token },
    token: { id: token.token.id, person: { headers: { authorization: `Bearer ${token.secret}` } } satisfies Person },
    links: { invitation: invite.invitation.token, 'reset link': reset.invitation.token },
  }
}
type Maker = Awaited<ReturnType<typeof maker>>

const accept = async (token: string) =>
  (await desk.request('invitation.accept', desk.nobody, { token, password: NEXT })).status
const opens = async (token: string) => (await desk.request('invitation.open', desk.nobody, { token })).status
const calls = async (person: Person) => (await desk.request('accounts.list', person)).status

const ENDS: [string, (of: Maker) => Promise<unknown>][] = [
  ['are removed', ({ id }) => desk.call('members.remove', desk.admin, { id })],
  ['are removed and their keys kept', ({ id }) => desk.call('members.remove', desk.admin, { id, keys: 'keep' })],
  ['are made a member', ({ id }) => desk.call('members.update', desk.admin, { id, role: 'member' })],
  [
    'were made a member and are an admin again',
    async ({ id }) => {
      await desk.call('members.update', desk.admin, { id, role: 'member' })
      await desk.call('members.update', desk.admin, { id, role: 'admin' })
    },
  ],
  [
    'have their password set anew by a link',
    async ({ id }) => {
      const { invitation } = await desk.call('members.renew-invitation', desk.admin, { id })
      expect(await accept(invitation.token)).toBe(200)
    },
  ],
]

describe.each(ENDS)('once they %s', (_, end) => {
  test('no link and no admin token of theirs opens anything; all of it is in the audit', async () => {
    const of = await maker()
    const { victim, links, token, invited, own } = of
    await end(of)
    for (const link of [links.invitation, links['reset link'], own]) {
      expect([await opens(link), await accept(link)]).toEqual([404, 404])
    }
    expect(await calls(token.person)).toBe(401)
    // Who was to be taken over is in as before.
    expect(await calls(victim)).toBe(200)
    const { items } = await desk.call('audit.list', desk.admin, { limit: 50 })
    const told = items.map(({ action, target }) => `${action} ${target}`)
    expect(told).toContain(`member.end-link ${invited}`)
    expect(told).toContain(`member.end-link ${victim.member.id}`)
    expect(told).toContain(`token.revoke ${token.id}`)
    const { items: members } = await desk.call('members.list', desk.admin)
    const left = members.filter(({ id }) => id === invited || id === victim.member.id)
    expect(left.map(({ invitation_expires_at }) => invitation_expires_at)).toEqual([null, null])
  })

  test('another admin’s link for the same people, made since, works', async () => {
    const of = await maker()
    const { invitation } = await desk.call('members.renew-invitation', desk.admin, { id: of.invited })
    await end(of)
    expect(await opens(of.links.invitation)).toBe(404)
    expect(await accept(invitation.token)).toBe(200)
  })
})

test('a link of the command line needs nobody who stays', async () => {
  const { victim, id } = await maker()
  const { token } = await desk.server.gateway.membership.invite(victim.member.id, { kind: 'cli', id: 'test' })
  await desk.call('members.remove', desk.admin, { id })
  expect(await accept(token)).toBe(200)
})

test('a link whose maker is no admin by the database alone is void, too', async () => {
  const { store, membership } = desk.server.gateway
  const { member } = await desk.join('Plain', 'member')
  const { token } = await membership.invite(desk.member.member.id, { kind: 'member', id: member.id })
  expect(await opens(token)).toBe(404)
  await store.members.update(member.id, { role: 'admin' }, SYSTEM)
  expect(await opens(token)).toBe(200)
})

test('who changes their own password keeps what they made: links, and admin tokens', async () => {
  const { person, links, token } = await maker()
  await desk.call('session.password', person, { current: PASSWORD, password: NEXT })
  expect(await calls(token.person)).toBe(200)
  expect([await opens(links.invitation), await opens(links['reset link'])]).toEqual([200, 200])
})
