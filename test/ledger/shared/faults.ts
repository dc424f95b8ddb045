// A line between a node and the shared ledger that fails as lines do: slowly, before or after what was asked is carried
// out, or without a word.

import type { SharedNode, Verdict } from '../../../src/ledger/shared.ts'

export type Fault = 'none' | 'slow' | 'cut-before' | 'cut-after' | 'silent-before' | 'silent-after'

export type Line = SharedNode & {
  fault: Fault
  /** Where it leads; undefined: nowhere. */
  to: SharedNode | undefined
  /** What hangs is cut, what is slow arrives, and nothing fails any more. */
  heal(): void
  /** The other end is gone. */
  end(): void
}

const asData = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

export const createLine = (): Line => {
  const hanging: { go: () => void; cut: () => void }[] = []
  const cut = (): Error => new Error('the line was cut')
  const hang = (go: (resolve: (verdicts: Verdict[]) => void, reject: (cause: Error) => void) => void) =>
    new Promise<Verdict[]>((resolve, reject) => {
      hanging.push({ go: () => go(resolve, reject), cut: () => reject(cut()) })
    })
  const line: Line = {
    fault: 'none',
    to: undefined,
    async carry(group) {
      const { fault, to } = line
      if (to === undefined || fault === 'cut-before') throw cut()
      if (fault === 'silent-before') return hang((_, reject) => reject(cut()))
      // As between processes: nothing but data goes over it.
      const carried = to.carry(asData(group)).then(asData<Verdict[]>)
      if (fault === 'none') return carried
      const verdicts = await carried
      if (fault === 'cut-after') throw cut()
      return hang((resolve, reject) => (fault === 'slow' ? resolve(verdicts) : reject(cut())))
    },
    isCrowded: () => line.to?.isCrowded?.() ?? false,
    heal() {
      line.fault = 'none'
      for (const { go } of hanging.splice(0)) go()
    },
    end() {
      line.to = undefined
      for (const each of hanging.splice(0)) each.cut()
    },
  }
  return line
}
