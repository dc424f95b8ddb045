// Every story on every crossing, as JSON and as a stream. docs/compatibility.md is generated from the same cells.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { CHAT_WIRES } from '../../../src/ir/wire.ts'
import { type Bench, startBench } from './bench.ts'
import { leftOver, save } from './golden.ts'
import { COLUMNS, type Matrix, matrix, ROWS } from './run.ts'
import { STORIES } from './stories/index.ts'
import { compatibility } from './table.ts'

let bench: Bench
let all: Matrix
beforeAll(async () => {
  bench = await startBench()
  all = matrix(bench)
})
afterAll(async () => {
  save()
  await bench.stop()
})

describe.each(
  COLUMNS.map((column) => [column.client, column.vendor, column.stream ? 'stream' : 'JSON', column] as const),
)('a client of %s and a vendor of %s, %s', (_, __, ___, column) => {
  test.each(ROWS.map((row) => [row.name, row] as const))('%s', async (_, row) => {
    const outcome = await all.outcome(row, column)
    expect(outcome?.faults ?? []).toEqual([])
  })
})

test('docs/compatibility.md is up to date (written by scripts/compatibility.ts)', async () => {
  const { text, red } = await compatibility(all)
  expect(red).toEqual([])
  expect(readFileSync(new URL('../../../docs/compatibility.md', import.meta.url), 'utf8')).toBe(text)
})

test.each([...CHAT_WIRES])('the golden file of %s has no views of stories that no longer exist', (client) => {
  expect(leftOver(STORIES, client, CHAT_WIRES)).toEqual([])
})
