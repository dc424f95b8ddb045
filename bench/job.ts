// What the bench asks its load generator for, and what it gets: plain values that cross a process boundary.

/** One request, sent over and over. `body` is its JSON text. */
export type Ask = { port: number; path: string; headers: Record<string, string>; body: string }

/** What makes an answer complete: what its body ends with, and the least it weighs in bytes. */
export type Completeness = { tail: string; bytes: number }

/**
 * `json`: whole answers by autocannon. `stream`: whole answers over raw sockets, every one read to its terminal frame, which
 * takes less of the cores than `json`. `steady`: so many of them a second, asked for whether those before have come or not.
 * `pace`: streams that carry write times, read for `windowMs`. `hold`: streams opened and left open until `release`.
 */
export type Job =
  | { kind: 'json'; ask: Ask; connections: number; windowMs: number; complete: Completeness }
  | { kind: 'stream'; ask: Ask; connections: number; windowMs: number; complete: Completeness }
  | { kind: 'steady'; ask: Ask; perSecond: number; windowMs: number; complete: Completeness }
  | { kind: 'pace'; ask: Ask; connections: number; windowMs: number }
  | { kind: 'hold'; ask: Ask; connections: number }
  | { kind: 'release' }

/** Complete answers in the window, and how long it was. `p50Us`, `p99Us`, where measured: of the time of one answer. */
export type Load = { answers: number; bytes: number; elapsedMs: number; p50Us: number; p99Us: number }

/** Time from the provider's write to the client's read of an event, in microseconds. */
export type Delays = { events: number; p50Us: number; p99Us: number }

export type JobResult =
  | { kind: 'load'; load: Load }
  | { kind: 'delays'; delays: Delays }
  | { kind: 'held'; streams: number }
  | { kind: 'failed'; message: string }
