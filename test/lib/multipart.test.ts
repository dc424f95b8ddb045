// Forms in place: a value is set and every other byte stays, whatever the form holds; what parsers could read differently
// is refused.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { editMultipart, isMultipart, MultipartFault, readMultipart } from '../../src/lib/multipart.ts'

const bytesOf = (...pieces: (string | Uint8Array)[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))))

const BOUNDARIES = fc.oneof(
  fc.stringMatching(/^[0-9A-Za-z'()+_,./:=?-]{1,70}$/),
  fc.constantFrom('----WebKitFormBoundary7MA4YWxkTrZu0gW', 'a b', '-', '--', '0'.repeat(70)),
)

type Field = { name: string; filename: string | undefined; type: string | undefined; value: Uint8Array }

const field: fc.Arbitrary<Field> = fc.record({
  name: fc.constantFrom('prompt', 'image[]', 'mask', 'size', 'language', 'Größe', '__proto__'),
  filename: fc.option(fc.constantFrom('a.png', 'ein; "neues".png', 'C:\\x.wav', 'größe.mp3', ''), {
    nil: undefined,
  }),
  type: fc.option(fc.constantFrom('image/png', 'text/plain; charset=utf-8', 'audio/wav'), { nil: undefined }),
  value: fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.constantFrom(...['', '\r\n', '\n--', '\r\n--', '--\r\n', 'a\r\nb'].map((text) => Buffer.from(text))),
  ),
})

const form = fc
  .record({
    boundary: BOUNDARIES,
    fields: fc.array(field, { maxLength: 6 }),
    at: fc.nat({ max: 6 }),
    model: fc.stringMatching(/^[\w.-]{1,40}$/),
  })
  // No client may choose a boundary that occurs in what it sends.
  .filter(
    ({ boundary, fields, model }) =>
      fields.every(
        ({ value, filename = '' }) =>
          !Buffer.concat([Buffer.from('\r\n\r\n'), value, Buffer.from('\r\n--')]).includes(`--${boundary}`) &&
          !filename.includes(`--${boundary}`),
      ) && !model.includes(`--${boundary}`),
  )
  .map(({ boundary, fields, at, model }) => {
    const own: Field = { name: 'model', filename: undefined, type: undefined, value: Buffer.from(model) }
    const all = fields.toSpliced(Math.min(at, fields.length), 0, own)
    return { boundary, fields: all, model }
  })

const escaped = (filename: string): string => filename.replaceAll('\\', '\\\\').replaceAll('"', '\\"')

const headOf = ({ name, filename, type }: Field, quotes: boolean): string =>
  [
    `Content-Disposition: form-data; name=${quotes || !/^\w+$/.test(name) ? `"${name}"` : name}${filename === undefined ? '' : `; filename="${escaped(filename)}"`}`,
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
  ].join('\r\n')

const written = (boundary: string, fields: readonly Field[], quotes = true): Uint8Array<ArrayBuffer> =>
  bytesOf(
    ...fields.flatMap((each) => [`--${boundary}\r\n${headOf(each, quotes)}\r\n\r\n`, each.value, '\r\n']),
    `--${boundary}--\r\n`,
  )

const typeOf = (boundary: string): string => `multipart/form-data; boundary="${boundary}"`

describe('a form', () => {
  test('is read as it was written', () => {
    fc.assert(
      fc.property(form, fc.boolean(), ({ boundary, fields }, quotes) => {
        const bytes = written(boundary, fields, quotes)
        const { parts } = readMultipart(bytes, typeOf(boundary))
        expect(parts.map(({ name, isFile }) => [name, isFile])).toEqual(
          fields.map(({ name, filename }) => [name, filename !== undefined]),
        )
        for (const [at, { start, end }] of parts.entries())
          expect(Buffer.from(bytes.subarray(start, end)).equals(fields[at]?.value ?? new Uint8Array())).toBe(true)
      }),
    )
  })

  test('keeps every byte but those of the value that is set, wherever its part stands', () => {
    fc.assert(
      fc.property(form, fc.stringMatching(/^[\w./-]{1,80}$/), ({ boundary, fields }, value) => {
        fc.pre(!value.includes(`--${boundary}`))
        const bytes = written(boundary, fields)
        const read = readMultipart(bytes, typeOf(boundary))
        const part = read.parts.find(({ name }) => name === 'model')
        if (part === undefined) throw new Error('the model is there')
        const edited = editMultipart(bytes, read, [{ part, value }])
        const anew = fields.map((each) => (each.name === 'model' ? { ...each, value: Buffer.from(value) } : each))
        expect(Buffer.from(edited).equals(written(boundary, anew))).toBe(true)
      }),
    )
  })

  test('loses a part and nothing else', () => {
    fc.assert(
      fc.property(form, ({ boundary, fields }) => {
        const bytes = written(boundary, fields)
        const read = readMultipart(bytes, typeOf(boundary))
        const [part] = read.parts
        if (part === undefined) throw new Error('there is a part')
        const edited = editMultipart(bytes, read, [{ part, value: undefined }])
        expect(Buffer.from(edited).equals(written(boundary, fields.slice(1)))).toBe(true)
      }),
    )
  })

  test('is the same object where its value stays', () => {
    fc.assert(
      fc.property(form, ({ boundary, fields, model }) => {
        const bytes = written(boundary, fields)
        const read = readMultipart(bytes, typeOf(boundary))
        const edits = read.parts.filter(({ name }) => name === 'model').map((part) => ({ part, value: model }))
        expect(editMultipart(bytes, read, edits)).toBe(bytes)
      }),
    )
  })

  test('that the runtime writes is read', async () => {
    const data = new FormData()
    data.append('image', new Blob([new Uint8Array([1, 2, 13, 10, 45, 45])], { type: 'image/png' }), 'a"b.png')
    data.append('model', 'm')
    const request = new Request('http://x', { method: 'POST', body: data })
    const type = request.headers.get('content-type')
    const bytes = new Uint8Array(await request.arrayBuffer())
    expect(isMultipart(type)).toBe(true)
    expect(readMultipart(bytes, type ?? '').parts.map(({ name, isFile }) => [name, isFile])).toEqual([
      ['image', true],
      ['model', false],
    ])
  })

  test('any bytes are read or refused, never worse', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.constantFrom('--b', '\r\n', '--', 'Content-Disposition: form-data; name="model"', '\r\n\r\n', ';', '"'),
            fc.string(),
          ),
          { maxLength: 30 },
        ),
        fc.constantFrom('multipart/form-data; boundary=b', 'multipart/form-data'),
        (pieces, type) => {
          try {
            readMultipart(bytesOf(...pieces), type)
          } catch (error) {
            expect(error).toBeInstanceOf(MultipartFault)
          }
        },
      ),
    )
  })
})

const TYPE = 'multipart/form-data; boundary=b'
const part = (head: string, value = 'm'): string => `--b\r\n${head}\r\n\r\n${value}\r\n`
const model = part('Content-Disposition: form-data; name="model"')

describe('what parsers read differently is refused', () => {
  test.each([
    ['no part', ''],
    ['text before it', `x\r\n${model}--b--\r\n`],
    ['no end', model],
    ['a part after the end', `${model}--b--\r\n${model}--b--\r\n`],
    ['bare line ends', `${model}--b--\r\n`.replaceAll('\r\n', '\n')],
    ['a boundary within a value', `${part('Content-Disposition: form-data; name="a"', 'x\n--b\nx')}--b--\r\n`],
    ['a longer boundary within a value', `${part('Content-Disposition: form-data; name="a"', 'x\r\n--bb')}--b--\r\n`],
    ['no headers', `--b\r\n\r\nm\r\n--b--\r\n`],
    ['headers without an end', `--b\r\nContent-Disposition: form-data; name="model"\r\n--b--\r\n`],
    ['a folded header', `${part('Content-Disposition: form-data;\r\n name="model"')}--b--\r\n`],
    ['a bare line end in a header', `${part('Content-Disposition: form-data; name="a"\nX: y')}--b--\r\n`],
    [
      'a header twice',
      `${part('Content-Disposition: form-data; name="a"\r\ncontent-disposition: form-data; name="model"')}--b--\r\n`,
    ],
    ['a name twice', `${part('Content-Disposition: form-data; name="a"; name="model"')}--b--\r\n`],
    ['a name in another charset', `${part('Content-Disposition: form-data; name="a"; name*=utf-8\'\'model')}--b--\r\n`],
    ['a name with escapes', `${part('Content-Disposition: form-data; name="mod\\el"')}--b--\r\n`],
    ['a name with percent signs', `${part('Content-Disposition: form-data; name="mod%65l"')}--b--\r\n`],
    ['no name', `${part('Content-Disposition: form-data')}--b--\r\n`],
    [
      'a file called as a part',
      `${part('Content-Disposition: form-data; name="a"; filename="; name=\\"model\\""')}--b--\r\n`,
    ],
    ['another disposition', `${part('Content-Disposition: attachment; name="model"')}--b--\r\n`],
    [
      'a value that is encoded',
      `${part('Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: base64')}--b--\r\n`,
    ],
    [
      'a header that never ends',
      `${part(`Content-Disposition: form-data; name="model"; filename="${'x'.repeat(9_000)}"`)}--b--\r\n`,
    ],
    ['parts without number', `${model.repeat(1_001)}--b--\r\n`],
  ])('%s', (_, text) => {
    expect(() => readMultipart(bytesOf(text), TYPE)).toThrow(MultipartFault)
  })

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=b; boundary=c',
    "multipart/form-data; boundary=b; boundary*=utf-8''c",
    'multipart/form-data; boundary=b; boundary*0=c',
    `multipart/form-data; boundary="${'x'.repeat(71)}"`,
    'multipart/form-data; boundary="b\\""',
  ])('%s', (type) => {
    expect(() => readMultipart(bytesOf(`${model}--b--\r\n`), type)).toThrow(MultipartFault)
  })

  test.each([
    ['MULTIPART/FORM-DATA; BOUNDARY=b', `${model}--b--\r\n`],
    ['multipart/form-data; charset=utf-8; boundary="b"', `${model}--b--`],
    ['multipart/form-data;boundary=b;', `\r\n${model}--b--\r\ntrailing`],
    [
      TYPE,
      `--b  \r\ncontent-disposition: FORM-DATA; name=model\r\nContent-Transfer-Encoding: binary\r\n\r\nm\r\n--b--\r\n`,
    ],
  ])('but not %s', (type, text) => {
    expect(isMultipart(type)).toBe(true)
    expect(readMultipart(bytesOf(text), type).parts.map(({ name }) => name)).toEqual(['model'])
  })
})
