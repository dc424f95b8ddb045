// Conversations that change vendors: a client gets a vendor's sealed thought, continues with another vendor and returns. The
// first vendor gets its thought back unchanged, and no other sees it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { PATHS } from '../../support/paths.ts'
import { sse } from '../../support/provider/scripted.ts'
import { type Bench, startBench } from './bench.ts'
import { CLIENTS } from './client/index.ts'
import { requestFaults } from './rules.ts'
import { user, weather } from './stories/parts.ts'
import type { Answer } from './story.ts'
import { VENDORS } from './vendor/index.ts'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
})
afterAll(async () => {
  await bench.stop()
})

const THOUGHT = 'The place must be Paris 🗼.'
const seal = (vendor: ChatWire, round: number): string => `U2VhbGVk/${vendor}+${round}==`

const answerOf = (vendor: ChatWire, round: number): Answer => ({
  pieces: [
    { thought: `${THOUGHT} ${vendor} ${round}`, seal: seal(vendor, round) },
    { text: `I look, ${vendor} ${round}.` },
    { call: `call_${round}`, name: 'get_weather', input: '{"place":"Paris"}' },
  ],
  finish: 'calls',
  usage: { input: 30, output: 20, reasoning: 10 },
})

/** The next request: what was sent before, the answer as the SDK assembled it, and the call's result. */
const goOn = (client: ChatWire, body: JsonObject, answer: JsonObject, round: number): JsonObject => {
  const list = (value: unknown): JsonObject[] => value as JsonObject[]
  switch (client) {
    case 'messages': {
      const result = { type: 'tool_result', tool_use_id: `call_${round}`, content: 'fog' }
      const assistant = { role: 'assistant', content: answer.content ?? [] }
      return { ...body, messages: [...list(body.messages), assistant, { role: 'user', content: [result] }] }
    }
    case 'chat-completions': {
      const [choice] = list(answer.choices)
      const { parsed: _, ...message } = (choice?.message ?? {}) as JsonObject
      const calls = list(message.tool_calls).map(({ id, type, function: called }) => {
        const { name = '', arguments: input = '' } = called as JsonObject
        return { id: id ?? null, type: type ?? null, function: { name, arguments: input } }
      })
      const result = { role: 'tool', tool_call_id: `call_${round}`, content: 'fog' }
      return { ...body, messages: [...list(body.messages), { ...message, tool_calls: calls }, result] }
    }
    case 'responses': {
      const items = list(answer.output).map(({ parsed_arguments: _, ...item }) => item)
      const result = { type: 'function_call_output', call_id: `call_${round}`, output: 'fog' }
      return { ...body, input: [...list(body.input), ...items, result] }
    }
  }
}

/** The thoughts that were sent back to a vendor, in the form of its wire. */
const thoughtsIn = (vendor: ChatWire, sent: JsonObject): unknown[] => {
  const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : [])
  switch (vendor) {
    case 'messages':
      return list(sent.messages)
        .flatMap(({ content }) => list(content))
        .filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')
    case 'chat-completions':
      return list(sent.messages).flatMap(({ reasoning_details: details }) => list(details))
    case 'responses':
      return list(sent.input).filter(({ type }) => type === 'reasoning')
  }
}

/** The vendor's thought in its answer. */
const thoughtOf = (vendor: ChatWire, round: number): JsonObject => {
  const text = `${THOUGHT} ${vendor} ${round}`
  const sealed = seal(vendor, round)
  if (vendor === 'messages') return { type: 'thinking', thinking: text, signature: sealed }
  if (vendor === 'chat-completions') {
    return { type: 'reasoning.encrypted', data: sealed, format: 'vendor-v1', index: 0 }
  }
  const summary = [{ type: 'summary_text', text }]
  return { id: 'rs_Vendor0', type: 'reasoning', summary, encrypted_content: sealed }
}

const routes = CHAT_WIRES.flatMap((client) =>
  CHAT_WIRES.flatMap((first) => CHAT_WIRES.filter((other) => other !== first).map((other) => [client, first, other])),
) as [ChatWire, ChatWire, ChatWire][]

describe.each([false, true])('streaming: %p', (stream) => {
  test.each(routes)('a client of %s keeps the thought of %s through a turn with %s', async (client, first, other) => {
    let body = CLIENTS[client].request(
      { turns: [user('Weather?')], tools: [weather], effort: 'high', maxOutput: 8_000 },
      '',
      stream,
    )
    const given: [ChatWire, number][] = []
    for (const [round, vendor] of [first, first, other, first].entries()) {
      const answer = answerOf(vendor, round)
      const pen = VENDORS[vendor]
      bench.play(vendor, stream ? sse(pen.stream(answer), 53) : { steps: [pen.json(answer)] })
      const reply = await bench.gateway.post(PATHS[client], { ...body, model: bench.model(vendor) })
      const text = await reply.text()
      expect([reply.status, reply.headers.get('x-gateway-dropped') ?? '']).toEqual([
        200,
        client === 'responses' && vendor === 'chat-completions' ? 'reasoning.summary' : '',
      ])
      const [request] = bench.sent(vendor)
      const sent = JSON.parse(request?.text ?? '{}') as JsonObject
      if (client !== vendor && vendor !== 'chat-completions') expect(requestFaults(vendor, sent)).toEqual([])
      const own = given.filter(([from]) => from === vendor).map(([from, at]) => thoughtOf(from, at))
      expect(thoughtsIn(vendor, sent)).toEqual(own)
      for (const [from, at] of given) {
        if (from === vendor) continue
        expect(request?.text).not.toContain(seal(from, at))
        expect(request?.text).not.toContain(`${THOUGHT} ${from} ${at}`)
      }
      expect(request?.text).not.toContain('sluice.')
      given.push([vendor, round])
      body = goOn(client, body, await CLIENTS[client].gather(text, stream), round)
    }
  })

  test.each(['messages', 'responses'] as const)(
    'a plain-text thought is sent back by a client of %s to vendors of plain-text thoughts only',
    async (client) => {
      let body = CLIENTS[client].request({ turns: [user('Weather?')], tools: [weather], maxOutput: 8_000 }, '', stream)
      const others = CHAT_WIRES.filter((wire) => wire !== 'chat-completions')
      for (const [round, vendor] of ['chat-completions' as const, ...others, 'chat-completions' as const].entries()) {
        const [thought, ...rest] = answerOf(vendor, round).pieces
        const open = round === 0 ? { thought: THOUGHT } : thought
        const answer = { ...answerOf(vendor, round), pieces: [...(open === undefined ? [] : [open]), ...rest] }
        const pen = VENDORS[vendor]
        bench.play(vendor, stream ? sse(pen.stream(answer), 53) : { steps: [pen.json(answer)] })
        const reply = await bench.gateway.post(PATHS[client], { ...body, model: bench.model(vendor) })
        const text = await reply.text()
        expect(reply.status).toBe(200)
        const sent = bench.sent(vendor)[0]?.text ?? ''
        expect(sent).not.toContain('sluice.')
        if (round < 3) expect(sent).not.toContain(THOUGHT)
        else {
          const messages = (JSON.parse(sent) as { messages: JsonObject[] }).messages
          expect(messages.map(({ reasoning_content: told }) => told).filter(Boolean)).toEqual([THOUGHT])
        }
        body = goOn(client, body, await CLIENTS[client].gather(text, stream), round)
      }
    },
  )

  test.each(['messages', 'responses'] as const)(
    'a client of %s sends back the signature of a server’s calls',
    async (client) => {
      let body = CLIENTS[client].request({ turns: [user('Weather?')], tools: [weather], maxOutput: 8_000 }, '', stream)
      const signed = (round: number) => ({ vendor: { signature: `c2ln/${round}==` } })
      for (const round of [0, 1, 2]) {
        const calls = [0, 1].map((index) => ({
          ...(stream ? { index } : {}),
          id: index === 0 ? `call_${round}` : `more_${round}`,
          type: 'function',
          function: { name: 'get_weather', arguments: '{"place":"Paris"}' },
          ...(index === 0 ? { extra_content: signed(round) } : {}),
        }))
        const choice = { index: 0, finish_reason: 'tool_calls' }
        const said = { role: 'assistant', content: null, tool_calls: calls }
        const whole = { id: 'c', object: 'chat.completion', created: 1, model: 'm' }
        const chunk = { ...whole, object: 'chat.completion.chunk', choices: [{ ...choice, delta: said }] }
        bench.play(
          'chat-completions',
          stream
            ? sse(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
            : { steps: [JSON.stringify({ ...whole, choices: [{ ...choice, message: said }] })] },
        )
        const model = bench.model('chat-completions')
        const reply = await bench.gateway.post(PATHS[client], { ...body, model })
        const text = await reply.text()
        const sent = bench.sent('chat-completions')[0]?.text ?? ''
        const { messages } = JSON.parse(sent) as { messages: { tool_calls?: JsonObject[] }[] }
        const back = messages.flatMap(({ tool_calls: made = [] }) => made.map(({ extra_content: one }) => one))
        expect(back).toEqual([0, 1].slice(0, round).flatMap((at) => [signed(at), undefined]))
        expect(sent).not.toContain('sluice.')
        body = goOn(client, body, await CLIENTS[client].gather(text, stream), round)
      }
      for (const vendor of CHAT_WIRES.filter((wire) => wire !== 'chat-completions')) {
        bench.play(vendor, { status: 400 })
        await bench.gateway.post(PATHS[client], { ...body, model: bench.model(vendor) })
        expect(bench.sent(vendor)[0]?.text).not.toMatch(/c2ln|sluice\./)
      }
    },
  )
})
