// The people of a running server, by its admin API.

import { writtenBudget } from '../keys/budget.ts'
import type { ServerAddress } from './backend.ts'
import type { People } from './people.ts'
import { remoteCall } from './remote.ts'

export const remotePeople = (address: ServerAddress): People => ({
  members: async () =>
    (await remoteCall(address, 'members.list')).items.map(
      ({ id, name, role, status, team, budget, keys, created_at, invitation_expires_at }) => ({
        ...{ id, name, role, status, team: team?.name ?? null, budget, keys },
        ...{ created_at, invitation_expires_at },
      }),
    ),
  teams: async () =>
    (await remoteCall(address, 'teams.list')).items.map(({ id, name, members, budget, created_at }) => ({
      ...{ id, name, members: members.map((member) => member.name), budget, created_at },
    })),
  createTeam: async (name, budget) =>
    (await remoteCall(address, 'teams.create', { name, budget: budget && writtenBudget(budget) })).name,
  addToTeam: async (id, member) => void (await remoteCall(address, 'teams.add-member', { id, member })),
  leaveTeam: async (id, member) => void (await remoteCall(address, 'teams.remove-member', { id, member })),
  removeTeam: async (id) => void (await remoteCall(address, 'teams.remove', { id })),
  budget: async (id) =>
    (await remoteCall(address, 'budgets.list')).items.find((owned) => owned.id === id)?.budget ?? null,
  setBudget: async (id, terms) =>
    void (await remoteCall(address, 'budgets.put', { id, budget: terms && writtenBudget(terms) })),
  sessions: async () => (await remoteCall(address, 'members.sessions')).items,
  endSession: async (id) => void (await remoteCall(address, 'members.end-session', { id })),
})
