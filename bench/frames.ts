// The provider's fixed answers: for each text wire one JSON body and one stream of exactly FRAMES frames, shaped like
// the vendors' own (field for field, dated model ids, multi-byte and escaped text), so that reading them costs the same.

import type { ChatWire } from '../src/ir/wire.ts'

/** Frames of one streamed answer, the wire's opening and closing ones included. */
export const FRAMES = 200

const WORDS = [
  ' the',
  ' gateway',
  ' reads',
  ' each',
  ' naïve',
  ' token',
  ',',
  ' "quoted"',
  '\n',
  ' and',
  ' 中文',
  ' done.',
]
const MODEL = { messages: 'opus-4-8-20260101', 'chat-completions': '5.5-2026-03-01', responses: '5.5-2026-03-01' }
const CREATED = 1_790_000_000

const words = (count: number): string[] => Array.from({ length: count }, (_, n) => WORDS[n % WORDS.length] ?? '')
const dataFrame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`
const namedFrame = (data: { type: string; [member: string]: unknown }): string =>
  `event: ${data.type}\n${dataFrame(data)}`

/** A stream in three parts: what opens it, the frame of one text delta, what closes it after the given text. */
type Script = {
  open: string[]
  delta(text: string, index: number): string
  close(text: string, deltas: number): string[]
}

const chatChunk = (choices: unknown[], extra: object = {}): string =>
  dataFrame({
    id: 'chatcmpl-DSS9gZRs2opZ5c2kGKP97kKz5R7Ce',
    object: 'chat.completion.chunk',
    created: CREATED,
    model: MODEL['chat-completions'],
    service_tier: 'default',
    system_fingerprint: null,
    choices,
    ...extra,
  })

const chatUsage = {
  prompt_tokens: 42,
  completion_tokens: 196,
  total_tokens: 238,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
}

const chat: Script = {
  open: [
    chatChunk([{ index: 0, delta: { role: 'assistant', content: '', refusal: null }, finish_reason: null }], {
      usage: null,
      obfuscation: 'hD',
    }),
  ],
  delta: (text) =>
    chatChunk([{ index: 0, delta: { content: text }, finish_reason: null }], { usage: null, obfuscation: 'q7RcIx' }),
  close: () => [
    chatChunk([{ index: 0, delta: {}, finish_reason: 'stop' }], { usage: null, obfuscation: 'hbHQ6n' }),
    chatChunk([], { usage: chatUsage, obfuscation: '' }),
    'data: [DONE]\n\n',
  ],
}

const messagesUsage = {
  input_tokens: 42,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 1,
  service_tier: 'standard',
}

const messageStart = {
  id: 'msg_01XhqHGPjJVUsZTDbBVxFqVN',
  type: 'message',
  role: 'assistant',
  model: MODEL.messages,
  content: [] as unknown[],
  stop_reason: null as string | null,
  stop_sequence: null,
  usage: messagesUsage,
}

const messages: Script = {
  open: [
    namedFrame({ type: 'message_start', message: messageStart }),
    namedFrame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    namedFrame({ type: 'ping' }),
  ],
  delta: (text) => namedFrame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  close: () => [
    namedFrame({ type: 'content_block_stop', index: 0 }),
    namedFrame({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { ...messagesUsage, output_tokens: 196 },
    }),
    namedFrame({ type: 'message_stop' }),
  ],
}

const ITEM = 'msg_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b'
const outputText = (text: string) => ({ type: 'output_text', annotations: [], logprobs: [], text })
const outputItem = (status: string, content: unknown[]) => ({
  id: ITEM,
  type: 'message',
  status,
  content,
  role: 'assistant',
})
const responseObject = (status: string, output: unknown[], usage: unknown) => ({
  id: 'resp_68af402f1c248193b1f6d8b1a6f3a6a105438e46b5f69a3b',
  object: 'response',
  created_at: CREATED,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: MODEL.responses,
  output,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage,
  metadata: {},
})
const responsesUsage = {
  input_tokens: 42,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 196,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 238,
}
const at = { item_id: ITEM, output_index: 0, content_index: 0 }
const responsesFrame = (type: string, sequence_number: number, rest: object): string =>
  namedFrame({ type, sequence_number, ...rest })

const responses: Script = {
  open: [
    responsesFrame('response.created', 0, { response: responseObject('in_progress', [], null) }),
    responsesFrame('response.in_progress', 1, { response: responseObject('in_progress', [], null) }),
    responsesFrame('response.output_item.added', 2, { output_index: 0, item: outputItem('in_progress', []) }),
    responsesFrame('response.content_part.added', 3, { ...at, part: outputText('') }),
  ],
  delta: (text, index) =>
    responsesFrame('response.output_text.delta', 4 + index, {
      ...at,
      delta: text,
      logprobs: [],
      obfuscation: 'q7RcIx',
    }),
  close: (text, deltas) => {
    const item = outputItem('completed', [outputText(text)])
    return [
      responsesFrame('response.output_text.done', 4 + deltas, { ...at, text, logprobs: [] }),
      responsesFrame('response.content_part.done', 5 + deltas, { ...at, part: outputText(text) }),
      responsesFrame('response.output_item.done', 6 + deltas, { output_index: 0, item }),
      responsesFrame('response.completed', 7 + deltas, {
        response: responseObject('completed', [item], responsesUsage),
      }),
    ]
  },
}

const SCRIPTS: Record<ChatWire, Script> = { 'chat-completions': chat, messages, responses }

/** The text of one streamed answer of the wire, for checking that it came through. */
export const streamedText = (wire: ChatWire): string => words(deltaCount(SCRIPTS[wire])).join('')

const deltaCount = (script: Script): number => FRAMES - script.open.length - script.close('', 0).length

/** One streamed answer: FRAMES frames, blank lines included. */
export const streamFrames = (wire: ChatWire): string[] => {
  const script = SCRIPTS[wire]
  const deltas = words(deltaCount(script))
  return [...script.open, ...deltas.map(script.delta), ...script.close(deltas.join(''), deltas.length)]
}

/** What opens a stream, and one text delta: for streams that are held open or paced. */
export const openingFrames = (wire: ChatWire): string[] => SCRIPTS[wire].open
export const deltaFrame = (wire: ChatWire, text: string): string => SCRIPTS[wire].delta(text, 0)

/** One small JSON answer. */
export const jsonAnswer = (wire: ChatWire): string => {
  const text = 'The capital is Phnom Penh, where the rivers Tonlé Sap and Mekong meet.'
  if (wire === 'messages') {
    return JSON.stringify({
      ...messageStart,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { ...messagesUsage, output_tokens: 18 },
    })
  }
  if (wire === 'responses') {
    return JSON.stringify(responseObject('completed', [outputItem('completed', [outputText(text)])], responsesUsage))
  }
  return JSON.stringify({
    id: 'chatcmpl-DSS9gZRs2opZ5c2kGKP97kKz5R7Ce',
    object: 'chat.completion',
    created: CREATED,
    model: MODEL['chat-completions'],
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: chatUsage,
    service_tier: 'default',
    system_fingerprint: null,
  })
}
