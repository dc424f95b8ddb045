// Whether the last call of a stream that passes breaks off, told without keeping or parsing what passes.

import { type JsonNesting, jsonNesting } from '../../lib/json-nesting.ts'

type HalfCall = {
  /** A block or an item begins: a call or anything else. */
  begin(isCall: boolean): void
  add(piece: string | undefined): void
  /** False for a call without arguments: some have none. */
  readonly breaksOff: boolean
}

export const halfCall = (): HalfCall => {
  let nesting: JsonNesting | undefined
  let closed = true
  return {
    begin: (isCall) => {
      nesting = isCall ? jsonNesting() : undefined
      closed = true
    },
    add: (piece) => {
      if (nesting !== undefined && piece !== undefined && piece !== '') closed = nesting.isClosedBy(piece)
    },
    get breaksOff() {
      return !closed
    },
  }
}
