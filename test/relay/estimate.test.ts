// What a text counts for: by a quick guess, and by the tokenizer.

import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CHAT_WIRES } from '../../src/ir/wire.ts'
import { shortOf } from '../../src/lib/json-survey.ts'
import { OutputText } from '../../src/lib/output-text.ts'
import { framesIn } from '../../src/lib/sse.ts'
import { countBody, countTokens, estimateOutput, tokensIn, weigh } from '../../src/relay/estimate.ts'
import { tokensOf } from '../../src/relay/tokens.ts'
import { CODECS } from '../../src/wire/index.ts'
import { loadTokenizer } from '../money/support.ts'
import { hasCorpus, type Recording, recordings } from '../support/corpus.ts'
import { openAtOnce } from '../support/open-at-once.ts'

const estimateInput = (body: unknown): number => tokensIn(weigh(body).bytes)

const drawn = (letters: string, length: number): string => {
  let seed = 1
  return Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647
    return letters[seed % letters.length]
  }).join('')
}
const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz'
/** What the name of the member counts for in which a file stands. */
const NAME = 2

describe('the quick estimate', () => {
  test.each([
    ['of another script', '今天天气很好，我们去公园散步。'],
    ['of code without spaces', 'x_y.z(1);'],
    ['of JSON without spaces', '{"id":1,"name":"n"},'],
  ])('does not take text %s for a file', (_, text) => {
    expect(estimateInput({ data: text.repeat(10_000) })).toBe((Buffer.byteLength(text) * 10_000) / 4 + NAME)
  })

  test.each<[string, unknown, number]>([
    ['nothing', {}, 1],
    ['numbers and the like', [12, 3.5, true, false], 2],
    ['names and texts, however deep', { messages: [{ role: 'user', content: [{ text: 'x'.repeat(371) }] }] }, 101],
  ])('counts %s', (_, body, tokens) => {
    expect([estimateInput(body), tokensIn(weigh(body).bytes + 400)]).toEqual([
      tokens,
      tokens === 1 ? 100 : tokens + 100,
    ])
  })

  test('is the same where a text is known to be ASCII', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.boolean(), (body, escapes) => {
        const written = JSON.stringify(body)
        const { text, ascii } = shortOf(Buffer.from(escapes ? written.replace(/[\u0080-\uffff]/g, escaped) : written))
        expect(weigh(JSON.parse(text), ascii)).toEqual(weigh(JSON.parse(text)))
      }),
    )
  })

  test.each([
    ['base64', drawn(`${ALPHABET}0123456789+/`, 60_000)],
    ['base64url', drawn(`${ALPHABET}0123456789-_`, 60_000)],
    ['base64 in lines', drawn(ALPHABET, 58_000).replace(/.{76}/g, '$&\r\n')],
    ['a data URL', `data:text/plain,${'a b, '.repeat(10_000)}`],
  ])('takes %s for a file', (_, text) => {
    expect(estimateInput({ data: text })).toBe(1_500 + NAME)
    expect(estimateInput({ text })).toBe(Math.ceil((text.length + 5) / 4))
  })

  test.each(['file_data', 'document_url', 'image_url'])('takes a data URL under %s for a file', (name) => {
    const url = `data:application/pdf;base64,JVBERi0${drawn(ALPHABET, 59_000)}`
    expect(estimateInput({ [name]: url })).toBe(1_500 + Math.ceil((name.length + 1) / 4))
  })

  test.each(['/9j/4AAQ', 'iVBORw0KGgo', 'R0lGODlh', 'UklGRgAAAABXRUJQ'])(
    'counts an image of any size as one image, with or without a media type: %s…',
    async (begins) => {
      const bytes = begins + drawn(ALPHABET, 600_000)
      for (const text of [bytes, bytes.replaceAll('/', '\\/'), `data:image/png;base64,${bytes}`]) {
        expect(estimateInput({ data: text })).toBe(1_500 + NAME)
        expect(await countBody({ data: text })).toBe(1_500 + NAME)
      }
      expect(estimateInput({ data: `JVBERi0${bytes}` })).toBe(16_500 + NAME)
    },
  )
})

test.each([
  ['Latin', 'the quick brown fox ', 0.25],
  ['Khmer', 'សួស្តីពិភពលោក', 0.75],
  ['Chinese', '你好世界', 0.75],
])('an answer so far in %s is estimated by its bytes, however long it is', (_, words, perCharacter) => {
  const output = new OutputText()
  expect(estimateOutput(output)).toBe(0)
  for (let written = 0; written < 500_000; written += words.length) output.add(words)
  expect(estimateOutput(output)).toBe(Math.ceil(output.chars * perCharacter))
})

// What it costs to merge a run of letters grows with the square of its length: unbounded, this would take minutes.
test('a text of one very long word is counted', () => {
  expect(tokensOf(drawn(ALPHABET, 250_000))).toBeGreaterThan(250_000 * 0.4)
})

describe('the tokenizer', () => {
  beforeAll(loadTokenizer, 60_000)

  test('counts numbers, names and texts at any depth', async () => {
    const said = (await countTokens('tools parameters 12345 true deep')) + 1
    const counted = await countBody({ tools: [{ parameters: [12_345, true, 'deep'] }] })
    expect(Math.abs(counted - said)).toBeLessThanOrEqual(2)
  })

  const url = 'https://example.com/a.png'
  test.each([
    ['chat-completions', { type: 'image_url', image_url: { url } }],
    ['messages', { type: 'image', source: { type: 'url', url } }],
    ['responses', { type: 'input_image', image_url: url }],
  ])('counts a picture that the provider is to fetch as a picture, on the %s wire', async (_, part) => {
    const counted = await countBody({ content: [part] })
    expect(counted).toBeGreaterThan(1_500)
    expect(Math.abs(counted - estimateInput({ content: [part] }))).toBeLessThan(20)
  })

  test('counts the beginning of a long prompt, and the rest in proportion', async () => {
    const words = 'one two three four '
    const tokens = await countBody({ input: words.repeat(100_000) })
    expect(tokens / (4 * 100_000)).toBeCloseTo(1, 1)
  })
})

describe('what a prompt surely takes', () => {
  const leastOf = async (body: object): Promise<number> =>
    (await openAtOnce(new TextEncoder().encode(JSON.stringify(body)))).leastInput
  const words = (count: number): string => 'harbour '.repeat(count)
  const asked = (content: unknown, more: object = {}) => ({
    model: 'm',
    messages: [{ role: 'user', content }],
    ...more,
  })

  test.each([
    ['a text', asked(words(200)), 100],
    ['a text in parts', asked([{ type: 'text', text: words(200) }]), 100],
    ['what the model is told before', asked('', { system: words(200) }), 100],
    ['input and instructions', { input: words(100), instructions: words(100) }, 100],
    ['a text so long that it is outlined', asked(words(20_000)), 10_000],
    [
      'a picture',
      asked([{ type: 'image_url', image_url: { url: `data:image/png;base64,${'iVBO'.repeat(9_999)}` } }]),
      0,
    ],
    ['thoughts', { input: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: words(200) }] }] }, 0],
    ['long thoughts', { input: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: words(20_000) }] }] }, 0],
    ['a conversation that was summed up', { input: [words(200), { type: 'compaction_summary' }] }, 0],
    ['what the vendor may clear', asked(words(20_000), { context_management: { edits: [] } }), 0],
    ['what the vendor may cut to its context', { input: words(20_000), truncation: 'auto' }, 4_096],
    ['a prediction', asked('', { prediction: { type: 'content', content: words(20_000) } }), 0],
  ])('is a sixteenth of the bytes of what is said, and of nothing else: %s', async (_, body, tokens) => {
    expect(await leastOf(body)).toBe(tokens)
  })

  const usageOf = ({ wire, stream, response }: Recording) => {
    if (!stream) return CODECS[wire].readUsage(JSON.parse(response))?.usage
    const tap = CODECS[wire].tap({ model: 'm', includeUsage: true, now: 0 })
    for (const frame of framesIn(response)) tap.see(frame)
    return tap.usage
  }

  test.skipIf(!hasCorpus).each(CHAT_WIRES)(
    'is never more than what the vendor has counted, in any recording of %s',
    async (wire) => {
      const told: { name: string; prompt: number; least: number }[] = []
      for (const each of recordings(wire)) {
        if (each.status !== 200 || each.request === undefined) continue
        const { input = 0, cacheRead = 0, cacheWrite = 0 } = usageOf(each) ?? {}
        const prompt = input + cacheRead + cacheWrite
        // A server that tells zeros does not count.
        if (prompt !== 0) told.push({ name: each.name, prompt, least: await leastOf(JSON.parse(each.request)) })
      }
      expect(told.length).toBeGreaterThan(20)
      expect(told.filter(({ prompt, least }) => least > prompt)).toEqual([])
    },
  )
})
