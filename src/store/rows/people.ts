// Members, their sessions and tokens as rows, of either dialect.

import type { Actor } from '../../keys/key.ts'
import {
  type AdminToken,
  DEFAULT_LIMITS,
  type Invitation,
  type Member,
  type NewSession,
  type StoredSession,
} from '../../members/member.ts'
import type { adminTokens, members, sessions } from '../postgres/schema.ts'

export type MemberRow = typeof members.$inferSelect

export const toMember = (row: MemberRow): Member => ({
  id: row.id,
  name: row.name,
  role: row.role,
  active: row.passwordHash !== null,
  limits: row.limits ?? DEFAULT_LIMITS,
  teamId: row.teamId ?? undefined,
  createdAt: row.createdAt,
  invitationExpiresAt: row.invitationHash === null ? undefined : (row.invitationExpiresAt ?? undefined),
})

/** What the audit records of a member. */
export const auditedMember = ({ name, role, limits, teamId }: Member) => ({ name, role, limits, team: teamId ?? null })

export const NO_LINK = {
  ...{ invitationHash: null, invitationExpiresAt: null, invitedBy: null, invitationEndsFactor: false },
}

export const linkOf = ({ hash, expiresAt, endsFactor = false }: Invitation, { kind, id }: Actor) => ({
  invitationHash: hash,
  invitationExpiresAt: expiresAt,
  invitationEndsFactor: endsFactor,
  invitedBy: kind === 'member' ? id : null,
})

export const sessionRow = ({ now, address, agent, ...session }: NewSession): typeof sessions.$inferInsert => ({
  ...{ ...session, createdAt: now, seenAt: now, address: address ?? null, agent: agent ?? null },
})

export const toSession = (row: typeof sessions.$inferSelect): StoredSession => ({
  hash: row.hash,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  seenAt: row.seenAt,
  provenAt: row.provenAt ?? row.createdAt,
  address: row.address ?? undefined,
  agent: row.agent ?? undefined,
})

export const toToken = (row: typeof adminTokens.$inferSelect): AdminToken => ({
  id: row.id,
  label: row.label,
  createdBy: row.createdBy ?? undefined,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt ?? undefined,
  revokedAt: row.revokedAt ?? undefined,
  usedAt: row.usedAt ?? undefined,
})
