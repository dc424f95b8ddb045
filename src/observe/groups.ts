// What the groups of usage are called, and where each stands among its kind whatever it used: for the server and the command
// line.

import type { Store } from '../store/store.ts'
import type { UsageBy } from '../store/usage.ts'

type People = Pick<Store, 'keys' | 'members' | 'teams'>

const NONE: Partial<Record<UsageBy, string>> = {
  member: "the gateway's own",
  team: 'no team',
  account: 'no account',
  provider: 'no provider',
  tag: 'no tag',
}

/** By the group: an id, or '' for what has none. */
export const labelsOf = async ({ keys, members, teams }: People, by: UsageBy): Promise<(group: string) => string> => {
  const named = by === 'member' ? await members.list() : by === 'team' ? await teams.list() : []
  const names = new Map(named.map(nameOf))
  return (group) => {
    if (by === 'key') return keys.get(group)?.label ?? group
    if (group === '') return NONE[by] ?? group
    if (by === 'member') return names.get(group) ?? 'removed member'
    return by === 'team' ? (names.get(group) ?? 'removed team') : group
  }
}

/** The name of the member whose key it is; null: the gateway's own. */
export const ownersOf = async ({ keys, members }: People): Promise<(keyId: string) => string | null> => {
  const names = new Map((await members.list()).map(nameOf))
  return (keyId) => {
    const ownerId = keys.get(keyId)?.ownerId
    return ownerId === undefined ? null : (names.get(ownerId) ?? 'removed member')
  }
}

const nameOf = ({ id, name }: { id: string; name: string }): [string, string] => [id, name]
