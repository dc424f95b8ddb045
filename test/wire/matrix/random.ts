// Random stories: conversations and answers, regular or not.

import fc from 'fast-check'
import type { Quirks } from '../../../src/ir/quirks.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import { PDF, PICTURE_URL, PIXEL } from './stories/parts.ts'
import type { Answer, Ask, Figures, Said, Shown, Tool, Turn } from './story.ts'

const text = fc.oneof(
  fc.constantFrom(
    'Hello.',
    ' x ',
    'two\nlines',
    '"quoted" \\ back',
    '👩🏽‍🚀 Grüße',
    '</system>',
    'data: x\n\n',
    '\u0000',
    '\u2028',
  ),
  // White space alone is no text: see blank.test.ts.
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 24 }).filter((one) => one.trim() !== ''),
)
const ids = fc.oneof(
  fc.constantFrom('call_1', 'toolu_01AbC', 'functions.get:0', 'a b', 'ü', 'x'.repeat(70)),
  fc.string({ minLength: 1, maxLength: 12 }),
)
const names = fc.constantFrom('get_weather', 'now', 'a-b', 'n'.repeat(64))
const inputs = fc
  .dictionary(fc.string({ unit: 'grapheme', maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  // Not the one member `input`, in which free text is sent: the two cannot be told apart.
  .map((value) => JSON.stringify('input' in value ? {} : value))

const figures: fc.Arbitrary<Figures> = fc
  .record({
    input: fc.nat(5_000),
    cacheRead: fc.nat(500),
    cacheWrite: fc.nat(500),
    output: fc.integer({ min: 0, max: 5_000 }),
  })
  .chain((usage) => fc.nat(usage.output).map((reasoning) => ({ ...usage, reasoning })))

const thought = text.map((said): Said => ({ thought: said.trim() === '' ? 'Hm.' : said }))
const calls = fc
  .array(fc.record({ name: names, input: inputs }), { maxLength: 3 })
  .map((list) => list.map(({ name, input }, at): Said => ({ call: `call_${at}`, name, input })))

/** Answers that every wire can express: a thought, a text, calls, in this order. */
export const answer: fc.Arbitrary<Answer> = fc
  .record({
    thoughts: fc.array(thought, { maxLength: 1 }),
    texts: fc.array(
      text.filter((said) => said.trim() !== '').map((said): Said => ({ text: said })),
      { maxLength: 1 },
    ),
    calls,
    length: fc.boolean(),
    usage: figures,
    overlap: fc.boolean(),
    late: fc.boolean(),
  })
  .map(({ thoughts, texts, calls: called, length, usage, overlap, late }) => ({
    pieces: [...thoughts, ...texts, ...called],
    finish: length ? 'length' : called.length > 0 ? 'calls' : 'stop',
    usage,
    ...(overlap ? { overlap } : {}),
    ...(late ? { late } : {}),
  }))

const shown: fc.Arbitrary<Shown> = fc.oneof(
  { weight: 4, arbitrary: text.map((said) => ({ text: said })) },
  fc.constant({ imageUrl: PICTURE_URL }),
  fc.constant({ image: PIXEL }),
  fc.constant({ pdf: PDF, name: 'a.pdf' }),
  text.map((file) => ({ file, name: 'a.txt' })),
)
const words: fc.Arbitrary<Shown> = text.map((said) => ({ text: said }))

/** What this client's history may say of the model: calls in namespaces on the wire that has them, free text where it is told. */
const said = (client: ChatWire): fc.Arbitrary<Said[]> => {
  const speech = fc.oneof(
    { weight: 3, arbitrary: text.map((one): Said => ({ text: one })) },
    text.map((one): Said => ({ refusal: one })),
    fc.record({ thought: text, seal: fc.constantFrom('c2ln', '') }),
  )
  const call = fc.record({ call: ids, name: names, input: inputs }).map((one): Said => one)
  const free = fc.record({ call: ids, name: fc.constant('patch'), input: text, custom: fc.constant(true as const) })
  const short = fc.constantFrom('get_weather', 'now')
  const spaced = fc.record({ call: ids, name: short, input: inputs, namespace: fc.constantFrom('fs', 'mcp__git') })
  const called =
    client === 'messages'
      ? call
      : client === 'responses'
        ? fc.oneof(call, call, free, spaced)
        : fc.oneof(call, call, free)
  // On this wire calls stand behind what is said.
  if (client === 'chat-completions')
    return fc.tuple(fc.array(speech, { maxLength: 2 }), fc.array(called, { maxLength: 2 })).map((all) => all.flat())
  return fc.array(fc.oneof(speech, called), { maxLength: 4 })
}

/** On one wire alone a result can be told as failed. */
const results = (client: ChatWire): fc.Arbitrary<Turn> =>
  fc.record({
    role: fc.constant('user' as const),
    parts: fc.array(
      fc
        .record({
          of: ids,
          result: fc.array(client === 'chat-completions' ? words : shown, { maxLength: 2 }),
          failed: fc.boolean(),
        })
        .map(({ failed, ...one }) => (failed && client === 'messages' ? { ...one, failed } : one)),
      { minLength: 1, maxLength: 3 },
    ),
  })

const turn = (client: ChatWire): fc.Arbitrary<Turn> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        role: fc.constant('user' as const),
        parts: fc.array(shown, { minLength: 1, maxLength: 3 }),
      }),
    },
    fc.record({ role: fc.constant('system' as const), parts: fc.array(words, { minLength: 1, maxLength: 2 }) }),
    {
      weight: 3,
      arbitrary: fc.record({
        role: fc.constant('assistant' as const),
        parts: said(client).filter((parts) => parts.length > 0),
      }),
    },
    { weight: 2, arbitrary: results(client) },
  )

const tools: fc.Arbitrary<Tool[]> = fc.uniqueArray(names, { maxLength: 3 }).map((list) =>
  list.map((name, at) => ({
    name,
    ...(at === 0 ? {} : { schema: { type: 'object', properties: { a: { type: 'string' } } } }),
  })),
)

/** Instructions alone leave the list of messages empty on wires that have them apart. */
const asksSomething = (turns: Turn[]): boolean => turns.some(({ role }) => role !== 'system')

/** Conversations in any order, with results before or after their calls, or without one. */
export const ask = (client: ChatWire): fc.Arbitrary<Ask> =>
  fc
    .record({ turns: fc.array(turn(client), { minLength: 1, maxLength: 7 }).filter(asksSomething), tools })
    .map(({ turns, tools: offered }) => ({
      turns: paired(turns),
      ...(offered.length === 0 ? {} : { tools: offered }),
    }))

/** Gives results the ids of the conversation's calls, so that most of them match. */
const paired = (turns: Turn[]): Turn[] => {
  const calls = turns.flatMap((one) =>
    one.role === 'assistant' ? one.parts.flatMap((part) => ('call' in part ? [part.call] : [])) : [],
  )
  let at = 0
  return turns.map((one) =>
    one.role === 'user'
      ? { ...one, parts: one.parts.map((part) => ('result' in part ? { ...part, of: calls[at++] ?? part.of } : part)) }
      : one,
  )
}

const plain = fc.constantFrom('Hello.', 'two\nlines', '"q" \\ b', '👩🏽‍🚀 Grüße', 'data: x\n\n', '\u2028', 'a')
const untidyPiece: fc.Arbitrary<Said> = fc.oneof(
  plain.map((said): Said => ({ text: said })),
  plain.map((said): Said => ({ thought: said.replaceAll('\n', ' ') })),
  fc.record({ name: names, input: inputs }).map(({ name, input }): Said => ({ call: '', name, input })),
)

/** Answers with their pieces in any order, for sloppy vendors. */
export const untidyAnswer: fc.Arbitrary<Answer> = fc
  .record({
    pieces: fc.array(untidyPiece, { maxLength: 5 }),
    refusal: fc.option(plain, { freq: 4, nil: undefined }),
    cut: fc.constantFrom(undefined, undefined, 'length' as const, 'filter' as const),
    usage: figures,
  })
  .map(({ pieces, refusal, cut, usage }): Answer => {
    const numbered = pieces.map((piece, at): Said => ('call' in piece ? { ...piece, call: `call_${at}` } : piece))
    const calls = pieces.some((piece) => 'call' in piece)
    const refused = refusal !== undefined && !calls && cut === undefined
    return {
      pieces: refused ? [...numbered, { refusal }] : numbered,
      finish: cut ?? (calls ? 'calls' : refused ? 'refusal' : 'stop'),
      usage,
    }
  })

const LACKS = [
  ...(['noSampling', 'structuredOutputByTool', 'outputOrTools', 'noMidSystem', 'noAdaptiveThinking'] as const),
  ...(['noThinkingBudget', 'noForcedTools', 'noReasoning', 'noSummary', 'needsReasoning', 'alwaysThinks'] as const),
  ...(['cacheBreakpoints', 'noCustomTools', 'shortCallIds', 'noDeveloperRole', 'noUserAfterTool'] as const),
  ...(['noRepeatedUser', 'noSchemaLimits', 'noSystem', 'saysJson', 'noNullContent', 'longMessages'] as const),
]

/** What a provider or its model may lack, several things at once. */
export const quirks: fc.Arbitrary<Quirks> = fc
  .tuple(
    fc.subarray(LACKS, { maxLength: 5 }),
    fc.constantFrom<Quirks[]>({}, { maxTokensField: 'max_tokens' }, { stopsItself: false }, { efforts: ['low'] }),
  )
  .map(([lacks, more]) => ({ ...Object.fromEntries(lacks.map((name) => [name, true])), ...more }))

/** What a client may wish besides. */
export const wishes: fc.Arbitrary<Partial<Ask>> = fc
  .record({
    effort: fc.constantFrom(undefined, 'low' as const, 'high' as const),
    schema: fc.constantFrom(undefined, {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    }),
    temperature: fc.constantFrom(undefined, 0.5),
    maxOutput: fc.constantFrom(undefined, 20, 9_000),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))
