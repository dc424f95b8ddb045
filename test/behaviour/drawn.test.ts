// Pictures that a model draws within a chat answer, in the forms that aggregators write, reach clients of every wire as far as
// it has a word for them, in whole answers and streams, and go on from there.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { checkMessagesStream } from '../support/automaton/messages.ts'
import { checkResponsesStream } from '../support/automaton/responses.ts'
import { framesOf } from '../support/frames.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const INLINE = `data:image/png;base64,${PNG}`
const LINK = 'https://pictures.example/kite.png'
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }

/** How servers write a picture, as a message and as deltas. */
const FORMS: Record<string, (url: string) => { message: JsonObject; deltas: JsonObject[] }> = {
  'beside the text': (url) => {
    const images = [{ type: 'image_url', index: 0, image_url: { url } }]
    return { message: { content: 'A kite.', images }, deltas: [{ content: 'A kite.' }, { content: '', images }] }
  },
  'among the content': (url) => {
    const picture = { type: 'image_url', image_url: { url } }
    const content = [{ type: 'text', text: 'A kite.' }, picture]
    return { message: { content }, deltas: [{ content: [{ type: 'text', text: 'A kite.' }] }, { content: [picture] }] }
  },
  'by a bare address': (url) => {
    const images = [{ image_url: url }, null, 'x', {}] as JsonObject[]
    return { message: { content: 'A kite.', images }, deltas: [{ content: 'A kite.' }, { images }] }
  },
}

let provider: Scripted
let gateway: TestGateway
let form: ReturnType<(typeof FORMS)[string]>

beforeAll(async () => {
  provider = await startScripted(({ text }) => {
    if (JSON.parse(text).stream !== true)
      return json({
        id: 'c',
        choices: [{ index: 0, message: { role: 'assistant', ...form.message }, finish_reason: 'stop' }],
        usage,
      })
    const chunks = [
      ...form.deltas.map((delta) => ({ id: 'c', choices: [{ index: 0, delta }] })),
      { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
    ]
    return {
      headers: { 'content-type': 'text/event-stream' },
      steps: [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'],
    }
  })
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: ['chat-completions'] }) })
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})

const bodyOn = (
  wire: ChatWire,
  stream: boolean,
  turns: JsonObject[] = [{ role: 'user', content: 'Draw.' }],
): JsonObject => ({
  model: 'vendorB-5.5',
  stream,
  ...(wire === 'responses' ? { input: turns } : { messages: turns }),
  ...(wire === 'messages' ? { max_tokens: 90 } : {}),
})

type Shown = { pictures: string[]; text: string; faults: string[] }

/** What a client of the wire finds in an answer. */
const shownIn = (wire: ChatWire, text: string, stream: boolean): Shown => {
  const events = stream ? framesOf(text).flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)])) : []
  if (wire === 'messages') {
    const blocks = stream
      ? events.flatMap(({ delta }) => (delta?.text === undefined ? [] : [delta]))
      : JSON.parse(text).content
    return {
      pictures: [],
      text: blocks.map((block: JsonObject) => block.text).join(''),
      faults: stream ? checkMessagesStream(framesOf(text)) : [],
    }
  }
  if (wire === 'responses') {
    const whole = stream ? events.find(({ type }) => type === 'response.completed').response : JSON.parse(text)
    const output: JsonObject[] = whole.output
    return {
      pictures: output.flatMap(({ type, result, output_format: format }) =>
        type === 'image_generation_call' ? [`data:image/${format};base64,${result}`] : [],
      ),
      text: output
        .flatMap(({ content }) => (content as JsonObject[] | undefined) ?? [])
        .map((part) => part.text)
        .join(''),
      faults: stream ? checkResponsesStream(framesOf(text)) : [],
    }
  }
  const messages = stream
    ? events.flatMap(({ choices }) => choices.map((one: JsonObject) => one.delta))
    : [JSON.parse(text).choices[0].message]
  return {
    pictures: messages.flatMap(({ images = [] }: { images?: { image_url: { url: string } }[] }) =>
      images.map((one) => one.image_url.url),
    ),
    text: messages.map(({ content }: JsonObject) => content ?? '').join(''),
    faults: [],
  }
}

const others = CHAT_WIRES.filter((wire) => wire !== 'chat-completions').flatMap((wire) =>
  [true, false].map((stream) => [wire, stream] as const),
)

describe.each(Object.entries(FORMS))('drawn %s', (_, made) => {
  test.each(others)('%s, stream %p: what is inline', async (wire, stream) => {
    form = made(INLINE)
    const response = await gateway.post(PATHS[wire], bodyOn(wire, stream))
    const shown = shownIn(wire, await response.text(), stream)
    expect(response.status).toBe(200)
    expect(shown.faults).toEqual([])
    expect(shown.text).toStartWith('A kite.')
    expect(shown.pictures).toEqual(wire === 'responses' ? [INLINE] : [])
    if (wire === 'messages') expect(shown.text).toMatch(/A picture was drawn \(image\/png, \d+ KB\)/)
    expect(shown.text).not.toContain(PNG)
  })

  test.each(others)('%s, stream %p: what is a link', async (wire, stream) => {
    form = made(LINK)
    const response = await gateway.post(PATHS[wire], bodyOn(wire, stream))
    const shown = shownIn(wire, await response.text(), stream)
    expect([response.status, shown.faults, shown.pictures]).toEqual([200, [], []])
    expect(shown.text).toContain(`![image](${LINK})`)
  })
})

test.each([true, false])('on the server’s own wire the bytes pass, stream %p', async (stream) => {
  form = (FORMS['beside the text'] as (url: string) => typeof form)(INLINE)
  const response = await gateway.post('/v1/chat/completions', bodyOn('chat-completions', stream))
  expect(shownIn('chat-completions', await response.text(), stream).pictures).toEqual([INLINE])
})

test.each([true, false])(
  'what another vendor’s tool has drawn reaches chat clients beside the text, stream %p',
  async (stream) => {
    const call = { type: 'image_generation_call', id: 'ig_1', status: 'completed', output_format: 'png', result: PNG }
    const whole = {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [call],
      usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
    }
    const frames = [
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...call, status: 'in_progress', result: null } },
      { type: 'response.output_item.done', output_index: 0, item: call },
      { type: 'response.completed', response: whole },
    ]
    const vendor = await startScripted(({ text }) =>
      JSON.parse(text).stream === true
        ? {
            headers: { 'content-type': 'text/event-stream' },
            steps: frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`),
          }
        : json(whole),
    )
    const other = await startGateway({ config: onlyProvider(`${vendor.origin}/v1`, { wires: ['responses'] }) })
    try {
      const response = await other.post('/v1/chat/completions', bodyOn('chat-completions', stream))
      expect(shownIn('chat-completions', await response.text(), stream).pictures).toEqual([INLINE])
    } finally {
      await other.stop()
      await vendor.stop()
    }
  },
)

test('a drawn picture that comes back goes on to the model', async () => {
  form = (FORMS['beside the text'] as (url: string) => typeof form)(INLINE)
  const first = JSON.parse(await (await gateway.post('/v1/responses', bodyOn('responses', false))).text())
  const turns = [{ role: 'user', content: 'Draw.' }, ...first.output, { role: 'user', content: 'Again.' }]
  expect((await gateway.post('/v1/responses', bodyOn('responses', false, turns))).status).toBe(200)
  expect(provider.requests.at(-1)?.text).toContain(INLINE)
})
