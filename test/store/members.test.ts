// What only one of several may do, whoever comes first and by whichever process: each is one conditional statement.

import { afterEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/errors.ts'
import { DEFAULT_LIMITS, type NewSession } from '../../src/members/member.ts'
import type { SqliteStore } from '../../src/store/store.ts'
import { ACTOR, cleanUp, DAY, NOW, newPath, open } from './support.ts'

afterEach(cleanUp)

const RUNS = { numRuns: 25 }
/** Two processes, and who of them does what in which order. */
const rivals = fc.array(fc.nat(1), { minLength: 2, maxLength: 8 })
const processes = (): [SqliteStore, SqliteStore] => {
  const path = newPath()
  return [open(path), open(path)]
}
const racing = <T>(
  stores: readonly SqliteStore[],
  who: readonly number[],
  act: (store: SqliteStore, at: number) => T,
) => Promise.all(who.map((at, i) => act(stores[at] as SqliteStore, i)))
const session = (hash: string, memberId: string): NewSession => ({
  ...{ hash, memberId, now: NOW, expiresAt: NOW + DAY },
  ...{ address: undefined, agent: undefined },
})
const admin = (store: SqliteStore, name: string) =>
  store.members.add({ name, role: 'admin', limits: DEFAULT_LIMITS, passwordHash: 'old' }, ACTOR)

test('of many who set the gateway up one becomes its admin', () =>
  fc.assert(
    fc.asyncProperty(rivals, async (who) => {
      const stores = processes()
      const made = await racing(stores, who, ({ members }, at) =>
        members.setUp({ name: `Admin ${at}`, limits: DEFAULT_LIMITS, passwordHash: 'hash' }, ACTOR),
      )
      const [first, ...others] = made.filter((member) => member !== undefined)
      expect(others).toEqual([])
      expect(await stores[0].members.list()).toEqual([first as NonNullable<typeof first>])
      expect(first).toMatchObject({ role: 'admin', active: true, limits: DEFAULT_LIMITS, teamId: undefined })
    }),
    RUNS,
  ))

test('an invitation lets one in, by the password that was set with it', () =>
  fc.assert(
    fc.asyncProperty(rivals, async (who) => {
      const stores = processes()
      const invitation = { hash: 'link', expiresAt: NOW + DAY }
      await stores[0].members.add({ name: 'Dara', role: 'member', limits: DEFAULT_LIMITS, invitation }, ACTOR)
      const accepted = await racing(stores, who, ({ members }, at) => members.accept('link', `hash ${at}`, NOW))
      const winners = [...accepted.keys()].filter((at) => accepted[at] !== undefined)
      expect(winners).toHaveLength(1)
      expect((await stores[1].members.credentials('Dara'))?.passwordHash).toBe(`hash ${winners[0]}`)
    }),
    RUNS,
  ))

test('a password is changed from what it was, in a session that is open: one change of many is carried out', () =>
  fc.assert(
    fc.asyncProperty(rivals, fc.boolean(), async (who, isClosed) => {
      const stores = processes()
      const { id } = await admin(stores[0], 'Mia')
      await stores[0].sessions.open(session('mine', id), false)
      if (isClosed) await stores[1].sessions.close('mine')
      const changed = await racing(stores, who, ({ members }, at) =>
        members.changePassword(id, {
          ...{ before: 'old', after: `new ${at}`, session: 'mine', renewed: session(`renewed ${at}`, id) },
        }),
      )
      const winners = [...changed.keys()].filter((at) => changed[at])
      expect(winners).toHaveLength(isClosed ? 0 : 1)
      const now = (await stores[1].members.credentials('Mia'))?.passwordHash
      expect(now).toBe(isClosed ? 'old' : `new ${winners[0]}`)
      expect((await stores[1].sessions.of(id)).map(({ hash }) => hash)).toEqual(winners.map((at) => `renewed ${at}`))
      // Who knew the password of before has proven nothing.
      const proof = { memberId: id, passwordHash: 'old', told: false }
      expect(await stores[0].sessions.prove(isClosed ? 'mine' : `renewed ${winners[0]}`, proof)).toBe(false)
    }),
    RUNS,
  ))

test('a password that is changed lets nobody in any more: who proved it before has no session, or loses it', () =>
  fc.assert(
    fc.asyncProperty(rivals, fc.nat(), async (who, changer) => {
      const stores = processes()
      const { id } = await admin(stores[0], 'Mia')
      await stores[0].sessions.open(session('mine', id), false)
      const change = { before: 'old', after: 'new', session: 'mine', renewed: session('renewed', id) }
      await racing(stores, who, async ({ members, sessions }, at) =>
        at === changer % who.length
          ? members.changePassword(id, change)
          : sessions.open(session(`late ${at}`, id), false, 'old'),
      )
      expect((await stores[1].sessions.of(id)).map(({ hash }) => hash)).toEqual(['renewed'])
      expect(await stores[0].sessions.open(session('later', id), false, 'old')).toBe(false)
      expect(await stores[0].sessions.open(session('again', id), false, 'new')).toBe(true)
    }),
    RUNS,
  ))

test('however many admins step down or are removed at once, one is left', () =>
  fc.assert(
    fc.asyncProperty(rivals, fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), async (who, removes) => {
      const stores = processes()
      const admins = await Promise.all(who.map((_, at) => admin(stores[0], `Admin ${at}`)))
      const gone = await racing(stores, who, ({ members }, at) => {
        const id = admins[at]?.id ?? ''
        const leaving = removes[at]
          ? members.remove(id, 'revoke', ACTOR)
          : members.update(id, { role: 'member' }, ACTOR)
        return leaving.then(
          () => 'gone',
          (error: unknown) => (error instanceof GatewayError ? error.code : String(error)),
        )
      })
      expect(gone.filter((end) => end !== 'gone')).toEqual(['invalid_request'])
      expect((await stores[1].members.list()).filter(({ role }) => role === 'admin')).toHaveLength(1)
    }),
    RUNS,
  ))
