// Large answers, of which what need not be read is passed over: clients are given all of it, and pictures go to the other
// wires whole. What says more than any model does is not translated.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { readNow } from '../../src/lib/json-reader.ts'
import { atOnce } from '../../src/lib/steps.ts'
import { ANSWER_BOUNDS, requireBoundedAnswer } from '../../src/relay/answer-bounds.ts'
import { markedAnswer } from '../../src/relay/marked-answer.ts'
import { loadTokenizer } from '../money/support.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'

const MB = 1024 * 1024
const TEXT = 'said “so”,\n\u007f C:\\tmp "ខ្មែរ" 😀 '.repeat((3 * MB) / 40)
const DATA = `iVBORw0KGgo${'AAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAB'.repeat((3 * MB) / 36)}`
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 }

let answer: { body: string; type: string } = { body: '', type: '' }
const vendor = Bun.serve({
  ...{ hostname: '127.0.0.1', port: 0 },
  fetch: () => new Response(answer.body, { headers: { 'content-type': answer.type } }),
})
let gateway: TestGateway
beforeAll(async () => {
  const base = `http://127.0.0.1:${vendor.port}/v1`
  gateway = await startGateway({ config: onlyProvider(base, { wires: ['chat-completions'] }) })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop(true)
})

const whole = (message: JsonObject, usage: JsonObject | null = USAGE, beside: JsonObject = {}): void => {
  const said = { role: 'assistant', content: null, ...message }
  const choice = { index: 0, message: said, finish_reason: 'stop', ...beside }
  const body = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'up',
    choices: [choice],
    ...(usage && { usage }),
  }
  answer = { body: JSON.stringify(body), type: 'application/json' }
}

const streamed = (...deltas: JsonObject[]): void => {
  const chunk = (more: JsonObject): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up', ...more })}\n\n`
  const choice = (delta: JsonObject, finish_reason: string | null = null): string =>
    chunk({ choices: [{ index: 0, delta, finish_reason }] })
  const begun = choice({ role: 'assistant', content: '' })
  const told = deltas.map((delta) => choice(delta)).join('')
  const body = `${begun}${told}${choice({}, 'stop')}${chunk({ choices: [], usage: USAGE })}data: [DONE]\n\n`
  answer = { body, type: 'text/event-stream' }
}

const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' }
const asked = async (
  wire: keyof typeof PATHS,
  stream: boolean,
  wished: JsonObject = {},
): Promise<{ status: number; text: string }> => {
  const said = wire === 'responses' ? { input: 'hi', store: false } : { messages: [{ role: 'user', content: 'hi' }] }
  const more = wire === 'messages' ? { max_tokens: 64 } : {}
  const response = await gateway.post(PATHS[wire], { model: 'vendorA-opus-4-8', ...said, ...more, ...wished, stream })
  return { status: response.status, text: await response.text() }
}
const eventsIn = (text: string) =>
  text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice('data: '.length))] : []))

describe('what passes', () => {
  test.each([['the provider tells what it took', USAGE] as const, ['it does not', null] as const])(
    'is given whole, under the name of its model, where %s',
    async (_, usage) => {
      whole({ content: TEXT }, usage)
      const { status, text } = await asked('chat', false)
      const body = JSON.parse(text)
      expect([status, body.model, body.choices[0].message.content === TEXT]).toEqual([200, 'vendorA-opus-4-8', true])
    },
  )

  test('is given whole in an event, and so is what stands around it', async () => {
    streamed({ content: 'before' }, { content: TEXT }, { content: 'behind' })
    const { text } = await asked('chat', true)
    const events = eventsIn(text)
    const contents = events.map(({ choices: [choice] }) => choice?.delta?.content).filter(Boolean)
    expect(contents.map((content) => (content === TEXT ? 'all' : content))).toEqual(['before', 'all', 'behind'])
    expect(new Set(events.map(({ model }) => model))).toEqual(new Set(['vendorA-opus-4-8']))
    expect(text).toEndWith('data: [DONE]\n\n')
  })
})

describe('how likely each token was, and what could have stood in its place', () => {
  const likely = (token: string): JsonObject => ({ token, logprob: -0.25, bytes: [...Buffer.from(token)] })
  const others = Array.from({ length: 20 }, (_, at) => likely(` wo${at}`))
  const say = (tokens: number): JsonObject[] => {
    const content = Array.from({ length: tokens }, () => ({ ...likely(' word'), top_logprobs: others }))
    whole({ content: ' word'.repeat(tokens) }, USAGE, { logprobs: { content, refusal: null } })
    return content
  }

  test('passes whole', async () => {
    const content = say(4_000)
    const { status, text } = await asked('chat', false, { logprobs: true, top_logprobs: 20 })
    expect(status).toBe(200)
    expect(JSON.parse(text).choices[0].logprobs.content).toEqual(content)
  })

  test('is translated whole', async () => {
    const content = say(1_500)
    const wished = { top_logprobs: 20, include: ['message.output_text.logprobs'] }
    const { status, text } = await asked('responses', false, wished)
    expect(status).toBe(200)
    expect(JSON.parse(text).output[0].content[0].logprobs).toEqual(content)
  })

  test('ends a stream that is translated for who would be told of more than any model says', async () => {
    const content = [{ ...likely(' word'), top_logprobs: others }]
    const body = (tokens: number): string => {
      const piece = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: ' word' }, logprobs: { content } }] })}\n\n`
      const last = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE })}\n\n`
      return `${piece.repeat(tokens)}${last}data: [DONE]\n\n`
    }
    const wished = { top_logprobs: 20, include: ['message.output_text.logprobs'] }
    const ends = async (wire: keyof typeof PATHS, tokens: number): Promise<string> => {
      answer = { body: body(tokens), type: 'text/event-stream' }
      return (await asked(wire, true, wire === 'responses' ? wished : {})).text
    }
    expect(await ends('responses', 2_000)).toContain('"type":"response.completed"')
    expect(await ends('responses', 4_000)).toContain('too long to be translated')
    // Who is told nothing of it loses nothing by it.
    expect(await ends('messages', 4_000)).toContain('message_stop')
  })

  test('makes an answer one that cannot be read where nobody asked', async () => {
    say(1_500)
    expect((await asked('chat', false)).status).toBe(502)
  })
})

describe('a text whose provider does not tell what it took', () => {
  beforeEach(loadTokenizer)
  const model = 'vendorA-opus-4-8'
  const chunk = (delta: JsonObject, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'c', model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const escaped = (json: string): string =>
    json.replaceAll(/[^ -~\n]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

  const billed = async (texts: readonly string[], written: (json: string) => string): Promise<number> => {
    const body = [...texts.map((content) => chunk({ content })), chunk({}, 'stop'), 'data: [DONE]\n\n'].join('')
    answer = { body: written(body), type: 'text/event-stream' }
    const { secret } = await gateway.issue({ tokensTotal: 1_000_000_000 })
    const headers = { authorization: `Bearer ${secret}` }
    const messages = [{ role: 'user', content: 'hi' }]
    await (await gateway.post(PATHS.chat, { model, messages, stream: true }, headers)).text()
    await gateway.idle()
    const { tokens_used } = (await (await gateway.get('/v1/usage', headers)).json()) as { tokens_used: number }
    return tokens_used
  }

  test.each([
    ['in letters of one byte', 'The quick brown fox jumps. '],
    ['with new lines and quotes', '\n"The quick"\tbrown fox\njumps.'],
    ['in letters of several bytes', 'ភាសាខ្មែរ ជា ភាសា 😀 '],
  ])('is billed as much in one event as in many, %s', async (_, piece) => {
    const whole = piece.repeat(Math.ceil((1.5 * MB) / piece.length))
    const small = await billed(whole.match(/[\s\S]{1,60000}/g) ?? [], (json) => json)
    for (const written of [(json: string) => json, escaped]) {
      const ratio = (await billed([whole], written)) / small
      expect([ratio > 0.98, ratio < 1.02]).toEqual([true, true])
    }
  })
})

describe('a call whose arguments pass unread', () => {
  const call = { index: 0, id: 'call_1', type: 'function' }
  const text = TEXT.replaceAll('\u007f', '')
  const written = JSON.stringify({ files: [text], more: text })
  const calls = [{ ...call, function: { name: 'write', arguments: written } }]

  test.each([
    ['in one event', [{ tool_calls: calls }]],
    [
      'in several',
      [
        { tool_calls: [{ ...call, function: { name: 'write', arguments: written.slice(0, 9) } }] },
        { tool_calls: [{ index: 0, function: { arguments: written.slice(9, -9) } }] },
        { tool_calls: [{ index: 0, function: { arguments: written.slice(-9) } }] },
      ],
    ],
  ])('is not told to break off in a stream: %s', async (_, deltas) => {
    streamed(...deltas)
    const choices = eventsIn((await asked('chat', true)).text).flatMap(({ choices }) => choices)
    const pieces = choices.map(({ delta }) => delta.tool_calls?.[0].function.arguments ?? '')
    expect(pieces.join('') === written).toBe(true)
    expect(choices.map(({ finish_reason }) => finish_reason).filter(Boolean)).toEqual(['stop'])
  })

  test('is not told to break off where the answer has as many tokens as it may', async () => {
    whole({ tool_calls: calls }, { ...USAGE, completion_tokens: 64 })
    const response = await gateway.post(PATHS.chat, {
      ...{ model: 'vendorA-opus-4-8', max_tokens: 64, messages: [{ role: 'user', content: 'hi' }] },
    })
    const [choice] = ((await response.json()) as { choices: JsonObject[] }).choices
    expect(choice?.finish_reason).toBe('stop')
  })
})

describe('a picture', () => {
  const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${DATA}` } }]

  test.each([false, true])('goes whole to another wire, in a stream: %p', async (stream) => {
    if (stream) streamed({ content: 'Here.' }, { images })
    else whole({ content: 'Here.', images })
    const { text } = await asked('responses', stream)
    const found = stream
      ? eventsIn(text).flatMap(({ item, response }) => [item, ...(response?.output ?? [])])
      : JSON.parse(text).output
    const results = found.map((item?: JsonObject) => item?.result).filter(Boolean)
    expect(results.length).toBeGreaterThan(0)
    expect(results.every((result: string) => result === DATA)).toBe(true)
  })

  test.each([false, true])('is told of by its size where a wire has none, in a stream: %p', async (stream) => {
    if (stream) streamed({ content: 'Here.' }, { images })
    else whole({ content: 'Here.', images })
    const { text } = await asked('messages', stream)
    const kilobytes = Math.round((DATA.length * 3) / 4 / 1024)
    expect(text).toContain(`(image/png, ${kilobytes} KB)`)
    expect(text).not.toContain('\u007f')
  })
})

describe('what says more than any model does', () => {
  const SAYS_TOO_MUCH = 'too long to be translated'
  const long = 'x'.repeat(ANSWER_BOUNDS.chars + 1)
  const calls = Array.from({ length: ANSWER_BOUNDS.parts + 1 }, (_, index) => ({
    ...{ index, id: `call_${index}`, type: 'function' },
    function: { name: 'a', arguments: '{}' },
  }))

  test.each([
    ['a text', { content: long }],
    ['a call', { tool_calls: [{ ...calls[0], function: { name: 'a', arguments: JSON.stringify({ long }) } }] }],
    ['calls', { tool_calls: calls }],
    ['texts that need no mark', { content: 'Here.', note: Array(30_000).fill('x'.repeat(200)) }],
  ])('is an error of the provider’s where it is translated: %s', async (_, message) => {
    whole(message as JsonObject)
    expect(await asked('messages', false)).toMatchObject({ status: 502, text: expect.stringContaining(SAYS_TOO_MUCH) })
    expect((await asked('chat', false)).status).toBe(200)
  })

  test('ends a stream that is translated, whether it comes in one event or in many', async () => {
    const half = 'x'.repeat(ANSWER_BOUNDS.chars / 8)
    for (const deltas of [[long], Array<string>(9).fill(half)]) {
      streamed(...deltas.map((content) => ({ content })))
      expect((await asked('messages', true)).text).toMatch(/too long to be translated|an event that is too large/)
      expect((await asked('chat', true)).text).toEndWith('data: [DONE]\n\n')
    }
  })
})

describe('parts of a whole answer are counted wherever its wire has them', () => {
  const many = (count: number): JsonObject[] => Array.from({ length: count }, () => ({ type: 'text', text: 'a' }))
  test.each<[string, (parts: JsonObject[]) => JsonObject]>([
    ['texts of a message', (content) => ({ content })],
    ['links of its text', (citations) => ({ content: [{ type: 'text', text: 'a', citations }] })],
    ['items', (output) => ({ output })],
    ['texts of an item', (content) => ({ output: [{ type: 'message', content }] })],
    ['links of a text of an item', (annotations) => ({ output: [{ type: 'message', content: [{ annotations }] }] })],
    ['thoughts of an item', (summary) => ({ output: [{ type: 'reasoning', summary }] })],
    ['calls of a choice', (calls) => ({ choices: [{ message: { tool_calls: calls } }] })],
    ['links of a choice', (annotations) => ({ choices: [{ message: { content: 'a', annotations } }] })],
  ])('%s', (_, holding) => {
    const { parts } = ANSWER_BOUNDS
    expect(() => requireBoundedAnswer(holding(many(parts - 2)), 1)).not.toThrow()
    expect(() => requireBoundedAnswer(holding(many(parts + 1)), 1)).toThrow('too long to be translated')
  })
})

test('of an answer that passes only beginnings are read, whatever its size', () => {
  const read = (content: string): number => {
    const bytes = new TextEncoder().encode(JSON.stringify({ choices: [{ message: { content } }] }))
    const found = readNow(bytes, { outlined: false })
    return atOnce(markedAnswer({ bytes, read: found }, false))?.text.length ?? Number.POSITIVE_INFINITY
  }
  for (const times of [1, 10]) expect(read('said '.repeat(times * MB))).toBeLessThan(1_000)
})

describe('embeddings', () => {
  const vector = Array.from({ length: 1_536 }, (_, at) => Math.sin(at))
  const made = (count: number): string =>
    JSON.stringify({
      ...{ object: 'list', model: 'up', usage: { prompt_tokens: 5, total_tokens: 5 } },
      data: Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding: vector })),
    })

  test('of many texts pass in numbers, which another wire’s answer may not have as many of', async () => {
    const base = onlyProvider(`http://127.0.0.1:${vendor.port}/v1`, { wires: ['embeddings'] })
    const [model] = base.models ?? []
    if (model === undefined) throw new Error('there is no model')
    const server = await startGateway({ config: { ...base, models: [{ ...model, id: 'numbers', kind: 'embedding' }] } })
    answer = { body: made(400), type: 'application/json' }
    const response = await server.post('/v1/embeddings', { model: 'numbers', input: ['a'], encoding_format: 'float' })
    expect(response.status).toBe(200)
    expect(((await response.json()) as { data: unknown[] }).data).toHaveLength(400)
    await server.stop()
    expect((await asked('chat', false)).status).toBe(502)
  })
})
