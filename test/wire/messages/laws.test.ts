// The laws of the codec: what the wire can express is preserved, and its output is valid for any input.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent, ChatResponse } from '../../../src/ir/event.ts'
import { fold, unfold } from '../../../src/ir/fold.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import type { Ask, Target } from '../../../src/wire/codec.ts'
import { messages } from '../../../src/wire/messages/index.ts'
import {
  disorderlyEvents,
  messagesRequest,
  messagesResponse,
  requestForMessages,
} from '../../support/arbitrary/messages.ts'
import { checkMessagesStream } from '../../support/automaton/messages.ts'
import { changes } from '../../support/changes.ts'
import { SCHEMAS, violations } from '../../support/corpus.ts'
import { decodeAll, encodeAll, framesOf } from '../../support/frames.ts'
import { refusals } from './request-rules.ts'

const schemas = SCHEMAS.messages
/** The newest requests, without sampling. */
const NEWEST = 'AnthropicMessageCreateParams.strict'
const ask: Ask = { model: 'vendorA-opus-4-8', body: {}, inputEstimate: 7, now: 1_790_000_000 }
const target: Target = { model: 'upstream', maxOutput: 100_000, quirks: {} }

const encode = (events: ChatEvent[]): string => encodeAll(messages.encodeEvents(ask), events)

const decode = (frames: Frame[]): ChatEvent[] => decodeAll(messages.decodeEvents(), frames)

/** As this wire says it, with the gateway's model. */
const named = <T extends { model?: string }>(response: T): T => ({ ...response, model: ask.model })

const terminals = (events: ChatEvent[]) => events.filter(({ type }) => type === 'finish' || type === 'error')

test('decoding an encoded request gives it back, and the provider takes it', () => {
  fc.assert(
    fc.property(messagesRequest, (request) => {
      const { body, dropped, undo } = messages.encodeRequest(request, target)
      expect(violations(schemas.request, body)).toEqual([])
      expect(refusals(body, 'own')).toEqual([])
      expect(dropped).toEqual([])
      expect(changes(undo)).toEqual({})
      expect(messages.decodeRequest(JSON.parse(JSON.stringify(body)))).toEqual({ ...request, model: 'upstream' })
    }),
    { numRuns: 200 },
  )
})

const quirks = fc.record({
  noSampling: fc.boolean(),
  noMidSystem: fc.boolean(),
  noAdaptiveThinking: fc.boolean(),
  noReasoning: fc.boolean(),
  structuredOutputByTool: fc.boolean(),
})

test('any request of another wire is encoded as the provider takes it, or refused by member', () => {
  fc.assert(
    fc.property(requestForMessages, quirks, (request, wanted) => {
      let encoded: ReturnType<typeof messages.encodeRequest>
      try {
        encoded = messages.encodeRequest(request, { ...target, quirks: wanted })
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        expect(error.code).toBe('invalid_request')
        expect(error.param).toBeString()
        return
      }
      const { body } = encoded
      expect(violations(wanted.noSampling ? NEWEST : schemas.request, body)).toEqual([])
      expect(refusals(body, 'foreign')).toEqual([])
      if (wanted.noMidSystem) expect(JSON.stringify(body.messages)).not.toContain('"role":"system"')
      if (wanted.noAdaptiveThinking) expect(JSON.stringify(body.thinking ?? {})).not.toContain('adaptive')
      if (wanted.noReasoning) expect(body.thinking).toBeUndefined()
    }),
    { numRuns: 500 },
  )
})

test('encoding does not change the request', () => {
  fc.assert(
    fc.property(fc.oneof(messagesRequest, requestForMessages), (request) => {
      const before = JSON.stringify(request)
      try {
        messages.encodeRequest(request, target)
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
      }
      expect(JSON.stringify(request)).toBe(before)
    }),
  )
})

test('decoding an encoded answer gives it back, and it matches the vendor’s schema', () => {
  fc.assert(
    fc.property(messagesResponse, (response) => {
      const body = messages.encodeResponse(response, ask)
      expect(violations(schemas.response, body)).toEqual([])
      expect(messages.decodeResponse(JSON.parse(JSON.stringify(body)))).toEqual(named(response))
    }),
    { numRuns: 200 },
  )
})

/** Its head estimates the prompt: a last word of no prompt at all is no report of one, and no vendor bills none. */
const hasPrompt = ({ usage: { input, cacheRead, cacheWrite } }: ChatResponse): boolean =>
  [input, cacheRead, cacheWrite].every((each) => each === undefined) ||
  (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) > 0

test('decoding an encoded stream gives it back, and the automaton accepts it', () => {
  fc.assert(
    fc.property(messagesResponse.filter(hasPrompt), (response) => {
      const frames = framesOf(encode(unfold(response)))
      expect(checkMessagesStream(frames)).toEqual([])
      for (const { data } of frames) expect(violations(schemas.event, JSON.parse(data))).toEqual([])
      expect(fold(decode(frames))).toEqual(named(response))
    }),
    { numRuns: 200 },
  )
})

test('any slicing of the bytes gives the same events', () => {
  fc.assert(
    fc.property(messagesResponse, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (response, sizes) => {
      const whole = new TextEncoder().encode(encode(unfold(response)))
      const chunks: Uint8Array[] = []
      for (let at = 0, turn = 0; at < whole.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1
        chunks.push(whole.slice(at, at + size))
        at += size
      }
      expect(decode(framesOf(...chunks))).toEqual(decode(framesOf(whole)))
    }),
  )
})

test('events in any order are encoded as a stream that the automaton accepts, with one end', () => {
  fc.assert(
    fc.property(disorderlyEvents, (events) => {
      expect(checkMessagesStream(framesOf(encode(events)))).toEqual([])
    }),
    { numRuns: 500 },
  )
})

test('a stream cut before its reason and figures is one failure', () => {
  fc.assert(
    fc.property(messagesResponse, fc.nat(), (response, where) => {
      const frames = framesOf(encode(unfold(response)))
      const events = decode(frames.slice(0, where % (frames.length - 1)))
      expect(terminals(events).map(({ type }) => type)).toEqual(['error'])
      expect(events.at(-1)?.type).toBe('error')
    }),
  )
})

test('frames in any order decode to events with exactly one end, the last', () => {
  fc.assert(
    fc.property(
      messagesResponse,
      fc.array(fc.tuple(fc.nat(), fc.constantFrom('drop', 'double', 'swap', 'garble', 'null'))),
      (response, edits) => {
        const frames = framesOf(encode(unfold(response)))
        for (const [where, edit] of edits) {
          const at = where % frames.length
          const frame = frames[at]
          const next = frames[(at + 1) % frames.length]
          if (frame === undefined || next === undefined) continue
          if (edit === 'drop' && frames.length > 1) frames.splice(at, 1)
          else if (edit === 'double') frames.splice(at, 0, frame)
          else if (edit === 'swap') frames.splice(at, 2, next, frame)
          else if (edit === 'garble') frames[at] = { ...frame, data: frame.data.slice(1) }
          else if (edit === 'null') frames[at] = { ...frame, data: frame.data.replace(/:"[^"]*"\}/, ':null}') }
        }
        const events = decode(frames)
        expect(terminals(events)).toHaveLength(1)
        expect(terminals(events)[0]).toBe(events.at(-1))
        // What was read of it can still be said; doubled or lost pieces of input are beyond anyone who streams.
        const wrong = checkMessagesStream(framesOf(encode(events)))
        expect(wrong.filter((line) => !line.includes('M6i'))).toEqual([])
      },
    ),
    { numRuns: 300 },
  )
})
