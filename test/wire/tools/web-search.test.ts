// The web search of one vendor as the other's: the request for it, its calls and pages in the answer, and in the history.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import { unfold } from '../../../src/ir/fold.ts'
import { asObject, asObjects, type JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { Ask } from '../../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { checkResponsesStream } from '../../support/automaton/responses.ts'
import { SCHEMAS, violations } from '../../support/corpus.ts'
import { type Crossing, chat, chatTool, closed, cross, HI, translates } from '../requests/support.ts'

const PARIS = { type: 'approximate', city: 'Paris', country: 'FR' }
const dated = (members: JsonObject = {}): JsonObject => ({
  type: 'web_search_20260318',
  name: 'web_search',
  ...members,
})
const own = { name: 'look', input_schema: closed }

describe('the request', () => {
  translates([
    [
      'domains, place and limit',
      'messages',
      'responses',
      { tools: [dated({ max_uses: 3, allowed_domains: ['a.test'], user_location: { ...PARIS, region: null } })] },
      {
        tools: [{ type: 'web_search', filters: { allowed_domains: ['a.test'] }, user_location: PARIS }],
        max_tool_calls: 3,
        include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
      },
      [],
    ],
    [
      'what has no counterpart',
      'messages',
      'responses',
      { tools: [dated({ allowed_callers: ['direct'], response_inclusion: 'excluded' })] },
      { tools: [{ type: 'web_search' }] },
      ['tools.0.response_inclusion'],
    ],
    [
      'beside the client’s own tools, and forced',
      'messages',
      'responses',
      { tools: [own, dated()], tool_choice: { type: 'tool', name: 'web_search' } },
      { tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] } },
      [],
    ],
    [
      'forced, where it is all',
      'messages',
      'responses',
      { tools: [dated()], tool_choice: { type: 'tool', name: 'web_search' } },
      { tool_choice: 'required' },
      [],
    ],
    [
      'as agents list it',
      'responses',
      'messages',
      {
        tools: [
          { type: 'function', name: 'look', parameters: closed },
          { type: 'web_search', external_web_access: false, filters: { allowed_domains: ['a.test'] } },
        ],
        include: ['web_search_call.action.sources'],
        max_tool_calls: 4,
      },
      {
        tools: [
          { name: 'look' },
          { type: 'web_search_20250305', name: 'web_search', max_uses: 4, allowed_domains: ['a.test'] },
        ],
      },
      ['tools.1.external_web_access'],
    ],
    [
      'forced',
      'responses',
      'messages',
      { tools: [{ type: 'web_search_preview' }], tool_choice: { type: 'web_search_preview' } },
      { tool_choice: { type: 'tool', name: 'web_search' } },
      [],
    ],
    ...(['messages', 'responses'] as const).map(
      (to): Crossing => [
        'a member in its place',
        chat,
        to,
        {
          web_search_options: {
            search_context_size: 'high',
            user_location: { type: 'approximate', approximate: { city: 'Paris', country: 'FR' } },
          },
        },
        {
          tools: [{ type: to === 'messages' ? 'web_search_20250305' : 'web_search', user_location: PARIS }],
        },
        ['web_search_options.search_context_size'],
      ],
    ),
    [
      'beside other tools, where there is none',
      'messages',
      chat,
      { tools: [own, dated()] },
      { tools: [chatTool('look', closed)] },
      ['tools.1'],
    ],
  ])

  // The vendor takes them, and its published types lack them.
  test('domains that are not to be searched go over, and back', () => {
    const encoded = (from: ChatWire, to: ChatWire, tool: JsonObject) => {
      const request = CHAT_CODECS[from].decodeRequest({ ...HI[from], tools: [tool] })
      const { body, dropped } = CHAT_CODECS[to].encodeRequest(request, { model: 'up', maxOutput: 64_000, quirks: {} })
      return [asObjects(body.tools)[0], dropped]
    }
    const sent = { type: 'web_search', filters: { blocked_domains: ['b.test'] } }
    expect(encoded('messages', 'responses', dated({ blocked_domains: ['b.test'] }))).toEqual([sent, []])
    expect(encoded('responses', 'messages', sent)).toMatchObject([{ blocked_domains: ['b.test'] }, []])
  })

  const refusal = (from: ChatWire, to: ChatWire, asked: JsonObject, noWebSearch: boolean): unknown => {
    try {
      const request = CHAT_CODECS[from].decodeRequest({ ...HI[from], ...asked })
      CHAT_CODECS[to].encodeRequest(request, { model: 'up', maxOutput: 64_000, quirks: { noWebSearch } })
    } catch (error) {
      return error instanceof GatewayError ? [error.code, error.param] : error
    }
    return undefined
  }

  test.each<[ChatWire, ChatWire, JsonObject, string]>([
    ['messages', 'responses', { tools: [dated()] }, 'tools.0'],
    ['responses', 'messages', { tools: [{ type: 'web_search' }] }, 'tools.0'],
    [chat, 'messages', { web_search_options: {} }, 'web_search_options'],
  ])('%s → %s is refused by name where the provider has none', (from, to, asked, param) => {
    expect(refusal(from, to, asked, true)).toEqual(['invalid_request', param])
    expect(refusal(from, to, asked, false)).toBeUndefined()
  })

  test('a function of the client’s keeps the name that both would have', () => {
    const search = { type: 'function', name: 'web_search', parameters: closed }
    const { body, dropped } = cross('responses', 'messages', { tools: [{ type: 'web_search' }, search] })
    expect([asObjects(body.tools).map(({ name, type }) => [name, type]), dropped]).toEqual([
      [['web_search', undefined]],
      ['tools.0'],
    ])
  })
})

const asked = (wire: ChatWire): Ask => ({ model: 'm', body: HI[wire], inputEstimate: 1, now: 0 })
const whole = (from: ChatWire, to: ChatWire, answer: JsonObject): JsonObject => {
  const sent = CHAT_CODECS[to].encodeResponse(CHAT_CODECS[from].decodeResponse(answer), asked(to))
  expect(violations(SCHEMAS[to].response, sent)).toEqual([])
  return sent
}
const streamed = (from: ChatWire, to: ChatWire, answer: JsonObject): JsonObject[] => {
  const encoder = CHAT_CODECS[to].encodeEvents(asked(to))
  let text = ''
  for (const event of unfold(CHAT_CODECS[from].decodeResponse(answer))) text += encoder.push(event)
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data) as JsonObject)
}

/** The answer that ends a responses stream. */
const lastOf = (frames: readonly JsonObject[]): JsonObject => asObject(frames.at(-1)?.response)

const PAGE = 'https://a.test/tides'
const CALL = {
  type: 'web_search_call',
  id: 'ws_7f',
  status: 'completed',
  action: { type: 'search', query: 'tides', queries: ['tides'], sources: [{ type: 'url', url: PAGE }] },
}
const ofResponses = (call: JsonObject = CALL): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [
    call,
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [
        {
          type: 'output_text',
          text: 'High at noon.',
          annotations: [{ type: 'url_citation', url: PAGE, title: 'Tides', start_index: 0, end_index: 13 }],
        },
      ],
    },
  ],
  usage: { input_tokens: 5, output_tokens: 3 },
})
const location = {
  type: 'web_search_result_location',
  url: PAGE,
  title: 'Tides',
  cited_text: 'c',
  encrypted_index: 'X',
}
const ofMessages = (content: JsonObject | JsonObject[]): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'server_tool_use', id: 'srvtoolu_01', name: 'web_search', input: { query: 'tides' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_01', content },
    { type: 'text', text: 'So: ' },
    { type: 'text', text: 'High at noon.', citations: [location] },
  ],
  stop_reason: 'end_turn',
  usage: { input_tokens: 5, output_tokens: 3, server_tool_use: { web_search_requests: 1 } },
})
const FOUND = [{ type: 'web_search_result', url: PAGE, title: 'Tides', encrypted_content: 'SEAL', page_age: null }]

describe('the answer', () => {
  test('of the responses wire becomes a call, its pages and links', () => {
    const { content, usage } = whole('responses', 'messages', ofResponses())
    expect(content).toMatchObject([
      { type: 'server_tool_use', id: 'srvtoolu_ws_7f', name: 'web_search', input: { query: 'tides' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_ws_7f',
        content: [{ url: PAGE, encrypted_content: '' }],
      },
      { type: 'text', citations: [{ url: PAGE, title: 'Tides', encrypted_index: '' }] },
    ])
    expect(usage).toMatchObject({ server_tool_use: { web_search_requests: 1 } })
    const frames = streamed('responses', 'messages', ofResponses())
    expect(frames.filter(({ type }) => type === 'content_block_start').map((frame) => frame.index)).toEqual([0, 1, 2])
    expect(frames.at(-2)).toMatchObject({ usage: { server_tool_use: { web_search_requests: 1 } } })
  })

  test('of the responses wire tells a search that failed', () => {
    const failed = { ...CALL, status: 'failed', action: { type: 'search', query: 'tides' } }
    expect(asObjects(whole('responses', 'messages', ofResponses(failed)).content)[1]).toMatchObject({
      content: { type: 'web_search_tool_result_error', error_code: 'unavailable' },
    })
  })

  test('of the messages wire becomes a call item and annotations of its text', () => {
    const { output } = whole('messages', 'responses', ofMessages(FOUND))
    expect(output).toMatchObject([
      { ...CALL, id: 'ws_srvtoolu_01' },
      { type: 'reasoning', summary: [] },
      {
        content: [
          { text: 'So: ' },
          { annotations: [{ type: 'url_citation', url: PAGE, start_index: 0, end_index: 13 }] },
        ],
      },
    ])
    expect(JSON.stringify(output)).not.toContain('SEAL')
    const types = streamed('messages', 'responses', ofMessages(FOUND)).map(({ type }) => type)
    expect(types.slice(2, 7)).toEqual([
      'response.output_item.added',
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_item.done',
    ])
  })

  test('of the messages wire tells a search that failed', () => {
    const error = { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }
    expect(asObjects(whole('messages', 'responses', ofMessages(error)).output)[0]).toMatchObject({ status: 'failed' })
  })

  test('has annotations of the one text for clients of chat-completions', () => {
    const [choice] = asObjects(whole('messages', chat, ofMessages(FOUND)).choices)
    expect(choice?.message).toMatchObject({
      content: 'So: High at noon.',
      annotations: [{ url_citation: { url: PAGE, start_index: 4, end_index: 17 } }],
    })
  })
})

/** Searches at once: their calls, then what they found in the order that is given, one of them without anything sealed. */
const parallel = (order: readonly number[]): JsonObject => ({
  ...ofMessages(FOUND),
  content: [
    ...order.map((_, at) => ({
      type: 'server_tool_use',
      id: `srvtoolu_${at}`,
      name: 'web_search',
      input: { query: `q${at}` },
    })),
    ...order.map((at) => ({
      type: 'web_search_tool_result',
      tool_use_id: `srvtoolu_${at}`,
      content: [{ ...FOUND[0], url: `${PAGE}/${at}`, encrypted_content: at === 1 ? '' : `SEAL${at}` }],
    })),
    { type: 'text', text: 'High at noon.', citations: [location] },
  ],
})

test('searches at once pair up with what each found, in whatever order that comes', () =>
  fc.assert(
    fc.property(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 1 }), (picked) => {
      // Numbers without gaps, in the same order.
      const order = picked.map((one) => picked.filter((other) => other < one).length)
      const { output } = whole('messages', 'responses', parallel(order))
      const calls = asObjects(output).filter(({ type }) => type === 'web_search_call')
      expect(calls.map(({ id, status, action }) => [id, status, action])).toEqual(
        order.map((_, at) => [
          `ws_srvtoolu_${at}`,
          'completed',
          { type: 'search', query: `q${at}`, queries: [`q${at}`], sources: [{ type: 'url', url: `${PAGE}/${at}` }] },
        ]),
      )
      const frames = streamed('messages', 'responses', parallel(order))
      expect(asObjects(lastOf(frames).output).map(({ type }) => type)).toEqual(
        asObjects(output).map(({ type }) => type),
      )
      expect(
        checkResponsesStream(frames.map((data) => ({ event: String(data.type), data: JSON.stringify(data) }))),
      ).toEqual([])
    }),
  ))

test('a search that never got a result is shown all the same', () => {
  const { content } = parallel([0, 1])
  const cut = {
    ...ofMessages(FOUND),
    content: asObjects(content).filter(({ type }) => type !== 'web_search_tool_result'),
  }
  const { output } = whole('messages', 'responses', cut)
  expect(asObjects(output).map(({ type, id }) => [type, `${id}`.slice(0, 3)])).toEqual([
    ['web_search_call', 'ws_'],
    ['web_search_call', 'ws_'],
    ['message', 'msg'],
  ])
})

test.each(['max_tokens', 'pause_turn', 'end_turn'])(
  'searches before whose results an answer ends by %s have failed, one that waits for another too',
  (stop) => {
    const { content } = parallel([0, 1])
    const use = asObjects(content).filter(({ type }) => type === 'server_tool_use')
    const cut = { ...ofMessages(FOUND), stop_reason: stop, content: use }
    for (const { output } of [whole('messages', 'responses', cut), lastOf(streamed('messages', 'responses', cut))])
      expect(asObjects(output).map(({ type, status }) => [type, status])).toEqual(
        use.map(() => ['web_search_call', 'failed']),
      )
  },
)

describe('places of citations', () => {
  const annotation = (start: number, end: number) => ({
    type: 'url_citation',
    url_citation: { url: PAGE, title: 'Tides', start_index: start, end_index: end },
  })
  // "One. " and "Two." of one content that a thought parts.
  const deltas: JsonObject[] = [
    { content: 'One. ', annotations: [annotation(0, 4)] },
    { reasoning_content: 'Hm.' },
    { content: 'Tw' },
    { annotations: [annotation(5, 9)] },
    { content: 'o.' },
  ]
  const chunks = [...deltas, {}].map((delta, at) => ({
    data: JSON.stringify({
      id: 'c',
      choices: [{ index: 0, delta, finish_reason: at === deltas.length ? 'stop' : null }],
    }),
  }))
  const events = () => {
    const decoder = CHAT_CODECS[chat].decodeEvents()
    return [...chunks, { data: '[DONE]' }].flatMap((frame) => decoder.push(frame))
  }

  test('are told within each text where the wire has several', () => {
    const encoder = CHAT_CODECS.responses.encodeEvents(asked('responses'))
    const text = events()
      .map((event) => encoder.push(event))
      .join('')
    const frames = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data) as JsonObject)
    const output = asObjects(lastOf(frames).output)
    const parts = output.flatMap(({ content }) => asObjects(content)).filter(({ type }) => type === 'output_text')
    expect(
      parts.map(({ text, annotations }) => [
        text,
        asObjects(annotations).map((one) => [one.start_index, one.end_index]),
      ]),
    ).toEqual([
      ['One. ', [[0, 4]]],
      ['Two.', [[0, 4]]],
    ])
  })

  test('come back as they were where it has one', () => {
    const encoder = CHAT_CODECS[chat].encodeEvents(asked(chat))
    const text = events()
      .map((event) => encoder.push(event))
      .join('')
    const seen = [...text.matchAll(/"start_index":(\d+),"end_index":(\d+)|"end_index":(\d+),"start_index":(\d+)/g)]
    expect(seen.map(([, start, end, last, begin]) => [Number(start ?? begin), Number(end ?? last)])).toEqual([
      [0, 4],
      [5, 9],
    ])
  })
})

describe('the history', () => {
  test('returns what was sealed to its vendor by way of a client of the other wire', () => {
    const { output } = whole('messages', 'responses', parallel([1, 0]))
    const input = [{ role: 'user', content: 'tides?' }, ...asObjects(output), { role: 'user', content: 'thanks' }]
    const sent = cross('responses', 'messages', { input }).body
    const blocks = asObjects(sent.messages).flatMap(({ content }) => (Array.isArray(content) ? asObjects(content) : []))
    const due = asObjects(parallel([1, 0]).content)
    const sealed = due.filter(({ id, tool_use_id: of }) => id === 'srvtoolu_0' || of === 'srvtoolu_0')
    expect(blocks.filter(({ type }) => `${type}`.includes('tool'))).toEqual(sealed)
    // Its call is not said a second time; the one without a seal is.
    expect(JSON.stringify(sent)).not.toContain('ws_srvtoolu_0')
    expect(JSON.stringify(sent)).toContain('q1')
    // Nobody else reads it.
    expect(JSON.stringify(cross('responses', chat, { input }).body)).not.toContain('SEAL0')
  })

  const made = asObjects(whole('responses', 'messages', ofResponses()).content)
  const body = {
    ...HI.messages,
    messages: [
      { role: 'user', content: 'tides?' },
      { role: 'assistant', content: made },
      { role: 'user', content: 'thanks' },
    ],
  }

  test('returns the call to the vendor that made it', () => {
    expect(asObjects(cross('messages', 'responses', body).body.input)).toContainEqual(CALL)
  })

  test('never takes what was made of it to the vendor that would look for its seal', () => {
    const edits = CHAT_CODECS.messages.passEdits(body, { model: 'up', outputCap: undefined, quirks: {} })
    const gone = edits.filter(({ value }) => value === undefined).map(({ path }) => path.slice(0, 4).join('.'))
    expect(gone).toEqual(['messages.1.content.0', 'messages.1.content.1', 'messages.1.content.2'])
    expect(JSON.stringify(cross('messages', 'messages', body).body)).not.toContain('srvtoolu_')
  })
})
