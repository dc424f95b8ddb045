// Where log lines go: whole and in their order to who reads them, and within bounds where nobody does.

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

/** Writes so many lines in one turn, in which nothing can be taken, and two more once its standard input has ended. */
const writerOf = (lines: number, chars: number): string => `
  import { openSink } from '${SINK}'
  const sink = openSink(2)
  const write = (n, length) => sink.write(JSON.stringify({ n, text: 'x'.repeat(length) }) + '\\n')
  for (let n = 0; n < ${lines}; n++) write(n, ${chars})
  console.log('written')
  await Bun.stdin.text()
  for (const last of [-1, -2]) {
    write(last, 70_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  sink.flush()
`
type Line = { n?: number; msg?: string }

const linesOf = async (lines: number, chars: number): Promise<Line[]> => {
  const child = Bun.spawn([process.execPath, '-e', writerOf(lines, chars)], {
    ...{ stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' },
  })
  await child.stdout.getReader().read()
  const reading = new Response(child.stderr).text()
  await child.stdin.end()
  const text = await reading
  expect(text.length).toBeLessThan(9 * 1024 * 1024)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test.each([
  [1, 10],
  [3_000, 50],
  [100, 70_000],
])('%i lines of %i characters are all there, whole and in their order', async (lines, chars) => {
  const said = await linesOf(lines, chars)
  expect(said.map(({ n }) => n)).toEqual([...Array.from({ length: lines }, (_, n) => n), -1, -2])
})

test('what a slow reader leaves is bounded: the rest is dropped, and how much that was is told', async () => {
  const said = await linesOf(3_000, 10_000)
  const lost = said.flatMap(({ msg }) => /^(\d+) log lines were lost/.exec(msg ?? '')?.[1] ?? []).map(Number)
  expect(lost).toHaveLength(1)
  const kept = Array.from({ length: 3_000 - (lost[0] ?? 0) }, (_, n) => n)
  expect(said.flatMap(({ n }) => n ?? [])).toEqual([...kept, -1, -2])
})
