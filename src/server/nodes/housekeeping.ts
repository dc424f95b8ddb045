// Who does what is done once for all nodes: renewing, pruning, alerts. One node holds that job, as long as it asks for it
// again; another takes it over when its lease has ended.

import type { Jobs } from '../../store/together.ts'

const JOB = 'housekeeping'
const LEASE_MS = 5_000
const ASK_MS = 1_000
/** A statement that was under way when the lease ended is over by then, and so is one that was begun just before. */
const MARGIN_MS = 2_000

type Housekeeping = {
  /** Whether it is this node's now. */
  isMine(): boolean
  /** Leaves it to others at once. */
  stop(): Promise<void>
}

type Options = {
  jobs: Jobs
  node: string
  /** It is this node's from now on, or no more. */
  changed?: (isMine: boolean) => void
  stopwatch?: () => number
}

/** Resolves once it is known whose it is. */
export const startHousekeeping = async ({
  jobs,
  node,
  changed = () => undefined,
  stopwatch = () => performance.now(),
}: Options): Promise<Housekeeping> => {
  let until = Number.NEGATIVE_INFINITY
  let was = false
  let asking: Promise<void> | undefined
  let stopped = false
  const isMine = (): boolean => stopwatch() < until
  const tell = (): void => {
    if (isMine() === was) return
    was = !was
    changed(was)
  }
  const ask = async (): Promise<void> => {
    // From before it was asked: the lease is longer than it is taken for.
    const from = stopwatch()
    try {
      const taken = await jobs.take(JOB, node, LEASE_MS)
      until = taken && !stopped ? from + LEASE_MS - MARGIN_MS : Number.NEGATIVE_INFINITY
    } catch {
      // A database that is away: what is held ends by itself.
    }
    tell()
  }
  const round = (): void => {
    tell()
    asking ??= ask().finally(() => {
      asking = undefined
    })
  }
  await ask()
  const rounds = setInterval(round, ASK_MS)
  rounds.unref()
  return {
    isMine,
    async stop() {
      stopped = true
      clearInterval(rounds)
      await asking
      until = Number.NEGATIVE_INFINITY
      tell()
      await jobs.leave(JOB, node).catch(() => undefined)
    },
  }
}
