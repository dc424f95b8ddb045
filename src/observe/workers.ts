// The processes that serve, as the one that keeps their books knows them: what each of them has told of itself last.

import type { Health, Standing } from '../relay/health.ts'
import { together } from '../relay/health.ts'
import { heapBytes, openFiles, residentBytes } from './process.ts'

/** What a process tells of itself. */
export type Figures = {
  /** Exchanges in flight and prompts that are counted, requests that are read, and answers that are not sent to their end. */
  open: number
  arriving: number
  pending: number
  /** Open WebSockets. */
  sockets: number
  rssBytes: number
  heapBytes: number
  openFiles: number
  cpuSeconds: number
  targets: (Standing & { target: string })[]
}

export type Workers = {
  /** How many exchanges they have open, by the books. */
  open(): number
  /** Of those that are connected, as they were when last asked. */
  figures(): readonly Figures[]
  /** Asks them. Resolves when all have told, or one does not for half a second. */
  ask(): Promise<void>
  /** Tells them what has changed, if anything has, and resolves when they go by it. */
  tell(): Promise<void>
}

type Observed = {
  open: { readonly size: number }
  arriving: { readonly count: number }
  sockets: { readonly count: number }
  listener: { pending(): number } | undefined
  health: Pick<Health, 'states'>
}

/** Of this process alone. */
export const ownFigures = ({ open, arriving, sockets, listener, health }: Observed): Figures => {
  const { user, system } = process.cpuUsage()
  return {
    ...{ open: open.size, arriving: arriving.count, pending: listener?.pending() ?? 0 },
    sockets: sockets.count,
    ...{ rssBytes: residentBytes(), heapBytes: heapBytes(), openFiles: openFiles() ?? 0 },
    cpuSeconds: (user + system) / 1e6,
    targets: health.states(),
  }
}

/** Of this process and of those that serve for it. */
export const allFigures = (gateway: Observed & { workers: Workers | undefined }): readonly Figures[] => [
  ownFigures(gateway),
  ...(gateway.workers?.figures() ?? []),
]

export const sumOf = (figures: readonly Figures[], name: Exclude<keyof Figures, 'targets'>): number =>
  figures.reduce((sum, each) => sum + each[name], 0)

/** The health of targets as all know it: each process goes by what it has seen itself. */
export const healthWith = (own: Health, workers: Workers): Health => ({
  ...own,
  standingOf: (target) => {
    const mine = own.standingOf(target)
    const theirs = workers.figures().flatMap(({ targets }) => targets.filter((each) => each.target === target))
    return together(mine === undefined ? theirs : [mine, ...theirs])
  },
})
