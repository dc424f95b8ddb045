// Whether descriptors are left, asked of a process that may have few.

import { expect, test } from 'bun:test'

const script = (often: number): string => `
  const OFTEN = ${often}
  import { openSync, readdirSync } from 'node:fs'
  const { canOpen } = await import(${JSON.stringify(`${import.meta.dir}/../../src/lib/descriptors.ts`)})
  const first = Array.from({ length: OFTEN }, () => canOpen(8)).every(Boolean)
  const opened = []
  let left = 0
  try {
    while (true) opened.push(openSync('/dev/null', 'r'))
  } catch {}
  const { closeSync } = await import('node:fs')
  for (; left < 10; left++) closeSync(opened.pop())
  const told = [1, 9, 10, 11, 40].map((count) => canOpen(count))
  let after = 0
  try {
    while (true) {
      openSync('/dev/null', 'r')
      after++
    }
  } catch {}
  console.log(JSON.stringify({ first, told, none: canOpen(1), after }))
`

test.skipIf(process.platform === 'win32').each([1, 100])(
  'so many can be opened as are left, and asking %i times leaves none open',
  (often) => {
    const { stdout, stderr } = Bun.spawnSync([
      'sh',
      '-c',
      'ulimit -n 64; exec "$0" -e "$1"',
      process.execPath,
      script(often),
    ])
    expect(stderr.toString()).toBe('')
    expect(JSON.parse(stdout.toString())).toEqual({
      first: true,
      told: [true, true, true, false, false],
      none: false,
      after: 10,
    })
  },
)
