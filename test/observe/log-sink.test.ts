// Where log lines go when nobody reads them.

import { expect, test } from 'bun:test'

const SINK = new URL('../../src/observe/log-sink.ts', import.meta.url).pathname

/** Writes more than a pipe holds, in several batches, once its standard input has ended. */
const CHATTERER = `
  import { openSink } from '${SINK}'
  await Bun.stdin.text()
  const sink = openSink(2)
  for (let batch = 0; batch < 20; batch++) {
    sink.write('x'.repeat(70_000) + '\\n')
    await new Promise((resolve) => setImmediate(resolve))
  }
  sink.flush()
  console.log('still here')
`

test('a reader of the log that leaves does not take the server with it', async () => {
  const child = Bun.spawn([process.execPath, '-e', CHATTERER], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
  await child.stderr.cancel()
  await child.stdin.end()
  expect(await child.stdout.text()).toContain('still here')
  expect(await child.exited).toBe(0)
})
