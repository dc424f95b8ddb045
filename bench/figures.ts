// What one run of the bench found, in plain values: `--json` prints it, the table and docs/benchmarks.md are made of it.

/** Median and range of some measurements. */
export type Spread = { median: number; min: number; max: number }

/** One side of a case. `busy`: share of one core the process used while it was measured; `cpuUs`: CPU time per answer. */
export type Side = { perSecond: number; cpuUs: number; busy: number }

/** Gateway beside bare proxy under the same load. `ratio`: gateway ÷ bare answers per second, round by round. */
export type CaseFigures = {
  id: string
  name: string
  bar?: number
  ratio: Spread
  /** CPU time per answer, bare ÷ gateway: what the ratio would be if nothing but the tested process set the pace. */
  cpuRatio: Spread
  gateway: Side
  bare: Side
  /** Another build in the same rounds: CPU time per answer, gateway ÷ that. */
  against?: Side & { cpuRatio: Spread }
}

/** A case at a gateway over its file and at a node over PostgreSQL, by CPU time per answer; `databaseUs`: of PostgreSQL. */
export type NodeFigures = {
  id: string
  name: string
  fileUs: number
  nodeUs: number
  databaseUs: number
  /** Node ÷ file, round by round. */
  ratio: Spread
}

/** Memory in KiB. `perStreamKb` = (open − idle) ÷ streams. `startKb`: before the first request. `perLongKb`: of long requests. */
export type Memory = {
  startKb: number
  idleKb: number
  openKb: number
  streams: number
  perStreamKb: number
  longStreams: number
  perLongKb: number
}

/** What events take longer than without anything between, in microseconds, round by round. */
export type Delay = { p50Us: Spread; p99Us: Spread; events: number }

/**
 * A server under small chats: flat out, and at half of what one process manages. `cpuUs`: of all its processes. `alone`: the answers
 * a second of as many cores as there are workers, by the CPU time of an answer, were nothing else on them.
 */
export type Crew = {
  perSecond: Spread
  alone: Spread
  cpuUs: Spread
  halfCpuUs: Spread
  p99Us: Spread
  shareKb: number
}

export type Figures = {
  date: string
  machine: { cores: number; cpu: string; os: string; bun: string; pinned: boolean }
  command: string
  /** A variable of the environment that changes what was measured, where it was set. */
  environment?: string
  gateway: string
  /** The other build, where one was named. */
  against?: string
  bare: 'streamed' | 'buffered'
  rounds: number
  windowMs: number
  cases: CaseFigures[]
  nodes?: NodeFigures[]
  /** Sections that could not be measured, and why. */
  failures: string[]
  start?: { migrated: Spread; fresh: Spread; runs: number }
  memory?: { gateway: Memory; bare: Memory }
  delay?: { streams: number; bare: Delay; gateway: Delay; translated: Delay }
  /** `perStreamKb`: the median while they open and are busy. */
  crowd?: { streams: number; eventsPerSecond: number; p50Us: number; p99Us: number; perStreamKb: number }
  workers?: { workers: number; halfPerSecond: number; one: Crew; several: Crew }
  translation?: { bodyBytes: number; tools: number; gatewayUs: number; bareUs: number }
}

/** Bars the figures are held against, beside those of the cases. */
export const BARS = {
  firstAnswerMs: 150,
  perStreamKb: 64,
  addedP99Ms: 1,
  crowdP99Ms: 50,
  translatedMs: 5,
  nodeRatio: 1.25,
}

export const spread = (values: number[]): Spread => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2
  return { median, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 }
}
