// Requests, answers and streams as this wire can express them, and streams no provider should send.

import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent, ChatResponse, FinishReason } from '../../../src/ir/event.ts'
import type {
  AssistantPart,
  DocumentPart,
  ImagePart,
  Logprob,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../../src/ir/part.ts'
import type { ChatRequest, Tool, Turn } from '../../../src/ir/request.ts'
import type { Usage } from '../../../src/ir/usage.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { base64, compact, foreignOutput, maybe, name, output, schema, turnOf, withOwnIds, words } from './members.ts'

const callId = fc.stringMatching(/^call_[A-Za-z0-9]{6}$/)
const jsonText = fc
  .dictionary(name, fc.oneof(fc.string(), fc.integer(), fc.boolean()), { maxKeys: 3 })
  .map((value) => JSON.stringify(value))

const textPart: fc.Arbitrary<TextPart> = fc
  .record({ text: words, cache: maybe(fc.constantFrom({}, { ttl: '1h' as const })) })
  .map((part) => compact({ type: 'text', ...part }) as TextPart)

const imagePart: fc.Arbitrary<ImagePart> = fc
  .record({
    source: fc.oneof(
      fc.webUrl().map((url) => ({ kind: 'url' as const, url })),
      base64.map((data) => ({ kind: 'base64' as const, mediaType: 'image/png', data })),
    ),
    detail: maybe(fc.constantFrom('auto', 'low', 'high', 'original')),
  })
  .map((part) => compact({ type: 'image', ...part }) as ImagePart)

const documentPart: fc.Arbitrary<DocumentPart> = fc.record({
  type: fc.constant('document' as const),
  source: base64.map((data) => ({ kind: 'base64' as const, mediaType: 'application/pdf', data })),
  name: name.map((base) => `${base}.pdf`),
})

const toolCall = (id: fc.Arbitrary<string>): fc.Arbitrary<ToolCallPart> =>
  fc.oneof(
    fc.record({
      type: fc.constant('tool-call' as const),
      id,
      name,
      kind: fc.constant('function' as const),
      input: jsonText,
    }),
    fc.record({
      type: fc.constant('tool-call' as const),
      id,
      name,
      kind: fc.constant('custom' as const),
      input: fc.string({ maxLength: 9 }),
    }),
  )

const userTurn: fc.Arbitrary<Turn> = fc
  .record({ parts: fc.array(fc.oneof(textPart, imagePart, documentPart), { maxLength: 3 }), name: maybe(name) })
  .map((turn) => compact({ role: 'user', ...turn }) as Turn)

const systemTurn: fc.Arbitrary<Turn> = fc
  .record({ parts: fc.array(textPart, { minLength: 1, maxLength: 2 }), developer: maybe(fc.constant(true)) })
  .map((turn) => compact({ role: 'system', ...turn }) as Turn)

/** An assistant's turn and the results of its calls, one turn each, as the wire writes them. */
const round: fc.Arbitrary<Turn[]> = fc
  .record({
    texts: fc.array(textPart, { maxLength: 2 }),
    calls: fc.uniqueArray(toolCall(callId), { maxLength: 3, selector: (call) => call.id }),
    results: fc.array(fc.array(textPart, { maxLength: 2 }), { minLength: 3, maxLength: 3 }),
  })
  .map(({ texts, calls, results }) => [
    { role: 'assistant', parts: [...texts, ...calls] },
    ...calls.map(
      (call, at): Turn => ({
        role: 'user',
        parts: [{ type: 'tool-result', callId: call.id, kind: call.kind, parts: results[at] ?? [] }],
      }),
    ),
  ])

const tool: fc.Arbitrary<Tool> = fc.oneof(
  fc
    .record({ name, description: maybe(fc.string()), schema: maybe(schema), strict: maybe(fc.boolean()) })
    .map((one) => compact({ type: 'function', ...one }) as Tool),
  fc
    .record({
      name,
      format: maybe(fc.constantFrom({ type: 'text' }, { type: 'grammar', syntax: 'lark', definition: 'start: "a"' })),
    })
    .map((one) => compact({ type: 'custom', ...one }) as Tool),
)

/** What a client of this wire can ask and this wire can say again unchanged. */
export const chatCompletionsRequest: fc.Arbitrary<ChatRequest> = fc
  .record({
    model: name,
    stream: fc.boolean(),
    turns: fc.array(
      fc.oneof(
        userTurn.map((turn) => [turn]),
        systemTurn.map((turn) => [turn]),
        round,
      ),
      { minLength: 1, maxLength: 4 },
    ),
    tools: fc.uniqueArray(tool, { maxLength: 3, selector: (one) => ('name' in one ? one.name : '') }),
    parallelTools: maybe(fc.boolean()),
    toolChoice: maybe(
      fc.constantFrom({ type: 'auto' as const }, { type: 'none' as const }, { type: 'required' as const }),
    ),
    maxOutput: maybe(fc.integer({ min: 1, max: 9_999 })),
    stop: maybe(fc.array(words, { minLength: 1, maxLength: 3 })),
    sampling: fc
      .record({
        temperature: maybe(fc.double({ min: 0, max: 2, noNaN: true })),
        topP: maybe(fc.constant(0.5)),
        seed: maybe(fc.integer()),
      })
      .map(compact),
    output: maybe(output),
    reasoning: maybe(
      fc.record({
        effort: fc.constantFrom('none' as const, 'minimal' as const, 'low' as const, 'xhigh' as const, 'max' as const),
      }),
    ),
    verbosity: maybe(fc.constantFrom('low', 'medium', 'high')),
    logprobs: maybe(fc.record({ top: fc.integer({ min: 0, max: 5 }) })),
    user: maybe(name),
    cacheKey: maybe(name),
    metadata: maybe(fc.dictionary(name, fc.string(), { minKeys: 1, maxKeys: 2 })),
    serviceTier: maybe(fc.constantFrom('auto', 'default', 'flex', 'priority')),
    opaque: fc.constantFrom(
      [],
      [{ name: 'n', value: 2, essential: true }],
      [
        { name: 'store', value: true, essential: false },
        { name: 'logit_bias', value: { '50256': -100 }, essential: false },
      ],
      [
        { name: 'modalities', value: ['text', 'audio'], essential: true },
        { name: 'audio', value: { format: 'mp3', voice: 'alloy' }, essential: true },
      ],
    ),
  })
  .map(({ turns, tools, toolChoice, parallelTools, ...rest }) => {
    const request = { ...rest, turns: withOwnIds(turns.flat()), tools, origin: 'chat-completions' as const }
    return compact(tools.length === 0 ? request : { ...request, toolChoice, parallelTools }) as ChatRequest
  })

const wild = fc.oneof(name, fc.string({ maxLength: 70 }), fc.constantFrom('mcp.server/tool', 'a'.repeat(100), '', 'é'))
const anyId = fc.oneof(callId, fc.constantFrom('', 'toolu_01', 'x'.repeat(80), 'a b|c'))
const seal = fc.constantFrom<AssistantPart>(
  { type: 'reasoning', text: 'hm', full: true, seal: { origin: 'messages', value: { signature: 'abc' } } },
  { type: 'reasoning', text: '', seal: { origin: 'responses', value: { id: 'rs_1', encrypted_content: 'x' } } },
  { type: 'reasoning', text: 'open', full: true },
)

const anyResult: fc.Arbitrary<ToolResultPart> = fc
  .record({
    callId: anyId,
    kind: fc.constantFrom('function' as const, 'custom' as const),
    parts: fc.array(fc.oneof(textPart, imagePart, documentPart), { maxLength: 2 }),
    isError: maybe(fc.boolean()),
  })
  .map((part) => compact({ type: 'tool-result', ...part }) as ToolResultPart)

const anyOpaque = fc.constantFrom(...CHAT_WIRES.filter((wire) => wire !== 'chat-completions')).map((origin) => ({
  type: 'opaque' as const,
  origin,
  value: { type: 'server_thing' },
}))

const anyTurn = turnOf({
  system: fc.oneof(textPart, anyOpaque),
  user: fc.oneof<fc.Arbitrary<UserPart>[]>(textPart, imagePart, documentPart, anyResult, anyOpaque),
  assistant: fc.oneof<fc.Arbitrary<AssistantPart>[]>(
    textPart,
    toolCall(anyId),
    seal,
    anyOpaque,
    fc.constant({ type: 'refusal', text: 'no' }),
  ),
})

/** Anything the other wires' decoders may hand over: pairing broken, names and ids of foreign alphabets. */
export const foreignRequest: fc.Arbitrary<ChatRequest> = fc
  .record({
    model: name,
    stream: fc.boolean(),
    turns: fc.array(anyTurn, { minLength: 1, maxLength: 6 }),
    tools: fc.array(
      fc
        .record({
          type: fc.constantFrom('function' as const, 'custom' as const),
          name: wild.filter((one) => one !== ''),
          namespace: maybe(name),
        })
        .map((one) => compact(one) as Tool),
      { maxLength: 4 },
    ),
    sampling: fc.record({ temperature: maybe(fc.constant(0.3)), topK: maybe(fc.constant(5)) }).map(compact),
    maxOutput: maybe(fc.integer({ min: 1, max: 99_999 })),
    reasoning: maybe(
      fc
        .record({
          mode: maybe(fc.constantFrom('off', 'budget', 'adaptive')),
          budgetTokens: maybe(fc.integer({ min: 1_024, max: 32_000 })),
          effort: maybe(fc.constantFrom('max', 'low')),
        })
        .map(compact),
    ),
    user: maybe(fc.string({ maxLength: 120 })),
    metadata: maybe(fc.dictionary(name, fc.string())),
    serviceTier: maybe(fc.constantFrom('auto', 'default', 'standard_only', 'batch')),
    verbosity: maybe(fc.constantFrom('low', 'max')),
    output: maybe(foreignOutput),
    origin: fc.constantFrom<ChatWire[]>('messages', 'responses'),
    opaque: fc.constantFrom([], [{ name: 'context_management', value: {}, essential: false }]),
  })
  .map((request) => compact(request) as ChatRequest)

const logprob: fc.Arbitrary<Logprob> = fc.record({
  token: words,
  logprob: fc.double({ min: -20, max: -0.001, noNaN: true }),
  bytes: fc.constantFrom(null, [104, 105]),
  top: fc.array(fc.record({ token: words, logprob: fc.constant(-1.5), bytes: fc.constant(null) }), { maxLength: 2 }),
})

export const usage: fc.Arbitrary<Usage> = fc
  .record({
    input: fc.nat(9_999),
    output: fc.nat(9_999),
    cacheRead: maybe(fc.nat(999)),
    cacheWrite: maybe(fc.nat(999)),
    reasoning: maybe(fc.nat(99)),
  })
  .map(({ reasoning, ...counts }) =>
    compact<Usage>({ ...counts, reasoning: reasoning && Math.min(reasoning, counts.output) }),
  )

const answerText = fc
  .record({
    text: words,
    citations: maybe(
      fc.array(
        fc.record({
          kind: fc.constant('url' as const),
          url: fc.webUrl(),
          title: words,
          start: fc.nat(9),
          end: fc.nat(99),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    ),
    logprobs: maybe(fc.array(logprob, { minLength: 1, maxLength: 2 })),
  })
  .map((part) => compact({ type: 'text', ...part }) as TextPart)

/** An answer in the order this wire keeps: thought, text, refusal, calls. */
export const chatCompletionsResponse: fc.Arbitrary<ChatResponse> = fc
  .record({
    id: fc.stringMatching(/^chatcmpl-[A-Za-z0-9]{8}$/),
    createdAt: fc.nat(2_000_000_000),
    thought: maybe(
      fc
        .record({
          text: words,
          seal: maybe(
            fc.constantFrom(
              { origin: 'messages' as const, value: { signature: 's' } },
              { origin: 'responses' as const, value: { id: 'rs_1', encrypted_content: 'e' } },
              {
                origin: 'chat-completions' as const,
                value: { reasoning_details: [{ type: 'reasoning.encrypted', data: 'own' }] },
              },
            ),
          ),
        })
        .map((part) => compact({ type: 'reasoning', full: true, ...part }) as AssistantPart),
    ),
    text: maybe(answerText),
    refusal: maybe(words.map((text): AssistantPart => ({ type: 'refusal', text }))),
    calls: fc.uniqueArray(toolCall(callId), { maxLength: 3, selector: (call) => call.id }),
    cut: fc.constantFrom<(FinishReason | undefined)[]>(undefined, 'length', 'content-filter'),
    usage,
    serviceTier: maybe(fc.constantFrom('default', 'priority')),
  })
  .map(({ thought, text, refusal, calls, cut, ...rest }) => {
    const whole: FinishReason = calls.length > 0 ? 'tool-calls' : refusal === undefined ? 'stop' : 'refusal'
    const parts = [thought, text, refusal, ...calls].filter((part) => part !== undefined)
    return compact({ ...rest, parts, finish: cut ?? whole }) as ChatResponse
  })

const part = fc.nat(4)
const text = fc.string({ maxLength: 5 })

/** Events in any order, most of them against the grammar. */
export const garbledEvents: fc.Arbitrary<ChatEvent[]> = fc.array(
  fc.oneof<fc.Arbitrary<ChatEvent>[]>(
    fc.record({ type: fc.constant('start' as const), id: fc.constantFrom('', 'msg_1', 'chatcmpl-1', 'a b') }),
    fc.record({
      type: fc.constantFrom(
        'text-start' as const,
        'text-end' as const,
        'refusal-start' as const,
        'refusal-end' as const,
        'reasoning-start' as const,
        'reasoning-end' as const,
        'tool-end' as const,
      ),
      part,
    }),
    fc.record({
      type: fc.constantFrom('text-delta' as const, 'refusal-delta' as const, 'reasoning-delta' as const),
      part,
      text,
    }),
    fc.record({ type: fc.constant('tool-delta' as const), part, text: fc.constant('{}') }),
    fc.record({
      type: fc.constant('tool-start' as const),
      part,
      id: callId,
      name,
      kind: fc.constantFrom('function' as const, 'custom' as const),
    }),
    fc.record({ type: fc.constant('opaque' as const), part, value: anyOpaque }),
    fc.record({ type: fc.constant('usage' as const), usage }),
    fc.constant({ type: 'ping' as const }),
    fc.record({
      type: fc.constant('finish' as const),
      reason: fc.constantFrom<FinishReason[]>(
        'stop',
        'length',
        'tool-calls',
        'refusal',
        'pause',
        'context-length',
        'stop-sequence',
        'content-filter',
      ),
      usage,
    }),
    fc.constant({ type: 'error' as const, error: new GatewayError('upstream_error', 'broke') }),
  ),
  { maxLength: 25, size: 'max' },
)
