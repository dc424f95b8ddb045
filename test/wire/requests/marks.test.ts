// Of what a client says nothing vanishes on the way to a provider of another wire: every text is in what is sent, or its
// member is listed as left out, or the request is refused. So it is of members that nobody knows, and all that is listed is
// there.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import { asList, type Json, type JsonObject } from '../../../src/ir/json.ts'
import type { Quirks } from '../../../src/ir/quirks.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { asWritten } from '../../../src/wire/refusal/member-names.ts'
import { hasCorpus, schema } from '../../support/corpus.ts'
import { blank, marked, strangers, vanished } from '../../support/marks.ts'
import { schemaWalk } from '../../support/schema-walk.ts'
import { diceOf, throws } from '../matrix/untidy/dice.ts'
import { chatTool, HI, plainTool } from './support.ts'

const TYPES: Record<ChatWire, string[]> = {
  'chat-completions': ['OpenAIChatCompletionCreateParams'],
  responses: ['OpenAIResponseCreateParams'],
  messages: ['AnthropicMessageCreateParams', 'AnthropicBetaMessageCreateParams'],
}
const LISTS = { 'chat-completions': 'messages', messages: 'messages', responses: 'input' } as const
const OWN: Record<ChatWire, JsonObject> = {
  'chat-completions': chatTool('own'),
  responses: plainTool('own'),
  messages: { name: 'own', input_schema: { type: 'object' } },
}

/** What says nothing to a model, or is another vendor's alone to read. */
const UNSAID: [RegExp, string][] = [
  [/\.(id|call_id|tool_use_id|approval_request_id|container_id|fingerprint)$/, 'an id; those of calls: received.ts'],
  [
    /\(reasoning\)|\((redacted_)?thinking\)|\(compaction\)\.(signature|encrypted_content)$/,
    'a thought or its seal, of another vendor’s model',
  ],
  [
    /\.caller\(|\.environment\(local\)|\.outcome\(|shell_call_output\)\.output/,
    'how a call was made and ended, told by its kind',
  ],
  [/\.(cache_control|prompt_cache_breakpoint)[.(]/, 'the form of a mark, which is listed itself'],
  [
    /\((tool_addition|tool_removal|additional_tools|tool_search_output)\b/,
    'a change of the tools, which are in the list',
  ],
  [/\.logprobs\./, 'figures of what is said'],
  [/\.user_location\b/, 'the form of a place, whose names go over'],
  [/^stop(_sequences)?\b/, 'met in the gateway'],
  [/^tool_choice\(|^output_format\(/, 'told by its kind; a form of earlier betas'],
  [/^text\.format\((text|json_object)\)|\.grammar\./, 'a form without members'],
  [/\.properties\.(any|x_new)$/, 'no schema: a property that is anything'],
  [/\.error\.type$/, 'beside its message'],
]
/** Beside what a file holds, its id or address says no more; alone each is sent, listed or refused. */
const BESIDE = /^(?!.*\.file_(id|url)$)/
const isUnsaid = (kind: string): boolean => UNSAID.some(([one]) => one.test(kind))

/** A text in whatever keyword may hold one. */
const leaf: JsonObject = Object.fromEntries([
  ['type', 'string'],
  ...['title', 'description', 'default', 'const', '$comment', 'format', 'pattern', 'x-note'].map((name) => [
    name,
    blank(name),
  ]),
  ...['examples', 'enum'].map((name) => [name, [blank(name), blank(name)]]),
])
const inner: JsonObject = {
  type: 'object',
  description: blank('description'),
  properties: { y: leaf },
  required: ['y'],
  additionalProperties: false,
}
const held: JsonObject = {
  type: 'object',
  title: blank('title'),
  description: blank('description'),
  default: { a: blank('a') },
  properties: {
    a: leaf,
    b: { type: 'array', items: leaf },
    c: { anyOf: [leaf, inner], description: blank('description') },
    d: { $ref: '#/$defs/x', description: blank('description') },
    e: { type: 'string', pattern: `^(?=${blank('')})`, not: { const: blank('') } },
    f: { type: 'object', patternProperties: { '^x': { description: blank('') } } },
  },
  required: ['a', 'b', 'c', 'd', 'e', 'f'],
  $defs: { x: inner },
}
const about = blank('description')
/** Bodies with the schema as a tool's and as the answer's. */
const withSchema: Record<ChatWire, (schema: JsonObject, strict: boolean) => JsonObject[]> = {
  'chat-completions': (schema, strict) => [
    { tools: [{ type: 'function', function: { name: 'f', description: about, parameters: schema, strict } }] },
    { response_format: { type: 'json_schema', json_schema: { name: 'n', description: about, schema, strict } } },
  ],
  responses: (schema, strict) => [
    { tools: [{ type: 'function', name: 'f', description: about, parameters: schema, strict }] },
    { text: { format: { type: 'json_schema', name: 'n', description: about, schema, strict } } },
  ],
  messages: (schema, strict) => [
    { tools: [{ name: 'f', description: about, input_schema: schema, strict }] },
    { output_config: { format: { type: 'json_schema', schema } } },
  ],
}
const QUIRKS: Quirks[] = [{}, { structuredOutputByTool: true }, { structuredOutputByTool: true, noForcedTools: true }]

/** Whether something stands at the path that a client would be told. */
const stands = (path: string, body: JsonObject): boolean => {
  let at: Json | undefined = body
  for (const name of path.split('.'))
    at = Array.isArray(at) ? at[Number(name)] : typeof at === 'object' && at !== null ? at[name] : undefined
  return at !== undefined && at !== null
}

/** Bodies with this value of a member of theirs. */
const bodiesOf = (wire: ChatWire, member: string, value: Json): JsonObject[] => {
  const hi = HI[wire]
  if (member === LISTS[wire]) return [{ ...hi, [member]: [...asList(value), { role: 'user', content: 'go on' }] }]
  if (member !== 'tools') return [{ ...hi, [member]: value }]
  // Beside a tool of the client's, some of the vendor's may go.
  return [[], [OWN[wire]]].map((more) => ({ ...hi, tools: [...asList(value), ...more] }))
}

type Look = { only?: RegExp; quirks?: Quirks }

/** What of the body vanishes, and what is listed that is not there. `only`: of these members alone. */
const faults = (
  from: ChatWire,
  to: ChatWire,
  body: JsonObject,
  { only = /(?:)/, quirks = {} }: Look = {},
): string[] => {
  const { value, marks } = marked(body)
  try {
    const request = CHAT_CODECS[from].decodeRequest(structuredClone(value))
    const sent = CHAT_CODECS[to].encodeRequest(request, { model: 'up', maxOutput: 64_000, quirks })
    const listed = sent.dropped.map((path) => asWritten(path, value))
    const due = marks.filter(({ kind }) => only.test(kind) && !isUnsaid(kind))
    return [
      ...vanished(due, JSON.stringify(sent.body), listed).map(({ kind }) => `vanished: ${kind}`),
      ...listed.filter((path) => !stands(path, value)).map((path) => `not there: ${path.replace(/\d+/g, '*')}`),
    ]
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return []
    throw error
  }
}

const crossings: [ChatWire, ChatWire][] = CHAT_WIRES.flatMap((from) =>
  CHAT_WIRES.filter((to) => to !== from).map((to): [ChatWire, ChatWire] => [from, to]),
)

test.each(crossings)('of a schema from %s to %s nothing vanishes, however its provider takes it', (from, to) => {
  for (const strict of [false, true])
    for (const schema of [held, { ...held, additionalProperties: false }])
      for (const body of withSchema[from](schema, strict))
        for (const quirks of QUIRKS) expect(faults(from, to, { ...HI[from], ...body }, { quirks })).toEqual([])
})

describe.skipIf(!hasCorpus).each(crossings)('of a request from %s to %s nothing vanishes', (from, to) => {
  const walks = TYPES[from].map((name) => schemaWalk(schema(name), blank))
  const found = new Set<string>()
  const each = (read: (member: string, value: Json) => void): void => {
    for (const walk of walks)
      for (const [member, type] of walk.members())
        if (member !== 'model' && member !== 'stream')
          for (const value of walk.variants(type, member, 9)) read(member, value)
  }

  test('that the published types have', () => {
    each((member, value) => {
      for (const body of bodiesOf(from, member, value)) for (const fault of faults(from, to, body)) found.add(fault)
    })
    expect([...found]).toEqual([])
  }, 120_000)

  test('that nobody knows', () => {
    const tried = new Set<string>()
    const unknown = new Set<string>()
    each((member, value) => {
      for (const changed of strangers(value))
        for (const body of bodiesOf(from, member, changed)) {
          const kind = marked(body).marks.find((mark) => mark.kind.endsWith('x_new'))?.kind ?? ''
          if (tried.has(kind)) continue
          tried.add(kind)
          for (const fault of faults(from, to, body, { only: /x_new$/ })) unknown.add(fault)
        }
    })
    expect([...unknown]).toEqual([])
    expect(tried.size).toBeGreaterThan(50)
  }, 120_000)

  test(
    'whatever stands together',
    () =>
      fc.assert(
        fc.property(throws, (numbers) => {
          const dice = diceOf(numbers)
          for (const walk of walks) {
            const list = walk.someOf(LISTS[from], dice, 8)
            for (const body of bodiesOf(from, LISTS[from], list))
              expect(faults(from, to, body, { only: BESIDE })).toEqual([])
          }
        }),
        { numRuns: 400, includeErrorInReport: true },
      ),
    120_000,
  )
})
