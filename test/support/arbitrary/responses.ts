// Requests and answers as the responses wire can say them, and requests of the other wires it must make the best of.

import fc from 'fast-check'
import type { ChatResponse, FinishReason } from '../../../src/ir/event.ts'
import type {
  AssistantPart,
  Citation,
  DocumentPart,
  ImagePart,
  Logprob,
  ReasoningPart,
  RefusalPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../../src/ir/part.ts'
import type { ChatRequest, Tool, Turn } from '../../../src/ir/request.ts'
import type { Usage } from '../../../src/ir/usage.ts'
import { UNKNOWN_ANSWER } from '../../../src/wire/refusal/unknown-reference.ts'
import { base64, compact, foreignOutput, maybe, name, output, schema, turnOf, withOwnIds, words } from './members.ts'

const token = fc.stringMatching(/^[A-Za-z0-9]{8}$/)
const callId = token.map((text) => `call_${text}`)
const argumentsText = fc
  .dictionary(name, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
  .map((value) => JSON.stringify(value))

const cache = maybe(fc.constantFrom({}, { ttl: '1h' as const }))

const inputText = fc.record({ text: words, cache }).map((part) => compact<TextPart>({ type: 'text', ...part }))

const image = fc
  .record({
    source: fc.oneof(
      fc.webUrl().map((url) => ({ kind: 'url' as const, url })),
      base64.map((data) => ({ kind: 'base64' as const, mediaType: 'image/png', data })),
      token.map((id) => ({ kind: 'file' as const, id: `file-${id}`, origin: 'responses' as const })),
    ),
    detail: maybe(fc.constantFrom('low', 'high', 'original')),
    cache,
  })
  .map((part) => compact<ImagePart>({ type: 'image', ...part }))

const file = fc
  .record({
    source: fc.oneof(
      fc.webUrl().map((url) => ({ kind: 'url' as const, url })),
      base64.map((data) => ({ kind: 'base64' as const, mediaType: 'application/pdf', data })),
      words.map((text) => ({ kind: 'text' as const, text })),
    ),
    name: maybe(name.map((base) => `${base}.pdf`)),
    cache,
  })
  .map((part) => compact<DocumentPart>({ type: 'document', ...part }))

const content = fc.oneof<fc.Arbitrary<TextPart | ImagePart | DocumentPart>[]>(inputText, image, file)

const call = fc.oneof<fc.Arbitrary<ToolCallPart>[]>(
  fc
    .record({
      id: callId,
      name,
      input: argumentsText,
      namespace: maybe(name),
      itemId: maybe(token.map((id) => `fc_${id}`)),
    })
    .map((part) => compact<ToolCallPart>({ type: 'tool-call', kind: 'function', ...part })),
  fc
    .record({ id: callId, name, input: fc.string({ maxLength: 9 }), itemId: maybe(token.map((id) => `ctc_${id}`)) })
    .map((part) => compact<ToolCallPart>({ type: 'tool-call', kind: 'custom', ...part })),
)

const citation = fc.oneof<fc.Arbitrary<Citation>[]>(
  fc.record({
    kind: fc.constant('url' as const),
    url: fc.webUrl(),
    title: words,
    start: fc.nat(9),
    end: fc.nat(99),
  }),
  fc.constant({
    kind: 'opaque',
    origin: 'responses',
    value: { type: 'file_citation', file_id: 'file-1', filename: 'a.pdf', index: 3 },
  }),
)

const tokenLogprob = fc
  .record({ token: words, logprob: fc.double({ min: -20, max: -0.001, noNaN: true }) })
  .map((one) => ({
    ...one,
    bytes: [...Buffer.from(one.token, 'utf8')],
  }))
const logprob: fc.Arbitrary<Logprob> = fc
  .record({ one: tokenLogprob, top: fc.array(tokenLogprob, { maxLength: 2 }) })
  .map(({ one, top }) => ({ ...one, top }))

const outputText = fc
  .record({
    text: words,
    citations: maybe(fc.array(citation, { minLength: 1, maxLength: 2 })),
    logprobs: maybe(fc.array(logprob, { minLength: 1, maxLength: 2 })),
  })
  .map((part) => compact<TextPart>({ type: 'text', ...part }))
const refusal = words.map((text): RefusalPart => ({ type: 'refusal', text }))

const ownThought = fc
  .record({ text: fc.oneof(fc.constant(''), words), full: fc.constant(undefined), id: token, secret: base64 })
  .map(
    ({ text, id, secret }): ReasoningPart => ({
      type: 'reasoning',
      text,
      seal: { origin: 'responses', value: { id: `rs_${id}`, encrypted_content: secret } },
    }),
  )
const foreignThought = fc
  .record({ text: fc.oneof(fc.constant(''), words), full: maybe(fc.constant(true)), signature: base64 })
  .map(({ signature, ...part }) =>
    compact<ReasoningPart>({ type: 'reasoning', ...part, seal: { origin: 'messages', value: { signature } } }),
  )
const openThought = words.map((text): ReasoningPart => ({ type: 'reasoning', text }))

const serverItem = token.map((id) => ({
  type: 'opaque' as const,
  origin: 'responses' as const,
  value: { type: 'web_search_call', id: `ws_${id}`, status: 'completed', action: { type: 'search', query: 'q' } },
}))

/** One go of the model and the results of its calls, as the wire writes them. */
const round: fc.Arbitrary<Turn[]> = fc
  .record({
    thoughts: fc.array(ownThought, { maxLength: 1 }),
    server: fc.array(serverItem, { maxLength: 1 }),
    said: fc.array(fc.oneof<fc.Arbitrary<TextPart | RefusalPart>[]>(outputText, refusal), { maxLength: 2 }),
    calls: fc.uniqueArray(call, { maxLength: 3, selector: ({ id }) => id }),
    results: fc.array(fc.array(content, { maxLength: 2 }), { minLength: 3, maxLength: 3 }),
    phase: maybe(fc.constantFrom('commentary', 'final_answer')),
  })
  .filter(({ said, calls }) => said.length + calls.length > 0)
  .map(({ thoughts, server, said, calls, results, phase }) => {
    const parts: AssistantPart[] = [...thoughts, ...server, ...said, ...calls]
    const turn: Turn = { role: 'assistant', parts, ...(phase === undefined || said.length === 0 ? {} : { phase }) }
    if (calls.length === 0) return [turn]
    const answers = calls.map(
      ({ id, kind }, at): ToolResultPart => ({ type: 'tool-result', callId: id, kind, parts: results[at] ?? [] }),
    )
    // Results come back in any order.
    return [turn, { role: 'user', parts: answers.reverse() }]
  })

const userTurn = fc.array(content, { minLength: 1, maxLength: 3 }).map((parts): Turn => ({ role: 'user', parts }))
const systemTurn = fc
  .record({ parts: fc.array(inputText, { minLength: 1, maxLength: 2 }), developer: maybe(fc.constant(true)) })
  .map((turn) => compact<Turn>({ role: 'system', ...turn }))

/** A user's word between two goes of the model, as the list of items has it. */
const conversation = fc
  .array(
    fc.oneof(
      userTurn.map((turn) => [turn]),
      systemTurn.map((turn) => [turn]),
      round,
    ),
    { maxLength: 4 },
  )
  .map((groups): Turn[] => {
    const turns: Turn[] = [{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }]
    for (const group of groups) {
      if (group[0]?.role === 'assistant' && turns.at(-1)?.role === 'assistant')
        turns.push({ role: 'user', parts: [{ type: 'text', text: 'go on' }] })
      turns.push(...group)
    }
    return withOwnIds(turns)
  })

const tool: fc.Arbitrary<Tool> = fc.oneof(
  fc
    .record({ name, description: maybe(fc.string()), schema: maybe(schema), strict: maybe(fc.boolean()) })
    .map((one) => compact<Tool>({ type: 'function', ...one })),
  fc
    .record({
      name,
      namespace: maybe(fc.constantFrom('files', 'mail')),
      format: maybe(fc.constantFrom({ type: 'text' }, { type: 'grammar', syntax: 'lark', definition: 'start: "a"' })),
    })
    .map((one) =>
      compact<Tool>({ type: 'custom', ...one, about: one.namespace === 'mail' ? 'Mail of the team.' : undefined }),
    ),
  fc.constant<Tool>({
    type: 'opaque',
    origin: 'responses',
    value: { type: 'code_interpreter', container: { type: 'auto' } },
  }),
)

/** What a client of the wire can ask and the wire can say again unchanged. */
export const responsesRequest: fc.Arbitrary<ChatRequest> = fc
  .record({
    model: name,
    stream: fc.boolean(),
    instructions: maybe(words.map((text): Turn => ({ role: 'system', parts: [{ type: 'text', text }] }))),
    turns: conversation,
    tools: fc.array(tool, { maxLength: 3 }),
    toolChoice: maybe(
      fc.oneof(
        fc.constantFrom({ type: 'auto' as const }, { type: 'none' as const }, { type: 'required' as const }),
        name.map((of) => ({ type: 'tool' as const, name: `only_${of}`, kind: 'function' as const })),
      ),
    ),
    parallelTools: maybe(fc.boolean()),
    maxOutput: maybe(fc.integer({ min: 16, max: 9_999 })),
    sampling: fc
      .record({ temperature: maybe(fc.double({ min: 0, max: 2, noNaN: true })), topP: maybe(fc.constant(0.5)) })
      .map(compact),
    output: maybe(output),
    reasoning: maybe(
      fc.oneof(
        fc.constant({ mode: 'off' as const }),
        fc.record({
          effort: fc.constantFrom('minimal' as const, 'low' as const, 'xhigh' as const, 'max' as const),
          summary: fc.constantFrom('auto' as const, 'concise' as const, 'detailed' as const),
        }),
      ),
    ),
    verbosity: maybe(fc.constantFrom('low', 'medium', 'high')),
    logprobs: maybe(fc.record({ top: fc.integer({ min: 0, max: 5 }) })),
    user: maybe(name),
    cacheKey: maybe(name),
    metadata: maybe(fc.dictionary(name, fc.string({ maxLength: 9 }), { minKeys: 1, maxKeys: 2 })),
    serviceTier: maybe(fc.constantFrom('auto', 'default', 'flex', 'priority')),
    opaque: fc.constantFrom(
      [],
      [{ name: 'previous_response_id', value: 'resp_1', essential: true, advice: UNKNOWN_ANSWER }],
      [
        { name: 'include', value: ['reasoning.encrypted_content'], essential: false, met: true },
        { name: 'store', value: false, essential: false, met: true },
      ],
      [{ name: 'prompt_cache_options', value: { mode: 'explicit' }, essential: false }],
    ),
  })
  .map(({ instructions, turns, ...rest }) =>
    compact<ChatRequest>({
      ...rest,
      turns: instructions === undefined ? turns : [instructions, ...turns],
      origin: 'responses',
    }),
  )

const anyId = fc.oneof(callId, fc.constantFrom('', 'toolu_01', 'x'.repeat(80), 'a b|c', 'same'))
const wild = fc.oneof(
  name,
  fc.constantFrom('mcp.server/tool', 'mcp server tool', 'a'.repeat(128), 'b'.repeat(200), 'é'),
)

const anyCall = fc
  .record({
    id: anyId,
    name: wild,
    kind: fc.constantFrom('function' as const, 'custom' as const),
    input: fc.oneof(argumentsText, fc.constant('')),
  })
  .map((part): ToolCallPart => ({ type: 'tool-call', ...part }))
const anyResult = fc
  .record({
    callId: anyId,
    kind: fc.constant('function' as const),
    parts: fc.array(fc.oneof<fc.Arbitrary<TextPart | ImagePart | DocumentPart>[]>(inputText, file), { maxLength: 2 }),
    isError: maybe(fc.boolean()),
  })
  .map((part) => compact<ToolResultPart>({ type: 'tool-result', ...part }))
const anyOpaque = fc.constant({ type: 'opaque' as const, origin: 'messages' as const, value: { type: 'server_thing' } })
const anyText = fc
  .record({ text: fc.oneof(words, fc.constant('')), cache })
  .map((part) => compact<TextPart>({ type: 'text', ...part }))

const anyTurn = turnOf({
  system: fc.oneof(anyText, anyOpaque),
  user: fc.oneof<fc.Arbitrary<UserPart>[]>(anyText, image, file, anyResult, anyOpaque),
  assistant: fc.oneof<fc.Arbitrary<AssistantPart>[]>(
    anyText,
    anyCall,
    ownThought,
    foreignThought,
    openThought,
    anyOpaque,
    refusal,
  ),
})

/** Anything the other wires' decoders may hand over: pairing broken, names and ids of foreign alphabets. */
export const requestOfOthers: fc.Arbitrary<ChatRequest> = fc
  .record({
    model: name,
    stream: fc.boolean(),
    turns: fc.array(anyTurn, { minLength: 1, maxLength: 6 }),
    tools: fc.array(
      fc
        .record({
          type: fc.constantFrom('function' as const, 'custom' as const),
          name: wild,
          schema: maybe(fc.constantFrom({}, { type: 'object' }, { anyOf: [] })),
        })
        .map((one) => compact<Tool>(one)),
      { maxLength: 4 },
    ),
    toolChoice: maybe(
      fc.oneof(
        fc.constantFrom({ type: 'auto' as const }, { type: 'required' as const }),
        wild.map((of) => ({ type: 'tool' as const, name: of, kind: 'function' as const })),
      ),
    ),
    stop: maybe(fc.array(words, { maxLength: 2 })),
    sampling: fc
      .record({ temperature: maybe(fc.constant(0.3)), topK: maybe(fc.constant(5)), seed: maybe(fc.constant(1)) })
      .map(compact),
    maxOutput: maybe(fc.integer({ min: 1, max: 999_999 })),
    reasoning: maybe(
      fc
        .record({
          mode: maybe(fc.constantFrom('off', 'budget', 'adaptive')),
          budgetTokens: maybe(fc.integer({ min: 1_024, max: 32_000 })),
          effort: maybe(fc.constantFrom('max', 'low')),
          summary: maybe(fc.constantFrom('omitted', 'auto')),
        })
        .map(compact),
    ),
    user: maybe(fc.string({ maxLength: 120 })),
    cacheKey: maybe(fc.string({ maxLength: 120 })),
    metadata: maybe(fc.dictionary(name, fc.string({ maxLength: 600 }))),
    serviceTier: maybe(fc.constantFrom('auto', 'default', 'standard_only', 'batch')),
    verbosity: maybe(fc.constantFrom('low', 'max')),
    output: maybe(foreignOutput),
    origin: fc.constantFrom('messages' as const, 'chat-completions' as const),
    opaque: fc.constantFrom([], [{ name: 'context_management', value: {}, essential: false }]),
  })
  .map((request) => compact<ChatRequest>(request))

const usage = fc
  .record({
    input: fc.nat(9_999),
    cacheRead: fc.nat(999),
    cacheWrite: fc.nat(999),
    cacheWrite1h: fc.constantFrom(undefined, 1, 999),
    output: fc.nat(9_999),
    reasoning: fc.nat(99),
  })
  .map(({ cacheWrite1h: long, ...counts }): Usage => {
    const hour = Math.min(long ?? 0, counts.cacheWrite)
    const reasoning = Math.min(counts.reasoning, counts.output)
    return { ...counts, reasoning, ...(hour > 0 ? { cacheWrite1h: hour } : {}) }
  })

/** What the wire tells items apart by. */
const itemIdOf = (part: AssistantPart): string => {
  if (part.type === 'tool-call') return part.itemId ?? part.id
  if (part.type === 'opaque') return String(part.value.id)
  return part.type === 'reasoning' && part.seal !== undefined ? String(part.seal.value.id) : JSON.stringify(part)
}

/** An answer the wire can say. Thoughts of its own provider come only whole: a stream binds them to other ids. */
const answer = (thoughts: fc.Arbitrary<ReasoningPart>): fc.Arbitrary<ChatResponse> =>
  fc
    .record({
      id: token.map((text) => `resp_${text}`),
      createdAt: fc.nat(2_000_000_000),
      parts: fc.uniqueArray(fc.oneof<fc.Arbitrary<AssistantPart>[]>(outputText, refusal, call, thoughts, serverItem), {
        maxLength: 5,
        selector: itemIdOf,
      }),
      cut: fc.constantFrom<(FinishReason | undefined)[]>(undefined, 'length', 'content-filter'),
      usage,
      serviceTier: fc.constantFrom('default', 'priority'),
    })
    .map(({ parts, cut, ...rest }) => {
      const calls = parts.some(({ type }) => type === 'tool-call')
      const refused = parts.some(({ type }) => type === 'refusal')
      const finish: FinishReason = cut ?? (calls ? 'tool-calls' : refused ? 'refusal' : 'stop')
      return { ...rest, parts, finish }
    })

export const responsesAnswer = answer(fc.oneof(ownThought, openThought))
export const streamedAnswer = answer(openThought)
export { foreignThought, ownThought }
