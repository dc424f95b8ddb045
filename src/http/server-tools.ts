// Whether a key may use the tools of its request that run at the vendor.

import { GatewayError } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import type { Key } from '../keys/key.ts'
import { allOf, permitsTool } from '../keys/server-tools.ts'
import { type Known, onceKnown } from '../lib/known.ts'
import type { Member } from '../members/member.ts'
import type { HostedTool } from '../wire/tools/within.ts'

/** Throws `permission_denied` that names the first tool the key may not use, and those it may. */
export const requireServerTools = (gateway: Gateway, key: Key, hosted: readonly HostedTool[]): Known<void> => {
  if (hosted.length === 0) return
  const owner = key.ownerId === undefined ? undefined : gateway.store.members.get(key.ownerId)
  return onceKnown(owner, (known) => requireTools(gateway, key, hosted, known))
}

const requireTools = (gateway: Gateway, key: Key, hosted: readonly HostedTool[], owner: Member | undefined): void => {
  const theirs = owner?.role === 'member' ? owner.limits.serverTools : undefined
  const allowed = allOf([gateway.config.serverTools, theirs, key.serverTools])
  const refused = hosted.find(({ name }) => !permitsTool(allowed, name))
  if (refused === undefined) return
  const at = refused.path.join('.')
  const only = typeof allowed === 'string' ? 'none of those' : `of those only ${allowed.join(', ')}`
  throw new GatewayError(
    'permission_denied',
    `'${at}' is ${refused.name.slice(0, 100)}, which runs at the provider: this key may use ${only}. Take it out, or ask for a key that may use it.`,
    { param: at },
  )
}
