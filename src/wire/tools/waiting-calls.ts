// Tool calls that wait for their results, by the client's ids. Some clients reuse ids in later turns, so a result belongs to
// the first waiting call of the latest turn that has one.

export type WaitingCalls<Call> = {
  /** `turn`: the same value for all calls of one turn. */
  add(id: string, turn: unknown, call: Call): void
  take(id: string): Call | undefined
}

/** The calls of one turn that share an id; `next` is the first that waits. */
type OfTurn<Call> = { turn: unknown; calls: Call[]; next: number }

export const waitingCalls = <Call>(): WaitingCalls<Call> => {
  const byId = new Map<string, OfTurn<Call>[]>()
  return {
    add(id, turn, call) {
      const turns = byId.get(id) ?? []
      if (turns.length === 0) byId.set(id, turns)
      const latest = turns.at(-1)
      if (latest !== undefined && latest.turn === turn) latest.calls.push(call)
      else turns.push({ turn, calls: [call], next: 0 })
    },
    take(id) {
      const turns = byId.get(id)
      const latest = turns?.at(-1)
      if (turns === undefined || latest === undefined) return undefined
      const call = latest.calls[latest.next++]
      if (latest.next === latest.calls.length) turns.pop()
      return call
    },
  }
}
