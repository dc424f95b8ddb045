// A checkout without recorded traffic beside it.

import { expect, test } from 'bun:test'
import { join } from 'node:path'

test('what tests make of the published schemas loads where there are none', async () => {
  const module = join(import.meta.dir, '..', 'wire', 'answers', 'vendors.ts')
  const child = Bun.spawn([process.execPath, '-e', `await import(${JSON.stringify(module)})`], {
    env: { ...process.env, SLUICE_CORPUS: join(import.meta.dir, 'none') },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  expect(await child.exited).toBe(0)
})
