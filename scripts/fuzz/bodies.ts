// Bodies of requests: valid ones, ones with a member that is wrong, shapes that are costly to read, and bytes that are none
// of it; plain or packed, with a length or in chunks.

import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { Chance } from './chance.ts'

export type Body = {
  /** What it is, for the report. */
  name: string
  bytes: Uint8Array<ArrayBuffer>
  headers: Record<string, string>
  /** Where it has no length. */
  stream?: () => ReadableStream<Uint8Array>
}

type Members = Record<string, unknown>

const MODELS = ['vendorA-opus-4-8', 'vendorB-5.5', 'vendorB-4o', 'vendorB-image-1', 'none', '']

const validFor = (path: string, chance: Chance): Members => {
  const model = chance.pick(MODELS)
  const messages = [{ role: 'user', content: `say ${chance.text()}` }]
  const stream = chance.of(0.5)
  if (path.includes('messages')) return { model, messages, max_tokens: 100, stream }
  if (path.includes('responses')) return { model, input: `say ${chance.text()}`, stream }
  if (path.includes('images')) return { model: 'vendorB-image-1', prompt: 'a dot', size: '64x64' }
  if (path.includes('chat')) return { model, messages, stream, stream_options: { include_usage: true } }
  return { label: chance.text(), name: chance.text(), tokens_total: 10, token: chance.text(), password: chance.text() }
}

const times = (count: number, one: (at: number) => string, glue = ','): string =>
  Array.from({ length: count }, (_, at) => one(at)).join(glue)

/** JSON that is costly to read, of about so many bytes. */
export const HOSTILE: Record<string, (bytes: number) => string> = {
  'open lists': (bytes) => '['.repeat(bytes),
  'deep lists': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'deep objects': (bytes) => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`,
  'wide lists': (bytes) => `[${times(bytes / 3, () => '[]')}]`,
  'wide objects': (bytes) => `[${times(bytes / 8, () => '{"a":1}')}]`,
  numbers: (bytes) => `[${times(bytes / 2, () => '1')}]`,
  'a long number': (bytes) => '7'.repeat(bytes),
  'a long fraction': (bytes) => `0.${'3'.repeat(bytes)}e-1`,
  'many names': (bytes) => `{${times(bytes / 10, (at) => `"n${at}":1`)}}`,
  'falling names': (bytes) => `{${times(bytes / 14, (at) => `"${4_000_000_000 - at}":1`)}}`,
  'one name': (bytes) => `{${times(bytes / 12, () => '"model":"a"')}}`,
  'many kinds': (bytes) => `[${times(bytes / 12, (at) => `{"n${at}":1}`)}]`,
  'short strings': (bytes) => `[${times(bytes / 9, (at) => `"s${at}"`)}]`,
  escapes: (bytes) => `"${'\\n'.repeat(bytes / 2)}"`,
  quotes: (bytes) => `"${'\\"'.repeat(bytes / 2)}"`,
  'escaped letters': (bytes) => `"${'\\u1781'.repeat(bytes / 6)}"`,
  'white space': (bytes) => ' '.repeat(bytes),
  digits: (bytes) => `"${'123456789012345x'.repeat(bytes / 16)}"`,
  base64: (bytes) => `"data:image/png;base64,${'iVBORw0K'.repeat(bytes / 8)}"`,
}

const ODD = [null, true, -1, 1e308, '', '\u0000', [], {}, [[]], [null], { type: 'x' }, ['a', 1], '\ud800', 2 ** 60]

/** A few kilobytes as a rule, at times as much as is let in. */
const sizeOf = (chance: Chance): number =>
  chance.pick([100, 1_000, 10_000, 10_000, 100_000, 100_000, 1_000_000, 6_000_000, 20_000_000])

const NOT_JSON = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '{"model":',
  '\ufeff{}',
  '{"a":1}{"b":2}',
  "{'a':1}",
  '<html>',
  '\u0000',
]

type Made = { name: string; text: string }

const KINDS: ((path: string, chance: Chance) => Made)[] = [
  (path, chance) => ({ name: 'valid', text: JSON.stringify(validFor(path, chance)) }),
  (path, chance) => {
    const valid = validFor(path, chance)
    const member = chance.pick([
      ...Object.keys(valid),
      'tools',
      'metadata',
      'system',
      'previous_response_id',
      chance.text(),
    ])
    return { name: `odd ${member}`, text: JSON.stringify({ ...valid, [member]: chance.pick(ODD) }) }
  },
  (path, chance) => {
    const [shape, make] = chance.pick(Object.entries(HOSTILE))
    const valid = validFor(path, chance)
    const member = chance.pick([...Object.keys(valid), 'metadata', 'tools'])
    const mark = '\u0001'
    const text = JSON.stringify({ ...valid, [member]: mark }).replace(JSON.stringify(mark), () =>
      make(Math.floor(sizeOf(chance))),
    )
    return { name: `${shape} in ${member}`, text }
  },
  (path, chance) => {
    const text = JSON.stringify(validFor(path, chance))
    const at = chance.below(text.length)
    return { name: 'broken', text: text.slice(0, at) + chance.text() + text.slice(at + chance.below(3)) }
  },
  (_, chance) => ({ name: 'no JSON', text: chance.pick(NOT_JSON) }),
]

const PACKED: [string, (text: Uint8Array) => Uint8Array][] = [
  ['gzip', (bytes) => gzipSync(bytes, { level: 1 })],
  ['zstd', (bytes) => zstdCompressSync(bytes)],
  ['gzip', (bytes) => bytes.subarray(0, 100)],
  ['br', (bytes) => bytes.subarray(0, 100)],
  ['lzma', (bytes) => bytes.subarray(0, 100)],
]

/** For the path of an endpoint; '' for the admin API's. */
export const bodyOf = (path: string, chance: Chance): Body => {
  const { name, text } = chance.pick(KINDS)(path, chance)
  const plain = new TextEncoder().encode(text)
  const headers: Record<string, string> = {
    'content-type': chance.pick(['application/json', 'application/json', 'text/plain']),
  }
  const [coding, pack] = chance.pick(PACKED)
  const bytes = chance.of(0.3) ? new Uint8Array(pack(plain)) : plain
  if (bytes !== plain) headers['content-encoding'] = coding
  const stream = (): ReadableStream<Uint8Array> => new Blob([bytes]).stream()
  return { name: `${name}, ${bytes.byteLength} bytes`, bytes, headers, ...(chance.of(0.3) ? { stream } : {}) }
}
