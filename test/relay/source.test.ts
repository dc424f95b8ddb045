// How a provider's body begins: told by its first byte that means something, however the bytes are cut.

import { expect, test } from 'bun:test'
import { beginning, type Reader, readFrom } from '../../src/relay/source.ts'
import { openNotes } from '../../src/wire/pass.ts'

const BOM = [0xef, 0xbb, 0xbf]
const CUTS = Array.from({ length: 10 }, (_, at) => at + 1)

const cutAt = (at: number, text: string): Reader => {
  const bytes = Uint8Array.from([...BOM, ...Buffer.from(text)])
  return new ReadableStream<Uint8Array>({
    start: (to) => {
      to.enqueue(bytes.subarray(0, at))
      to.enqueue(bytes.subarray(at))
      to.close()
    },
  }).getReader()
}

test.each(CUTS)('a stream behind a byte order mark keeps its first event, cut after %d bytes', async (at) => {
  const [reader, abort] = [cutAt(at, 'data: one\n\ndata: two\n\n'), new AbortController()]
  const { chunk, isWhole } = await beginning(reader, abort)
  expect(isWhole).toBe(false)
  const tap = Object.assign(openNotes(), { see: ({ data }: { data: string }) => `${data} `, fail: () => '' })
  const source = readFrom(chunk, reader, tap, abort)
  let text = ''
  for (let read = await source.read(); read !== undefined; read = await source.read()) text += read
  expect(text).toBe('one two ')
})

test.each(CUTS)('a whole answer behind a byte order mark is one, cut after %d bytes', async (at) => {
  const { isWhole } = await beginning(cutAt(at, '{"error":{}}'), new AbortController())
  expect(isWhole).toBe(true)
})
