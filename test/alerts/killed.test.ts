// Killed between raising, sending and writing down, before a receiver that fails, hangs and comes back: none is lost, and
// none comes twice under another id.

import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { cleanUp, newPath } from '../store/support.ts'
import { startHook } from './support.ts'

afterEach(cleanUp)

const MOST = 250
const KILLS = 12

test('no alert is lost to kills, and each has one id', async () => {
  const path = newPath()
  const hook = startHook()
  let taken = 0
  const ids = new Map<string, Set<string>>()
  let seed = 20_261_127
  const random = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed / 2 ** 31
  }
  let isBack = false
  const take = (): void => {
    taken++
    const { id, data } = JSON.parse(hook.requests.at(-1)?.text ?? '')
    for (const { cause } of data.items) ids.set(cause, (ids.get(cause) ?? new Set()).add(id))
  }
  hook.behave(() => {
    const lot = isBack ? 1 : random()
    // It may have been taken although its sender does not learn of it.
    if ((lot >= 0.02 && lot < 0.06) || lot >= 0.08) take()
    if (lot < 0.02) return new Response(null, { status: 503 })
    if (lot < 0.04) return new Response(null, { status: 500 })
    return lot < 0.08 ? 'hang' : new Response(null, { status: 200 })
  })
  const launch = () =>
    Bun.spawn([process.execPath, join(import.meta.dir, 'endless-child.ts'), path, hook.url, `${MOST}`], {
      stdout: 'pipe',
      stderr: 'inherit',
    })
  for (let kill = 0; kill < KILLS; kill++) {
    const child = launch()
    await hook.until(hook.requests.length + 1 + Math.floor(random() * 12))
    child.kill('SIGKILL')
    await child.exited
  }
  isBack = true
  const last = launch()
  expect(await new Response(last.stdout).text()).toBe('all sent\n')
  expect(await last.exited).toBe(0)
  await hook.stop()
  expect(taken).toBeGreaterThanOrEqual(MOST)
  expect(Array.from(ids.keys()).sort()).toEqual(Array.from({ length: MOST }, (_, at) => `quota/${at}`).sort())
  expect([...ids.values()].filter(({ size }) => size !== 1)).toEqual([])
})
