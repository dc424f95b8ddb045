// This process's figures where no descriptor is left to read them with.

import { expect, test } from 'bun:test'
import { residentBytes } from '../../src/observe/process.ts'

const SCRIPT = `
  import { closeSync, openSync } from 'node:fs'
  const { heapBytes, residentBytes } = await import(${JSON.stringify(`${import.meta.dir}/../../src/observe/process.ts`)})
  const before = [residentBytes(), heapBytes()]
  const opened = []
  try {
    while (true) opened.push(openSync('/dev/null', 'r'))
  } catch {}
  const meanwhile = [residentBytes(), heapBytes()]
  for (const each of opened) closeSync(each)
  console.log(JSON.stringify({ before, meanwhile }))
`

test.skipIf(process.platform === 'win32')('memory is told when there are no descriptors left to read it with', () => {
  const { stdout, stderr } = Bun.spawnSync(['sh', '-c', 'ulimit -n 64; exec "$0" -e "$1"', process.execPath, SCRIPT])
  expect(stderr.toString()).toBe('')
  const { before, meanwhile } = JSON.parse(stdout.toString())
  expect([...before, ...meanwhile].every((bytes: number) => bytes > 0)).toBe(true)
  expect(meanwhile[1]).toBe(before[1])
})

test('resident memory is told in bytes, whatever a page is', () => {
  const told = residentBytes() / process.memoryUsage.rss()
  expect(told).toBeGreaterThan(0.8)
  expect(told).toBeLessThan(1.25)
})
