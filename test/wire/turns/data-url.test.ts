// Images and documents as data URLs and base64, in all the ways clients write them, sent to each provider.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEA+/8='
const PDF = Buffer.from('%PDF-1.4 trailer').toString('base64')
const TEXT = Buffer.from('# héllo\n').toString('base64')

const SENT = { model: 'up', maxOutput: 64_000, quirks: {} }

/** The block that a provider of messages is shown. */
const block = (wire: 'chat-completions' | 'responses', part: JsonObject): unknown => {
  const content = [part]
  const turns = [{ role: 'user', content }]
  const body = wire === 'responses' ? { model: 'm', input: turns } : { model: 'm', messages: turns }
  const { body: sent } = CHAT_CODECS.messages.encodeRequest(CHAT_CODECS[wire].decodeRequest(body), SENT)
  return (sent.messages as { content: unknown[] }[])[0]?.content[0]
}
const picture = (url: string): [unknown, unknown] => [
  block('chat-completions', { type: 'image_url', image_url: { url } }),
  block('responses', { type: 'input_image', image_url: url }),
]
const file = (file: JsonObject): [unknown, unknown] => [
  block('chat-completions', { type: 'file', file }),
  block('responses', { type: 'input_file', ...file }),
]

const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }
const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } }
const text = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: '# héllo\n' } }

describe('an image', () => {
  test.each([
    `data:image/png;base64,${PNG}`,
    `DATA:IMAGE/PNG;BASE64,${PNG}`,
    `data:image/png;charset=utf-8; base64,${PNG}`,
    `data:;base64,${PNG}`,
    `data:application/octet-stream;base64,${PNG}`,
    `data:image/jpeg;base64,${PNG}`,
    `data:image/png;base64, ${PNG.slice(0, 9)}\r\n${PNG.slice(9)}\n`,
    `data:image/png;base64,${encodeURIComponent(PNG)}`,
    `data:image/png;base64,${PNG.replaceAll('+', '-').replaceAll('/', '_')}`,
    PNG,
  ])('has the media type of its content: %s', (url) => {
    expect(picture(url)).toEqual([png, png])
  })

  test('sent as a file becomes an image', () => {
    for (const file_data of [PNG, `data:image/png;base64,${PNG}`])
      expect(file({ file_data, filename: 'a.png' })).toEqual([png, png])
  })

  test('that the model cannot read is refused with the message at which agents remove it', () => {
    for (const kind of ['image/svg+xml', 'image/heic'])
      expect(() => picture(`data:${kind};base64,AAAA`)).toThrow('does not represent a valid image')
  })
})

describe('a document', () => {
  test.each(['application/pdf', 'application/PDF', 'application/x-pdf', 'application/octet-stream', 'image/png', ''])(
    'is a PDF by its first bytes, declared as %p',
    (kind) => {
      const url = `data:${kind};base64,${PDF}`
      expect(picture(url)).toEqual([pdf, pdf])
      const named = { ...pdf, title: 'a.pdf' }
      expect(file({ file_data: url, filename: 'a.pdf' })).toEqual([named, named])
    },
  )

  test.each(['text/markdown', 'application/octet-stream', 'application/x-yaml', 'application/typescript'])(
    'is text by its content, declared as %p',
    (kind) => {
      const named = { ...text, title: 'a.md' }
      expect(file({ file_data: `data:${kind};base64,${TEXT}`, filename: 'a.md' })).toEqual([named, named])
    },
  )

  test.each([Buffer.from([0x50, 0x4b, 3, 4]), Buffer.from([0xff, 0xfe, 0x61]), Buffer.from('a\0b')])(
    'that is neither PDF nor text is refused',
    (bytes) => {
      const file_data = `data:application/octet-stream;base64,${bytes.toString('base64')}`
      expect(() => file({ file_data, filename: 'a.bin' })).toThrow('cannot be read by this model')
    },
  )

  test.each([
    ['a.pdf', 'a.pdf'],
    ['A.PDF', 'A.pdf'],
    ['plan', 'plan.pdf'],
    ['plan 1.2', 'plan 1.2.pdf'],
    ['a.bin', 'a.bin.pdf'],
    ['', 'document.pdf'],
    [undefined, 'document.pdf'],
  ])('called %p is sent to a provider of responses as %p, with the extension that it needs', (filename, due) => {
    const content = [{ type: 'file', file: { file_data: PDF, filename } }]
    const asked = CHAT_CODECS['chat-completions'].decodeRequest({ model: 'm', messages: [{ role: 'user', content }] })
    expect(CHAT_CODECS.responses.encodeRequest(asked, SENT).body).toMatchObject({
      input: [{ content: [{ filename: due, file_data: `data:application/pdf;base64,${PDF}` }] }],
    })
  })

  test('by URL is left for the provider to fetch', () => {
    const named = { type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' }, title: 'a.pdf' }
    expect(file({ file_data: 'https://x.test/a.pdf', filename: 'a.pdf' })).toEqual([named, named])
  })
})
