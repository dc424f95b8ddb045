// What a request's encoding has changed is undone in its answer: calls reach the client under its own names, in its own kinds,
// with its own arguments, whole or as a stream in any slices; and when the conversation goes on, the vendor finds them as it
// wrote them.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { Quirks } from '../../../src/ir/quirks.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { translateResponse, translateStream } from '../../../src/relay/translate.ts'
import type { EncodedRequest } from '../../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { hasCorpus } from '../../support/corpus.ts'
import { framesOf } from '../../support/frames.ts'
import { answerFaults, requestFaults, streamFaults } from '../matrix/rules.ts'
import type { Answer, Piece } from '../matrix/story.ts'
import { type Dice, dice, framed } from '../matrix/untidy/dice.ts'
import { VENDORS as PENS } from '../matrix/vendor/index.ts'
import { GATHER } from './gather.ts'
import { list, object, text } from './told.ts'
import { askFor, PATIENCE_MS, RUNS, VENDORS } from './vendors.ts'

/** A tool as its client knows it. `members`: of its arguments. */
type Offered = { name: string; namespace?: string; custom: boolean; members: string[] }
type Called = { tool: number; input: { [member: string]: string } | string }
type Case = {
  offered: Offered[]
  calls: Called[]
  said: string
  thought: string
  stop: string[]
  quirks: Quirks
}

const NAMES = ['look', 'Read.file', 'mcp__git__log', 'ünï', 'x'.repeat(70), 'a-b', 'json', 'web_search', 'input']
const SPACES = [undefined, undefined, 'git', 'mcp__files', 'my.space', 'functions']
const MEMBERS = ['a', '$top', 'filter[id]', 'input', 'ö', 'm'.repeat(70)]
const WORDS = ['', 'x', '"q" \\ \n', '👩🏽‍🚀', '{"input":"y"}', '*** Begin\n+ü\n', '</s>']

const offered = (client: ChatWire): fc.Arbitrary<Offered> =>
  fc
    .record({
      name: fc.constantFrom(...NAMES),
      namespace: fc.constantFrom(...(client === 'responses' ? SPACES : [undefined])),
      custom: client === 'messages' ? fc.constant(false) : fc.boolean(),
      members: fc.uniqueArray(fc.constantFrom(...MEMBERS), { maxLength: 3 }),
    })
    .map(({ namespace, ...tool }) => (namespace === undefined ? tool : { ...tool, namespace }))

const cases = (client: ChatWire): fc.Arbitrary<Case> =>
  fc
    .uniqueArray(offered(client), {
      minLength: 1,
      maxLength: 4,
      selector: ({ name, namespace }) => JSON.stringify([namespace, name]),
    })
    .chain((tools) =>
      fc.record({
        offered: fc.constant(tools),
        calls: fc.array(
          fc.nat(tools.length - 1).chain((tool) => {
            const { custom, members } = tools[tool] ?? { custom: true, members: [] }
            const words = fc.constantFrom(...WORDS)
            const input: fc.Arbitrary<Called['input']> = custom
              ? words
              : fc.record(Object.fromEntries(members.map((member) => [member, words])))
            return input.map((told) => ({ tool, input: told }))
          }),
          { maxLength: 3 },
        ),
        said: fc.constantFrom('', 'Hello.', 'one STOP two', 'STO'),
        thought: fc.constantFrom('', 'Hm.'),
        stop: fc.constantFrom<string[][]>([], ['STOP'], ['OP', 'STOP']),
        quirks: fc.constantFrom<Quirks[]>({}, { noCustomTools: true }, { stopsItself: false }),
      }),
    )

const schemaOf = ({ members }: Offered): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(members.map((member) => [member, { type: 'string' }])),
})

const ASKED: Record<ChatWire, (one: Case) => JsonObject> = {
  'chat-completions': ({ offered, stop }) => ({
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    tools: offered.map((tool) =>
      tool.custom
        ? { type: 'custom', custom: { name: tool.name } }
        : { type: 'function', function: { name: tool.name, parameters: schemaOf(tool) } },
    ),
    ...(stop.length > 0 ? { stop } : {}),
  }),
  responses: ({ offered }) => ({
    model: 'm',
    input: 'hi',
    tools: offered.map(({ namespace, ...tool }) => {
      const made = tool.custom
        ? { type: 'custom', name: tool.name }
        : { type: 'function', name: tool.name, parameters: schemaOf(tool), strict: false }
      return namespace === undefined ? made : { type: 'namespace', name: namespace, description: '', tools: [made] }
    }),
  }),
  messages: ({ offered, stop }) => ({
    model: 'm',
    max_tokens: 900,
    messages: [{ role: 'user', content: 'hi' }],
    tools: offered.map((tool) => ({ name: tool.name, input_schema: schemaOf(tool) })),
    ...(stop.length > 0 ? { stop_sequences: stop } : {}),
  }),
}

/** A tool as the vendor was told of it, in the order of the client's. */
type Sent = { name: string; namespace?: string; custom: boolean; members: string[] }
const sentTools = (body: JsonObject): Sent[] =>
  list(body.tools).flatMap((tool): Sent[] => {
    if (tool.type === 'namespace')
      return sentTools({ tools: tool.tools ?? null }).map((inner) => ({ ...inner, namespace: text(tool.name) }))
    const custom = tool.type === 'custom'
    const held = custom ? (tool.custom ?? tool) : (tool.function ?? tool)
    const { name, parameters, input_schema: schema } = object(held)
    const { properties } = object(parameters ?? schema)
    return [{ name: text(name), custom, members: Object.keys(object(properties)) }]
  })

/** The vendor's answer: calls under the names that it was told. */
const answerOf = ({ offered, calls, said, thought }: Case, sent: Sent[]): Answer => {
  const called = calls.map(({ tool, input }, at): Piece => {
    const { name, namespace, custom, members } = sent[tool] ?? { name: '', custom: false, members: [] }
    const of = { call: `call_${at}`, name, ...(namespace === undefined ? {} : { namespace }) }
    if (typeof input === 'string')
      return custom ? { ...of, custom: true, input } : { ...of, input: JSON.stringify({ input }) }
    const own = offered[tool]?.members ?? []
    const renamed = Object.entries(input).map(([member, value]) => [members[own.indexOf(member)], value])
    return { ...of, input: JSON.stringify(Object.fromEntries(renamed)) }
  })
  return {
    pieces: [...(thought === '' ? [] : [{ thought }]), ...(said === '' ? [] : [{ text: said }]), ...called],
    finish: called.length > 0 ? 'calls' : 'stop',
    usage: { input: 5, output: 7 },
  }
}

/** What the client must read: where it has asked to stop, only what stands before. */
const due = (client: ChatWire, { offered, calls, said, stop, thought }: Case) => {
  const stops = client === 'responses' ? [] : stop.filter((one) => said.includes(one))
  const ends = stops.map((one) => said.indexOf(one) + one.length)
  const met = stops.filter((_, at) => ends[at] === Math.min(...ends)).sort((a, b) => b.length - a.length)[0]
  const rest = met === undefined ? calls : []
  return {
    text: met === undefined ? said : said.slice(0, said.indexOf(met)),
    thought,
    calls: rest.map(({ tool, input }, at) => {
      const { name, namespace = '', custom } = offered[tool] ?? { name: '', custom: false }
      return { id: `call_${at}`, name, namespace, custom, input: custom ? input : { ...object(input as JsonObject) } }
    }),
  }
}

const read = (client: ChatWire, body: JsonObject) => {
  const { said, thought, calls } = VENDORS[client].told(body)
  const spaces = list(body.output)
    .filter(({ call_id: id }) => id !== undefined)
    .map(({ namespace }) => text(namespace))
  return {
    text: said.map(({ text }) => text).join(''),
    thought,
    calls: calls.map(({ id, name, kind, input }, at) => ({
      id,
      name,
      namespace: spaces[at] ?? '',
      custom: kind === 'custom',
      input: kind === 'custom' ? input : (JSON.parse(input) as JsonObject),
    })),
  }
}

const encoded = (client: ChatWire, vendor: ChatWire, asked: JsonObject, quirks: Quirks): EncodedRequest =>
  CHAT_CODECS[vendor].encodeRequest(CHAT_CODECS[client].decodeRequest(structuredClone(asked)), {
    model: 'up',
    maxOutput: 64_000,
    quirks,
  })

const plain = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject

/** The client's next request: the answer as it was read, and a result for each call. */
const goOn = (client: ChatWire, asked: JsonObject, body: JsonObject): JsonObject => {
  switch (client) {
    case 'messages': {
      const results = list(body.content)
        .filter(({ type }) => type === 'tool_use')
        .map(({ id = '' }) => ({ type: 'tool_result', tool_use_id: id, content: `RESULT ${id}` }))
      const said = { role: 'assistant', content: body.content ?? [] }
      const next = { role: 'user', content: [...results, { type: 'text', text: 'go on' }] }
      return { ...asked, messages: [...list(asked.messages), said, next] }
    }
    case 'chat-completions': {
      const message = object(list(body.choices)[0]?.message)
      const results = list(message.tool_calls).map(({ id = '' }) => ({
        role: 'tool',
        tool_call_id: id,
        content: `RESULT ${id}`,
      }))
      const next = { role: 'user', content: 'go on' }
      return { ...asked, messages: [...list(asked.messages), { role: 'assistant', ...message }, ...results, next] }
    }
    case 'responses': {
      const items = list(body.output)
      const results = items
        .filter(({ call_id: id }) => id !== undefined)
        .map(({ type, call_id = '' }) => ({ type: `${type}_output`, call_id, output: `RESULT ${call_id}` }))
      return {
        ...asked,
        input: [{ role: 'user', content: 'hi' }, ...items, ...results, { role: 'user', content: 'go on' }],
      }
    }
  }
}

/** The calls of a vendor's request, as the vendor wrote them. */
const sentCalls = (body: JsonObject): unknown[] => {
  const blocks = list(body.messages).flatMap(({ content }) => list(content))
  const made = list(body.messages).flatMap(({ tool_calls: calls }) => list(calls))
  return [
    ...blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => [id, name, undefined, JSON.stringify(input)]),
    ...made.map(({ id, function: called, custom }) => {
      const { name, arguments: told, input = told } = object(called ?? custom)
      return [id, name, undefined, input]
    }),
    ...list(body.input)
      .filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
      .map(({ call_id: id, name, namespace, arguments: told, input = told }) => [id, name, namespace, input]),
  ]
}

const crossings = CHAT_WIRES.flatMap((client) =>
  CHAT_WIRES.filter((vendor) => vendor !== client).map((vendor) => [client, vendor] as const),
)

describe.skipIf(!hasCorpus).each(crossings)('a client of %s and the answer of a vendor of %s', (client, vendor) => {
  const heard = (one: Case, thrown: Dice): void => {
    const asked = ASKED[client](one)
    const { body, undo } = encoded(client, vendor, asked, one.quirks)
    expect(requestFaults(vendor, plain(body))).toEqual([])
    const sent = sentTools(body)
    expect(sent.length).toBe(one.offered.length)
    const answer = answerOf(one, sent)
    const crossing = { client: CHAT_CODECS[client], provider: CHAT_CODECS[vendor], undo: plain(undo) }

    const told = plain(
      translateResponse(JSON.parse(PENS[vendor].json(answer)), {
        ...crossing,
        ask: { ...askFor(client, false), body: asked },
      }),
    )
    expect(answerFaults(client, told)).toEqual([])
    expect(read(client, told)).toEqual(due(client, one))

    const { body: wish } = askFor(client, true)
    const tap = translateStream({ ...crossing, ask: { ...askFor(client, true), body: { ...asked, ...wish } } })
    const chunks = framed(framesOf(PENS[vendor].stream(answer)), thrown)
    const stream = framesOf(...chunks)
      .map((frame) => tap.see(frame))
      .join('')
    expect(tap.state).toBe('done')
    expect(streamFaults(client, stream)).toEqual([])
    const gathered = plain(GATHER[client](framesOf(stream)))
    expect(read(client, gathered)).toEqual(due(client, one))
    expect(VENDORS[client].stopOf(gathered)).toBe(VENDORS[client].stopOf(told))

    for (const answered of [told, gathered]) {
      const next = goOn(client, asked, answered)
      for (const other of CHAT_WIRES.filter((wire) => wire !== client)) {
        const again = plain(encoded(client, other, next, one.quirks).body)
        expect(requestFaults(other, { ...again, ...(other === vendor ? bare(again) : {}) })).toEqual([])
        for (const { id } of due(client, one).calls) expect(JSON.stringify(again)).toContain(`RESULT ${id}`)
        if (other !== vendor) continue
        const written = answer.pieces.flatMap((piece) =>
          'call' in piece ? [[piece.call, piece.name, piece.namespace, asWritten(vendor, piece)]] : [],
        )
        expect(sentCalls(again)).toEqual(written.slice(0, due(client, one).calls.length))
      }
    }
  }

  test(
    'reads its own names and arguments, and the vendor finds them as it wrote them',
    () => fc.assert(fc.property(cases(client), dice, heard), { numRuns: RUNS, includeErrorInReport: true }),
    PATIENCE_MS,
  )
})

/** Without plain thoughts, which the vendor's published types do not have. */
const bare = ({ messages }: JsonObject): JsonObject =>
  messages === undefined ? {} : { messages: list(messages).map(({ reasoning_content: _, ...message }) => message) }

const asWritten = (vendor: ChatWire, piece: Extract<Piece, { call: string }>): string =>
  vendor === 'messages' && piece.custom ? JSON.stringify({ input: piece.input }) : piece.input
