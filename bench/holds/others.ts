// What is large by other ways than a text in one body of JSON: vectors, likelihoods, many choices, events of one character, forms,
// events of a WebSocket.

type Answer = { text: string; type: string }

/** `model`: by the wire that serves it. `isSocket`: the request is one event of a WebSocket. */
export type Other = {
  name: string
  path: string
  model: string
  type: string
  request: (model: string, size: number) => string | Uint8Array<ArrayBuffer>
  answer?: (size: number) => Answer
  isSocket?: true
}

const JSON_TYPE = 'application/json'
const SSE_TYPE = 'text/event-stream'
const listOf = <T>(count: number, one: (at: number) => T): T[] =>
  Array.from({ length: Math.floor(count) }, (_, at) => one(at))

const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 }

const vectors = (size: number, embedding: (at: number) => unknown, bytesOfOne: number): Answer => ({
  text: JSON.stringify({
    object: 'list',
    model: 'm',
    data: listOf(size / bytesOfOne, (index) => ({ object: 'embedding', index, embedding: embedding(index) })),
    usage: { prompt_tokens: 40, total_tokens: 40 },
  }),
  type: JSON_TYPE,
})
const numbers = (size: number): Answer =>
  vectors(size, (index) => listOf(1_536, (at) => Math.sin(index * 1_536 + at)), 32_000)
const packedAlready = (size: number): Answer =>
  vectors(size, (index) => Buffer.from(new Float32Array(1_536).fill(index / 7).buffer).toString('base64'), 8_260)

const embedding = (name: string, format: string, answer: (size: number) => Answer): Other => ({
  ...{ name, path: '/v1/embeddings', model: 'embeddings', type: JSON_TYPE, answer },
  request: (model) => JSON.stringify({ model, input: ['hi'], encoding_format: format }),
})

const likely = (token: string): object => ({ token, logprob: -0.2512345, bytes: [...Buffer.from(token)] })
const likelihoods = (tokens: number): object[] => {
  const others = listOf(20, (at) => likely(` wo${at}`))
  return listOf(tokens, () => ({ ...likely(' word'), top_logprobs: others }))
}
/** Bytes of one token with twenty others beside it. */
const LIKELY_BYTES = 1_420

const choice = (index: number, message: object, more: object = {}): object => ({
  ...{ index, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...more },
})
const completion = (choices: object[]): Answer => ({
  text: JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage: USAGE }),
  type: JSON_TYPE,
})
const chunk = (choices: object[], more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`
const delta = (index: number, said: object, more: object = {}): object => ({
  ...{ index, delta: said, finish_reason: null, ...more },
})
const streamed = (chunks: readonly string[], choices = 1): Answer => ({
  text: [
    chunk(listOf(choices, (index) => delta(index, { role: 'assistant', content: '' }))),
    ...chunks,
    chunk(listOf(choices, (index) => ({ index, delta: {}, finish_reason: 'stop' }))),
    chunk([], { usage: USAGE }),
    'data: [DONE]\n\n',
  ].join(''),
  type: SSE_TYPE,
})

/** On each of these, all of which such a model is asked by. */
const CLIENTS = {
  passed: {
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: 'hi' }] },
    likely: { logprobs: true, top_logprobs: 20 },
  },
  'translated for messages': {
    path: '/v1/messages',
    body: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 64 },
    likely: {},
  },
  'translated for responses': {
    path: '/v1/responses',
    body: { input: 'hi', store: false },
    likely: { top_logprobs: 20, include: ['message.output_text.logprobs'] },
  },
}

type Chat = { stream?: boolean; more?: object; isLikely?: true; only?: keyof typeof CLIENTS }
const chat = (name: string, { stream = false, more = {}, isLikely, only }: Chat, answer: Other['answer']): Other[] =>
  Object.entries(CLIENTS).flatMap(([how, { path, body, likely }]): Other[] =>
    only !== undefined && how !== only
      ? []
      : [
          {
            ...{ name: `${name}, ${how}`, path, model: 'chat-completions', type: JSON_TYPE },
            request: (model) => JSON.stringify({ model, ...body, ...(isLikely ? likely : {}), ...more, stream }),
            ...(answer && { answer }),
          },
        ],
  )

const BOUNDARY = 'between-two-parts'
const part = (name: string, value: string | Uint8Array, file?: string): Uint8Array[] => [
  Buffer.from(
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file ? `; filename="${file}"\r\ncontent-type: application/octet-stream` : ''}\r\n\r\n`,
  ),
  typeof value === 'string' ? Buffer.from(value) : value,
  Buffer.from('\r\n'),
]
const formOf = (parts: Uint8Array[][]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat([...parts.flat(), Buffer.from(`--${BOUNDARY}--\r\n`)]))
const form = (name: string, path: string, model: string, parts: (size: number) => Uint8Array[][]): Other => ({
  ...{ name: `form, ${name}`, path, model, type: `multipart/form-data; boundary=${BOUNDARY}` },
  request: (of, size) => formOf([part('model', of), ...parts(size)]),
  answer: () => ({
    text: JSON.stringify({ created: 1, text: 'hi', data: [{ b64_json: 'aGk=' }], usage: USAGE }),
    type: JSON_TYPE,
  }),
})
const noise = (size: number): Uint8Array => Buffer.alloc(Math.max(1, Math.floor(size)), 'PNG\r\n--between-two-part\0')

const events = (name: string, model: string, input: (size: number) => unknown): Other => ({
  ...{ name: `WebSocket, ${name}, to ${model}`, path: '/v1/responses', model, type: JSON_TYPE, isSocket: true },
  request: (of, size) => JSON.stringify({ type: 'response.create', model: of, store: false, input: input(size) }),
})
const said = (text: string): object => ({ role: 'user', content: [{ type: 'input_text', text }] })
const turns = (size: number): object[] =>
  listOf(size / 2_100, (at) => ({
    ...{ role: at % 2 === 0 ? 'user' : 'assistant' },
    content: [{ type: at % 2 === 0 ? 'input_text' : 'output_text', text: `${at}`.padEnd(2_000, 'x') }],
  }))

export const OTHERS: readonly Other[] = [
  embedding('vectors as numbers, passed', 'float', numbers),
  embedding('vectors as numbers, packed', 'base64', numbers),
  embedding('vectors in base64, passed', 'base64', packedAlready),
  ...chat('likelihoods, whole', { isLikely: true }, (size) => {
    const content = likelihoods(Math.min(size / LIKELY_BYTES, 15_000))
    return completion([
      choice(0, { content: ' word'.repeat(content.length) }, { logprobs: { content, refusal: null } }),
    ])
  }),
  ...chat('likelihoods, an event each', { isLikely: true, stream: true }, (size) => {
    const content = likelihoods(1)
    return streamed(listOf(size / 1_550, () => chunk([delta(0, { content: ' word' }, { logprobs: { content } })])))
  }),
  ...chat('128 choices, whole', { more: { n: 128 }, only: 'passed' }, (size) =>
    completion(listOf(128, (index) => choice(index, { content: 'word '.repeat(size / 128 / 5 - 20) }))),
  ),
  ...chat('128 choices, in words', { more: { n: 128 }, stream: true, only: 'passed' }, (size) =>
    streamed(
      listOf(size / 160, (at) => chunk([delta(at % 128, { content: 'word ' })])),
      128,
    ),
  ),
  ...chat('events of one character', { stream: true }, (size) =>
    streamed(listOf(size / 150, () => chunk([delta(0, { content: 'x' })]))),
  ),
  ...chat('events of nothing', { stream: true, only: 'passed' }, (size) =>
    streamed(listOf(size / 14, (at) => (at % 2 === 0 ? ': keep-alive\n\n' : 'data:\n\n'))),
  ),
  ...chat('calls in words', { stream: true }, (size) =>
    streamed(
      listOf(size / 210, (at) => {
        const index = Math.floor(at / 40)
        const isLast = at % 40 === 39 || at === Math.floor(size / 210) - 1
        const words = at % 40 === 0 ? '{"a":"' : isLast ? '"}' : 'word '
        const begun = at % 40 === 0 ? { id: `call_${index}`, type: 'function' } : {}
        const said = { ...(at % 40 === 0 ? { name: 'a' } : {}), arguments: words }
        return chunk([delta(0, { tool_calls: [{ index, ...begun, function: said }] })])
      }),
    ),
  ),
  form('a picture', '/v1/images/edits', 'images', (size) => [
    part('prompt', 'hi'),
    part('image', noise(size - 2_000), 'a.png'),
  ]),
  form('many pictures', '/v1/images/edits', 'images', (size) => [
    part('prompt', 'hi'),
    ...listOf(900, (at) => part('image[]', noise(size / 900 - 160), `${at}.png`)),
  ]),
  form('many fields', '/v1/images/edits', 'images', (size) => [
    part('image', noise(100), 'a.png'),
    part('prompt', 'hi'),
    ...listOf(900, (at) => part(`field${at}`, 'x'.repeat(Math.max(1, size / 900 - 120)))),
  ]),
  form('a sound', '/v1/audio/transcriptions', 'audio', (size) => [part('file', noise(size - 2_000), 'a.wav')]),
  ...['responses', 'messages', 'chat-completions'].flatMap((model) => [
    events('one long text', model, (size) => [said('word and word '.repeat((size - 300) / 14))]),
    events('text of many escapes', model, (size) => [
      said(`"\n`.repeat(1_400_000) + 'x'.repeat(Math.max(0, size - 5_700_000))),
    ]),
    events('turns of two kilobytes', model, turns),
    events('pictures', model, (size) => [
      {
        role: 'user',
        content: listOf(20, () => ({
          type: 'input_image',
          image_url: `data:image/png;base64,iVBORw0KGgo${'AAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAB'.repeat((size / 20 - 200) / 36)}`,
        })),
      },
    ]),
  ]),
]
