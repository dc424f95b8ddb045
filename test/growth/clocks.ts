// Processes whose clock is off.

const FAKETIME = [...new Bun.Glob('/usr/lib/*/faketime/libfaketime.so.1').scanSync('/')].at(0)

/** Why there are none; undefined where there are. */
export const clockMissing: string | undefined =
  FAKETIME === undefined ? 'no libfaketime: install the package libfaketime' : undefined

if (clockMissing !== undefined) console.warn(`SKIPPED: tests with clocks that are off (${clockMissing})`)

/** The environment of a process whose clock is so far ahead. */
export const clockOff = (byMs: number): Record<string, string> => ({
  LD_PRELOAD: FAKETIME ?? '',
  FAKETIME: `${byMs < 0 ? '-' : '+'}${Math.abs(Math.round(byMs / 1_000))}s`,
  // Waits are as long as they are.
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})
