// Another process that is writing to the database of a gateway in this one.

import { Database } from 'bun:sqlite'
import { spyOn } from 'bun:test'
import { type Config, databasePath } from '../../src/config.ts'
import { PAUSE_MS } from '../../src/store/patience.ts'

/** Runs while another process is writing, which is done once it has been waited for so many times. Also how often that was. */
export const whileAnotherWrites = async <T>(
  config: Config,
  run: () => Promise<T>,
  times = 2,
): Promise<{ result: T; waited: number }> => {
  const other = new Database(databasePath(config))
  const { setTimeout } = globalThis
  let waited = 0
  const later = (then: () => void, delayMs?: number): Timer => {
    if (delayMs === PAUSE_MS && ++waited === times) other.run('ROLLBACK')
    return setTimeout(then, delayMs)
  }
  const timing = spyOn(globalThis, 'setTimeout').mockImplementation(later as typeof setTimeout)
  other.run('BEGIN IMMEDIATE')
  try {
    const result = await run()
    return { result, waited }
  } finally {
    timing.mockRestore()
    other.close()
  }
}
