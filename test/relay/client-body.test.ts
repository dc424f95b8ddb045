// A body reads, edits and counts alike, whether it is small enough to be parsed whole or outlined.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/errors.ts'
import type { Json } from '../../src/ir/json.ts'
import type { Edit } from '../../src/lib/json-splice.ts'
import { textOf } from '../../src/lib/pieces.ts'
import { createTurns } from '../../src/lib/turns.ts'
import { openText, withoutPrompt } from '../../src/relay/client-body.ts'
import { openBody } from '../../src/relay/large-body.ts'
import { SEAL_PREFIX } from '../../src/wire/seal.ts'
import { openAtOnce } from '../support/open-at-once.ts'

const utf8 = new TextEncoder()
const asText = textOf

const LONG = 'Read the file "a.ts"\\n and say — ខ្មែរ 😀 — what it does. '.repeat(1_000)
const BASE64 = 'iVBORw0KGgo'.repeat(5_000)

const conversation = fc.record({
  model: fc.string(),
  messages: fc.array(
    fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.oneof(fc.string(), fc.constant(LONG)) }),
    { minLength: 1, maxLength: 4 },
  ),
  last: fc.constantFrom(LONG, `data:image/png;base64,${BASE64}`),
  stream: fc.boolean(),
  stream_options: fc.option(fc.record({ include_usage: fc.boolean() })),
})

const edit: fc.Arbitrary<Edit> = fc.record({
  path: fc.constantFrom<Edit['path'][]>(['model'], ['absent'], ['stream_options', 'include_usage'], ['messages', 0]),
  value: fc.constantFrom('"ខ្មែរ"', '1', '{"a":[]}', undefined),
})

const codeOf = async (read: () => Promise<unknown>): Promise<string> => {
  try {
    await read()
    return 'valid'
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error)
  }
}

describe('a large body', () => {
  test('is edited like its text, with every other byte unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, edit, fc.constantFrom(0, 1), async (given, one, indent) => {
        const text = JSON.stringify(given, null, indent)
        expect(asText((await openAtOnce(utf8.encode(text))).edited([one]))).toBe(asText(openText(text).edited([one])))
      }),
      { numRuns: 50 },
    )
  })

  test.each([
    ['before the prompt', { model: 'elsewhere', messages: [{ role: 'user', content: LONG }] }, true],
    ['behind it', { messages: [{ role: 'user', content: LONG }], model: 'elsewhere' }, true],
    ['nowhere', { messages: [{ role: 'user', content: LONG }], last: 'elsewhere' }, false],
    ['that is not translated', { model: 'here', messages: [{ role: 'user', content: LONG }] }, false],
  ])('is opened for a translation where it names the model of one: %s', async (_, members, translated) => {
    const { marked, outline, whole } = await openAtOnce(
      utf8.encode(JSON.stringify(members)),
      (model) => model === 'elsewhere',
    )
    expect(marked !== undefined).toBe(translated)
    expect((outline.messages as { content: string }[])[0]?.content.length).toBeLessThan(LONG.length)
    expect(whole().body).toEqual(members)
  })

  const DATA = `iVBORw0KGgo${'A'.repeat(100_000)}`
  test.each([
    ['text', { messages: [{ role: 'user', content: LONG }] }],
    [
      'a picture',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64', data: DATA } }] }] },
    ],
    [
      'one by an address',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${DATA}` }] }] },
    ],
    ['the output of a tool', { input: [{ type: 'function_call_output', call_id: 'a', output: LONG }] }],
  ])('is estimated to take as much where it is translated as where it passes: %s', async (_, members) => {
    const bytes = utf8.encode(JSON.stringify({ model: 'elsewhere', ...members }))
    const [translated, passed] = [await openAtOnce(bytes, () => true), await openAtOnce(bytes, () => false)]
    expect(translated.marked).toBeDefined()
    expect([translated.inputEstimate, translated.leastInput]).toEqual([passed.inputEstimate, passed.leastInput])
  })

  test.each([true, false])(
    'surely takes no more where its characters are escaped by number, translated: %p',
    async (isTranslated) => {
      const json = JSON.stringify({ model: 'elsewhere', messages: [{ role: 'user', content: 'слово '.repeat(2_000) }] })
      const escaped = json.replace(/[^\p{ASCII}]/gu, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
      const least = async (text: string): Promise<number> =>
        (await openAtOnce(utf8.encode(text), () => isTranslated)).leastInput
      expect(await least(json)).toBeGreaterThan(0)
      expect(await least(escaped)).toBeLessThanOrEqual(await least(json))
    },
  )

  test('is unchanged in whole, and its small members are unchanged in the outline', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (given) => {
        const text = JSON.stringify(given)
        const { outline, whole } = await openAtOnce(utf8.encode(text))
        expect(whole()).toMatchObject({ text, body: given as { [name: string]: Json } })
        const { messages, last, ...small } = given
        expect(outline).toMatchObject(small)
        expect(outline.messages).toHaveLength(messages.length)
        expect(last.startsWith(String(outline.last))).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test('gives members and the elements of lists as parsing all of it does, whatever stands around them', async () => {
    const name = fc.constantFrom('input', 'system', 'me"ssages', '__proto__', 'ខ្មែរ', 'a\\')
    const hard = fc.oneof(fc.string(), fc.constantFrom('],"x":[', '\\', '\\"', '"}', LONG, `\\${LONG}`, '😀'))
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        hard,
        fc.constantFrom(null, true, false, 0, -1.5e-7, 1e300),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(name, tie('value'), { maxKeys: 4 }),
      ),
    }))
    const member = fc.tuple(name, value)
    await fc.assert(
      fc.asyncProperty(
        fc.array(member, { maxLength: 6 }),
        fc.constantFrom(undefined, 1, '\t'),
        async (members, indent) => {
          // Names may come twice.
          const written = members.map(
            ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value, null, indent)} `,
          )
          const text = `{${[`"long":${JSON.stringify(LONG)}`, ...written].join(',\n')}}`
          const [large, small] = [await openAtOnce(utf8.encode(text)), openText(text)]
          for (const name of [...members.map(([name]) => name), 'long', 'none']) {
            expect(large.member(name)).toEqual(small.member(name))
            const lists = [large, small].map((body) => body.elements(name))
            expect(lists[0] && [...lists[0]]).toEqual(lists[1] && [...lists[1]])
          }
        },
      ),
    )
  })

  test('is estimated like its text, and an image at what vendors bill for one', async () => {
    const plain = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'word '.repeat(20_000) }] })
    expect((await openAtOnce(utf8.encode(plain))).inputEstimate).toBe(openText(plain).inputEstimate)
    const picture = JSON.stringify({ model: 'm', image: `data:image/png;base64,${BASE64}` })
    expect((await openAtOnce(utf8.encode(picture))).inputEstimate).toBe(openText(picture).inputEstimate)
  })

  const file = 'data:image/png;base64,'
  const ask = (block: unknown) => ({ model: 'm', messages: [{ role: 'user', content: [block] }] })
  test.each<[string, (data: string) => unknown, boolean]>([
    ['a string of content', (content) => ({ model: 'm', messages: [{ role: 'user', content }] }), false],
    ['an input', (input) => ({ model: 'm', input }), false],
    ['a text', (text) => ask({ type: 'text', text }), false],
    ['a title in a schema', (title) => ({ model: 'm', tools: [{ parameters: { title } }] }), false],
    ['a list', (one) => ({ model: 'm', tools: [{ parameters: { enum: [one] } }] }), false],
    ['a name that is escaped', (text) => ask({ 'te"data': text }), false],
    ['a document of text', (data) => ask({ type: 'document', source: { type: 'text', data } }), false],
    ['a document', (data) => ask({ type: 'document', source: { type: 'base64', data } }), true],
    ['an image', (url) => ask({ type: 'image_url', image_url: { url } }), true],
    ['an image on responses', (image_url) => ask({ type: 'input_image', image_url }), true],
    ['a file', (file_data) => ask({ type: 'input_file', file_data }), true],
    ['a drawn image', (result) => ({ model: 'm', input: [{ type: 'image_generation_call', result }] }), true],
    ['sealed reasoning', (encrypted_content) => ({ model: 'm', input: [{ encrypted_content }] }), true],
  ])('is estimated by where base64 stands: %s', async (_, made, isFile) => {
    const text = JSON.stringify(made(file + BASE64))
    for (const { inputEstimate } of [openText(text), await openAtOnce(utf8.encode(text))]) {
      if (isFile) expect(inputEstimate).toBeLessThan(BASE64.length / 10)
      else expect(inputEstimate).toBeGreaterThanOrEqual(BASE64.length / 4)
    }
  })

  test.each([
    ['chat-completions', { type: 'image_url', image_url: { url: 'https://pictures/1' } }],
    ['responses', { type: 'input_image', image_url: 'https://pictures/1' }],
    ['messages', { type: 'image', source: { type: 'url', url: 'https://pictures/1' } }],
  ])('is estimated with what vendors bill for an image by its address: %s', async (_, image) => {
    for (const more of ['', 'x '.repeat(20_000)]) {
      const sized = async (block: unknown): Promise<number> =>
        (await openAtOnce(utf8.encode(JSON.stringify({ ...ask(block), more })))).inputEstimate
      expect(await sized(image)).toBeGreaterThan(more.length / 4 + 1_500)
      expect(
        await sized({ ...image, type: 'citation', image_url: undefined, source: undefined, url: 'https://a/b' }),
      ).toBeLessThan(more.length / 4 + 100)
    }
  })

  test.each([508, 600])('may begin with a name of %i letters, an escape among them', async (letters) => {
    const text = JSON.stringify({ ['\n'.padEnd(letters, 'x')]: 1, model: 'm', a: BASE64 })
    expect((await openAtOnce(utf8.encode(text))).outline.model).toBe('m')
  })

  test('reads, edits and counts as ever where its tools have come before', async () => {
    const tool = fc.record({
      name: fc.string(),
      type: fc.constantFrom('function', 'image', 'reasoning'),
      description: fc.constantFrom('', LONG.slice(0, 3_000), 'plain '.repeat(50)),
      text: fc.constantFrom('', 'said '.repeat(200)),
      data: fc.constantFrom('', BASE64.slice(0, 3_000)),
      input_schema: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
    })
    const seen = async (bytes: Uint8Array<ArrayBuffer>) => {
      const { outline, inputEstimate, mayShow, leastInput, elements, edited } = await openAtOnce(bytes)
      const told = { outline, inputEstimate, mayShow, leastInput, tools: [...(elements('tools') ?? [])] }
      return JSON.stringify([told, asText(edited([{ path: ['model'], value: '"m"' }]))])
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(tool, { minLength: 10, maxLength: 20 }),
        conversation,
        fc.boolean(),
        async (tools, given, last) => {
          const bytes = utf8.encode(JSON.stringify(last ? { ...given, tools } : { tools, ...given }))
          const before = await seen(bytes)
          for (let time = 0; time < 3; time++) expect(await seen(bytes)).toBe(before)
        },
      ),
      { numRuns: 20 },
    )
  })

  test('with sealed reasoning of another provider is parsed whole', async () => {
    const text = JSON.stringify({ messages: [{ signature: SEAL_PREFIX + BASE64 }] })
    expect((await openAtOnce(utf8.encode(text))).outline).toEqual(JSON.parse(text))
  })

  test('is sent as bytes, parsed whole or not: a second text of it would be held for as long as its provider thinks', async () => {
    await fc.assert(
      fc.asyncProperty(
        conversation,
        fc.constantFrom('', SEAL_PREFIX),
        edit,
        fc.constantFrom(0, 1),
        async (given, mark, one, indent) => {
          const text = JSON.stringify({ ...given, mark }, null, indent)
          const sent = (await openAtOnce(utf8.encode(text))).edited([one])
          expect([typeof sent, asText(sent)]).toEqual([
            utf8.encode(text).length < 32 * 1024 ? 'string' : 'object',
            asText(openText(text).edited([one])),
          ])
        },
      ),
      { numRuns: 50 },
    )
  })

  test.each([
    ['a cut end', `{"a":"${BASE64}`, 'invalid_json'],
    ['a raw line break in a string', `{"a":"${BASE64}\n"}`, 'invalid_json'],
    ['a stray comma', `{"a":"${BASE64}",}`, 'invalid_json'],
    ['brackets that do not match', `{"a":["${BASE64}"}]`, 'invalid_json'],
    ['100,000 brackets', `{"a":${'['.repeat(100_000)}`, 'invalid_request'],
    ['no object', `["${BASE64}"]`, 'invalid_request'],
    ['a wrong escape in a name', `{"\\q":1,"model":"m","a":"${BASE64}"}`, 'invalid_json'],
    ['a wrong escape in a long string', `{"a":"${BASE64}\\x"}`, 'invalid_json'],
    ['half an escape in a long string', `{"a":"${BASE64}\\u12g4"}`, 'invalid_json'],
  ])('with %s is refused', async (_, text, code) => {
    expect(await codeOf(() => openAtOnce(utf8.encode(text)))).toBe(code)
  })

  test('that is not UTF-8 is refused', async () => {
    const bytes = utf8.encode(`{"a":"${BASE64}"}`)
    bytes[100] = 0xff
    expect(await codeOf(() => openAtOnce(bytes))).toBe('invalid_json')
  })

  test.each([
    ['passes', 'here', LONG],
    ['will be translated', 'elsewhere', LONG],
    ['has sealed reasoning', 'here', SEAL_PREFIX + BASE64],
    ['is small', 'here', 'hi'],
  ])('is read the same in turns where it %s', async (_, model, content) => {
    const times = content === 'hi' ? 1 : 60
    const bytes = utf8.encode(JSON.stringify({ model, messages: Array(times).fill({ role: 'user', content }), a: 1 }))
    const translates = (name: string): boolean => name === 'elsewhere'
    const [once, inTurns] = [await openAtOnce(bytes, translates), await openBody(bytes, translates, createTurns())]
    for (const name of ['size', 'outline', 'inputEstimate', 'leastInput', 'mayShow'] as const)
      expect(inTurns[name]).toEqual(once[name])
    const edits = [{ path: ['model'], value: '"other"' }]
    expect(asText(inTurns.edited(edits))).toBe(asText(once.edited(edits)))
  })

  test('asks about no model whose name is longer than any model’s, for which it would be read once more', async () => {
    const asked: number[] = []
    const translates = ({ length }: string): boolean => asked.push(length) === 0
    for (const length of [40, 1_000_000]) {
      const bytes = utf8.encode(JSON.stringify({ messages: [LONG], model: 'm'.repeat(length) }))
      await openBody(bytes, translates, createTurns())
    }
    expect(asked).toEqual([40])
  })

  test('may begin with a byte order mark', async () => {
    const text = JSON.stringify({ a: BASE64 })
    expect((await openAtOnce(utf8.encode(`\ufeff${text}`))).outline).toEqual(JSON.parse(text))
  })
})

test.each(['messages', 'system', 'input', 'instructions', 'prompt', 'tools', 'functions', 'prediction'])(
  'a body that is answered keeps its settings, and no %s',
  async (name) => {
    const settings = { stream: true, stream_options: { include_usage: true }, n: 2, size: '1x1', store: false }
    const body = openText(JSON.stringify({ ...settings, [name]: [LONG] }))
    const { size, inputEstimate, outline, whole } = withoutPrompt(body)
    expect([size, inputEstimate, outline]).toEqual([body.size, body.inputEstimate, settings])
    expect(JSON.stringify(whole()).length).toBeLessThan(100)
  },
)

describe('of a request that is translated, no more is read than several times a million tokens', () => {
  const MB = 1024 * 1024
  const bodyOf = (more: object): Uint8Array<ArrayBuffer> =>
    new TextEncoder().encode(
      JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more }).replace(
        '"EXACT"',
        '0.1234567890123456789',
      ),
    )
  const tools = (bytes: number): object => ({
    tools: Array.from({ length: 4_000 }, (_, at) => ({ name: `t${at}`, description: 'x'.repeat(bytes / 4_000) })),
  })
  const messages = (bytes: number, length: number, content: (text: string) => unknown): object => ({
    messages: Array.from({ length: Math.ceil(bytes / length) }, () => ({
      role: 'user',
      content: content('x'.repeat(length)),
    })),
  })
  const file = (data: string): object[] => [{ type: 'document', source: { type: 'base64', data } }]

  test.each([
    ['tools', tools(9 * MB)],
    ['short messages', messages(9 * MB, 300, (text) => text)],
    ['texts that pass unread and are short all the same', messages(9 * MB, 1_900, (text) => text)],
    ['few megabytes in very many messages', messages(4 * MB, 100, (text) => text)],
    ['short messages beside a number that must stay exact', { ...messages(9 * MB, 300, (text) => text), n: 'EXACT' }],
    [
      'kinds of schemas',
      { tools: [Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`n${at}`, 'x'.repeat(1_100)]))] },
    ],
  ])('%s', async (_, more) => {
    const bytes = bodyOf(more).slice()
    await expect(openAtOnce(bodyOf(more), () => true)).rejects.toThrow('more than 8 MB of tools, calls and short texts')
    expect((await openAtOnce(bytes, () => false)).size).toBe(bytes.byteLength)
  })

  test.each([
    ['tools of fewer', tools(7 * MB)],
    ['long texts', messages(20 * MB, 4_000, (text) => text)],
    ['files', messages(20 * MB, 2 * MB, file)],
    ['long texts beside what no mark can stand in', { ...messages(20 * MB, 4_000, (text) => text), x: '\u007f' }],
  ])('which is not exceeded by %s', async (_, more) => {
    expect((await openAtOnce(bodyOf(more), () => true)).outline.model).toBe('m')
  })
})
