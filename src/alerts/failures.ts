// How many of a model's requests failed of late, counted as they end.

/** Pieces that the time is looked at in. */
const PIECES = 10

/** `failed` of the gateway or its providers: what clients did wrong, or left, says nothing of a model. */
export type Failures = {
  count(model: string, failed: boolean): void
  /** Of the last `withinMs`. */
  of(withinMs: number): { model: string; requests: number; failed: number }[]
}

type Piece = { at: number; requests: number; failed: number }

/** `stopwatch`: monotonic. `longestMs`: the time that may be asked for now. */
export const createFailures = (stopwatch: () => number, longestMs: () => number): Failures => {
  const models = new Map<string, Piece[]>()
  return {
    count: (model, failed) => {
      const at = Math.floor(stopwatch() / (longestMs() / PIECES))
      const pieces = models.get(model) ?? []
      if (pieces.length === 0) models.set(model, pieces)
      let piece = pieces.at(-1)
      if (piece?.at !== at) {
        piece = { at, requests: 0, failed: 0 }
        pieces.push(piece)
        if (pieces.length > PIECES) pieces.shift()
      }
      piece.requests++
      if (failed) piece.failed++
    },
    of: (withinMs) => {
      const first = Math.floor(stopwatch() / (withinMs / PIECES)) - PIECES + 1
      return [...models].map(([model, pieces]) => {
        const recent = pieces.filter(({ at }) => at >= first)
        const sum = (of: 'requests' | 'failed'): number => recent.reduce((all, piece) => all + piece[of], 0)
        return { model, requests: sum('requests'), failed: sum('failed') }
      })
    },
  }
}
