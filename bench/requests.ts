// The bodies the clients of the bench send: a small question, and what a coding agent sends after a few dozen turns.

/** A one-line question in a wire that carries `messages`. */
export const smallQuestion = (model: string, stream: boolean, extra: object = {}): string =>
  JSON.stringify({
    model,
    max_tokens: 1024,
    messages: [{ role: 'user', content: 'What is the capital of Cambodia, and which rivers meet there?' }],
    ...(stream ? { stream: true } : {}),
    ...extra,
  })

/** A one-line question in the responses wire. */
export const smallResponsesQuestion = (model: string): string =>
  JSON.stringify({
    model,
    max_output_tokens: 1024,
    input: [{ role: 'user', content: 'What is the capital of Cambodia, and which rivers meet there?' }],
    store: false,
    stream: true,
  })

const SOURCE_LINE = (n: number): string =>
  `  const row${n} = rows.find((r) => r.id === "item-${n}" && r.path !== 'C:\\\\tmp\\\\${n}') ?? { naïve: true, n: ${n} } // ${n * 7919}\n`
const PROSE =
  'Read the file before you edit it; keep names as they are in the tree. Prefer small changes that can be reviewed alone. '

const schema = (n: number) => ({
  type: 'object',
  properties: {
    file_path: { type: 'string', description: `The absolute path of the file tool ${n} works on. ${PROSE}` },
    pattern: { type: 'string', description: `A regular expression, e.g. "log.*Error" or "function\\s+\\w+". ${PROSE}` },
    limit: { type: 'integer', description: 'The most lines to give back.', minimum: 1, maximum: 2000 },
    mode: { type: 'string', enum: ['content', 'files_with_matches', 'count'], description: 'The form of the output.' },
    edits: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          old_string: { type: 'string', description: 'The text to replace.' },
          new_string: { type: 'string', description: 'The text to put in its place (must differ).' },
          replace_all: { type: 'boolean', default: false },
        },
        required: ['old_string', 'new_string'],
        additionalProperties: false,
      },
    },
  },
  required: ['file_path'],
  additionalProperties: false,
})

const turnPair = (n: number, lines: number) => {
  const output = Array.from({ length: lines }, (_, line) => `${line + 1}\t${SOURCE_LINE(n * 100 + line)}`).join('')
  const id = `toolu_01${String(n).padStart(22, 'A')}`
  return [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: `I look at part ${n} of the module to see where the rows are read. ${PROSE}` },
        {
          type: 'tool_use',
          id,
          name: `tool_${n % 40}`,
          input: { file_path: `/home/user/project/src/part-${n}.ts`, pattern: 'row\\d+', limit: lines },
        },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: output }] },
        ...(n % 5 === 0 ? [{ type: 'text', text: `Go on with part ${n + 1}, and mind the “quotes”. ${PROSE}` }] : []),
      ],
    },
  ]
}

/** A messages body of at least `bytes` bytes: system blocks, 40 tools with schemas, turns of text and tool results of `lines`. */
export const agentConversation = (model: string, bytes: number, { stream = false, lines = 24 } = {}): string => {
  const body = {
    model,
    max_tokens: 8192,
    ...(stream ? { stream } : {}),
    system: [
      { type: 'text', text: 'You are a coding agent at work in the terminal of its user.' },
      { type: 'text', text: PROSE.repeat(60), cache_control: { type: 'ephemeral' } },
    ],
    tools: Array.from({ length: 40 }, (_, n) => ({
      name: `tool_${n}`,
      description: `Tool ${n}. ${PROSE.repeat(3)}`,
      input_schema: schema(n),
    })),
    metadata: { user_id: '{"device_id":"d41d8cd98f","session_id":"0b1c7a52-5a0e-4d8a-9a53-0d3c1f0f4f11"}' },
    messages: [
      { role: 'user', content: [{ type: 'text', text: `Find where the rows are read. ${PROSE}` }] },
    ] as unknown[],
  }
  let size = Buffer.byteLength(JSON.stringify(body))
  for (let n = 0; size < bytes; n++) {
    const pair = turnPair(n, lines)
    body.messages.push(...pair)
    size += Buffer.byteLength(JSON.stringify(pair))
  }
  return JSON.stringify(body)
}

/** One of at most `bytes`, as large as a body may be: in turns as short as a small one has, it would hold too many objects. */
export const largestConversation = (model: string, bytes: number): string =>
  agentConversation(model, bytes - 200_000, { lines: 100 })

/** The same conversation as clients of the chat wire have it: calls with their arguments as text, results as messages. */
export const agentChat = (model: string, bytes: number): string => {
  const conversation = JSON.parse(agentConversation(model, bytes)) as Conversation
  const { system, tools, messages } = conversation
  return JSON.stringify({
    model,
    max_tokens: 8192,
    messages: [
      { role: 'system', content: system.map(({ text }) => text).join('\n\n') },
      ...messages.flatMap(({ role, content }) => (role === 'assistant' ? [chatCall(content)] : chatResults(content))),
    ],
    tools: tools.map(({ name, description, input_schema: parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
  })
}

/** A block of a turn on the messages wire. */
export type Block = {
  type: string
  text?: string
  id?: string
  name?: string
  input?: unknown
  tool_use_id?: string
  content?: Block[]
  source?: unknown
}
type Conversation = {
  system: { text: string }[]
  tools: { name: string; description: string; input_schema: unknown }[]
  messages: { role: string; content: Block[] }[]
}

const textIn = (blocks: Block[] = []): string => blocks.map(({ text = '' }) => text).join('')

const chatCall = (content: Block[]): object => ({
  role: 'assistant',
  content: textIn(content),
  tool_calls: content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } })),
})

const chatResults = (content: Block[]): object[] =>
  content.map((block) =>
    block.type === 'tool_result'
      ? { role: 'tool', tool_call_id: block.tool_use_id, content: textIn(block.content) }
      : { role: 'user', content: [{ type: 'text', text: block.text }] },
  )

/** A messages body with screenshots at the end of its last turn. */
export const withPictures = (conversation: string, { count, chars }: { count: number; chars: number }): string => {
  const body = JSON.parse(conversation) as Conversation
  const data = `iVBORw0KGgo${'AAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAB'.repeat(Math.ceil(chars / 36)).slice(0, chars - 11)}`
  const source = { type: 'base64', media_type: 'image/png', data }
  const pictures = Array.from({ length: count }, () => ({ type: 'image', source }))
  body.messages.at(-1)?.content.push(...pictures, { type: 'text', text: 'This is what the page looks like now.' })
  return JSON.stringify(body)
}
