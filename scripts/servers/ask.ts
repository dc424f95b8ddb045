// One question on each client wire by the vendors' own SDKs, and what was heard, in one form for all.

import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'

export type ClientWire = 'chat-completions' | 'responses' | 'messages'
export const CLIENT_WIRES: readonly ClientWire[] = ['chat-completions', 'responses', 'messages']

export type Question = {
  said: string
  stream?: boolean
  tool?: { name: string; description: string; schema: Record<string, unknown> }
  /** What the tool answered to the call that was heard before. */
  result?: { call: Call; text: string }
  schema?: Record<string, unknown>
  /** A PNG in base64. */
  picture?: string
  cap?: number
  stop?: string
}

export type Call = { id: string; name: string; input: unknown }

export type Heard = {
  text: string
  thought: string
  calls: Call[]
  end: 'end' | 'calls' | 'cap' | 'stop' | string
  /** Tokens of output. */
  output: number
  /** Events of text, where it was streamed. */
  pieces: number
}

export type Server = { url: string; key: string; model: string }

/** A call's input, however broken. */
const inputOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const clientOf = ({ url, key }: Server) => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })

type Chat = OpenAI.ChatCompletionCreateParamsNonStreaming

const chatBody = (model: string, q: Question): Chat => ({
  model,
  messages: [
    {
      role: 'user',
      content:
        q.picture === undefined
          ? q.said
          : [
              { type: 'text', text: q.said },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${q.picture}` } },
            ],
    },
    ...(q.result === undefined
      ? []
      : ([
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: q.result.call.id,
                type: 'function',
                function: { name: q.result.call.name, arguments: JSON.stringify(q.result.call.input) },
              },
            ],
          },
          { role: 'tool', tool_call_id: q.result.call.id, content: q.result.text },
        ] satisfies Chat['messages'])),
  ],
  ...(q.tool === undefined
    ? {}
    : {
        tools: [
          {
            type: 'function',
            function: { name: q.tool.name, description: q.tool.description, parameters: q.tool.schema },
          },
        ],
      }),
  ...(q.schema === undefined
    ? {}
    : { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: q.schema } } }),
  ...(q.cap === undefined ? {} : { max_completion_tokens: q.cap }),
  ...(q.stop === undefined ? {} : { stop: [q.stop] }),
})

const CHAT_ENDS: Record<string, Heard['end']> = { stop: 'end', length: 'cap', tool_calls: 'calls' }

/** A member that the SDK does not know. */
const thoughtIn = (holder: object): string => {
  const { reasoning_content: vendors, reasoning } = holder as { reasoning_content?: unknown; reasoning?: unknown }
  return typeof vendors === 'string' ? vendors : typeof reasoning === 'string' ? reasoning : ''
}

const askChat = async (server: Server, question: Question): Promise<Heard> => {
  const { completions } = clientOf(server).chat
  const body = chatBody(server.model, question)
  let pieces = 0
  let thought = ''
  let answer: OpenAI.ChatCompletion
  if (question.stream) {
    const stream = completions.stream({ ...body, stream: true, stream_options: { include_usage: true } })
    stream.on('content', () => pieces++)
    stream.on('chunk', ({ choices: [choice] }) => {
      if (choice !== undefined) thought += thoughtIn(choice.delta)
    })
    answer = await stream.finalChatCompletion()
  } else {
    answer = await completions.create(body)
  }
  const choice = answer.choices[0]
  if (choice === undefined) throw new Error('an answer without a choice')
  const { message } = choice
  return {
    text: message.content ?? '',
    thought: thought || thoughtIn(message),
    calls: (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, input: inputOf(call.function.arguments) }]
        : [],
    ),
    // The wire has one word for both.
    end:
      choice.finish_reason === 'stop' && question.stop !== undefined ? 'stop' : endOf(CHAT_ENDS, choice.finish_reason),
    output: answer.usage?.completion_tokens ?? 0,
    pieces,
  }
}

const endOf = (ends: Record<string, Heard['end']>, word: string | null | undefined): Heard['end'] =>
  ends[word ?? ''] ?? String(word)

type Responses = OpenAI.Responses.ResponseCreateParamsNonStreaming

const responsesBody = (model: string, q: Question): Responses => ({
  model,
  store: false,
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: q.said },
        ...(q.picture === undefined
          ? []
          : [
              {
                type: 'input_image' as const,
                detail: 'auto' as const,
                image_url: `data:image/png;base64,${q.picture}`,
              },
            ]),
      ],
    },
    ...(q.result === undefined
      ? []
      : ([
          {
            type: 'function_call',
            call_id: q.result.call.id,
            name: q.result.call.name,
            arguments: JSON.stringify(q.result.call.input),
          },
          { type: 'function_call_output', call_id: q.result.call.id, output: q.result.text },
        ] satisfies OpenAI.Responses.ResponseInput)),
  ],
  ...(q.tool === undefined
    ? {}
    : {
        tools: [
          {
            type: 'function',
            strict: false,
            name: q.tool.name,
            description: q.tool.description,
            parameters: q.tool.schema,
          },
        ],
      }),
  ...(q.schema === undefined
    ? {}
    : { text: { format: { type: 'json_schema', name: 'answer', strict: true, schema: q.schema } } }),
  ...(q.cap === undefined ? {} : { max_output_tokens: q.cap }),
})

const askResponses = async (server: Server, question: Question): Promise<Heard> => {
  const { responses } = clientOf(server)
  const body = responsesBody(server.model, question)
  let pieces = 0
  let answer: OpenAI.Responses.Response
  if (question.stream) {
    const stream = responses.stream({ ...body, stream: true })
    stream.on('response.output_text.delta', () => pieces++)
    answer = await stream.finalResponse()
  } else {
    answer = await responses.create(body)
  }
  const calls = answer.output.flatMap((item) =>
    item.type === 'function_call' ? [{ id: item.call_id, name: item.name, input: inputOf(item.arguments) }] : [],
  )
  const thought = answer.output.flatMap((item) =>
    item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])].map(({ text }) => text) : [],
  )
  const cut = answer.incomplete_details?.reason === 'max_output_tokens'
  const end = answer.status !== 'completed' ? (cut ? 'cap' : String(answer.status)) : calls.length > 0 ? 'calls' : 'end'
  return {
    ...{ text: answer.output_text, thought: thought.join(''), calls, end, pieces },
    output: answer.usage?.output_tokens ?? 0,
  }
}

type Messages = Anthropic.MessageCreateParamsNonStreaming

const messagesBody = (model: string, q: Question): Messages => ({
  model,
  max_tokens: q.cap ?? 300,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: q.said },
        ...(q.picture === undefined
          ? []
          : [
              {
                type: 'image' as const,
                source: { type: 'base64' as const, media_type: 'image/png' as const, data: q.picture },
              },
            ]),
      ],
    },
    ...(q.result === undefined
      ? []
      : ([
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: q.result.call.id, name: q.result.call.name, input: q.result.call.input }],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: q.result.call.id, content: q.result.text }] },
        ] satisfies Messages['messages'])),
  ],
  ...(q.tool === undefined
    ? {}
    : {
        tools: [
          {
            name: q.tool.name,
            description: q.tool.description,
            input_schema: { ...q.tool.schema, type: 'object' as const },
          },
        ],
      }),
  ...(q.schema === undefined ? {} : { output_config: { format: { type: 'json_schema' as const, schema: q.schema } } }),
  ...(q.stop === undefined ? {} : { stop_sequences: [q.stop] }),
})

const MESSAGES_ENDS: Record<string, Heard['end']> = {
  end_turn: 'end',
  max_tokens: 'cap',
  tool_use: 'calls',
  stop_sequence: 'stop',
}

const askMessages = async (server: Server, question: Question): Promise<Heard> => {
  const { messages } = messagesClient(server)
  const body = messagesBody(server.model, question)
  let pieces = 0
  let answer: Anthropic.Message
  if (question.stream) {
    const stream = messages.stream(body)
    stream.on('text', () => pieces++)
    answer = await stream.finalMessage()
  } else {
    answer = await messages.create(body)
  }
  const texts = answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  const blank = texts.some((text) => text.trim() === '') && texts.length > 1
  return {
    text: blank ? `blank blocks: ${JSON.stringify(texts)}` : texts.join(''),
    thought: answer.content.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : [])).join(''),
    calls: answer.content.flatMap((block) => (block.type === 'tool_use' ? [block] : [])),
    end: endOf(MESSAGES_ENDS, answer.stop_reason),
    output: answer.usage.output_tokens,
    pieces,
  }
}

const messagesClient = ({ url, key }: Server) => new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 })

export const ask = (wire: ClientWire, server: Server, question: Question): Promise<Heard> =>
  wire === 'chat-completions'
    ? askChat(server, question)
    : wire === 'responses'
      ? askResponses(server, question)
      : askMessages(server, question)

/** What a prompt is counted as, on the wires that count. */
export const count = async (wire: ClientWire, server: Server, said: string): Promise<number | undefined> => {
  const { model } = server
  if (wire === 'chat-completions') return undefined
  if (wire === 'responses') {
    return (await clientOf(server).responses.inputTokens.count({ model, input: said })).input_tokens
  }
  const messages: Messages['messages'] = [{ role: 'user', content: said }]
  return (await messagesClient(server).messages.countTokens({ model, messages })).input_tokens
}

/** What was refused, and how, where it was. */
export const refusalOf = (thrown: unknown): { status: number; code: string; text: string } | undefined => {
  if (!(thrown instanceof OpenAI.APIError || thrown instanceof Anthropic.APIError)) return undefined
  const body = thrown.error as { code?: unknown; error?: { code?: unknown } } | undefined
  const code = body?.error?.code ?? body?.code
  return { status: Number(thrown.status ?? 0), code: String(code ?? ''), text: thrown.message }
}
