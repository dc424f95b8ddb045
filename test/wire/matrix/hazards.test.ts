// Regression tests for faults that the matrix has found, at the function that was fixed.

import { describe, expect, test } from 'bun:test'
import type { ChatEvent, FinishReason } from '../../../src/ir/event.ts'
import { fold, unfold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { sequence } from '../../../src/ir/sequence.ts'
import { requireWhole, wholeCalls } from '../../../src/ir/whole.ts'
import { parseExact, withExact } from '../../../src/lib/json-exact.ts'
import { toJson } from '../../../src/relay/translate.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { callInput } from '../../../src/wire/tools/call-input.ts'
import { encodeAll, framesOf } from '../../support/frames.ts'
import { refusal } from '../../support/refusal.ts'

const { messages, responses, 'chat-completions': chat } = CHAT_CODECS
const target = { model: 'up', maxOutput: 32_000, quirks: {} }
const ask = { model: 'm', body: {}, inputEstimate: 3, now: 1 }

test('half a surrogate pair, left by clients that cut texts, is replaced: vendors refuse it as invalid JSON', () => {
  const said = { text: 'a\ud83d', '\udc00': 'b\\ud83d 🗼 \\\ud83d"', more: ['\ud83d\ude00'] }
  expect(JSON.parse(toJson(said))).toEqual({ text: 'a\ufffd', '\ufffd': 'b\\ud83d 🗼 \\\ufffd"', more: ['😀'] })
  expect(toJson(said)).not.toMatch(/[^\\](?:\\\\)*\\u/)
})

describe('a call that breaks off', () => {
  const call = (text: string): ChatEvent[] => [
    { type: 'tool-start', part: 0, id: 'c', name: 'f', kind: 'function' },
    { type: 'tool-delta', part: 0, text },
    { type: 'tool-end', part: 0 },
  ]
  const finish = (reason: FinishReason): ChatEvent => ({ type: 'finish', reason, usage: { output: 2 } })
  const typesOf = (events: ChatEvent[]): string[] => wholeCalls()(events).map(({ type }) => type)

  test.each(['{"a":', '[1]', '"text"', '{"a":1}}'])('%s is an error where the answer says to be over', (text) => {
    expect(typesOf([...call(text), finish('tool-calls')])).toEqual(['tool-start', 'tool-delta', 'usage', 'error'])
    const response = { id: '', parts: fold([...call(text), finish('stop')]).parts, finish: 'stop' as const, usage: {} }
    expect(refusal(() => requireWhole(response)).code).toBe('upstream_error')
  })

  test.each(['length', 'content-filter'] as const)('passes where the answer was cut by %s', (reason) => {
    expect(typesOf([...call('{"a":'), finish(reason)])).toEqual(['tool-start', 'tool-delta', 'tool-end', 'finish'])
  })

  test.each(['{}', ' {"a":"}"} '])('whole arguments pass at once: %p', (text) => {
    expect(typesOf(call(text))).toEqual(['tool-start', 'tool-delta', 'tool-end'])
  })

  test.each(['', ' \n'])('no arguments pass as none: %j', (text) => {
    expect(typesOf(call(text))).toEqual(['tool-start', 'tool-end'])
    const response = { id: '', parts: fold([...call(text), finish('stop')]).parts, finish: 'stop' as const, usage: {} }
    expect(requireWhole(response).parts).toMatchObject([{ type: 'tool-call', input: '{}' }])
  })

  test('arguments in very many pieces behind much white space are read in time', () => {
    const check = wholeCalls()
    check([{ type: 'tool-start', part: 0, id: 'c', name: 'f', kind: 'function' }])
    const text = (written: string) => check([{ type: 'tool-delta', part: 0, text: written }])
    text(`${' '.repeat(1_000_000)}{`)
    for (let at = 0; at < 50_000; at++) text(' ')
    expect(text('}')).toEqual([{ type: 'tool-delta', part: 0, text: '}' }])
    expect(check([{ type: 'tool-end', part: 0 }])).toEqual([{ type: 'tool-end', part: 0 }])
  })

  test('is an error where it never ended, also for a custom tool', () => {
    const started: ChatEvent = { type: 'tool-start', part: 0, id: 'c', name: 'f', kind: 'custom' }
    expect(typesOf([started, finish('tool-calls')])).toEqual(['tool-start', 'usage', 'error'])
  })

  const undo = { tools: { patch: { name: 'patch', kind: 'custom' as const } } }
  const cut = '{"input":"*** Beg'

  test('of a custom tool never gets an end, on any wire', () => {
    const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
      data: JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason }] }),
    })
    const calls = [{ index: 0, id: 'c', type: 'function', function: { name: 'patch', arguments: cut } }]
    const decoder = chat.decodeEvents(undo)
    const events = [chunk({ tool_calls: calls }), chunk({}, 'tool_calls'), { data: '[DONE]' }].flatMap((frame) =>
      decoder.push(frame),
    )
    expect(wholeCalls()(events).at(-1)?.type).toBe('error')

    const block = { type: 'tool_use', id: 'c', name: 'patch', input: {} }
    const reader = messages.decodeEvents(undo)
    const read = [
      { type: 'message_start', message: { id: 'x' } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: cut } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ].flatMap((data) => reader.push({ event: data.type, data: JSON.stringify(data) }))
    expect(wholeCalls()(read).at(-1)?.type).toBe('error')
  })

  test('of a custom tool is an error in a whole answer', () => {
    const body = (finish_reason: string): JsonObject => {
      const tool_calls = [{ id: 'c', type: 'function', function: { name: 'patch', arguments: cut } }]
      return { id: 'x', choices: [{ index: 0, message: { role: 'assistant', tool_calls }, finish_reason }] }
    }
    expect(refusal(() => chat.decodeResponse(body('tool_calls'), undo)).code).toBe('upstream_error')
    expect(chat.decodeResponse(body('length'), undo).finish).toBe('length')
  })
})

describe('integers larger than a number', () => {
  const input = '{"id":12345678901234567890,"n":-98765432109876543210,"x":0.1234567890123456789,"small":7}'

  test('stay as they were written; fractions are numbers', () => {
    expect(JSON.stringify(parseExact(input))).toBe(input.replace('0.1234567890123456789', '0.12345678901234568'))
    expect(parseExact('{"a":9007199254740992}')).toEqual({ a: 9007199254740992 })
  })

  test('are kept below the body’s own members, which are read as numbers', () => {
    const text = `{"seed":12345678901234567890,"inner":${input}}`
    const body = withExact(text, JSON.parse(text))
    expect(typeof body.seed).toBe('number')
    expect(JSON.stringify(body.inner)).toContain('12345678901234567890')
  })

  test('reach a provider of the messages wire and come back from its client', () => {
    const body = {
      model: 'm',
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: input } }] },
      ],
    }
    const sent = JSON.stringify(messages.encodeRequest(chat.decodeRequest(body), target).body)
    expect(sent).toContain('"id":12345678901234567890,"n":-98765432109876543210')
    const text = `{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${input}}]}]}`
    const request = messages.decodeRequest(withExact(text, JSON.parse(text)))
    expect(JSON.stringify(chat.encodeRequest(request, target).body)).toContain('12345678901234567890')
  })

  test.each(['12345678901234567890', ' -12345678901234567890 '])('are no arguments of a call: %p', (written) => {
    expect(JSON.stringify(callInput('function', written))).toBe(JSON.stringify({ input: written }))
  })
})

describe('parts out of order', () => {
  const through = (events: ChatEvent[]): string[] => {
    const push = sequence()
    return events.flatMap(push).map((event) => ('part' in event ? `${event.type} ${event.part}` : event.type))
  }
  const opaque = (part: number): ChatEvent => ({
    type: 'opaque',
    part,
    value: { type: 'opaque', origin: 'messages', value: { type: 'x' } },
  })

  test('an opaque part with an open part’s number, and a second start, do not break the open part', () => {
    expect(
      through([
        { type: 'text-start', part: 0 },
        opaque(0),
        { type: 'text-start', part: 0 },
        { type: 'text-delta', part: 0, text: 'a' },
        { type: 'text-end', part: 0 },
        opaque(1),
      ]),
    ).toEqual(['text-start 0', 'text-delta 0', 'text-end 0', 'opaque 1'])
  })

  test('events of a waiting part after its end are discarded', () => {
    expect(
      through([
        { type: 'text-start', part: 0 },
        { type: 'text-start', part: 1 },
        { type: 'text-end', part: 1 },
        { type: 'text-delta', part: 1, text: 'late' },
        { type: 'text-end', part: 0 },
      ]),
    ).toEqual(['text-start 0', 'text-end 0', 'text-start 1', 'text-end 1'])
  })
})

describe('thoughts', () => {
  test.each([undefined, true] as const)('a sealed one comes back from a chat stream as it was: full %p', (full) => {
    const seal = { origin: 'responses' as const, value: { id: 'rs_1', encrypted_content: 'e' } }
    const thought = { type: 'reasoning' as const, text: 'why', seal, ...(full ? { full } : {}) }
    const encoder = chat.encodeEvents(ask)
    const text = unfold({ id: 'x', parts: [thought], finish: 'stop', usage: {} })
      .map((event) => encoder.push(event))
      .join('')
    const decoder = chat.decodeEvents()
    const [part] = fold(framesOf(text).flatMap((frame) => decoder.push(frame))).parts
    expect(part).toMatchObject({ type: 'reasoning', text: 'why', seal })
    expect(part?.type === 'reasoning' && (part.full ?? false)).toBe(full ?? false)
  })
})

describe('messages', () => {
  const classesOf = (usage: JsonObject) => {
    const { apart: _, ...classes } = messages.readUsage({ usage })?.usage ?? {}
    return classes
  }
  const usage = (iterations: JsonObject[]) => ({
    input_tokens: 600,
    output_tokens: 28,
    cache_read_input_tokens: 5,
    iterations,
  })

  test('rounds billed beside the answer’s own are added to its usage', () => {
    const read = (iterations: JsonObject[]) => classesOf(usage(iterations))
    const own = { type: 'message', input_tokens: 600, output_tokens: 28 }
    expect(read([own])).toEqual({ input: 600, output: 28, cacheRead: 5 })
    expect(read([{ type: 'compaction', input_tokens: 60_000, output_tokens: 500 }, own])).toEqual({
      input: 60_600,
      output: 528,
      cacheRead: 5,
    })
    const advice = {
      type: 'advisor_message',
      model: 'b',
      input_tokens: 10,
      output_tokens: 2,
      cache_read_input_tokens: 1,
    }
    expect(read([own, advice])).toEqual({ input: 610, output: 30, cacheRead: 6 })
  })

  test('rounds whose prompts the sums leave out are billed all the same', () => {
    const read = (usage: JsonObject) => classesOf(usage)
    const first = {
      type: 'message',
      input_tokens: 412,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_1h_input_tokens: 300 },
      cache_read_input_tokens: 0,
      output_tokens: 89,
    }
    const second = {
      type: 'message',
      input_tokens: 1348,
      cache_creation_input_tokens: 20,
      cache_creation: { ephemeral_1h_input_tokens: 20 },
      cache_read_input_tokens: 712,
      output_tokens: 442,
    }
    const advice = { type: 'advisor_message', model: 'b', input_tokens: 823, output_tokens: 1612 }
    const { type: _, ...told } = { ...first, output_tokens: 531 }
    const both = { cacheRead: 712, cacheWrite: 320, cacheWrite1h: 320 }
    expect(read({ ...told, iterations: [first, second] })).toEqual({ ...both, input: 1760, output: 531 })
    expect(read({ ...told, iterations: [first, advice, second] })).toEqual({ ...both, input: 2583, output: 2143 })
    // Sums that hold more than the rounds stand.
    expect(read({ ...told, iterations: [{ ...first, input_tokens: 2 }] })).toMatchObject({ input: 412, output: 531 })
  })

  test('where the provider fell back to another model, the fallback’s round is the answer’s usage', () => {
    const read = (iterations: JsonObject[]) => classesOf(usage(iterations))
    const own = { type: 'fallback_message', model: 'b', input_tokens: 600, output_tokens: 28 }
    const declined = { type: 'message', model: 'a', input_tokens: 590, output_tokens: 0 }
    const answer = { input: 600, output: 28, cacheRead: 5 }
    expect(read([declined, own])).toEqual(answer)
    // What was written before it was declined is billed; the stand-in's own earlier rounds are in the sums.
    expect(read([{ ...declined, output_tokens: 40 }, own])).toEqual({ input: 1190, output: 68, cacheRead: 5 })
    expect(read([{ ...own, type: 'message' }, own])).toEqual(answer)
  })

  test('an output count of zero at the end overwrites an earlier one', () => {
    const encoder = messages.encodeEvents(ask)
    const events: ChatEvent[] = [
      { type: 'start', id: 'x' },
      { type: 'finish', reason: 'stop', usage: { input: 7, output: 0 } },
    ]
    const frames = framesOf(encodeAll(encoder, events))
    expect(JSON.parse(frames[0]?.data ?? '').message.usage.output_tokens).toBe(1)
    expect(JSON.parse(frames[1]?.data ?? '').usage).toMatchObject({ input_tokens: 7, output_tokens: 0 })
  })

  test('a call’s direct caller is not listed as dropped elsewhere; another caller is', () => {
    const sent = (caller: JsonObject) => {
      const call = { type: 'tool_use', id: 'c', name: 'f', input: {}, caller }
      const body = { model: 'm', max_tokens: 9, messages: [{ role: 'assistant', content: [call] }] }
      return chat.encodeRequest(messages.decodeRequest(body), target).dropped
    }
    expect(sent({ type: 'direct' })).toEqual([])
    expect(sent({ type: 'code_execution_20250825', tool_id: 't' })).toEqual(['messages.0.content.0.caller'])
  })

  test('a conversation stored at the provider may continue without messages; elsewhere the client must send all of it', () => {
    const body = { model: 'm', max_tokens: 9, messages: [], thread: { type: 'continue', previous_message_id: 'msg_1' } }
    const request = messages.decodeRequest(body)
    for (const codec of [chat, responses]) {
      const refused = refusal(() => codec.encodeRequest(request, target))
      expect([refused.param, refused.details]).toEqual(['thread', { error_code: 'thread_not_found' }])
    }
    expect(refusal(() => messages.decodeRequest({ ...body, thread: null })).param).toBe('messages')
  })
})

describe('custom tools', () => {
  const quirks = { noCustomTools: true }
  const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }
  const request = responses.decodeRequest({
    model: 'm',
    input: [
      { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'say "x"' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
      { role: 'user', content: 'again' },
    ],
    tools: [{ type: 'custom', name: 'patch', description: 'Applies a patch.', format }],
    tool_choice: { type: 'custom', name: 'patch' },
  })

  test('are sent as functions of one string where a provider has none, in the list, the history and the choice', () => {
    const { body, undo, dropped } = chat.encodeRequest(request, { ...target, quirks })
    const [tool] = body.tools as { function: JsonObject }[]
    expect(tool?.function).toMatchObject({
      name: 'patch',
      description: 'Applies a patch.\n\nThe input is text of this grammar (lark):\nstart: "x"',
      parameters: { required: ['input'] },
    })
    const [said] = body.messages as { tool_calls: JsonObject[] }[]
    expect(said?.tool_calls).toEqual([
      { id: 'c1', type: 'function', function: { name: 'patch', arguments: '{"input":"say \\"x\\""}' } },
    ])
    expect(body.tool_choice).toEqual({ type: 'function', function: { name: 'patch' } })
    expect(undo.tools).toEqual({ patch: { name: 'patch', kind: 'custom' } })
    expect(dropped).toEqual([])
  })

  test('stay custom tools where the provider has them', () => {
    const { body } = chat.encodeRequest(request, target)
    expect(body.tools).toMatchObject([{ type: 'custom', custom: { name: 'patch' } }])
  })
})
