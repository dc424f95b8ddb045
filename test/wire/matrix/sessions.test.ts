// Sessions of agents on every crossing, through the listening gateway: what a model has answered and a tool has found goes
// back turn by turn as the official SDK assembled it. Every request begins with the one before, to the byte, or the vendor
// reads its prompt anew each turn; every call and result arrives once; the vendor's strict rules hold.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { PATHS } from '../../support/paths.ts'
import { expectPrefixes, type Prompt, promptOf } from '../../support/prompt.ts'
import { sse } from '../../support/provider/scripted.ts'
import { type Bench, startBench } from './bench.ts'
import { CLIENTS } from './client/index.ts'
import { requestFaults, streamFaults } from './rules.ts'
import { PIXEL, user } from './stories/parts.ts'
import type { Answer, Piece, Tool } from './story.ts'
import { VENDORS } from './vendor/index.ts'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
})
afterAll(async () => {
  await bench.stop()
})

const TOOLS: Tool[] = [
  {
    name: 'Bash',
    description: 'Runs a command.',
    schema: { type: 'object', properties: { command: { type: 'string' } } },
  },
  { name: 'mcp__git__log-all', schema: { type: 'object', properties: { $max: { type: 'integer' } } } },
  { name: 'now' },
]

type Found = 'text' | 'picture' | 'failed' | 'nothing'
type Round = {
  thought: 'none' | 'sealed' | 'open'
  text: string
  calls: { name: string; input: string; result: Found }[]
  backwards: boolean
  reminder: boolean
}

const call = fc.record({
  name: fc.constantFrom(...TOOLS.map(({ name }) => name)),
  input: fc.constantFrom(
    '{"command":"ls -la \\"x\\""}',
    '{}',
    '{"a":[1,2.50,1e3],"ü":"👩🏽‍🚀\\n"}',
    '{"big":12345678901234567890}',
  ),
  result: fc.constantFrom('text' as const, 'picture' as const, 'failed' as const, 'nothing' as const),
})
const session: fc.Arbitrary<Round[]> = fc.array(
  fc.record({
    thought: fc.constantFrom('none' as const, 'sealed' as const, 'open' as const),
    text: fc.constantFrom('', 'I look.', ' two\n\nlines \n', '<think>x</think> y'),
    calls: fc.array(call, { maxLength: 3 }),
    backwards: fc.boolean(),
    reminder: fc.boolean(),
  }),
  { minLength: 2, maxLength: 5 },
)

const answerOf = ({ thought, text, calls }: Round, round: number, reuse: boolean): Answer => {
  const thoughts: Piece[] =
    thought === 'none'
      ? []
      : [{ thought: `Thought ${round}.`, ...(thought === 'sealed' ? { seal: `c2VhbA${round}==` } : {}) }]
  const said: Piece[] = text === '' && calls.length > 0 ? [] : [{ text: text === '' ? 'Done.' : text }]
  const called = calls.map(({ name, input }, at): Piece => ({ call: idOf(round, at, reuse), name, input }))
  const finish = calls.length > 0 ? 'calls' : 'stop'
  return { pieces: [...thoughts, ...said, ...called], finish, usage: { input: 30, output: 20, reasoning: 5 } }
}
const idOf = (round: number, at: number, reuse: boolean): string => `call_${reuse ? 0 : round}_${at}`

const PICTURE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }
const SCREENSHOT = { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}`, detail: 'auto' }

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : [])

const messageIn = (answer: JsonObject): JsonObject => (list(answer.choices)[0]?.message ?? {}) as JsonObject

/** The ids of an answer's calls, as its client reads them. */
const idsIn = (client: ChatWire, answer: JsonObject): string[] => {
  switch (client) {
    case 'messages':
      return list(answer.content).flatMap(({ type, id }) => (type === 'tool_use' ? [String(id)] : []))
    case 'chat-completions':
      return list(messageIn(answer).tool_calls).map(({ id }) => String(id))
    case 'responses':
      return list(answer.output).flatMap(({ type, call_id }) => (type === 'function_call' ? [String(call_id)] : []))
  }
}

/** The client's next request: the answer as the SDK gave it, the calls' results, and what the user says. */
const goOn = (client: ChatWire, body: JsonObject, answer: JsonObject, of: { round: Round; at: number }): JsonObject => {
  const { round, at } = of
  const ids = idsIn(client, answer)
  expect(ids).toHaveLength(round.calls.length)
  const text = (call: number): string => `Result ${at} of ${call}`
  const results = round.calls.map(({ result }, call) => ({ result, call, id: ids[call] ?? '' }))
  if (round.backwards) results.reverse()
  const speaks = round.calls.length === 0 || round.reminder
  const words = `Go on ${at}`
  switch (client) {
    case 'messages': {
      const blocks = results.map(({ result, call, id }) => ({
        ...{ type: 'tool_result', tool_use_id: id },
        content: [
          ...(result === 'nothing' ? [] : [{ type: 'text', text: text(call) }]),
          ...(result === 'picture' ? [PICTURE] : []),
        ],
        ...(result === 'failed' ? { is_error: true } : {}),
      }))
      const said = speaks ? [{ type: 'text', text: words }] : []
      const assistant = { role: 'assistant', content: answer.content ?? [] }
      return { ...body, messages: [...list(body.messages), assistant, { role: 'user', content: [...blocks, ...said] }] }
    }
    case 'chat-completions': {
      const { parsed: _, ...message } = messageIn(answer)
      const calls = list(message.tool_calls).map(({ id = null, type = null, function: called }) => {
        const { name = '', arguments: input = '' } = called as JsonObject
        return { id, type, function: { name, arguments: input } }
      })
      const told = results.map(({ result, call, id }) => ({
        ...{ role: 'tool', tool_call_id: id, content: result === 'nothing' ? '' : text(call) },
      }))
      const said = speaks ? [{ role: 'user', content: words }] : []
      const assistant = calls.length > 0 ? { ...message, tool_calls: calls } : message
      return { ...body, messages: [...list(body.messages), assistant, ...told, ...said] }
    }
    case 'responses': {
      const items = list(answer.output).map(({ parsed_arguments: _, ...item }) => item)
      const told = results.map(({ result, call, id }) => ({
        ...{ type: 'function_call_output', call_id: id },
        output:
          result === 'picture'
            ? [{ type: 'input_text', text: text(call) }, SCREENSHOT]
            : result === 'nothing'
              ? ''
              : text(call),
      }))
      const said = speaks ? [{ role: 'user', content: words }] : []
      return { ...body, input: [...list(body.input), ...items, ...told, ...said] }
    }
  }
}

const crossings = CHAT_WIRES.flatMap((client) => CHAT_WIRES.map((vendor) => [client, vendor] as const))

describe.each([true, false])('streaming: %p', (stream) => {
  test.each(crossings)(
    'a client of %s at a vendor of %s',
    async (client, vendor) => {
      await fc.assert(
        fc.asyncProperty(session, fc.boolean(), async (rounds, reuse) => {
          const ask = {
            turns: [{ role: 'system' as const, parts: [{ text: 'You are an agent.' }] }, user('Begin.')],
            tools: TOOLS,
          }
          let body = CLIENTS[client].request({ ...ask, maxOutput: 8_000, effort: 'high' }, bench.model(vendor), stream)
          const prompts: Prompt[] = []
          for (const [at, round] of rounds.entries()) {
            const answer = answerOf(round, at, reuse)
            const pen = VENDORS[vendor]
            bench.play(vendor, stream ? sse(pen.stream(answer), 97) : { steps: [pen.json(answer)] })
            const reply = await bench.gateway.post(PATHS[client], body)
            const text = await reply.text()
            expect([reply.status, bench.sent(vendor).length]).toEqual([200, 1])
            if (stream && client !== vendor) expect(streamFaults(client, text)).toEqual([])
            const sent = JSON.parse(bench.sent(vendor)[0]?.text ?? '{}') as JsonObject
            const typed = JSON.parse(JSON.stringify(sent), (name, value) =>
              name === 'reasoning_content' || name === 'reasoning_details' ? undefined : value,
            ) as JsonObject
            if (client !== vendor) expect(requestFaults(vendor, typed)).toEqual([])
            prompts.push(promptOf(sent))
            body = goOn(client, body, await CLIENTS[client].gather(text, stream), { round, at })
          }
          expectPrefixes(prompts)
          const last = bench.sent(vendor)[0]?.text ?? ''
          for (const [at, { calls }] of rounds.slice(0, -1).entries())
            for (const [call, { result }] of calls.entries())
              expect(last.split(`Result ${at} of ${call}"`).length - 1).toBe(result === 'nothing' ? 0 : 1)
        }),
        { numRuns: 6 },
      )
    },
    120_000,
  )
})
