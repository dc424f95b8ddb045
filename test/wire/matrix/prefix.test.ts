// Histories as agents keep them, turn by turn, on the codecs: every translation begins with the one of the turn before, to
// the byte, for every crossing and whatever the provider lacks. Otherwise its prompt cache is lost.

import { describe, test } from 'bun:test'
import fc from 'fast-check'
import type { Quirks } from '../../../src/ir/quirks.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { reworded } from '../../../src/relay/adapt/reworded.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { expectPrefixes, promptOf } from '../../support/prompt.ts'
import { CLIENTS } from './client/index.ts'
import * as random from './random.ts'
import { PDF, PICTURE_URL, PIXEL } from './stories/parts.ts'
import type { Ask, Result, Said, Shown, Turn } from './story.ts'

const words = fc.constantFrom(
  'Hello.',
  ' x ',
  'two\nlines',
  '"quoted" \\ back',
  '👩🏽‍🚀 Grüße',
  '',
  ' ',
  '\n',
  '</system>',
)
const texts: fc.Arbitrary<Shown> = words.map((text) => ({ text }))
const shown: fc.Arbitrary<Shown> = fc.oneof(
  { weight: 4, arbitrary: texts },
  fc.constant({ image: PIXEL }),
  fc.constant({ imageUrl: PICTURE_URL }),
  fc.constant({ pdf: PDF, name: 'a.pdf' }),
  fc.constant({ file: 'text', name: 'a.txt' }),
)
const NAMES = ['get_weather', 'now', 'mcp__a.b__c/d', 'a-b', 'ü', 'n'.repeat(130)]
/** The last is not offered, as of a server that has gone. */
const TOOLS: NonNullable<Ask['tools']> = NAMES.slice(0, -1).map((name) => ({ name }))

const INPUTS = ['{}', '{"a":1}', '{"input":"x"}', '{ "b": [1, 2.0, 1e3] }']
const call = (client: ChatWire) =>
  fc.record({
    name: fc.constantFrom(...NAMES),
    input: fc.constantFrom(...INPUTS, ...(client === 'messages' ? [] : ['', '[1]', '{bad'])),
    custom: client === 'messages' ? fc.constant(false) : fc.boolean(),
    namespace: fc.constantFrom(undefined, ...(client === 'responses' ? ['fs'] : [])),
    failed: client === 'messages' ? fc.boolean() : fc.constant(false),
    result: fc.array(client === 'chat-completions' ? texts : shown, { maxLength: 2 }),
    answered: fc.integer({ min: 0, max: 9 }).map((one) => one > 0),
  })

type Call = typeof call extends (client: ChatWire) => fc.Arbitrary<infer T> ? T : never

const round = (client: ChatWire) =>
  fc.record({
    thoughts: fc.array(fc.record({ thought: fc.constant('Hm.'), seal: fc.constantFrom('c2ln', '') }), { maxLength: 2 }),
    texts: fc.array(words, { maxLength: 2 }),
    calls: fc.array(call(client), { maxLength: 3 }),
    /** The calls do not stand behind all else. */
    mixed: client === 'chat-completions' ? fc.constant(false) : fc.boolean(),
    backwards: fc.boolean(),
    said: fc.array(shown, { maxLength: 2 }),
    /** What else stands before the model's next turn: a reminder, the user once more. */
    reminder: fc.integer({ min: 0, max: 5 }).map((one) => one === 0),
    again: fc.integer({ min: 0, max: 8 }).map((one) => one === 0),
  })

const saidIn = ({ custom, namespace, name, input }: Call, id: string): Said => ({
  ...{ call: id, name, input: custom ? 'free text' : input },
  ...(custom ? { custom } : {}),
  ...(namespace === undefined ? {} : { namespace }),
})
const resultOf = ({ result, failed }: Call, of: string): Result => ({ of, result, ...(failed ? { failed } : {}) })
const isBlank = (part: Shown): boolean => 'text' in part && part.text.trim() === ''

/** `asks`: how many turns each of its requests holds. */
type Session = { turns: Turn[]; asks: number[] }

const session = (client: ChatWire): fc.Arbitrary<Session> =>
  fc
    .record({
      first: fc.array(shown, { minLength: 1, maxLength: 2 }).filter((parts) => !parts.every(isBlank)),
      rounds: fc.array(round(client), { minLength: 1, maxLength: 6 }),
      /** Some servers begin to count the ids anew with each answer. */
      reuses: fc.boolean(),
    })
    .map(({ first, rounds, reuses }) => {
      const begun: Turn[] = [{ role: 'system', parts: [{ text: 'You are.' }, { text: 'An agent.' }] }]
      const turns: Turn[] = [...begun, { role: 'user', parts: first }]
      const asks = [turns.length]
      for (const [at, one] of rounds.entries()) {
        const calls = one.calls.map((made, index) => ({ made, id: reuses ? `call_${index}` : `call_${at}_${index}` }))
        // A turn in which nothing is said is none.
        if (calls.length === 0 && one.texts.every((text) => text.trim() === '')) continue
        const called = calls.map(({ made, id }) => saidIn(made, id))
        const early = one.mixed ? called.splice(0, 1) : []
        const spoken = one.texts.map((text) => ({ text }))
        turns.push({ role: 'assistant', parts: [...early, ...one.thoughts, ...spoken, ...called] })
        const results = calls.flatMap(({ made, id }) => (made.answered ? [resultOf(made, id)] : []))
        if (one.backwards) results.reverse()
        const silent = results.length === 0 && one.said.every(isBlank)
        turns.push({ role: 'user', parts: [...results, ...(silent ? [{ text: 'Go on.' }] : one.said)] })
        if (one.reminder) turns.push({ role: 'system', parts: [{ text: `Round ${at}.` }] })
        if (one.again) turns.push({ role: 'user', parts: [{ text: 'Again.' }] })
        asks.push(turns.length)
      }
      return { turns, asks }
    })

/** A budget of thinking is refused behind calls that were made without a thought, so that this setting comes and goes. */
const keepsSettings = ({ noAdaptiveThinking }: Quirks, vendor: ChatWire): boolean =>
  vendor !== 'messages' || noAdaptiveThinking !== true

const crossings = CHAT_WIRES.flatMap((client) => CHAT_WIRES.map((vendor) => [client, vendor] as const))

describe.each(crossings)('a client of %s and a vendor of %s', (client, vendor) => {
  const laws: [string, fc.Arbitrary<Quirks>][] = [
    ['each request begins with the one before', fc.constant({})],
    ['and so it does whatever the provider lacks', random.quirks.filter((quirks) => keepsSettings(quirks, vendor))],
  ]
  test.each(laws)('%s', (_, lacks) =>
    fc.assert(
      fc.property(session(client), random.wishes, lacks, ({ turns, asks }, wished, quirks) => {
        const sent = asks.map((count) => {
          const ask = { turns: turns.slice(0, count), tools: TOOLS, ...wished }
          const body = JSON.parse(JSON.stringify(CLIENTS[client].request(ask, 'm', true)))
          const request = reworded(CHAT_CODECS[client].decodeRequest(body), quirks)
          return CHAT_CODECS[vendor].encodeRequest(request, { model: 'up', maxOutput: 32_000, quirks }).body
        })
        expectPrefixes(sent.map(promptOf))
      }),
      { numRuns: 60 },
    ),
  )
})
