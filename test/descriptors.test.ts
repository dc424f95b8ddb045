// Whether file descriptors are short: told of moments too, since answers that close their connections soon end them.

import { expect, test } from 'bun:test'
import { createDescriptors } from '../src/descriptors.ts'

test('that they were short for a moment is still known when it is over, and asked for once', async () => {
  let left = false
  const descriptors = createDescriptors(() => left)
  expect(descriptors.short()).toBe(true)
  left = true
  while (descriptors.short()) await new Promise((resolve) => setImmediate(resolve))
  expect([descriptors.wereShort(), descriptors.wereShort()]).toEqual([true, false])
})
