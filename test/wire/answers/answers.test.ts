// Answers nobody has recorded: whatever the vendors' published types and stream rules allow, told to clients of every
// wire. What was said, called, billed and why it ended is read off both sides by hands of their own.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isObject, type JsonObject } from '../../../src/ir/json.ts'
import type { Usage } from '../../../src/ir/usage.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { withExact } from '../../../src/lib/json-exact.ts'
import { writeFrame } from '../../../src/lib/sse.ts'
import { translateResponse, translateStream } from '../../../src/relay/translate.ts'
import type { Tap } from '../../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { DECLINED } from '../../../src/wire/responses/answer.ts'
import { hasCorpus } from '../../support/corpus.ts'
import { framesOf } from '../../support/frames.ts'
import { exactly } from '../matrix/exact.ts'
import { answerFaults, streamFaults } from '../matrix/rules.ts'
import { type Dice, diceOf, framed, throws } from '../matrix/untidy/dice.ts'
import { GATHER } from './gather.ts'
import { list, object, SECRET, type Told } from './told.ts'
import { askFor, PATIENCE_MS, RUNS, VENDORS } from './vendors.ts'

const through = (tap: Tap, chunks: Uint8Array[]): string =>
  framesOf(...chunks)
    .map((frame) => tap.see(frame))
    .join('')

const parsed = (body: JsonObject): JsonObject => {
  const text = JSON.stringify(body)
  return withExact(text, JSON.parse(text) as JsonObject)
}

/** Why it ended, in no wire's words. */
const reasonOf = (wire: ChatWire, body: JsonObject): string => {
  const { said, calls } = VENDORS[wire].told(body)
  const word = VENDORS[wire].stopOf(body)
  if (wire === 'messages') return word
  if (word === 'content_filter' || word === 'incomplete: content_filter') return 'filter'
  if (word === 'length' || word.startsWith('incomplete')) return 'max_tokens'
  if (calls.length > 0) return 'tool_use'
  return said.some(({ kind }) => kind === 'refusal') ? 'refused' : 'end_turn'
}

/** The client's word for it. */
const wordFor = (wire: ChatWire, reason: string, calls: boolean): string => {
  switch (reason) {
    case 'max_tokens':
      return { 'chat-completions': 'length', responses: 'incomplete: max_output_tokens', messages: 'max_tokens' }[wire]
    case 'model_context_window_exceeded':
      return { 'chat-completions': 'length', responses: 'incomplete: max_output_tokens', messages: reason }[wire]
    case 'filter':
      return { 'chat-completions': 'content_filter', responses: 'incomplete: content_filter', messages: 'refusal' }[
        wire
      ]
    case 'refusal':
      return calls || wire !== 'responses' ? wordFor(wire, 'filter', calls) : 'completed'
    case 'refused':
      return { 'chat-completions': 'stop', responses: 'completed', messages: 'refusal' }[wire]
    default: {
      const called = calls ? 'tool_calls' : 'stop'
      return { 'chat-completions': called, responses: 'completed', messages: calls ? 'tool_use' : 'end_turn' }[wire]
    }
  }
}

const joined = (said: Told['said'], kind?: 'text' | 'refusal'): string =>
  said.map((one) => (kind === undefined || one.kind === kind ? one.text : '')).join('')

/** Spaces of arguments are nobody's meaning, their numbers are; free text is one string of an object on one wire. */
const canonical = (call: Told['calls'][0], wire: ChatWire) => {
  const free = call.kind === 'custom' && wire === 'messages'
  const input = free ? JSON.stringify({ input: call.input }) : call.input
  return {
    name: call.name.split('__').at(-1) ?? '',
    kind: free ? 'function' : call.kind,
    input: call.kind === 'custom' && !free ? input : JSON.stringify(exactly(input)),
  }
}

/** What a client of the wire must read. */
const due = (from: ChatWire, to: ChatWire, body: JsonObject) => {
  const { said, thought, calls, usage } = VENDORS[from].told(body)
  const reason = reasonOf(from, body)
  const unsaid = to === 'responses' && reason === 'refusal' && calls.length === 0
  return {
    text: to === 'messages' ? joined(said) : joined(said, 'text'),
    refusal: to === 'messages' ? '' : joined(said, 'refusal') + (unsaid ? DECLINED : ''),
    thought,
    calls: calls.map((call) => canonical(call, to)),
    ids: calls.map(({ id }) => id).filter((id) => id !== ''),
    usage,
    stop: wordFor(to, reason, calls.length > 0),
  }
}

const readBy = (to: ChatWire, body: JsonObject, made: number) => {
  const { said, thought, calls, usage } = VENDORS[to].told(body)
  return {
    text: to === 'messages' ? joined(said, 'text').replace(DRAWN, '') : joined(said, 'text'),
    refusal: joined(said, 'refusal'),
    thought,
    calls: calls.map((call) => canonical(call, to)),
    ids: calls.map(({ id }) => id).slice(made),
    usage,
    stop: VENDORS[to].stopOf(body),
  }
}
/** In words, where the wire has no picture. */
const DRAWN = /\[A picture was drawn [^\]]*\]/g

/** Calls without an id are given one. */
const nameless = (from: ChatWire, body: JsonObject): number =>
  VENDORS[from].told(body).calls.filter(({ id }) => id === '').length

const crossings = CHAT_WIRES.flatMap((client) =>
  CHAT_WIRES.filter((vendor) => vendor !== client).map((vendor) => [client, vendor] as const),
)

const counted = ({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0 }: Usage = {}): Told['usage'] => ({
  input,
  read: cacheRead,
  written: cacheWrite,
  output,
})

/** An answer without what only one of its two forms has. */
const alike = (body: JsonObject): JsonObject => {
  const { object: _, usage, choices, ...rest } = JSON.parse(JSON.stringify(body)) as JsonObject
  const { service_tier: __, ...figures } = object(usage)
  return {
    ...rest,
    usage: figures,
    choices: list(choices).map(({ message, ...choice }) => {
      const { role: _, annotations, ...said } = object(message)
      return { ...choice, message: { ...said, content: said.content || null, annotations: list(annotations) } }
    }),
  }
}

const toldWhole = (client: ChatWire, vendor: ChatWire, body: JsonObject): string =>
  JSON.stringify(
    translateResponse(parsed(body), {
      client: CHAT_CODECS[client],
      provider: CHAT_CODECS[vendor],
      ask: askFor(client, false),
      undo: {},
    }),
  )

describe.skipIf(!hasCorpus).each(crossings)('a client of %s and an answer of %s', (client, vendor) => {
  const open = (): Tap =>
    translateStream({ client: CHAT_CODECS[client], provider: CHAT_CODECS[vendor], ask: askFor(client, true), undo: {} })

  const check = (holds: (body: JsonObject, thrown: Dice) => void): void =>
    fc.assert(
      fc.property(throws, (numbers) => {
        const thrown = diceOf(numbers)
        holds(VENDORS[vendor].answer(thrown), thrown)
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    )

  test(
    'whole',
    () =>
      check((body) => {
        expect(answerFaults(vendor, JSON.parse(JSON.stringify(body)))).toEqual([])
        const text = toldWhole(client, vendor, body)
        expect(answerFaults(client, JSON.parse(text))).toEqual([])
        const read = exactly(text) as JsonObject
        expect(readBy(client, read, nameless(vendor, body))).toEqual(due(vendor, client, body))
        expect(read.model).toBe('gateway-model')
        expect(text).not.toContain(SECRET)
      }),
    PATIENCE_MS,
  )

  test(
    'as a stream, in any framing, which says what the whole says',
    () =>
      check((body, thrown) => {
        const frames = VENDORS[vendor].frames(body, thrown)
        expect(streamFaults(vendor, frames.map(writeFrame).join(''), vendor !== 'messages')).toEqual([])
        const tap = open()
        const text = through(tap, framed(frames, thrown))
        expect(tap.state).toBe('done')
        expect(streamFaults(client, text)).toEqual([])
        const read = GATHER[client](framesOf(text))
        expect(readBy(client, read, nameless(vendor, body))).toEqual(due(vendor, client, body))
        expect(alike(read)).toEqual(alike(JSON.parse(toldWhole(client, vendor, body))))
        expect(text).not.toContain(SECRET)
        expect(counted(tap.usage)).toEqual(VENDORS[vendor].told(body).usage)
        expect(isObject(tap.rawUsage)).toBe(true)
      }),
    PATIENCE_MS,
  )

  test(
    'cut anywhere, which never ends well',
    () =>
      check((body, thrown) => {
        const frames = VENDORS[vendor].frames(body, thrown)
        for (const tap of [open(), CHAT_CODECS[vendor].tap({ model: 'gateway-model', includeUsage: true, now: 0 })]) {
          const kept = frames.slice(0, Math.min(thrown.one(1, 2, 4, 7, 12, 40), frames.length - 1))
          const text = kept.map((frame) => tap.see(frame)).join('')
          expect(tap.state).toBe('open')
          expect(text).not.toMatch(/\[DONE\]|"message_stop"|response\.completed"|response\.incomplete"/)
        }
      }),
    PATIENCE_MS,
  )
})

describe.skipIf(!hasCorpus).each([...CHAT_WIRES])('a client of %s and an answer of its own wire', (wire) => {
  test.each([true, false])(
    'reads every byte but the model’s name; usage asked for: %p',
    (includeUsage) => {
      fc.assert(
        fc.property(throws, (numbers) => {
          const thrown = diceOf(numbers)
          const body = VENDORS[wire].answer(thrown)
          const frames = VENDORS[wire].frames(body, thrown)
          const tap = CHAT_CODECS[wire].tap({ model: 'gateway-model', includeUsage, now: 0 })
          const chunks = framed(frames, thrown)
          const text = through(tap, chunks)
          expect(tap.state).toBe('done')
          const renamed = framesOf(...chunks).map((frame) =>
            writeFrame(frame).replaceAll(`"model":"${SECRET}"`, '"model":"gateway-model"'),
          )
          const unasked = wire === 'chat-completions' && !includeUsage
          // The chunk of the figures was ours to ask for; the others say that they hold none.
          const due = unasked
            ? renamed
                .filter((one) => !/"usage":\s*\{/.test(one))
                .map((one) => one.replace(/,(\ndata: ?)?"usage":null/, ''))
            : renamed
          expect(text).toBe(due.join(''))
          expect(counted(tap.usage)).toEqual(VENDORS[wire].told(body).usage)
        }),
        { numRuns: RUNS, includeErrorInReport: true },
      )
    },
    PATIENCE_MS,
  )
})
