// Properties of every crossing, checked with random stories on the codecs directly.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent } from '../../../src/ir/event.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { wholeCalls } from '../../../src/ir/whole.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { reworded } from '../../../src/relay/adapt/reworded.ts'
import type { Ask } from '../../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { framesOf } from '../../support/frames.ts'
import { CLIENTS } from './client/index.ts'
import * as random from './random.ts'
import { expectedLines, missing, receivedLines } from './received.ts'
import { answerFaults, requestFaults, streamFaults } from './rules.ts'
import { VENDORS } from './vendor/index.ts'

const askFor = (client: ChatWire): Ask => ({
  model: 'gateway-model',
  body: CLIENTS[client].request({ turns: [] }, 'gateway-model', true),
  inputEstimate: 11,
  now: 1_790_000_000,
})

const eventsOf = (vendor: ChatWire, text: string): ChatEvent[] => {
  const decoder = CHAT_CODECS[vendor].decodeEvents()
  const whole = wholeCalls()
  return [...framesOf(text).flatMap((frame) => whole(decoder.push(frame))), ...whole(decoder.end())]
}

const streamed = (client: ChatWire, vendor: ChatWire, text: string): string => {
  const encoder = CHAT_CODECS[client].encodeEvents(askFor(client))
  return eventsOf(vendor, text)
    .map((event) => encoder.push(event))
    .join('')
}

const whole = (client: ChatWire, vendor: ChatWire, text: string): JsonObject =>
  JSON.parse(
    JSON.stringify(
      CHAT_CODECS[client].encodeResponse(CHAT_CODECS[vendor].decodeResponse(JSON.parse(text)), askFor(client)),
    ),
  )

const crossings = CHAT_WIRES.flatMap((client) =>
  CHAT_WIRES.filter((vendor) => vendor !== client).map((vendor) => [client, vendor] as const),
)
const target = { model: 'up', maxOutput: 32_000, quirks: {} }

describe.each(crossings)('a client of %s and a vendor of %s', (client, vendor) => {
  const pen = VENDORS[vendor]
  const reader = CLIENTS[client]

  test('a stream and a whole answer give the client the same, in the published types', () =>
    fc.assert(
      fc.asyncProperty(random.answer, async (answer) => {
        const body = whole(client, vendor, pen.json(answer))
        const text = streamed(client, vendor, pen.stream(answer))
        expect(answerFaults(client, body)).toEqual([])
        expect(streamFaults(client, text)).toEqual([])
        const gathered = await reader.gather(text, true)
        expect(reader.viewOf(gathered)).toEqual(reader.viewOf(body))
        const { input, cacheRead = 0, cacheWrite = 0, output } = answer.usage
        expect(reader.total(gathered)).toBe(input + cacheRead + cacheWrite + output)
        expect(reader.total(body)).toBe(input + cacheRead + cacheWrite + output)
      }),
      { numRuns: 40 },
    ))

  test('the client reads the same as from a vendor of its own wire', () =>
    fc.assert(
      fc.property(random.answer, (answer) => {
        const own = JSON.parse(VENDORS[client].json(answer)) as JsonObject
        expect(reader.viewOf(whole(client, vendor, pen.json(answer)))).toEqual(reader.viewOf(own))
      }),
      { numRuns: 60 },
    ))

  test('a stream cut anywhere ends in an error, and neither it nor a call is marked as complete', () =>
    fc.assert(
      fc.property(random.answer, fc.nat(), (answer, place) => {
        const text = pen.stream(answer)
        const frames = text.split('\n\n').slice(0, -1)
        // The last frames say that the answer is whole: what is cut behind them is nothing.
        const most = frames.findIndex((frame) =>
          /\[DONE\]|message_stop|event: response\.(completed|incomplete)/.test(frame),
        )
        const cut = `${frames.slice(0, place % Math.max(1, most)).join('\n\n')}\n\n`
        const out = streamed(client, vendor, cut)
        expect(streamFaults(client, out)).toEqual([])
        expect(framesOf(out).at(-1)?.event).toBe('error')
        expect(out).not.toMatch(/\[DONE\]|message_stop|response\.completed|response\.incomplete|"finish_reason":"/)
      }),
      { numRuns: 60 },
    ))

  test('a conversation in any order reaches the vendor completely, in a form it accepts', () =>
    fc.assert(
      fc.property(random.ask(client), (ask) => {
        const body = JSON.parse(JSON.stringify(reader.request(ask, 'gateway-model', false))) as JsonObject
        let sent: JsonObject
        try {
          sent = CHAT_CODECS[vendor].encodeRequest(CHAT_CODECS[client].decodeRequest(body), target).body
        } catch (error) {
          // A conversation that says nothing at all cannot be answered.
          expect(error).toBeInstanceOf(GatewayError)
          expect(expectedLines(ask).join('').replaceAll('text ', '').trim()).toBe('')
          return
        }
        const seen = JSON.parse(JSON.stringify(sent)) as JsonObject
        expect(requestFaults(vendor, seen)).toEqual([])
        const due = expectedLines(ask).filter((line) => line.slice('text '.length).trim() !== '')
        expect(missing(due, receivedLines(vendor, seen))).toEqual([])
        if (due.length === 0) return
        // As a client of the vendor's wire would send it on.
        const back = CHAT_CODECS[client].encodeRequest(CHAT_CODECS[vendor].decodeRequest(seen), target).body
        expect(requestFaults(client, JSON.parse(JSON.stringify(back)))).toEqual([])
        expect(missing(due, receivedLines(client, JSON.parse(JSON.stringify(back))))).toEqual([])
      }),
      { numRuns: 200 },
    ))

  test('and so it does whatever the provider lacks and the client wishes', () =>
    fc.assert(
      fc.property(random.ask(client), random.wishes, random.quirks, (ask, wished, quirks) => {
        const due = expectedLines(ask).filter((line) => line.slice('text '.length).trim() !== '')
        if (due.length === 0) return
        const body = JSON.parse(JSON.stringify(reader.request({ ...ask, ...wished }, 'gateway-model', false)))
        const request = reworded(CHAT_CODECS[client].decodeRequest(body as JsonObject), quirks)
        const sent = JSON.stringify(CHAT_CODECS[vendor].encodeRequest(request, { ...target, quirks }).body)
        expect(missing(due, receivedLines(vendor, JSON.parse(sent) as JsonObject))).toEqual([])
        // Thoughts in the open are no member of the published types.
        const typed = JSON.parse(sent, (name, value) =>
          name === 'reasoning_content' ? undefined : value,
        ) as JsonObject
        expect(requestFaults(vendor, typed)).toEqual([])
      }),
      { numRuns: 200 },
    ))
})
