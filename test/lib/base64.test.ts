// How many bytes base64 stands for, told from its length.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { bytesOfBase64 } from '../../src/lib/base64.ts'

test('is the length of what it stands for, padded or not, in either alphabet', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const buffer = Buffer.from(bytes)
      const written = [buffer.toString('base64'), buffer.toString('base64url')]
      expect(written.map(bytesOfBase64)).toEqual([bytes.length, bytes.length])
    }),
  )
})
