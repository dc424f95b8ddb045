// Tokens of the admin API, for scripts: shown once, revoked at once.

import type * as S from '../../admin-api/schema.ts'
import type { Gateway } from '../../gateway.ts'
import { iso, isoOrNull } from '../../lib/iso-time.ts'
import type { AdminToken } from '../../members/member.ts'
import { actorOf, type Part, sessionOf } from './call.ts'
import { futureTimeOf } from './input.ts'
import { memberNames, personOf } from './view.ts'

export const tokens: Part<'tokens.list' | 'tokens.create' | 'tokens.revoke'> = {
  'tokens.list': async ({ gateway }) => {
    const names = await memberNames(gateway)
    return { items: (await gateway.store.tokens.list()).map((token) => tokenView(gateway, token, names)) }
  },
  'tokens.create': async ({ gateway, caller }, { label, expires_at }) => {
    const expiresAt =
      expires_at == null ? undefined : futureTimeOf(expires_at, 'expires_at', gateway.clock(), gateway.config.calendar)
    const { token, secret } = await gateway.membership.issueToken(label, expiresAt, sessionOf(caller).member)
    return { token: tokenView(gateway, token, await memberNames(gateway)), secret }
  },
  'tokens.revoke': async ({ gateway, caller }, { id }) =>
    tokenView(gateway, await gateway.store.tokens.revoke(id, actorOf(caller)), await memberNames(gateway)),
}

const tokenView = (gateway: Gateway, token: AdminToken, names: ReadonlyMap<string, string>): S.AdminToken => {
  const { createdBy, expiresAt } = token
  const expired = expiresAt !== undefined && expiresAt <= gateway.clock()
  return {
    id: token.id,
    label: token.label,
    created_by: personOf(createdBy, names),
    created_at: iso(token.createdAt),
    expires_at: isoOrNull(expiresAt),
    used_at: isoOrNull(token.usedAt),
    status: token.revokedAt !== undefined ? 'revoked' : expired ? 'expired' : 'active',
  }
}
