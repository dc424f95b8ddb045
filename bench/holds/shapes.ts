// The worst of what may be sent and answered: as much of everything as the bounds of JSON allow, on each wire, and shapes
// that are refused.

import { HOSTILE } from '../../scripts/fuzz/bodies.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import { type Block, largestConversation } from '../requests.ts'

/** What a request says, on no wire yet. */
type Said =
  | { role: 'user' | 'assistant'; texts: string[]; plain?: true }
  | { role: 'user'; images: string[] }
  | { call: string; name: string; input: unknown }
  | { result: string; text: string }

type Asked = { said: Said[]; tools?: { name: string; schema: object }[] }

const listOf = <T>(count: number, one: (at: number) => T): T[] =>
  Array.from({ length: Math.floor(count) }, (_, at) => one(at))

const oneText = (text: string): Asked => ({ said: [{ role: 'user', texts: [text] }] })
const toolWith = (schema: object): Asked => ({
  said: [{ role: 'user', texts: ['hi'] }],
  tools: [{ name: 'a', schema: { type: 'object', properties: {}, ...schema } }],
})

const ESCAPES = 1_400_000

/** Texts of about so many bytes of JSON. */
const TEXTS: Record<string, (size: number) => string> = {
  'one long text': (size) => 'word and word '.repeat(size / 14 - 20),
  'text in another script': (size) => 'ខ្មែរ '.repeat(size / 16 - 20),
  'text of many escapes': (size) => {
    const count = Math.min(ESCAPES, Math.floor(size / 5))
    return `"\n`.repeat(count) + 'x'.repeat(Math.max(0, size - 4 * count - 300))
  },
}

/** Half of what a translation may read: objects and lists come to as much again. */
const READ_BYTES = 4 * 1024 * 1024

const turnsOf = (count: number, bytes: number): Said[] =>
  listOf(count, (at) => ({
    role: at % 2 === 0 ? 'assistant' : 'user',
    texts: [`${at}`.padEnd(bytes, 'x')],
    plain: true,
  }))

/** What is read as a whole, of about so many bytes, in as many objects and values as are let in. */
const READ: Record<string, (size: number) => Asked> = {
  'short turns': (size) => ({ said: turnsOf(30_000, size / 30_000 - 35) }),
  'short blocks': (size) => ({
    said: [{ role: 'user', texts: listOf(30_000, (at) => `${at}`.padEnd(size / 30_000 - 35, 'x')) }],
  }),
  'short calls and results': (size) => ({
    said: listOf(3_300, (at) => [
      { call: `call_${at}`, name: 'a', input: { path: `${at}`.padEnd(size / 6_600 - 150, 'x') } },
      { result: `call_${at}`, text: `${at}`.padEnd(size / 6_600 - 150, 'x') },
    ]).flat(),
    tools: [{ name: 'a', schema: { type: 'object', properties: { path: { type: 'string' } } } }],
  }),
  'a call of many values': (size) => ({
    said: [
      { call: 'call_1', name: 'a', input: { a: listOf(140_000, (at) => `s${at}`.padEnd(size / 140_000 - 8, 'x')) } },
      { result: 'call_1', text: 'done' },
    ],
  }),
  'a call of many objects': (size) => ({
    said: [
      {
        call: 'call_1',
        name: 'a',
        input: { a: listOf(30_000, (at) => ({ a: `${at}`.padEnd(size / 30_000 - 14, 'x') })) },
      },
      { result: 'call_1', text: 'done' },
    ],
  }),
  'short tools': (size) => ({
    said: [{ role: 'user', texts: ['hi'] }],
    tools: listOf(6_000, (at) => ({
      name: `tool_${at}`,
      schema: { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(size / 6_000 - 230) } } },
    })),
  }),
}

/** Bodies that are let in. */
const GOOD: Record<string, (size: number) => Asked> = {
  ...Object.fromEntries(Object.entries(TEXTS).map(([name, text]) => [name, (size: number) => oneText(text(size))])),
  'pictures in base64': (size) => ({
    said: [
      {
        role: 'user',
        images: listOf(40, () => `iVBORw0KGgo${'AAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAB'.repeat((size / 40 - 300) / 36)}`),
      },
    ],
  }),
  'an agent’s conversation': (size) => conversation(size),
  'results of tools': (size) => ({
    said: listOf(100, (at) => [
      { call: `call_${at}`, name: 'a', input: { path: `/a/${at}` } },
      {
        result: `call_${at}`,
        text: `const a = "${at}"; // as it was before, and after\n`.repeat((size / 100 - 300) / 58),
      },
    ]).flat(),
    tools: [{ name: 'a', schema: { type: 'object', properties: { path: { type: 'string' } } } }],
  }),
  'blocks up to the bound': (size) => ({
    said: [{ role: 'user', texts: listOf(11_500, (at) => `${at}${'x'.repeat(size / 11_500 - 50)}`) }],
  }),
  'messages up to the bound': (size) => ({
    said: listOf(11_500, (at) => ({
      role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
      texts: [`${at}${'x'.repeat(size / 11_500 - 120)}`],
    })),
  }),
  'short messages up to the bound': (size) => ({
    said: listOf(48_000, (at) => ({
      role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
      texts: [`${at}${'x'.repeat(size / 48_000 - 50)}`],
      plain: true as const,
    })),
  }),
  'tools up to the bound': (size) => ({
    said: [{ role: 'user', texts: ['hi'] }],
    tools: listOf(9_000, (at) => ({
      name: `tool_${at}`,
      schema: { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(size / 9_000 - 230) } } },
    })),
  }),
  ...Object.fromEntries(
    Object.entries(READ).map(([name, make]) => [
      `${name} beside a long text`,
      (size: number): Asked => {
        const read = Math.min(size / 2, READ_BYTES)
        const { said, tools } = make(read)
        return {
          said: [{ role: 'user', texts: ['word and word '.repeat((size - read) / 14 - 40)] }, ...said],
          ...(tools && { tools }),
        }
      },
    ]),
  ),
  'short strings up to the bound': (size) =>
    toolWith({ enum: listOf(145_000, (at) => `s${at}`.padEnd(Math.floor(size / 145_000) - 20, 'x')) }),
  'kinds of objects up to the bound': (size) =>
    toolWith(Object.fromEntries(listOf(9_900, (at) => [`n${at}`, { type: 'x'.repeat(size / 9_900 - 40) }]))),
}

const conversation = (size: number): Asked => {
  const { messages, tools } = JSON.parse(largestConversation('', size)) as {
    messages: { role: 'user' | 'assistant'; content: Block[] }[]
    tools: { name: string; input_schema: object }[]
  }
  return {
    said: messages.flatMap(({ role, content }) =>
      content.map((block): Said => {
        if (block.type === 'tool_use') return { call: block.id ?? '', name: block.name ?? '', input: block.input }
        if (block.type === 'tool_result')
          return { result: block.tool_use_id ?? '', text: block.content?.[0]?.text ?? '' }
        return { role, texts: [block.text ?? ''] }
      }),
    ),
    tools: tools.map(({ name, input_schema }) => ({ name, schema: input_schema })),
  }
}

const dataUrl = (data: string): string => `data:image/png;base64,${data}`

/** A request of the wire. */
const WRITTEN: Record<ChatWire, (model: string, asked: Asked) => object> = {
  messages: (model, { said, tools }) => ({
    model,
    max_tokens: 64,
    messages: said.map((one) => {
      if ('call' in one)
        return { role: 'assistant', content: [{ type: 'tool_use', id: one.call, name: one.name, input: one.input }] }
      if ('result' in one)
        return {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: one.result, content: [{ type: 'text', text: one.text }] }],
        }
      if ('images' in one)
        return {
          role: one.role,
          content: one.images.map((data) => ({
            type: 'image',
            source: { type: 'base64', media_type: 'image/png', data },
          })),
        }
      if (one.plain === true) return { role: one.role, content: one.texts.join('') }
      return { role: one.role, content: one.texts.map((text) => ({ type: 'text', text })) }
    }),
    ...(tools && { tools: tools.map(({ name, schema }) => ({ name, input_schema: schema })) }),
  }),
  'chat-completions': (model, { said, tools }) => ({
    model,
    messages: said.map((one) => {
      if ('call' in one) {
        const call = { name: one.name, arguments: JSON.stringify(one.input) }
        return { role: 'assistant', content: null, tool_calls: [{ id: one.call, type: 'function', function: call }] }
      }
      if ('result' in one) return { role: 'tool', tool_call_id: one.result, content: one.text }
      if ('images' in one)
        return {
          role: one.role,
          content: one.images.map((data) => ({ type: 'image_url', image_url: { url: dataUrl(data) } })),
        }
      if (one.plain === true) return { role: one.role, content: one.texts.join('') }
      return { role: one.role, content: one.texts.map((text) => ({ type: 'text', text })) }
    }),
    ...(tools && {
      tools: tools.map(({ name, schema }) => ({ type: 'function', function: { name, parameters: schema } })),
    }),
  }),
  responses: (model, { said, tools }) => ({
    model,
    store: false,
    input: said.map((one) => {
      if ('call' in one)
        return { type: 'function_call', call_id: one.call, name: one.name, arguments: JSON.stringify(one.input) }
      if ('result' in one) return { type: 'function_call_output', call_id: one.result, output: one.text }
      if ('images' in one)
        return {
          role: one.role,
          content: one.images.map((data) => ({ type: 'input_image', image_url: dataUrl(data) })),
        }
      if (one.plain === true) return { role: one.role, content: one.texts.join('') }
      const type = one.role === 'user' ? 'input_text' : 'output_text'
      return { role: one.role, content: one.texts.map((text) => ({ type, text })) }
    }),
    ...(tools && { tools: tools.map(({ name, schema }) => ({ type: 'function', name, parameters: schema })) }),
  }),
}

type Shape = { name: string; isRefused: boolean; body: (wire: ChatWire, model: string, size: number) => string }

export const REQUESTS: readonly Shape[] = [
  ...Object.entries(GOOD).map(([name, asked]) => ({
    name,
    isRefused: false,
    body: (wire: ChatWire, model: string, size: number) => JSON.stringify(WRITTEN[wire](model, asked(size))),
  })),
  ...Object.entries(HOSTILE).map(([name, make]) => ({
    name,
    isRefused: true,
    body: (wire: ChatWire, model: string, size: number) => {
      const small = JSON.stringify(WRITTEN[wire](model, oneText('hi')))
      return `${small.slice(0, -1)},"x":${make(size - 400)}}`
    },
  })),
]

/** What an answer says. */
type Answered = { texts?: string[]; calls?: { name: string; input: string }[] }

const ANSWERS_SAID: Record<string, (size: number) => Answered> = {
  ...Object.fromEntries(
    Object.entries(TEXTS).map(([name, text]) => [name, (size: number) => ({ texts: [text(size)] })]),
  ),
  'texts up to the bound': (size) => ({ texts: listOf(30_000, (at) => `${at}${'x'.repeat(size / 30_000 - 80)}`) }),
  'calls up to the bound': (size) => ({
    calls: listOf(15_000, (at) => ({
      name: 'a',
      input: JSON.stringify({ path: `${at}${'x'.repeat(size / 15_000 - 200)}` }),
    })),
  }),
  'one call of a long text': (size) => ({
    calls: [{ name: 'a', input: JSON.stringify({ content: 'word and word '.repeat(size / 14 - 40) }) }],
  }),
  'one call of many values': (size) => ({
    calls: [
      { name: 'a', input: JSON.stringify({ a: listOf(140_000, (at) => `s${at}`.padEnd(size / 140_000 - 20, 'x')) }) },
    ],
  }),
}

const USAGE = {
  messages: { input_tokens: 40, output_tokens: 20 },
  'chat-completions': { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 },
  responses: { input_tokens: 40, output_tokens: 20, total_tokens: 60 },
}

const responsesItems = ({ texts = [], calls = [] }: Answered): object[] => [
  ...texts.map((text, at) => ({
    ...{ id: `msg_${at}`, type: 'message', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text, annotations: [] }],
  })),
  ...calls.map(({ name, input }, at) => ({
    ...{ id: `fc_${at}`, type: 'function_call', call_id: `call_${at}`, status: 'completed' },
    ...{ name, arguments: input },
  })),
]

const responseOf = (output: object[], status: string): object => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1, status, model: 'm', error: null, incomplete_details: null },
  ...{ output, usage: status === 'completed' ? USAGE.responses : null },
})

/** A whole answer of the wire. */
const WHOLE: Record<ChatWire, (said: Answered) => object> = {
  messages: ({ texts = [], calls = [] }) => ({
    ...{
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      stop_reason: calls.length ? 'tool_use' : 'end_turn',
    },
    content: [
      ...texts.map((text) => ({ type: 'text', text })),
      ...calls.map(({ name, input }, at) => ({ type: 'tool_use', id: `toolu_${at}`, name, input: JSON.parse(input) })),
    ],
    usage: USAGE.messages,
  }),
  'chat-completions': ({ texts = [], calls = [] }) => ({
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: texts.join(''),
          ...(calls.length && {
            tool_calls: calls.map(({ name, input }, at) => ({
              ...{ id: `call_${at}`, type: 'function', function: { name, arguments: input } },
            })),
          }),
        },
        finish_reason: calls.length ? 'tool_calls' : 'stop',
      },
    ],
    usage: USAGE['chat-completions'],
  }),
  responses: (said) => responseOf(responsesItems(said), 'completed'),
}

const frame = (data: object): string =>
  `${'type' in data ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`

/** Events in which texts and arguments come in parts of so many characters. */
type Events = (said: Answered, part: number) => Iterable<object>

const partsOf = (text: string, part: number): string[] =>
  listOf(Math.ceil(text.length / part), (at) => text.slice(at * part, (at + 1) * part))

const EVENTS: Record<ChatWire, Events> = {
  *messages({ texts = [], calls = [] }, part) {
    yield {
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: USAGE.messages },
    }
    let index = 0
    for (const text of texts) {
      yield { type: 'content_block_start', index, content_block: { type: 'text', text: '' } }
      for (const one of partsOf(text, part))
        yield { type: 'content_block_delta', index, delta: { type: 'text_delta', text: one } }
      yield { type: 'content_block_stop', index: index++ }
    }
    for (const { name, input } of calls) {
      yield {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
      }
      for (const one of partsOf(input, part))
        yield { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: one } }
      yield { type: 'content_block_stop', index: index++ }
    }
    yield {
      type: 'message_delta',
      delta: { stop_reason: calls.length ? 'tool_use' : 'end_turn' },
      usage: USAGE.messages,
    }
    yield { type: 'message_stop' }
  },
  *'chat-completions'({ texts = [], calls = [] }, part) {
    const chunk = (delta: object, finish_reason: string | null = null): object => ({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index: 0, delta, finish_reason }],
    })
    yield chunk({ role: 'assistant', content: '' })
    for (const text of texts) for (const one of partsOf(text, part)) yield chunk({ content: one })
    for (const [index, { name, input }] of calls.entries()) {
      yield chunk({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }] })
      for (const one of partsOf(input, part)) yield chunk({ tool_calls: [{ index, function: { arguments: one } }] })
    }
    yield chunk({}, calls.length ? 'tool_calls' : 'stop')
    yield {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [],
      usage: USAGE['chat-completions'],
    }
  },
  *responses(said, part) {
    yield { type: 'response.created', response: responseOf([], 'in_progress') }
    const { texts = [], calls = [] } = said
    const items = responsesItems(said)
    for (const [output_index, item] of items.entries()) {
      const text = texts[output_index]
      const call = calls[output_index - texts.length]
      const at = { output_index, item_id: (item as { id: string }).id }
      if (text !== undefined) {
        yield {
          type: 'response.output_item.added',
          output_index,
          item: { ...item, status: 'in_progress', content: [] },
        }
        yield {
          type: 'response.content_part.added',
          ...at,
          content_index: 0,
          part: { type: 'output_text', text: '', annotations: [] },
        }
        for (const delta of partsOf(text, part))
          yield { type: 'response.output_text.delta', ...at, content_index: 0, delta }
        yield { type: 'response.output_text.done', ...at, content_index: 0, text }
        yield {
          type: 'response.content_part.done',
          ...at,
          content_index: 0,
          part: { type: 'output_text', text, annotations: [] },
        }
      } else if (call !== undefined) {
        yield {
          type: 'response.output_item.added',
          output_index,
          item: { ...item, status: 'in_progress', arguments: '' },
        }
        for (const delta of partsOf(call.input, part))
          yield { type: 'response.function_call_arguments.delta', ...at, delta }
        yield { type: 'response.function_call_arguments.done', ...at, arguments: call.input }
      }
      yield { type: 'response.output_item.done', output_index, item }
    }
    yield { type: 'response.completed', response: responseOf(items, 'completed') }
  },
}

const streamed = (wire: ChatWire, said: Answered, part: number): string => {
  let text = ''
  for (const event of EVENTS[wire](said, part)) text += frame(event)
  return wire === 'chat-completions' ? `${text}data: [DONE]\n\n` : text
}

/** What a provider answers. `form`: as a whole, in one event, or in many. */
type AnswerShape = {
  name: string
  form: 'whole' | 'one event' | 'many events'
  isRefused: boolean
  body: (wire: ChatWire, size: number) => string
}

/** How long the text of one of many events is. */
const PART = 64

/** The events of this wire say all of it three or four times more: in all they come to about the same. */
const said = (wire: ChatWire, form: AnswerShape['form'], size: number): number => {
  if (form === 'whole') return size
  if (form === 'many events') return wire === 'messages' ? size / 3 : size / 6
  return wire === 'responses' ? size / 5 : size
}

export const ANSWERS: readonly AnswerShape[] = [
  ...Object.entries(ANSWERS_SAID).flatMap(([name, make]) =>
    (['whole', 'one event', 'many events'] as const).map((form) => ({
      ...{ name, form, isRefused: false },
      body: (wire: ChatWire, size: number): string => {
        const answered = make(said(wire, form, size))
        if (form === 'whole') return JSON.stringify(WHOLE[wire](answered))
        return streamed(wire, answered, form === 'one event' ? Number.MAX_SAFE_INTEGER : PART)
      },
    })),
  ),
  ...Object.entries(HOSTILE).flatMap(([name, make]) => [
    {
      ...{ name, form: 'whole' as const, isRefused: true },
      body: (wire: ChatWire, size: number) =>
        `${JSON.stringify(WHOLE[wire]({ texts: ['hi'] })).slice(0, -1)},"x":${make(size - 400)}}`,
    },
    {
      ...{ name, form: 'one event' as const, isRefused: true },
      body: (wire: ChatWire, size: number) => {
        const [first = ''] = streamed(wire, { texts: ['hi'] }, 1).split('\n\n')
        return `${first.slice(0, -1)},"x":${make(size - 400)}}\n\n`
      },
    },
  ]),
]
