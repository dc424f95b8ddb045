// Pictures of answers as items of the image tool.

import { expect, test } from 'bun:test'
import type { OpaquePart } from '../../../src/ir/part.ts'
import { shownOn } from '../../../src/wire/turns/drawn.ts'

test('pictures that begin alike and are as long have ids of their own, and one has the same each time', () => {
  const idOf = (end: string): unknown => {
    const url = `data:image/png;base64,iVBORw0KGgo${'A'.repeat(400)}${end}`
    const part: OpaquePart = {
      type: 'opaque',
      origin: 'chat-completions',
      value: { type: 'image_url', image_url: { url } },
    }
    const shown = shownOn('responses', part)
    return shown.type === 'opaque' ? shown.value.id : undefined
  }
  expect(idOf('AAAA')).toMatch(/^ig_/)
  expect(idOf('AAAA')).toBe(idOf('AAAA'))
  expect(idOf('AAAB')).not.toBe(idOf('AAAA'))
})
