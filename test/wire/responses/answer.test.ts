// Encodes and decodes answers and streams of the wire, event by event; its errors and usage.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent, ChatResponse } from '../../../src/ir/event.ts'
import { fold, unfold } from '../../../src/ir/fold.ts'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import type { AssistantPart } from '../../../src/ir/part.ts'
import type { Ask } from '../../../src/wire/codec.ts'
import { DECLINED } from '../../../src/wire/responses/answer.ts'
import { responses } from '../../../src/wire/responses/index.ts'
import { checkResponsesStream } from '../../support/automaton/responses.ts'
import { SCHEMAS, violations } from '../../support/corpus.ts'
import { encodeAll, framesOf } from '../../support/frames.ts'

const ask: Ask = { model: 'vendorB-5.5', body: {}, inputEstimate: 11, now: 1_790_000_000 }

const frames = (events: ChatEvent[], asked = ask) => framesOf(encodeAll(responses.encodeEvents(asked), events))
const data = (frame: { data: string } | undefined): JsonObject => JSON.parse(frame?.data ?? '{}')
const decode = (...events: unknown[]): ChatEvent[] => {
  const decoder = responses.decodeEvents()
  return [...events.flatMap((event) => decoder.push({ data: JSON.stringify(event) })), ...decoder.end()]
}

const start = { type: 'start', id: 'msg_01', createdAt: 1_790_000_001 } as const
const finish: ChatEvent = { type: 'finish', reason: 'stop', usage: { input: 5, cacheRead: 2, output: 3, reasoning: 1 } }

describe('writing a stream', () => {
  test('text deltas are written at once, between all events of the lifecycle', () => {
    const sent = frames([
      start,
      { type: 'text-start', part: 0 },
      { type: 'text-delta', part: 0, text: 'a' },
      { type: 'text-delta', part: 0, text: '"b"\n' },
      { type: 'text-end', part: 0 },
      finish,
    ])
    expect(sent.map(({ event }) => event)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(data(sent[4])).toEqual({
      type: 'response.output_text.delta',
      item_id: 'msg_msg_01_0',
      output_index: 0,
      content_index: 0,
      delta: 'a',
      logprobs: [],
      sequence_number: 4,
    })
    expect(data(sent.at(-1)).response).toMatchObject({
      id: 'resp_msg_01',
      status: 'completed',
      model: 'vendorB-5.5',
      created_at: 1_790_000_001,
      output: [{ type: 'message', id: 'msg_msg_01_0', content: [{ text: 'a"b"\n' }] }],
      usage: { input_tokens: 7, input_tokens_details: { cached_tokens: 2 }, output_tokens: 3, total_tokens: 10 },
    })
  })

  test('deltas and the end of a call are written before the next part begins', () => {
    const encoder = responses.encodeEvents(ask)
    for (const event of [start, { type: 'text-start', part: 0 }] as ChatEvent[]) encoder.push(event)
    expect(encoder.push({ type: 'text-delta', part: 0, text: 'now' })).toContain('"delta":"now"')
    encoder.push({ type: 'text-end', part: 0 })
    encoder.push({ type: 'tool-start', part: 1, id: 'c', name: 'f', kind: 'function' })
    encoder.push({ type: 'tool-delta', part: 1, text: '{"a":1}' })
    expect(encoder.push({ type: 'tool-end', part: 1 })).toContain('function_call_arguments.done')
  })

  test('interleaved calls are written one after the other, with `{}` for one without arguments', () => {
    const call = (part: number): ChatEvent => ({
      type: 'tool-start',
      part,
      id: `toolu_${part}`,
      name: 'f',
      kind: 'function',
    })
    const sent = frames([
      start,
      call(0),
      { type: 'tool-delta', part: 0, text: '{"a":' },
      call(1),
      { type: 'tool-delta', part: 0, text: '1}' },
      { type: 'tool-end', part: 1 },
      { type: 'tool-end', part: 0 },
      { ...finish, reason: 'tool-calls' } as ChatEvent,
    ])
    expect(checkResponsesStream(sent)).toEqual([])
    expect((data(sent.at(-1)).response as JsonObject).output).toMatchObject([
      { call_id: 'toolu_0', arguments: '{"a":1}', status: 'completed' },
      { call_id: 'toolu_1', arguments: '{}', status: 'completed' },
    ])
  })

  test('a failure ends with response.failed and the gateway’s error frame, and no call is finished', () => {
    const sent = frames([
      start,
      { type: 'tool-start', part: 0, id: 'c', name: 'f', kind: 'function' },
      { type: 'tool-delta', part: 0, text: '{"a":' },
      { type: 'error', error: new GatewayError('upstream_error', 'It broke.') },
      finish,
    ])
    expect(sent.map(({ event }) => event).slice(-2)).toEqual(['response.failed', 'error'])
    expect(sent.some(({ event }) => event?.endsWith('done') === true)).toBe(false)
    expect(data(sent.at(-2)).response).toMatchObject({
      status: 'failed',
      output: [],
      error: { code: 'server_error', message: 'It broke.' },
    })
    expect(data(sent.at(-1))).toEqual({
      type: 'error',
      code: 'upstream_error',
      message: 'It broke.',
      param: null,
      error: { message: 'It broke.', type: 'api_error', code: 'upstream_error', param: null },
      sequence_number: 5,
    })
  })

  test('a failure before any output still begins with response.created', () => {
    const sent = frames([{ type: 'error', error: new GatewayError('gateway_timeout', 'Too slow.') }])
    expect(checkResponsesStream(sent)).toEqual([])
  })

  test.each([
    ['length', 'incomplete', 'max_output_tokens'],
    ['context-length', 'incomplete', 'max_output_tokens'],
    ['content-filter', 'incomplete', 'content_filter'],
    ['stop', 'completed', undefined],
    ['stop-sequence', 'completed', undefined],
    ['pause', 'completed', undefined],
  ] as const)('%s ends as %s', (reason, status, why) => {
    const sent = frames([start, { type: 'text-start', part: 0 }, { type: 'finish', reason, usage: {} }])
    expect(checkResponsesStream(sent)).toEqual([])
    const response = data(sent.at(-1)).response as JsonObject
    expect(response.status).toBe(status)
    expect(response.incomplete_details).toEqual(why === undefined ? null : { reason: why })
    expect(response.completed_at === null).toBe(why !== undefined)
    expect((response.output as JsonObject[])[0]?.status).toBe(status)
  })

  test('no answer is completed before it was created, whatever its server’s clock says', () => {
    const sent = frames([start, { type: 'finish', reason: 'stop', usage: {} }])
    const { created_at, completed_at } = data(sent.at(-1)).response as JsonObject
    expect([created_at, completed_at]).toEqual([start.createdAt, start.createdAt])
  })

  /** The response a stream ends with, and the one of a whole answer. */
  const bothForms = (parts: AssistantPart[]): JsonObject[] => {
    const answer: ChatResponse = { id: 'x', parts, finish: 'refusal', usage: {} }
    const sent = frames(unfold(answer))
    expect(checkResponsesStream(sent)).toEqual([])
    return [data(sent.at(-1)).response as JsonObject, responses.encodeResponse(answer, ask)]
  }

  test.each<[string, AssistantPart[], unknown]>([
    ['nothing', [], [[DECLINED]]],
    ['a text', [{ type: 'text', text: 'So' }], [['So'], [DECLINED]]],
    [
      'a text and its own words',
      [
        { type: 'text', text: 'So' },
        { type: 'refusal', text: 'No.' },
      ],
      [['So'], ['No.']],
    ],
  ])('a refusal of %s becomes text in a message of its own', (_, parts, due) => {
    for (const { status, output } of bothForms(parts)) {
      expect(status).toBe('completed')
      const said = (output as JsonObject[]).map(({ content }) =>
        (content as JsonObject[]).map(({ text, refusal }) => text ?? refusal),
      )
      expect(said).toEqual(due as never)
      expect((output as JsonObject[]).at(-1)?.content).toMatchObject([{ type: 'refusal' }])
    }
  })

  test('a generated id never equals another item’s id', () => {
    const call = (itemId?: string): AssistantPart => ({
      type: 'tool-call',
      id: 'c',
      name: 'f',
      kind: 'function',
      input: '{}',
      ...(itemId === undefined ? {} : { itemId }),
    })
    for (const { output } of bothForms([call('fc_x_1'), call(), call('fc_x_1')]))
      expect(new Set((output as JsonObject[]).map(({ id }) => id)).size).toBe(3)
  })

  test('ids stay within the vendor’s length, and are the same in streams and whole answers', () => {
    const long = (kind: string): string => `${kind}-${'x'.repeat(90)}`
    const answer: ChatResponse = {
      id: long('chatcmpl'),
      parts: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'hi' },
        { type: 'tool-call', id: long('call'), name: 'f', kind: 'function', input: '{}' },
      ],
      finish: 'tool-calls',
      usage: {},
    }
    const idsIn = (output: unknown): unknown[] => (output as JsonObject[]).map(({ id, call_id }) => [id, call_id])
    const whole = idsIn(responses.encodeResponse(answer, ask).output)
    for (const id of whole.flat().filter((one) => one !== undefined)) expect(String(id).length).toBeLessThanOrEqual(64)
    expect(new Set(whole.flat()).size).toBe(5)
    const short = idsIn(responses.encodeResponse({ ...answer, id: 'chatcmpl-9f-ä' }, ask).output)
    expect(short.flat().slice(0, 5)).toEqual([
      'rs_chatcmpl_9f___0',
      undefined,
      'msg_chatcmpl_9f___1',
      undefined,
      'fc_chatcmpl_9f___2',
    ])
    const last = data(frames(unfold(answer)).at(-1)).response as JsonObject
    expect(idsIn(last.output)).toEqual(whole)
    const other = { ...answer, id: `${answer.id}y` }
    expect(idsIn(responses.encodeResponse(other, ask).output)[0]).not.toEqual(whole[0])
  })

  test('a call of a tool with an encrypted argument says that it has none, in streams and whole answers', () => {
    const message = { type: 'string', encrypted: true }
    const spawn = { type: 'function', name: 'spawn', parameters: { type: 'object', properties: { message } } }
    const look = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }
    const namespace = { type: 'namespace', name: 'agents', description: '', tools: [spawn, look] }
    const body: JsonObject = {
      tools: [look],
      input: [{ type: 'additional_tools', role: 'developer', tools: [namespace] }],
    }
    const call = (name: string, within?: string, input = '{}'): AssistantPart => ({
      ...{ type: 'tool-call', id: `call_${name}`, name, kind: 'function', input },
      ...(within === undefined ? {} : { namespace: within }),
    })
    const sealed = call('spawn', 'agents', `{"message":"gAAAAAB${'x'.repeat(90)}=="}`)
    const parts = [call('spawn', 'agents'), call('look', 'agents'), call('look'), call('spawn'), sealed]
    const answer: ChatResponse = { id: 'resp_1', model: 'm', createdAt: 5, finish: 'tool-calls', parts, usage: {} }
    const marks = (items: Json | undefined) => (items as JsonObject[]).map((item) => item.encrypted_function_args)
    const marked = [[], undefined, undefined, undefined, undefined]
    expect(marks(responses.encodeResponse(answer, { ...ask, body }).output)).toEqual(marked)
    const sent = frames([...unfold(answer)], { ...ask, body }).map(data)
    const done = sent.filter(({ type }) => type === 'response.output_item.done')
    expect(marks(done.map(({ item }) => item as JsonObject))).toEqual(marked)
  })

  test('a refusal within a call leaves the call incomplete', () => {
    for (const response of bothForms([{ type: 'tool-call', id: 'c', name: 'f', kind: 'function', input: '{"a":' }])) {
      expect(response.incomplete_details).toEqual({ reason: 'content_filter' })
      expect(response.output).toMatchObject([{ type: 'function_call', status: 'incomplete' }])
    }
  })

  test('usage has every member that strict clients require, whatever the provider reported', () => {
    const sent = frames([start, { type: 'finish', reason: 'stop', usage: { input: 5, output: 3 } }])
    expect(data(sent.at(-1)).response).toMatchObject({
      usage: {
        input_tokens: 5,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 8,
      },
    })
  })

  test('usage that the provider did not report is estimated', () => {
    const sent = frames([start, { type: 'finish', reason: 'stop', usage: {} }])
    expect(data(sent.at(-1)).response).toMatchObject({
      usage: { input_tokens: 11, output_tokens: 0, total_tokens: 11 },
    })
  })

  test.each<Json>(['required', { type: 'function', name: 'f' }])(
    'the request’s members are echoed, with the vendor’s defaults for absent ones: %j',
    (tool_choice) => {
      const body: JsonObject = {
        tools: [{ type: 'function', name: 'f' }],
        tool_choice,
        parallel_tool_calls: false,
        instructions: 'be brief',
        metadata: { a: 'b' },
        temperature: 0.2,
        reasoning: { effort: 'low' },
        text: { verbosity: 'low' },
      }
      const response = responses.encodeResponse({ id: 'x', parts: [], finish: 'stop', usage: {} }, { ...ask, body })
      expect(violations(SCHEMAS.responses.response, response)).toEqual([])
      expect(response).toMatchObject({
        ...body,
        tools: [{ type: 'function', name: 'f', parameters: null, strict: true }],
        reasoning: { effort: 'low', summary: null },
        text: { format: { type: 'text' }, verbosity: 'low' },
        top_p: 1,
        truncation: 'disabled',
        error: null,
        incomplete_details: null,
        background: false,
        store: false,
      })
    },
  )
})

describe('reading a stream', () => {
  const created = { type: 'response.created', response: { id: 'resp_1', model: 'up', created_at: 1.5 } }
  const completed = (more: JsonObject = {}) => ({
    type: 'response.completed',
    response: { id: 'resp_1', status: 'completed', output: [], usage: { input_tokens: 3, output_tokens: 1 }, ...more },
  })
  const message = (text: string) => ({ type: 'message', id: 'msg_1', content: [{ type: 'output_text', text }] })

  test.each<[string, unknown[]]>([
    [
      'in deltas',
      [
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'hel' },
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: null },
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'lo' },
      ],
    ],
    [
      'with its item announced whole',
      [
        { type: 'response.output_item.added', output_index: 0, item: message('hello') },
        { type: 'response.output_item.done', output_index: 0, item: message('hello') },
      ],
    ],
    [
      'half in deltas, half at its end',
      [
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'hel' },
        { type: 'response.output_item.done', output_index: 0, item: message('hello') },
      ],
    ],
  ])('text %s is emitted once', (_, events) => {
    expect(decode(...events, completed())[0]?.type).toBe('start')
    expect(fold(decode(created, ...events, completed()))).toMatchObject({
      id: 'resp_1',
      createdAt: 1,
      parts: [{ type: 'text', text: 'hello' }],
    })
  })

  test('an incomplete answer without a reason was cut for its length', () => {
    expect(fold(decode(created, completed({ status: 'incomplete', output: [message('a')] }))).finish).toBe('length')
  })

  test.each(['response.created', 'response.in_progress', 'response.queued'])('begins with %s', (type) => {
    const delta = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'a' }
    expect(decode({ ...created, type }, delta)[0]).toEqual({ type: 'start', id: 'resp_1', model: 'up', createdAt: 1 })
  })

  const call = (args: string) => ({ type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: args })
  const thought = { type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: 0, text: 'why' }
  const place = { output_index: 0, content_index: 0 }
  test.each<[string, unknown[], unknown]>([
    [
      'a call whose arguments come only when they are done',
      [
        { type: 'response.output_item.added', output_index: 0, item: call('') },
        { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' },
      ],
      { id: 'c', name: 'f', input: '{"a":1}' },
    ],
    [
      'a call announced whole',
      [{ type: 'response.output_item.added', output_index: 0, item: call('{"a":1}') }],
      { id: 'c', itemId: 'fc_1', name: 'f', input: '{"a":1}' },
    ],
    [
      'a message announced whole',
      [{ type: 'response.output_item.added', output_index: 0, item: message('hello') }],
      { type: 'text', text: 'hello' },
    ],
    [
      'a text that comes only when it is done',
      [{ type: 'response.output_text.done', ...place, text: 'hello' }],
      { text: 'hello' },
    ],
    [
      'a text that comes with the end of its part',
      [{ type: 'response.content_part.done', ...place, part: { type: 'output_text', text: 'hello' } }],
      { text: 'hello' },
    ],
    [
      'a refusal that comes only when it is done',
      [{ type: 'response.refusal.done', ...place, refusal: 'no' }],
      { type: 'refusal', text: 'no' },
    ],
    [
      'a summary in paragraphs, each in pieces',
      [
        [0, 'a'],
        [0, 'b'],
        [1, 'c'],
        [1, 'd'],
      ].map(([summary_index, delta]) => ({
        type: 'response.reasoning_summary_text.delta',
        output_index: 0,
        summary_index,
        delta,
      })),
      { type: 'reasoning', text: 'ab\n\ncd' },
    ],
    ['a thought that comes at its end only', [thought], { type: 'reasoning', text: 'why' }],
  ])('%s is read, in an answer that announces no items', (_, events, due) => {
    expect(fold(decode(created, ...events, completed())).parts).toMatchObject([due as object])
  })

  test('the usage of a failed answer is emitted before its error', () => {
    const response = { error: { code: 'server_error', message: 'x' }, usage: { input_tokens: 3, output_tokens: 1 } }
    expect(decode(created, { type: 'response.failed', response }).slice(1)).toMatchObject([
      { type: 'usage', usage: { input: 3, output: 1 } },
      { type: 'error' },
    ])
  })

  test('what stands for a failure that passes has the number after the last event before it', () => {
    const events = [
      { ...created, sequence_number: 0 },
      { type: 'response.in_progress', response: created.response, sequence_number: 1 },
      { type: 'response.failed', response: { error: { code: 'server_error', message: 'x' } }, sequence_number: 2 },
    ]
    const tap = responses.tap({ model: 'm', includeUsage: false, now: 0 })
    const passed = events.map((event) => tap.see({ event: event.type, data: JSON.stringify(event) })).join('')
    const sent = framesOf(passed + tap.fail(tap.error ?? new GatewayError('internal_error', 'x'), 'req_1'))
    expect(sent.map((frame) => data(frame).sequence_number)).toEqual([0, 1, 2, 3])
  })

  test.each([true, false])('a stream that breaks as it passes ends with a whole response, begun: %p', (begun) => {
    const tap = responses.tap({ model: 'm', includeUsage: false, now: 0 })
    const began = { ...created, response: { ...created.response, status: 'in_progress' }, sequence_number: 0 }
    const passed = begun ? tap.see({ event: began.type, data: JSON.stringify(began) }) : ''
    const sent = framesOf(passed + tap.fail(new GatewayError('upstream_error', 'x'), 'req_1'))
    expect(checkResponsesStream(sent)).toEqual([])
  })

  test('usage of image generation is added to the answer’s: whole, passing and translated', () => {
    const drawn = { input_tokens: 50, output_tokens: 4_000, total_tokens: 4_050, cached_tokens: 20 }
    const usage = { input_tokens: 3, output_tokens: 1, total_tokens: 4 }
    const tool_usage = { image_gen: drawn, web_search: { num_requests: 0 } }
    const due = { input: 33, cacheRead: 20, output: 4_001 }
    const raw = { ...usage, tool_usage }
    const response = { id: 'r', status: 'completed', output: [], usage, tool_usage }
    expect(responses.readUsage(response)).toEqual({ usage: due, raw })
    const events = [created, { type: 'response.completed', response }].map((event) => ({ data: JSON.stringify(event) }))
    const tap = responses.tap({ model: 'm', includeUsage: false, now: 0 })
    const decoder = responses.decodeEvents()
    for (const event of events) tap.see(event)
    const last = events.flatMap((event) => decoder.push(event)).at(-1)
    expect([tap.usage, tap.rawUsage, decoder.rawUsage]).toEqual([due, raw, raw])
    expect(last).toMatchObject({ type: 'finish', usage: due })
    // Where it drew nothing, the figures are the usage object's, to the letter.
    const none = { ...response, tool_usage: { image_gen: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } } }
    expect(responses.readUsage(none)?.raw).toEqual(usage)
  })

  test('an event without a type has that of its frame', () => {
    const decoder = responses.decodeEvents()
    const error = { event: 'error', data: '{"code":"server_is_overloaded","message":"x"}' }
    expect(decoder.push(error)).toMatchObject([{ type: 'error', error: { code: 'service_unavailable' } }])
    expect(responses.decodeEvents().push({ data: '[1]' })).toMatchObject([{ type: 'error' }])
  })

  test('items that come only with the whole answer are read from it', () => {
    const output = [message('hello'), { type: 'function_call', call_id: 'c', name: 'f', arguments: { a: 1 } }]
    expect(fold(decode(created, completed({ output })))).toMatchObject({
      parts: [{ text: 'hello' }, { name: 'f', input: '{"a":1}' }],
      finish: 'tool-calls',
      usage: { input: 3, output: 1 },
    })
  })

  test('of an item announced with another type, the final type counts', () => {
    const call = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'c', input: 'x' }
    const added = { type: 'response.output_item.added', output_index: 0, item: { type: 'call', id: 'ctc_1' } }
    const completed = { type: 'response.completed', response: { output: [call] } }
    for (const events of [
      [added, completed],
      [added, { type: 'response.output_item.done', output_index: 0, item: call }, completed],
    ]) {
      const { parts, finish } = fold(decode(...events))
      expect(parts).toMatchObject([{ type: 'tool-call', kind: 'custom', id: 'call_1', input: 'x' }])
      expect(finish).toBe('tool-calls')
    }
  })

  test('an item is not read twice', () => {
    const done = { type: 'response.output_item.done', output_index: 0, item: message('hello') }
    expect(fold(decode(created, done, done, completed({ output: [message('hello')] }))).parts).toHaveLength(1)
  })

  test.each(['', 'item'])('items of a server that gives each the id %j are all read', (id) => {
    const call = (call_id: string) => ({ type: 'function_call', id, call_id, name: 'f', arguments: '{}' })
    const output = [{ ...message('hello'), id }, call('a'), call('b')]
    const parts = [{ text: 'hello' }, { id: 'a' }, { id: 'b' }]
    expect(responses.decodeResponse({ id: 'resp_1', status: 'completed', output }).parts).toMatchObject(parts)
    expect(fold(decode(created, completed({ output }))).parts).toMatchObject(parts)
    const done = output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item }))
    expect(fold(decode(created, ...done, completed({ output }))).parts).toMatchObject(parts)
  })

  test.each([undefined, 0])('items of a server that gives each the place %p are all read, once', (output_index) => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' }
    const items = [message('hello'), { ...message('again'), id: 'msg_2' }, call]
    const events = items.flatMap((item) => [
      { type: 'response.output_item.added', output_index, item: { ...item, content: [], arguments: '' } },
      ...(item.id === 'msg_1' ? [{ type: 'response.output_text.delta', output_index, delta: 'hel' }] : []),
      { type: 'response.output_item.done', output_index, item },
    ])
    expect(fold(decode(created, ...events, completed({ output: items }))).parts).toMatchObject([
      { type: 'text', text: 'hello' },
      { type: 'text', text: 'again' },
      { type: 'tool-call', id: 'c', input: '{}' },
    ])
  })

  describe('items that begin where another has not ended', () => {
    const event = (type: string, members: JsonObject): JsonObject => ({ type: `response.${type}`, ...members })
    const call = (id: string, input: string): JsonObject => ({
      type: 'function_call',
      call_id: id,
      name: 'f',
      arguments: input,
    })

    test('at its index are told from it by their ids', () => {
      const items: JsonObject[] = [
        { ...call('a', '{"a":1}'), id: 'fc_1' },
        { ...call('b', '{"b":2}'), id: 'fc_2' },
      ]
      const events = [
        event('output_item.added', { output_index: 0, item: { ...message(''), content: [] } }),
        event('output_text.delta', { output_index: 0, item_id: 'msg_1', delta: 'hello' }),
        ...items.flatMap((item, output_index) => [
          event('output_item.added', { output_index, item: { ...item, arguments: '' } }),
          event('function_call_arguments.delta', {
            output_index,
            item_id: item.id ?? null,
            delta: item.arguments ?? null,
          }),
          event('output_item.done', { output_index, item }),
        ]),
      ]
      for (const output of [items, []]) {
        expect(fold(decode(created, ...events, completed({ output })))).toMatchObject({
          parts: [{ text: 'hello' }, { id: 'a', input: '{"a":1}' }, { id: 'b', input: '{"b":2}' }],
          finish: 'tool-calls',
        })
      }
    })

    test('and have no index are told apart by their ids, of calls also those of their results', () => {
      const items = [call('a', '{"a":1}'), call('b', '{"b":2}')]
      const events = [
        ...items.flatMap((item) => [
          event('output_item.added', { item: { ...item, arguments: '' } }),
          event('function_call_arguments.delta', { item_id: item.call_id ?? null, delta: item.arguments ?? null }),
        ]),
        ...items.map((item) => event('output_item.done', { item })),
      ]
      for (const output of [items, []]) {
        const { parts } = fold(decode(created, ...events, completed({ output })))
        expect(parts).toMatchObject([
          { id: 'a', input: '{"a":1}' },
          { id: 'b', input: '{"b":2}' },
        ])
        expect(parts).toHaveLength(2)
      }
    })

    const thought = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'why' }] }
    const open = [
      event('output_item.added', { item: { ...thought, content: [] } }),
      event('reasoning_text.delta', { item_id: 'rs_1', delta: 'why' }),
      event('output_item.added', { item: { ...message(''), content: [] } }),
      event('output_text.delta', { item_id: 'msg_1', delta: 'hel' }),
    ]
    const over = [event('output_item.done', { item: thought }), event('output_item.done', { item: message('hello') })]

    test('end it, so that their words need not wait', () => {
      const told = 'start reasoning-start reasoning-delta reasoning-end text-start text-delta error'
      expect(
        decode(created, ...open)
          .map(({ type }) => type)
          .join(' '),
      ).toBe(told)
      expect(fold(decode(created, ...open, ...over, completed())).parts).toMatchObject([
        { type: 'reasoning', text: 'why' },
        { type: 'text', text: 'hello' },
      ])
    })

    test('leave the seal of a summary with it', () => {
      const sealed = {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'why' }],
        encrypted_content: 'e',
      }
      const summary = { item_id: 'rs_1', output_index: 0, summary_index: 0, delta: 'why' }
      const events = [
        event('output_item.added', { output_index: 0, item: { ...sealed, summary: [] } }),
        event('reasoning_summary_text.delta', summary),
        event('output_item.added', { output_index: 1, item: { ...call('a', ''), id: 'fc_1' } }),
        event('output_item.done', { output_index: 0, item: sealed }),
        event('output_item.done', { output_index: 1, item: { ...call('a', '{}'), id: 'fc_1' } }),
      ]
      expect(fold(decode(created, ...events, completed())).parts).toMatchObject([
        { type: 'reasoning', text: 'why', seal: { value: { id: 'rs_1', encrypted_content: 'e' } } },
        { type: 'tool-call', id: 'a' },
      ])
    })

    test('do not take from it what it says later', () => {
      const added = event('output_item.added', { item: call('a', '') })
      for (const later of [[event('output_text.delta', { item_id: 'msg_1', delta: 'lo' })], []]) {
        const done = { ...call('a', '{}'), status: 'completed' }
        const all = [...open, added, ...later, ...over, event('output_item.done', { item: done })]
        const { parts } = fold(decode(created, ...all, completed()))
        expect(parts.map((part) => (part.type === 'text' ? part.text : ''))).toEqual(['', 'hel', '', 'lo'])
      }
      const more = { ...thought, content: [{ type: 'reasoning_text', text: 'why not' }] }
      for (const later of [[event('reasoning_text.delta', { item_id: 'rs_1', delta: ' not' })], []]) {
        const all = [...open, ...later, event('output_item.done', { item: more }), ...over.slice(1)]
        const { parts } = fold(decode(created, ...all, completed()))
        expect(parts.map((part) => ('text' in part ? part.text : ''))).toEqual(['why', 'hel', ' not', 'lo'])
      }
    })
  })

  describe('places that are wrong do not make anything be said twice', () => {
    const event = (type: string, members: JsonObject): JsonObject => ({ type: `response.${type}`, ...members })
    const said = (...events: JsonObject[]): string[] =>
      fold(decode(created, ...events)).parts.map((part) => ('text' in part ? `${part.type} ${part.text}` : part.type))
    const thought = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'why so' }],
    }
    const call = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' }
    /** The whole answer, its items with ids of their own. */
    const over = (...output: JsonObject[]) =>
      completed({ output: output.map((item) => ({ ...item, id: `${item.id}x` })) })

    test.each([0, 1])('the end of an item %d places behind it', (off) => {
      const place = { item_id: 'rs_1', content_index: 0 }
      const second = { item_id: 'msg_1', content_index: 0 }
      const end = { output_index: 1 + off }
      const { id: _, ...nameless } = call
      const events = [
        event('output_item.added', { output_index: 0, item: { ...thought, content: [] } }),
        event('reasoning_text.delta', { ...place, output_index: 0, delta: 'why' }),
        event('reasoning_text.delta', { ...place, output_index: 0, delta: ' so' }),
        event('reasoning_text.done', { ...place, output_index: off, text: 'why so' }),
        event('output_item.done', { output_index: off, item: thought }),
      ]
      const text = [
        event('output_item.added', { output_index: 1, item: { ...message(''), content: [] } }),
        event('output_text.delta', { ...second, output_index: 1, delta: 'hello' }),
        event('output_text.done', { ...second, ...end, text: 'hello' }),
        event('output_item.done', { ...end, item: message('hello') }),
      ]
      expect(said(...events, ...text, over(thought, message('hello')))).toEqual(['reasoning why so', 'text hello'])
      const called = [
        event('output_item.added', { output_index: 1, item: { ...call, arguments: '' } }),
        event('function_call_arguments.delta', { output_index: 1, item_id: 'fc_1', delta: '{}' }),
        event('function_call_arguments.done', { ...end, item_id: 'fc_1', arguments: '{}' }),
        event('output_item.done', { ...end, item: { ...nameless, call_id: '' } }),
      ]
      expect(said(...events, ...called, over(thought, call))).toEqual(['reasoning why so', 'tool-call'])
    })

    test.each([
      ['of all items', (): number => 1],
      ['of every delta', (nth: number): number => 4 + nth],
    ])('contents that are counted %s', (_, content) => {
      const at = (nth: number) => ({ output_index: 1, item_id: 'msg_1', content_index: content(nth) })
      const events = [
        event('output_item.added', { output_index: 1, item: { ...message(''), content: [] } }),
        event('content_part.added', { ...at(0), part: { type: 'output_text', text: '' } }),
        ...['hel', 'l', 'o'].map((delta, nth) => event('output_text.delta', { ...at(nth), delta })),
        event('output_text.done', { ...at(3), text: 'hello' }),
        event('content_part.done', { ...at(3), part: { type: 'output_text', text: 'hello' } }),
        event('output_item.done', { output_index: 1, item: message('hello') }),
      ]
      expect(said(...events, over(thought, message('hello'))).filter((one) => one.startsWith('text'))).toEqual([
        'text hello',
      ])
      const place = (nth: number) => ({ output_index: 0, item_id: 'rs_1', content_index: content(nth) })
      const thinking = [
        ...['why', ' so'].map((delta, nth) => event('reasoning_text.delta', { ...place(nth), delta })),
        event('reasoning_text.done', { ...place(2), text: 'why so' }),
        event('output_item.done', { output_index: 0, item: thought }),
      ]
      expect(said(...thinking, ...events, over(thought, message('hello')))).toEqual(['reasoning why so', 'text hello'])
    })

    test.each([undefined, 0])(
      'items that all come at %p, and end with the answer alone, their ids new',
      (output_index) => {
        const second = { ...call, id: 'fc_2', call_id: 'd' }
        const output = [thought, message('hello'), call, second]
        const { id: _, ...unnamed } = call
        const named = [
          event('reasoning_text.delta', { output_index, item_id: 'rs_1', delta: 'why so' }),
          event('output_item.added', { output_index, item: { ...message(''), content: [] } }),
          event('output_text.delta', { output_index, item_id: 'msg_1', delta: 'hello' }),
          ...[call, second].flatMap((item) => [
            event('output_item.added', { output_index, item: { ...item, arguments: '' } }),
            event('function_call_arguments.delta', { output_index, item_id: item.id, delta: '{}' }),
          ]),
        ]
        const told = ['reasoning why so', 'text hello', 'tool-call', 'tool-call']
        expect(said(...named, over(...output))).toEqual(told)
        expect(said(...named, completed({ output }))).toEqual(told)
        expect(said(...named, completed({ output: output.map((item) => ({ ...item, id: null })) }))).toEqual(told)
        const ended = [unnamed, { ...unnamed, call_id: 'd' }].flatMap((item) => [
          event('output_item.added', { output_index, item: { ...item, arguments: '' } }),
          event('output_item.done', { output_index, item }),
        ])
        expect(said(...ended, over(call, second))).toEqual(['tool-call', 'tool-call'])
        expect(said(...ended, over(message('hello'), call, second))).toEqual(['tool-call', 'tool-call', 'text hello'])
      },
    )

    test('items of one id that are announced before their words', () => {
      const items = ['a', 'b'].map((call_id, at) => ({ ...call, id: 'item', call_id, arguments: `{"a":${at}}` }))
      const events = [
        ...items.map((item, output_index) =>
          event('output_item.added', { output_index, item: { ...item, arguments: '' } }),
        ),
        ...items.map(({ arguments: delta }, output_index) =>
          event('function_call_arguments.delta', { output_index, item_id: 'item', delta }),
        ),
        ...items.map((item, output_index) => event('output_item.done', { output_index, item })),
      ]
      const { parts } = fold(decode(created, ...events, completed({ output: items })))
      expect(parts.map((part) => (part.type === 'tool-call' ? [part.id, part.input] : part.type))).toEqual([
        ['a', '{"a":0}'],
        ['b', '{"a":1}'],
      ])
    })

    test('parts without an announcement stay apart where the text of each is told', () => {
      const parts = ['a', 'ab'].map((text) => ({ type: 'output_text', text }))
      const events = parts.flatMap(({ text }, content_index) => [
        event('output_text.delta', { output_index: 0, content_index, delta: text }),
        event('output_text.done', { output_index: 0, content_index, text }),
      ])
      const item = { ...message(''), content: parts }
      expect(said(...events, event('output_item.done', { output_index: 0, item }), completed())).toEqual([
        'text a',
        'text ab',
      ])
    })

    test.each(['ab', 'a'])(
      'parts whose texts are only told whole stay apart, although they begin alike: a, %s',
      (other) => {
        const texts = ['a', other]
        const parts = texts.map((text) => ({ type: 'output_text', text }))
        const events = parts.map(({ text }, content_index) =>
          event('output_text.done', { output_index: 0, content_index, text }),
        )
        const item = { ...message(''), content: parts }
        const due = texts.map((text) => `text ${text}`)
        expect(said(...events, completed())).toEqual(due)
        expect(said(...events, event('output_item.done', { output_index: 0, item }), completed())).toEqual(due)
      },
    )

    test('twenty thousand parts take linear time', () => {
      const content = Array.from({ length: 20_000 }, () => ({ type: 'output_text', text: 'a' }))
      const { parts } = fold(decode(created, completed({ output: [{ ...message(''), content }] })))
      expect(parts).toHaveLength(content.length)
    })

    test('text that is never announced, at the place of a thought, is told where it comes', () => {
      const events = [
        event('output_item.done', { output_index: 0, item: thought }),
        event('output_text.delta', { output_index: 0, item_id: 'msg_1', delta: 'hello' }),
        event('output_item.added', { output_index: 1, item: call }),
        event('output_item.done', { output_index: 1, item: call }),
      ]
      const output = [thought, message('hello'), call]
      for (const ends of [[event('output_item.done', { output_index: 0, item: message('hello') })], []])
        expect(said(...events, ...ends, completed({ output }))).toEqual(['reasoning why so', 'text hello', 'tool-call'])
    })

    test('a message announced before the thought comes behind it, and a thought told at the end is not lost', () => {
      const begun = event('output_item.added', { output_index: 0, item: { ...message(''), content: [] } })
      const part = { type: 'output_text', text: '' }
      const empty = event('content_part.added', { output_index: 0, item_id: 'msg_1', content_index: 0, part })
      const hello = event('output_text.delta', { output_index: 0, item_id: 'msg_1', content_index: 0, delta: 'hello' })
      const added = event('output_item.added', { output_index: 1, item: { ...thought, content: [] } })
      const why = event('reasoning_text.delta', { output_index: 1, item_id: 'rs_1', content_index: 0, delta: 'why so' })
      const whole = completed({ output: [thought, message('hello')] })
      expect(said(begun, empty, added, why, hello, whole)).toEqual(['reasoning why so', 'text hello'])
      expect(said(begun, empty, hello, whole)).toEqual(['text hello', 'reasoning why so'])
    })
  })

  describe('a text whose stream says at its end what it was', () => {
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const delta = (text: string) => ({ type: 'response.output_text.delta', ...place, delta: text })
    const part = (text: string) => ({ type: 'output_text', text })
    const item = (text: string) => ({ type: 'message', id: 'msg_1', role: 'assistant', content: [part(text)] })
    /** Each says the whole text. */
    const WITNESSES = [
      (text: string) => ({ type: 'response.output_text.done', ...place, text }),
      (text: string) => ({ type: 'response.content_part.done', ...place, part: part(text) }),
      (text: string) => ({ type: 'response.output_item.done', output_index: 0, item: item(text) }),
      (text: string) => completed({ output: [item(text)] }),
    ]
    /** What is told of it, or nothing where the answer breaks off. */
    const told = (...events: unknown[]): string | undefined => {
      const read = decode(created, ...events, completed())
      if (read.some(({ type }) => type === 'error')) return undefined
      return read.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')
    }
    const pieces = fc.array(
      fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\ud83d\ude00', '.'), minLength: 1 }),
      {
        minLength: 1,
        maxLength: 6,
      },
    )
    const said = fc.subarray(WITNESSES, { minLength: 1 })

    test('is told whole, or not as an answer, whichever piece is lost and whoever says so', () => {
      fc.assert(
        fc.property(pieces, fc.nat(5), said, (all, lost, witnesses) => {
          const whole = all.join('')
          const got = all.toSpliced(lost % all.length, 1)
          const read = told(...got.map(delta), ...witnesses.map((witness) => witness(whole)))
          expect([undefined, whole.trim()]).toContain(read?.trim())
          expect(told(...all.map(delta), ...witnesses.map((witness) => witness(whole)))).toBe(whole)
        }),
      )
    })

    test.each<[string, string[], string]>([
      ['in other letters', ['So it', ' is.'], 'So it was.'],
      ['in other letters that hold the pieces of most', ['One ', 'two', '.'], 'One, two and three.'],
      ['without the space around it', ['\n\nSo ', 'it is.\n'], 'So it is.'],
      ['with space around it', ['So ', 'it is.'], '\n So it is.\n'],
      ['with the thought before it', ['So ', 'it is.'], '<think>\nIs it?\n</think>\n\nSo it is.'],
      ['without marks of its own', ['See [1]', ' there.'], 'See there.'],
      ['not at all', ['So ', 'it is.'], ''],
    ])('and is written anew there, %s, stays as it was told', (_, streamed, whole) => {
      for (const witness of WITNESSES)
        expect(told(...streamed.map(delta), witness(whole))).toStartWith(streamed.join(''))
    })

    test.each<[string, string[], string]>([
      ['with marks for what it has read', ['See', ' there', '.'], 'See there [1].'],
      ['in a fence', ['{"a"', ':1}'], '```json\n{"a":1}\n```'],
      ['with its links spelled out', ['At ', 'http://a.example', '.'], 'At [http://a.example](http://a.example).'],
    ])(
      'and is written anew there, %s, stays where all its events have come, by their numbers',
      (_, streamed, whole) => {
        for (const witness of WITNESSES) {
          const events = [created, ...streamed.map(delta), witness(whole), completed()]
          const numbered = events.map((one, at) => ({ ...one, sequence_number: at }))
          const read = (of: unknown[]) => decode(...of).map(({ type }) => type)
          expect(read(numbered)).not.toContain('error')
          expect(read(numbered.toSpliced(2, 1))).toContain('error')
          expect(read(events)).toContain('error')
        }
      },
    )

    test('breaks off within a thought, too, of which a piece is lost', () => {
      const thought = (text: string) => ({ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text }] })
      const think = (text: string) => ({
        type: 'response.reasoning_summary_text.delta',
        ...{ item_id: 'rs_1', output_index: 0, summary_index: 0, delta: text },
      })
      const ended = (text: string) => ({ type: 'response.output_item.done', output_index: 0, item: thought(text) })
      const whole = 'One, two, three.'
      expect(told(think('One,'), think(' two,'), ended(whole))).toBe('')
      expect(told(think('One,'), think(' three.'), ended(whole))).toBeUndefined()
      expect(told(think('One,'), think(' three.'), completed({ output: [thought(whole)] }))).toBeUndefined()
      expect(told(think('One, '), think('four.'), ended(whole))).toBe('')
    })
  })

  test('a link of which less was told before its text ended is told once', () => {
    const link = (url: string, title?: string): JsonObject => ({ type: 'url_citation', url, ...(title && { title }) })
    const said = { type: 'output_text', text: 'See it.', annotations: [link('https://a.b', 'A'), link('https://c.d')] }
    const { parts } = fold(
      decode(
        created,
        { type: 'response.output_text.delta', ...place, delta: 'See it.' },
        {
          type: 'response.output_text.annotation.added',
          ...place,
          annotation_index: 0,
          annotation: link('https://a.b'),
        },
        { type: 'response.content_part.done', ...place, part: said },
        completed(),
      ),
    )
    expect(parts).toMatchObject([{ citations: [{ url: 'https://a.b' }, { url: 'https://c.d' }] }])
  })

  test('summaries of a thought are separate paragraphs, and its seal is the finished item', () => {
    const delta = (summary_index: number, text: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index,
      delta: text,
    })
    const item = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [
        { type: 'summary_text', text: 'a' },
        { type: 'summary_text', text: 'b' },
      ],
      encrypted_content: 'late',
    }
    const { parts } = fold(
      decode(
        created,
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { ...item, summary: [], encrypted_content: 'early' },
        },
        delta(0, 'a'),
        delta(1, 'b'),
        { type: 'response.output_item.done', output_index: 0, item },
        completed(),
      ),
    )
    expect(parts).toEqual([
      {
        type: 'reasoning',
        text: 'a\n\nb',
        seal: { origin: 'responses', value: { id: 'rs_1', summary: item.summary, encrypted_content: 'late' } },
      },
    ])
  })

  test.each<[string, unknown[], string]>([
    [
      'a nested error frame',
      [{ type: 'error', error: { code: 'insufficient_quota', message: 'x' } }],
      'service_unavailable',
    ],
    [
      'a flat error frame',
      [{ type: 'error', code: 'context_length_exceeded', message: 'x' }],
      'context_length_exceeded',
    ],
    [
      'response.failed',
      [{ type: 'response.failed', response: { error: { code: 'server_is_overloaded', message: 'x' } } }],
      'service_unavailable',
    ],
    ['an error without a type', [{ error: { message: 'secret text', type: 'server_error' } }], 'upstream_error'],
    ['silence', [], 'upstream_error'],
    ['an end without its response', [{ type: 'response.completed' }], 'upstream_error'],
  ])('%s is one error with the gateway’s message', (_, events, code) => {
    const read = decode(created, ...events, completed(), { type: 'error', code: 'x' })
    const last = events.length === 0 ? decode(created).at(-1) : read.find(({ type }) => type === 'error')
    expect<unknown>(last?.type === 'error' && last.error.code).toBe(code)
    expect(JSON.stringify(last)).not.toContain('secret')
  })

  test('text that is not JSON is an error', () => {
    const decoder = responses.decodeEvents()
    expect(decoder.push({ data: '{"type":' })).toMatchObject([{ type: 'error' }])
    expect(decoder.end()).toEqual([])
  })
})

describe('errors', () => {
  const body = (error: JsonObject) => ({
    error: { message: 'vendor words', type: 'invalid_request_error', param: null, code: null, ...error },
  })
  test.each<[number, JsonObject, string]>([
    [
      400,
      {
        code: 'context_length_exceeded',
        message: "This model's maximum context length is 100 tokens. However, your messages resulted in 120 tokens.",
      },
      'context_length_exceeded',
    ],
    [400, { code: 'invalid_prompt' }, 'content_policy_violation'],
    [400, { code: 'content_filter' }, 'content_policy_violation'],
    [400, { code: 'unsupported_parameter', param: 'temperature' }, 'upstream_error'],
    [400, { code: 'model_not_found', param: 'model' }, 'upstream_error'],
    [400, { type: 'insufficient_quota', code: 'insufficient_quota' }, 'service_unavailable'],
    [400, { code: 'billing_hard_limit_reached' }, 'service_unavailable'],
    [401, { code: 'invalid_api_key' }, 'upstream_error'],
    [403, {}, 'upstream_error'],
    [404, {}, 'upstream_error'],
    [413, {}, 'payload_too_large'],
    [429, { type: 'tokens', code: 'rate_limit_exceeded', message: 'Please try again in 1.5s' }, 'service_unavailable'],
    [500, { type: 'server_error' }, 'upstream_error'],
    [500, { code: 'constructor' }, 'upstream_error'],
    [503, { type: 'service_unavailable_error', code: 'server_is_overloaded' }, 'service_unavailable'],
  ])('%d %j', (status, error, code) => {
    const decoded = responses.decodeError(status, body(error))
    expect(decoded.code).toBe(code as typeof decoded.code)
    expect(decoded.message).not.toContain('vendor')
    expect(decoded.provider?.status).toBe(status)
  })

  test('the token counts of a prompt that is too long are kept, in a message that agents recognise', () => {
    const message = 'maximum context length is 100 tokens. However, your messages resulted in 120 tokens.'
    expect(responses.decodeError(400, body({ code: 'context_length_exceeded', message })).message).toStartWith(
      'prompt is too long: 120 tokens > 100 maximum (',
    )
  })

  test('a request above the rate limit itself goes to another account, and is not retried', () => {
    const { code, failover, retry } = responses.decodeError(
      429,
      body({ type: 'tokens', code: 'rate_limit_exceeded', message: 'Request too large for x: Limit 3, Requested 4.' }),
    )
    expect([code, failover, retry]).toEqual(['service_unavailable', true, false])
  })

  test('the delay that the provider names is kept', () => {
    expect(responses.decodeError(429, body({ message: 'Please try again in 1.5s' })).retryAfterMs).toBe(1_500)
  })

  test('a provider that refuses the request itself is not tried again; a body of any shape is read', () => {
    expect(responses.decodeError(400, body({})).retry).toBe(false)
    for (const odd of [undefined, null, 'text', [], { error: 'x' }])
      expect(responses.decodeError(502, odd).code).toBe('upstream_error')
  })

  test('clients get the envelope', () => {
    expect(responses.encodeError(new GatewayError('invalid_request', 'No.', { param: 'input' }), 'req_1')).toEqual({
      error: { message: 'No.', type: 'invalid_request_error', code: 'invalid_request', param: 'input' },
      request_id: 'req_1',
    })
  })
})

test('usage classes are disjoint, and counts that were not reported are absent', () => {
  const raw = {
    input_tokens: 1_220,
    input_tokens_details: { cached_tokens: 20, cache_write_tokens: 1_000 },
    output_tokens: 100,
    output_tokens_details: { reasoning_tokens: 54 },
    total_tokens: 1_320,
  }
  expect(responses.readUsage({ usage: raw })).toEqual({
    usage: { input: 200, cacheRead: 20, cacheWrite: 1_000, output: 100, reasoning: 54 },
    raw,
  })
  const details = { ...raw.input_tokens_details, cache_write_tokens_details: { ttl_12h_tokens: 1_001 } }
  expect(responses.readUsage({ usage: { ...raw, input_tokens_details: details } })?.usage).toMatchObject({
    cacheWrite: 1_000,
    cacheWrite1h: 1_000,
  })
  expect(responses.readUsage({ usage: { input_tokens: 3 } })?.usage).toEqual({ input: 3 })
  expect(responses.readUsage({ usage: null })).toBeUndefined()
})
