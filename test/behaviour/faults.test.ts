// A provider's failures × client wire × provider × stream: what the client gets, that nothing of the provider's leaks,
// and that nothing is left open.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { MARKER } from '../../src/demo/index.ts'
import { ERRORS, type ErrorCode } from '../../src/errors.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import type { Timeouts } from '../../src/provider/provider.ts'
import { checkChatCompletionsStream } from '../support/automaton/chat-completions.ts'
import { checkMessagesStream } from '../support/automaton/messages.ts'
import { checkResponsesStream } from '../support/automaton/responses.ts'
import { framesOf } from '../support/frames.ts'
import { type DemoGateway, startDemoGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'

const MODELS = ['vendorA-opus-4-8', 'vendorB-5.5']

let gateway: DemoGateway

beforeAll(async () => {
  gateway = await startDemoGateway()
})
beforeEach(() => patience({}))
afterAll(() => gateway.stop())

/** Only what a test waits out is short: all else has time, however busy the machine. */
const patience = (short: Partial<Timeouts>): void => {
  for (const provider of gateway.server.gateway.providers.values()) {
    provider.timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000, ...short }
  }
}

const requestOn = (wire: ChatWire, model: string, said: string, stream: boolean): object => {
  const content = said
  if (wire === 'responses') return { model, input: content, stream }
  return { model, messages: [{ role: 'user', content }], stream, ...(wire === 'messages' ? { max_tokens: 500 } : {}) }
}

const violations = (wire: ChatWire, text: string): string[] => {
  const frames = framesOf(text)
  if (wire === 'messages') return checkMessagesStream(frames)
  return wire === 'responses' ? checkResponsesStream(frames) : checkChatCompletionsStream(frames)
}

const expectClean = (response: Response, text: string): void => {
  const shown = text + JSON.stringify([...response.headers])
  expect(shown).not.toContain(MARKER)
  expect(shown).not.toContain(new URL(gateway.demo.vendorA.baseUrl).host)
  expect(shown).not.toContain(new URL(gateway.demo.vendorB.baseUrl).host)
}

const expectNothingLeft = async (): Promise<void> => {
  await gateway.idle()
  expect(gateway.server.gateway.ledger.openCount()).toBe(0)
  for (const { inFlight } of gateway.server.gateway.health.states()) expect(inFlight).toBe(0)
}

/** Said to the vendor; what comes of it before any byte of an answer. */
const BEFORE: [string, ErrorCode][] = [
  ['[[error:context_length]]', 'context_length_exceeded'],
  ['[[error:content_policy]]', 'content_policy_violation'],
  ['[[error:413]]', 'payload_too_large'],
  ['[[error:429]]', 'service_unavailable'],
  ['[[error:quota]]', 'service_unavailable'],
  ['[[error:overloaded]]', 'service_unavailable'],
  ['[[error:401]]', 'upstream_error'],
  ['[[error:403]]', 'upstream_error'],
  ['[[error:404]]', 'upstream_error'],
  ['[[error:400]]', 'upstream_error'],
  ['[[error:500]]', 'upstream_error'],
  ['[[error:502]]', 'upstream_error'],
  ['[[html]]', 'upstream_error'],
  ['[[redirect]]', 'upstream_error'],
  ['[[empty]]', 'upstream_error'],
  ['[[hang]]', 'gateway_timeout'],
]

/** What happens in the middle of a stream. */
const WITHIN: [string, ErrorCode][] = [
  ['[[cut:6]] one two three four five six seven', 'upstream_error'],
  ['[[eof:6]] one two three four five six seven', 'upstream_error'],
  ['[[stall:6]] one two three four five six seven', 'gateway_timeout'],
  ['[[malformed:6]] one two three four five six seven', 'upstream_error'],
  ['[[stream-error]] one two three four five six seven', 'service_unavailable'],
]

/** In the middle of a stream, coding agents tell by these words whether to ask again, or end their turn. */
const PASSING = /overloaded|service unavailable|internal error|server error|connection error|request timed out/i

const crossings = CHAT_WIRES.flatMap((wire) => MODELS.map((model) => [wire, model] as const))

describe.each(crossings)('%s → %s', (wire, model) => {
  for (const stream of [false, true]) {
    test.each(BEFORE)(`${stream ? 'stream' : 'json'}: %s is %s`, async (said, code) => {
      if (code === 'gateway_timeout') patience({ firstByteMs: 200 })
      for (const circuit of gateway.server.gateway.health.states())
        gateway.server.gateway.health.succeeded(circuit.target)
      const response = await gateway.post(PATHS[wire], requestOn(wire, model, said, stream))
      const text = await response.text()
      expect(response.headers.get('x-gateway-error-code')).toBe(code)
      expect(response.status).toBe(ERRORS[code].status)
      expect(JSON.parse(text).error.code).toBe(code)
      if (code === 'context_length_exceeded') expect(text).toContain('prompt is too long')
      expectClean(response, text)
      await expectNothingLeft()
    })
  }

  test.each(WITHIN)('stream: %s ends with an error frame and never like a whole answer (%s)', async (said, code) => {
    if (code === 'gateway_timeout') patience({ idleMs: 200 })
    for (const circuit of gateway.server.gateway.health.states())
      gateway.server.gateway.health.succeeded(circuit.target)
    const response = await gateway.post(PATHS[wire], requestOn(wire, model, said, true))
    const text = await response.text()
    if (response.status !== 200) {
      // The vendor broke off before its first event: an error of its own then.
      expect(response.headers.get('x-gateway-error-code')).toBe(code)
    } else {
      const frames = framesOf(text)
      const last = frames.at(-1)
      expect(last?.event).toBe('error')
      const { error } = JSON.parse(last?.data ?? '{}')
      expect(error.code).toBe(code)
      expect(error.message).toMatch(PASSING)
      expect(text).not.toContain('[DONE]')
      expect(text).not.toContain('message_stop')
      expect(text).not.toContain('response.completed')
      if (wire === 'responses') expect(frames.at(-2)?.event).toBe('response.failed')
      if (wire === 'messages') {
        expect(JSON.parse(last?.data ?? '{}').request_id).toBe(response.headers.get('request-id'))
      }
      expect(violations(wire, text)).toEqual([])
    }
    expectClean(response, text)
    await expectNothingLeft()
    const [row] = await gateway.server.gateway.store.exchanges({
      limit: 1,
      id: response.headers.get('x-request-id') ?? '',
    })
    expect(row?.outcome).toBe('failed')
  })

  test('json: a body that stops in the middle ends by the idle timeout, not by that of the first byte', async () => {
    patience({ idleMs: 200 })
    const response = await gateway.post(PATHS[wire], requestOn(wire, model, '[[stall]] one two three', false))
    expect([response.status, response.headers.get('x-gateway-error-code')]).toEqual([504, 'gateway_timeout'])
    await response.text()
    await expectNothingLeft()
  })

  test('stream: a whole answer obeys every rule of its wire', async () => {
    const response = await gateway.post(PATHS[wire], requestOn(wire, model, 'say something', true))
    const text = await response.text()
    expect(violations(wire, text)).toEqual([])
    expect(text).toContain(`"model":"${model}"`)
    await expectNothingLeft()
  })

  test("a client that disconnects in the middle of a stream ends the provider's, and is billed for the output so far", async () => {
    const leaving = new AbortController()
    const request = requestOn(wire, model, '[[pace:5]][[long:5000]]', true)
    const response = await gateway.post(PATHS[wire], request, {}, leaving.signal)
    const reader = response.body?.getReader()
    let heard = ''
    while (!heard.includes('delta":"') && !heard.includes('"text":"') && !heard.includes('"content":"')) {
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done) throw new Error(`ended with ${heard}`)
      heard += new TextDecoder().decode(value)
    }
    for (let more = 0; more < 5; more++) await reader?.read()
    leaving.abort()
    await expectNothingLeft()
    const [row] = await gateway.server.gateway.store.exchanges({
      limit: 1,
      id: response.headers.get('x-request-id') ?? '',
    })
    expect(row?.outcome).toBe('aborted')
    expect(row?.estimated).toBe(true)
    expect(row?.output).toBeGreaterThan(0)
    expect(row?.output).toBeLessThan(5_000)
  })
})
