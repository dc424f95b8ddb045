// Requests, answers and streams as the messages wire can express them, and such as no client or provider should send.

import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent, ChatResponse } from '../../../src/ir/event.ts'
import type {
  AssistantPart,
  CacheMark,
  Citation,
  DocumentPart,
  ImagePart,
  OpaquePart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../../src/ir/part.ts'
import type { ChatRequest, Tool, ToolChoice, Turn } from '../../../src/ir/request.ts'
import type { Usage } from '../../../src/ir/usage.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import { compact, maybe, name, turnOf, withOwnIds } from './members.ts'

const raw = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'grapheme', maxLength: 8 }))
/** Text a block may hold: something in it, and no white space at its end. */
const words = raw.map((text) => `${text}.`)
const base64 = fc.base64String({ minLength: 4, maxLength: 16 })
const cache = maybe(fc.constantFrom<CacheMark>({}, { ttl: '5m' }, { ttl: '1h' }))
const jsonInput = fc
  .dictionary(name, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
  .map((value) => JSON.stringify(JSON.parse(JSON.stringify(value))))

const textPart: fc.Arbitrary<TextPart> = fc.record({ text: words }).map((part) => ({ type: 'text', ...part }))

const imagePart: fc.Arbitrary<ImagePart> = fc
  .oneof(
    fc.webUrl().map((url) => ({ kind: 'url' as const, url })),
    fc.record({
      kind: fc.constant('base64' as const),
      mediaType: fc.constantFrom('image/png', 'image/webp'),
      data: base64,
    }),
    name.map((id) => ({ kind: 'file' as const, id, origin: 'messages' as const })),
  )
  .map((source) => ({ type: 'image', source }))

const documentPart: fc.Arbitrary<DocumentPart> = fc
  .record({
    source: fc.oneof(
      fc.webUrl().map((url) => ({ kind: 'url' as const, url })),
      base64.map((data) => ({ kind: 'base64' as const, mediaType: 'application/pdf', data })),
      words.map((text) => ({ kind: 'text' as const, text })),
    ),
    name: maybe(words),
    context: maybe(words),
  })
  .map((part) => compact({ type: 'document', ...part }) as DocumentPart)

const serverTool: fc.Arbitrary<OpaquePart> = name.map((id) => ({
  type: 'opaque',
  origin: 'messages',
  value: { type: 'server_tool_use', id: `srvtoolu_${id}`, name: 'web_search', input: { query: id } },
}))

const ownThought: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record({ text: words, signature: base64 }).map(
    ({ text, signature }): AssistantPart => ({
      type: 'reasoning',
      text,
      seal: { origin: 'messages', value: { signature } },
    }),
  ),
  base64.map((data): AssistantPart => ({ type: 'reasoning', text: '', seal: { origin: 'messages', value: { data } } })),
)

const resultOf = (call: ToolCallPart): fc.Arbitrary<ToolResultPart> =>
  fc
    .record({
      parts: fc.array(fc.oneof<fc.Arbitrary<ToolResultPart['parts'][number]>[]>(textPart, imagePart, documentPart), {
        maxLength: 2,
      }),
      isError: maybe(fc.constant(false)),
    })
    .map((part) => compact({ type: 'tool-result', callId: call.id, kind: 'function', ...part }) as ToolResultPart)

/** A turn of the model and, where it called tools, the user's turn that answers every call first. */
const round: fc.Arbitrary<Turn[]> = fc
  .record({
    thoughts: fc.array(ownThought, { maxLength: 1 }),
    texts: fc.array(fc.oneof<fc.Arbitrary<AssistantPart>[]>(textPart, serverTool), { minLength: 1, maxLength: 2 }),
    calls: fc.array(fc.record({ name, input: jsonInput }), { maxLength: 3 }),
    after: fc.array(textPart, { maxLength: 1 }),
    seed: fc.nat(0xffffff),
  })
  .chain(({ thoughts, texts, calls, after, seed }) => {
    const parts = calls.map(
      (call, at): ToolCallPart => ({ type: 'tool-call', id: `toolu_${seed}_${at}`, kind: 'function', ...call }),
    )
    const answer: Turn = { role: 'assistant', parts: [...thoughts, ...texts, ...parts] }
    if (parts.length === 0) return fc.constant<Turn[]>([answer])
    return fc
      .tuple(...parts.map(resultOf))
      .map((results): Turn[] => [answer, { role: 'user', parts: [...results, ...after] }])
  })

const userTurn = fc
  .array(fc.oneof<fc.Arbitrary<UserPart>[]>(textPart, imagePart, documentPart), { minLength: 1, maxLength: 3 })
  .map((parts): Turn => ({ role: 'user', parts }))

const systemTurn = fc.array(textPart, { minLength: 1, maxLength: 2 }).map((parts): Turn => ({ role: 'system', parts }))

const schema = fc.constantFrom(
  { type: 'object', properties: {} },
  { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
)

const functionTool: fc.Arbitrary<Tool> = fc
  .record({ name, description: maybe(raw), schema, strict: maybe(fc.boolean()), cache })
  .map((tool) => compact({ type: 'function', ...tool }) as Tool)

const ownServerTool = fc.constantFrom<Tool>(
  { type: 'opaque', origin: 'messages', value: { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 2 } },
  { type: 'opaque', origin: 'messages', value: { type: 'code_execution_20250825', name: 'code_execution' } },
)

const nameOf = (tool: Tool) => (tool.type === 'opaque' ? String(tool.value.name) : tool.name)

/** What a client of this wire can ask and this wire can say again unchanged. */
export const messagesRequest: fc.Arbitrary<ChatRequest> = fc
  .record({
    model: name,
    stream: fc.boolean(),
    system: maybe(systemTurn),
    first: userTurn,
    rounds: fc.array(
      fc.oneof(
        round,
        userTurn.map((turn) => [turn]),
        fc.tuple(userTurn, systemTurn),
      ),
      { maxLength: 4 },
    ),
    tools: fc.uniqueArray(fc.oneof(functionTool, ownServerTool), { maxLength: 4, selector: nameOf }),
    choice: maybe(fc.constantFrom<'auto' | 'none' | 'required' | 'tool'>('auto', 'none', 'required', 'tool')),
    parallelTools: maybe(fc.boolean()),
    maxOutput: fc.integer({ min: 2000, max: 90_000 }),
    stop: maybe(fc.array(words, { minLength: 1, maxLength: 3 })),
    sampling: fc
      .record({
        temperature: maybe(fc.constantFrom(0, 0.5, 1)),
        topP: maybe(fc.constant(0.9)),
        topK: maybe(fc.nat(99)),
      })
      .map(compact),
    output: maybe(schema.map((value) => ({ type: 'json-schema' as const, schema: value }))),
    reasoning: maybe(
      fc.constantFrom<NonNullable<ChatRequest['reasoning']>>(
        { mode: 'off' },
        { mode: 'adaptive' },
        { mode: 'adaptive', effort: 'xhigh', summary: 'omitted' },
        { mode: 'budget', budgetTokens: 1024, summary: 'auto' },
        { effort: 'low' },
      ),
    ),
    user: maybe(words),
    serviceTier: maybe(fc.constantFrom('auto', 'default')),
    opaque: fc.constantFrom(
      [],
      [{ name: 'speed', value: 'fast', essential: false }],
      [{ name: 'container', value: 'container_1', essential: true }],
      [{ name: 'inference_geo', value: 'us', essential: true }],
    ),
  })
  .map(({ system, first, rounds, choice, parallelTools, tools, ...rest }) => {
    const named = tools.find((tool) => tool.type === 'function')
    const toolChoice: ToolChoice | undefined =
      choice === 'tool'
        ? named === undefined
          ? undefined
          : { type: 'tool', name: nameOf(named), kind: 'function' }
        : choice === undefined
          ? undefined
          : { type: choice }
    return compact({
      ...rest,
      turns: withOwnIds([...(system === undefined ? [] : [system]), first, ...rounds.flat()]),
      tools,
      ...(tools.length === 0 || toolChoice === undefined ? {} : { toolChoice }),
      ...(tools.length === 0 || toolChoice === undefined || toolChoice.type === 'none' ? {} : { parallelTools }),
      origin: 'messages' as const,
    }) as ChatRequest
  })

const wild = fc.oneof(
  name,
  fc.string({ minLength: 1, maxLength: 70 }),
  fc.constantFrom('mcp.server/tool', 'a'.repeat(200), 'é', 'json'),
)
const wildId = fc.constantFrom('call_1', 'call_1', 'call_2', '', 'functions.get:0', 'x'.repeat(200), 'a b|c')
const wildText: fc.Arbitrary<TextPart> = fc
  .record({ text: fc.oneof(words, fc.constantFrom('', ' \n', 'a \n')), cache })
  .map((part) => compact({ type: 'text', ...part }) as TextPart)

const wildThought = fc.constantFrom<AssistantPart>(
  { type: 'reasoning', text: 'hm', seal: { origin: 'messages', value: { signature: 'abc' } } },
  { type: 'reasoning', text: '', seal: { origin: 'messages', value: { data: 'abc' } } },
  { type: 'reasoning', text: 'hm', seal: { origin: 'responses', value: { id: 'rs_1', encrypted_content: 'x' } } },
  { type: 'reasoning', text: 'plain' },
)

const wildOpaque = fc
  .constantFrom<ChatWire[]>('chat-completions', 'responses')
  .map((origin): OpaquePart => ({ type: 'opaque', origin, value: { type: 'server_thing' } }))

const wildCall: fc.Arbitrary<ToolCallPart> = fc
  .record({
    id: wildId,
    name: wild,
    kind: fc.constantFrom('function' as const, 'custom' as const),
    input: fc.oneof(jsonInput, fc.constantFrom('', '{', '[1]', '"x"', 'free text')),
    namespace: maybe(name),
    cache,
  })
  .map((call) => compact({ type: 'tool-call', ...call }) as ToolCallPart)

const wildResult: fc.Arbitrary<ToolResultPart> = fc
  .record({
    callId: wildId,
    kind: fc.constantFrom('function' as const, 'custom' as const),
    parts: fc.array(
      fc.oneof<fc.Arbitrary<ToolResultPart['parts'][number]>[]>(wildText, imagePart, documentPart, wildOpaque),
      { maxLength: 2 },
    ),
    isError: maybe(fc.boolean()),
    cache,
  })
  .map((part) => compact({ type: 'tool-result', ...part }) as ToolResultPart)

const wildTurn = turnOf({
  system: fc.oneof<fc.Arbitrary<TextPart | OpaquePart>[]>(wildText, wildOpaque),
  user: fc.oneof<fc.Arbitrary<UserPart>[]>(wildText, imagePart, documentPart, wildResult, wildOpaque),
  assistant: fc.oneof<fc.Arbitrary<AssistantPart>[]>(
    wildText,
    wildCall,
    wildThought,
    wildOpaque,
    fc.constant<AssistantPart>({ type: 'refusal', text: 'no' }),
  ),
})

const wildSchema = fc.constantFrom<NonNullable<Extract<Tool, { type: 'function' }>['schema']>>(
  {},
  { properties: { a: { type: 'string', minLength: 2 } } },
  { type: ['object', 'null'], required: null },
  {
    anyOf: [
      { type: 'object', properties: { a: {} }, required: ['a'] },
      { type: 'object', properties: { b: {} } },
    ],
  },
  { type: 'object', properties: { a: { type: 'object' } }, required: ['a'] },
  {
    type: 'object',
    properties: { n: { $ref: '#/$defs/n' } },
    $defs: { n: { type: 'object', properties: { n: { $ref: '#/$defs/n' } } } },
  },
)

/** Anything the other wires' decoders may hand over: pairing broken, names and ids of foreign alphabets. */
export const requestForMessages: fc.Arbitrary<ChatRequest> = fc
  .record({
    model: name,
    stream: fc.boolean(),
    turns: fc.array(wildTurn, { minLength: 1, maxLength: 8 }),
    tools: fc.array(
      fc.oneof(
        fc
          .record({
            name: wild,
            namespace: maybe(name),
            description: maybe(raw),
            schema: maybe(wildSchema),
            strict: maybe(fc.boolean()),
            cache,
          })
          .map((tool) => compact({ type: 'function', ...tool }) as Tool),
        fc
          .record({
            name: wild,
            namespace: maybe(name),
            format: maybe(fc.constant({ type: 'grammar', syntax: 'lark', definition: 'start: "a"' })),
          })
          .map((tool) => compact({ type: 'custom', ...tool }) as Tool),
        fc.constant<Tool>({ type: 'opaque', origin: 'responses', value: { type: 'web_search' }, optional: true }),
      ),
      { maxLength: 5 },
    ),
    toolChoice: maybe(fc.constantFrom<ToolChoice>({ type: 'auto' }, { type: 'none' }, { type: 'required' })),
    parallelTools: maybe(fc.boolean()),
    maxOutput: maybe(fc.integer({ min: 1, max: 99_999 })),
    stop: maybe(fc.array(fc.constantFrom('', ' ', 'end'), { maxLength: 3 })),
    sampling: fc
      .record({
        temperature: maybe(fc.constantFrom(0, 1, 1.7)),
        topP: maybe(fc.constantFrom(0.5, 1)),
        seed: maybe(fc.nat()),
        presencePenalty: maybe(fc.constant(1)),
      })
      .map(compact),
    output: maybe(
      fc.oneof(
        fc.constant({ type: 'json-object' as const }),
        wildSchema.map((value) => ({
          type: 'json-schema' as const,
          name: 'answer',
          schema: { ...value, type: 'object' },
        })),
      ),
    ),
    reasoning: maybe(
      fc
        .record({
          mode: maybe(fc.constantFrom('off' as const, 'budget' as const, 'adaptive' as const)),
          budgetTokens: maybe(fc.integer({ min: 1, max: 99_000 })),
          effort: maybe(fc.constantFrom('none' as const, 'minimal' as const, 'high' as const, 'max' as const)),
          summary: maybe(fc.constantFrom('omitted' as const, 'auto' as const, 'detailed' as const)),
        })
        .map(compact),
    ),
    verbosity: maybe(fc.constantFrom('low', 'medium')),
    user: maybe(fc.string({ maxLength: 300 })),
    metadata: maybe(fc.dictionary(name, fc.string())),
    cacheKey: maybe(name),
    serviceTier: maybe(fc.constantFrom('auto', 'default', 'flex', 'priority')),
    origin: fc.constantFrom<ChatWire[]>('chat-completions', 'responses'),
    opaque: fc.constantFrom([], [{ name: 'store', value: false, essential: false }]),
  })
  .map((request) => compact(request) as ChatRequest)

const messagesUsage: fc.Arbitrary<Usage> = fc
  .record({
    input: fc.nat(9_999),
    output: fc.integer({ min: 1, max: 9_999 }),
    cacheRead: maybe(fc.nat(999)),
    cacheWrite: maybe(fc.nat(999)),
    reasoning: maybe(fc.nat(99)),
  })
  .map((counts) => compact(counts) as Usage)

const citation: fc.Arbitrary<Citation> = fc.oneof(
  fc
    .record({ url: fc.webUrl(), title: maybe(words), citedText: maybe(words) })
    .map((link) => compact({ kind: 'url', ...link }) as Citation),
  words.map(
    (text): Citation => ({
      kind: 'opaque',
      origin: 'messages',
      value: {
        type: 'char_location',
        cited_text: text,
        document_index: 0,
        document_title: null,
        start_char_index: 0,
        end_char_index: 1,
        file_id: null,
      },
    }),
  ),
)

const answerPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc
    .record({ text: words, citations: maybe(fc.array(citation, { minLength: 1, maxLength: 2 })) })
    .map((part) => compact({ type: 'text', ...part }) as AssistantPart),
  fc
    .record({ id: name.map((id) => `toolu_${id}`), name, input: jsonInput })
    .map((call): AssistantPart => ({ type: 'tool-call', kind: 'function', ...call })),
  ownThought,
  fc.record({ text: raw, content: base64 }).map(
    ({ text, content }) =>
      compact({
        type: 'reasoning',
        text,
        seal: { origin: 'responses', value: { id: 'rs_1', encrypted_content: content } },
      }) as AssistantPart,
  ),
  serverTool,
)

/** What an answer of this wire can say, thoughts of other wires included, which travel in its slots. */
export const messagesResponse: fc.Arbitrary<ChatResponse> = fc
  .record({
    id: name.map((id) => `msg_${id}`),
    parts: fc.array(answerPart, { maxLength: 6 }),
    cut: maybe(fc.constantFrom('length' as const, 'refusal' as const, 'pause' as const, 'context-length' as const)),
    stopSequence: maybe(words),
    usage: messagesUsage,
  })
  .map(({ cut, stopSequence, ...rest }) => {
    const calls = rest.parts.some(({ type }) => type === 'tool-call')
    if (cut !== undefined) return { ...rest, finish: cut }
    if (calls) return { ...rest, finish: 'tool-calls' }
    return stopSequence === undefined ? { ...rest, finish: 'stop' } : { ...rest, finish: 'stop-sequence', stopSequence }
  })

const part = fc.nat(3)
const anyEvent: fc.Arbitrary<ChatEvent> = fc.oneof(
  fc.constant<ChatEvent>({ type: 'start', id: 'x' }),
  part.map((at): ChatEvent => ({ type: 'text-start', part: at })),
  fc.tuple(part, raw).map(([at, text]): ChatEvent => ({ type: 'text-delta', part: at, text })),
  part.map((at): ChatEvent => ({ type: 'text-end', part: at })),
  part.map((at): ChatEvent => ({ type: 'refusal-start', part: at })),
  fc.tuple(part, raw).map(([at, text]): ChatEvent => ({ type: 'refusal-delta', part: at, text })),
  part.map((at): ChatEvent => ({ type: 'reasoning-start', part: at })),
  fc.tuple(part, raw).map(([at, text]): ChatEvent => ({ type: 'reasoning-delta', part: at, text })),
  fc
    .tuple(part, maybe(base64))
    .map(
      ([at, data]): ChatEvent =>
        data === undefined
          ? { type: 'reasoning-end', part: at }
          : { type: 'reasoning-end', part: at, seal: { origin: 'messages', value: { data } } },
    ),
  fc
    .tuple(part, wildId, wild, fc.constantFrom('function' as const, 'custom' as const))
    .map(([at, id, tool, kind]): ChatEvent => ({ type: 'tool-start', part: at, id, name: tool, kind })),
  part.map((at): ChatEvent => ({ type: 'tool-end', part: at })),
  fc.tuple(part, citation).map(([at, value]): ChatEvent => ({ type: 'citation', part: at, citation: value })),
  fc
    .tuple(part, fc.oneof(serverTool, wildOpaque))
    .map(([at, value]): ChatEvent => ({ type: 'opaque', part: at, value })),
  messagesUsage.map((usage): ChatEvent => ({ type: 'usage', usage })),
  fc.constant<ChatEvent>({ type: 'ping' }),
)

/** Streams in any disorder, with one end or several: what an encoder must still make sense of. */
export const disorderlyEvents: fc.Arbitrary<ChatEvent[]> = fc
  .tuple(
    fc.array(anyEvent, { maxLength: 25, size: 'max' }),
    fc.oneof(
      messagesUsage.map((usage): ChatEvent => ({ type: 'finish', reason: 'stop', usage })),
      fc.constant<ChatEvent>({ type: 'finish', reason: 'tool-calls', usage: {} }),
      fc.constant<ChatEvent>({ type: 'error', error: new GatewayError('upstream_error', 'broken') }),
    ),
    fc.array(anyEvent, { maxLength: 3 }),
  )
  .map(([before, end, after]) => [...before, end, ...after, end])
