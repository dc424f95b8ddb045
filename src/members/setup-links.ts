// Which links make the first admin: in memory the one of this start; nodes that share a store have theirs there.

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
