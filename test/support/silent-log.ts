// For servers whose log nobody reads, whatever level their configuration sets.

import type { Log } from '../../src/observe/log.ts'

export const silentLog: Log = {
  exchange: () => undefined,
  counted: () => undefined,
  refused: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  flush: () => undefined,
}
