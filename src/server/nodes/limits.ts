// The limits of keys, where nodes count them in Valkey or Redis: begun with a node's books, looked after while it serves.

import type { RateLimits } from '../../keys/key.ts'
import { isLimited } from '../../ledger/limits.ts'
import type { SharedNode } from '../../ledger/shared.ts'
import type { Log } from '../../observe/log.ts'
import { createFlag } from '../../store/postgres/jobs.ts'
import type { PostgresStore } from '../../store/postgres/open.ts'
import { createRedis } from '../../store/redis/client.ts'
import { createLimitsElsewhere, type LimitsElsewhere } from '../../store/redis/limits.ts'
import { createWindows } from '../../store/redis/windows.ts'

const LOOK_MS = 500
/** All nodes see within it that one has lost the server, and for as long after that it has not. */
const RAISED_MS = 3_000

export type NodeLimits = Pick<LimitsElsewhere, 'isAway' | 'settled'> & {
  /** In front of the books. */
  of(books: SharedNode): Promise<SharedNode>
  stop(): void
}

type Options = {
  url: string
  store: Pick<PostgresStore, 'client' | 'keys'>
  node: string
  defaults: RateLimits
  log: Log
}

export const createNodeLimits = ({ url, store, node, defaults, log }: Options): NodeLimits => {
  const { client, keys } = store
  const redis = createRedis(url)
  let limits: LimitsElsewhere | undefined
  let rounds: Timer | undefined
  let looking = false
  const look = async (): Promise<void> => {
    if (looking) return
    looking = true
    try {
      await limits?.look()
    } catch {
      // The database is away, which others tell of.
    } finally {
      looking = false
    }
  }
  return {
    isAway: () => limits?.isAway() ?? false,
    settled(keyId, tokens) {
      const key = keys.get(keyId)
      if (key !== undefined && isLimited(key, defaults)) limits?.settled(keyId, tokens)
    },
    async of(books) {
      limits = createLimitsElsewhere({
        ...{ books, windows: createWindows(redis), keys, node, defaults },
        shared: createFlag(client, 'limits in the database', node, RAISED_MS),
        changed(isAway, cause) {
          if (!isAway) log.warn('limits are counted in their own store again')
          else {
            const why = cause === undefined ? 'another node cannot reach their store' : String(cause)
            log.warn('limits are counted in the database: their own store cannot be reached', { cause: why })
          }
        },
      })
      await look()
      rounds = setInterval(() => void look(), LOOK_MS)
      rounds.unref()
      return limits
    },
    stop() {
      clearInterval(rounds)
      redis.close()
    },
  }
}
