// Members: who is there, who is invited, what they may make.

import type { Input } from '../../admin-api/contract.ts'
import type * as S from '../../admin-api/schema.ts'
import { GatewayError } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { namedServerTools } from '../../ir/server-tools.ts'
import { termsOf } from '../../keys/budget.ts'
import { iso } from '../../lib/iso-time.ts'
import { DEFAULT_LIMITS, type Member, type MemberLimits, type MemberPatch, sessionId } from '../../members/member.ts'
import { cleanName, type Invited } from '../../members/membership.ts'
import { memberSession } from '../../observe/shown.ts'
import { actorOf, type Part, requireProof } from './call.ts'
import { catalogueModels } from './key-models.ts'
import { revokePlaygroundOf } from './playground.ts'
import { memberView } from './view.ts'

export const members: Part<
  | 'members.list'
  | 'members.sessions'
  | 'members.end-session'
  | 'members.invite'
  | 'members.update'
  | 'members.renew-invitation'
  | 'members.remove'
> = {
  'members.list': async ({ gateway }) => {
    const owned = new Map<string, number>()
    for (const { ownerId, purpose } of gateway.store.keys.list()) {
      if (ownerId !== undefined && purpose === undefined) owned.set(ownerId, (owned.get(ownerId) ?? 0) + 1)
    }
    const secured = await gateway.store.factors.enabled()
    const teams = new Map((await gateway.store.teams.list()).map((team) => [team.id, team]))
    const items = (await gateway.store.members.list()).map((member) =>
      memberView(gateway, member, {
        keys: owned.get(member.id) ?? 0,
        factor: secured.has(member.id),
        team: teams.get(member.teamId ?? ''),
      }),
    )
    return { items }
  },
  'members.sessions': async ({ gateway }) => ({
    items: (await gateway.membership.allSessions()).map(({ member, session }) => memberSession(member, session)),
  }),
  'members.end-session': async ({ gateway, caller }, { id }) => {
    const found = (await gateway.membership.allSessions()).find(({ session }) => sessionId(session.hash) === id)
    if (found === undefined) throw new GatewayError('not_found', 'There is no such session (any more).')
    await gateway.store.sessions.end(found.member.id, id, actorOf(caller))
    // Which session it was made in is not kept: the page of another makes a new one.
    await revokePlaygroundOf(gateway, found.member.id, actorOf(caller))
    return { done: true }
  },
  'members.invite': async ({ gateway, caller }, { name, role, limits, ...more }) => {
    const member = { name, role, limits: withLimits(gateway, DEFAULT_LIMITS, limits), ...belongingOf(more) }
    return invitationView(gateway, await gateway.membership.inviteNew(member, actorOf(caller)))
  },
  'members.update': async ({ gateway, caller }, { id, name, role, limits, second_factor, ...more }) => {
    const known = await gateway.store.members.get(id)
    const opens = (role === 'admin' && known?.role !== 'admin') || second_factor === false
    if (opens) requireProof(gateway, caller)
    const patch = {
      ...(name === undefined ? {} : { name: cleanName(name) }),
      ...(role === undefined ? {} : { role }),
      ...(limits === undefined || known === undefined ? {} : { limits: withLimits(gateway, known.limits, limits) }),
      ...(second_factor === undefined ? {} : { endsFactor: true as const }),
      ...belongingOf(more),
    }
    return viewOf(gateway, await gateway.store.members.update(id, patch, actorOf(caller)))
  },
  'members.renew-invitation': async ({ gateway, caller }, { id }) =>
    invitationView(gateway, await gateway.membership.invite(id, actorOf(caller))),
  'members.remove': async ({ gateway, caller }, { id, keys }) => {
    await gateway.store.members.remove(id, keys, actorOf(caller))
    return { done: true }
  },
}

/** Of which team they are, and what they may use. */
const belongingOf = ({
  team,
  budget,
}: Pick<Input<'members.update'>, 'team' | 'budget'>): Pick<MemberPatch, 'teamId' | 'budget'> => ({
  ...(team === undefined ? {} : { teamId: team }),
  ...(budget === undefined ? {} : { budget: budget && termsOf(budget) }),
})

const withLimits = (
  gateway: Gateway,
  limits: MemberLimits,
  patch: Partial<S.MemberLimits> | undefined,
): MemberLimits => ({
  maxKeys: patch?.max_keys === undefined ? limits.maxKeys : patch.max_keys,
  maxTokensPerKey: patch?.max_tokens_per_key === undefined ? limits.maxTokensPerKey : patch.max_tokens_per_key,
  maxExpiryDays: patch?.max_expiry_days === undefined ? limits.maxExpiryDays : patch.max_expiry_days,
  ...(patch?.server_tools === undefined
    ? limits.serverTools === undefined
      ? {}
      : { serverTools: limits.serverTools }
    : { serverTools: namedServerTools(patch.server_tools) }),
  models: patch?.models === undefined ? limits.models : catalogueModels(gateway, patch.models, 'limits.models'),
})

const viewOf = async (gateway: Gateway, member: Member): Promise<S.Member> =>
  memberView(gateway, member, {
    keys: gateway.store.keys.list().filter((key) => key.ownerId === member.id && key.purpose === undefined).length,
    factor: await gateway.membership.factor.isEnabled(member.id),
    team: member.teamId === undefined ? undefined : await gateway.store.teams.get(member.teamId),
  })

const invitationView = async (
  gateway: Gateway,
  { member, token, expiresAt }: Invited,
): Promise<{ member: S.Member; invitation: S.Invitation }> => ({
  member: await viewOf(gateway, member),
  invitation: { token, path: `/dashboard/invite#${token}`, expires_at: iso(expiresAt) },
})
