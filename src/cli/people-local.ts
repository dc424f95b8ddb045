// The people of a data directory, beside a running server too.

import { createSettings, GATEWAY_BUDGET } from '../config/settings.ts'
import { type BudgetId, budgetOf, GATEWAY, ownerOfBudget, writtenBudget } from '../keys/budget.ts'
import { iso, isoOrNull } from '../lib/iso-time.ts'
import { sessionId } from '../members/member.ts'
import { cleanName, createMembership } from '../members/membership.ts'
import { memberSession, shownBudgetOf } from '../observe/shown.ts'
import type { Store } from '../store/store.ts'
import type { Where } from './backend.ts'
import { requireData, withStore } from './data.ts'
import { CLI_ACTOR, failure, type Io } from './io.ts'
import type { People } from './people.ts'

export const localPeople = (where: Where, io: Io): People => {
  const config = requireData(where, io)
  const read = <T>(use: (store: Store) => T | Promise<T>): Promise<T> => withStore(config, io, 'read', use)
  const budgetIn = ({ budgets }: Store, id: BudgetId) =>
    shownBudgetOf(id, { now: io.now(), calendar: config.calendar, budgets })
  const sessionsIn = async (store: Store) => {
    const settings = await createSettings({ ...config, limits: { ...config.limits } }, store.settings)
    return createMembership({ store, clock: io.now, sessionDays: () => settings.values().session_days }).allSessions()
  }
  return {
    members: () =>
      read(async (store) => {
        const keys = store.keys.list()
        const teams = new Map((await store.teams.list()).map(({ id, name }) => [id, name]))
        return (await store.members.list()).map((member) => ({
          id: member.id,
          name: member.name,
          role: member.role,
          status: member.active ? 'active' : 'invited',
          keys: keys.filter(({ ownerId, purpose }) => ownerId === member.id && purpose === undefined).length,
          team: member.teamId === undefined ? null : (teams.get(member.teamId) ?? null),
          budget: budgetIn(store, budgetOf('member', member.id)),
          created_at: iso(member.createdAt),
          invitation_expires_at: isoOrNull(member.invitationExpiresAt),
        }))
      }),
    teams: () =>
      read(async (store) => {
        const members = Map.groupBy(await store.members.list(), ({ teamId }) => teamId)
        return (await store.teams.list()).map(({ id, name, createdAt }) => ({
          id,
          name,
          members: (members.get(id) ?? []).map((member) => member.name),
          budget: budgetIn(store, budgetOf('team', id)),
          created_at: iso(createdAt),
        }))
      }),
    createTeam: (name, budget) =>
      withStore(
        config,
        io,
        'write',
        async (store) => (await store.teams.add({ name: cleanName(name), budget }, CLI_ACTOR)).name,
      ),
    addToTeam: (teamId, member) =>
      read(async (store) => void (await store.members.update(member, { teamId }, CLI_ACTOR))),
    leaveTeam: (_team, member) =>
      read(async (store) => void (await store.members.update(member, { teamId: null }, CLI_ACTOR))),
    removeTeam: (id) => read((store) => store.teams.remove(id, CLI_ACTOR)),
    budget: (id) => read((store) => budgetIn(store, id)),
    setBudget: async (id, terms) => {
      const isGateway = ownerOfBudget(id).kind === 'gateway'
      if (isGateway && config.budget !== undefined)
        throw failure(`The configuration sets it (budget in ${config.file ?? 'it'}): change it there.`)
      await withStore(config, io, isGateway ? 'write' : 'read', async (store) => {
        if (isGateway) await store.settings.write({ [GATEWAY_BUDGET]: terms && writtenBudget(terms) }, CLI_ACTOR)
        await store.budgets.set(isGateway ? GATEWAY : id, terms, CLI_ACTOR)
      })
    },
    sessions: () =>
      read(async (store) => (await sessionsIn(store)).map(({ member, session }) => memberSession(member, session))),
    endSession: (id) =>
      read(async (store) => {
        const found = (await sessionsIn(store)).find(({ session }) => sessionId(session.hash) === id)
        if (found === undefined) throw failure(`There is no session "${id}" (any more).`)
        await store.sessions.end(found.member.id, id, CLI_ACTOR)
      }),
  }
}
