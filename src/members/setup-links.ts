// Which links make the first admin: in memory the one of this start, in a store those of all nodes.

import type { SettingStore } from './member.ts'

/** By hashes. */
export type SetupLinks = {
  offer(hash: string): Promise<void>
  has(hash: string): Promise<boolean>
  /** None is offered any more. */
  clear(): Promise<void>
}

/** Of one process: the one before ends. */
export const createSetupLinks = (): SetupLinks => {
  let offered: string | undefined
  return {
    async offer(hash) {
      offered = hash
    },
    has: async (hash) => hash === offered,
    async clear() {
      offered = undefined
    },
  }
}

const PREFIX = 'setup_link_'
/** Each by a name of its own: two nodes that start together take nothing from each other. */
const nameOf = (hash: string): string => PREFIX + hash.slice(0, 16)

/** Of all nodes: each offers its own, and any takes it. */
export const sharedSetupLinks = (settings: SettingStore): SetupLinks => {
  const actor = { kind: 'system', id: 'setup' } as const
  const offered = async (): Promise<string[]> =>
    Object.keys(await settings.read()).filter((name) => name.startsWith(PREFIX))
  return {
    offer: (hash) => settings.write({ [nameOf(hash)]: hash }, actor),
    has: async (hash) => (await settings.read())[nameOf(hash)] === hash,
    async clear() {
      await settings.write(Object.fromEntries((await offered()).map((name) => [name, null])), actor)
    },
  }
}
