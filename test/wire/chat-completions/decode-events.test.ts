// Streams as servers of this wire send them: calls, texts and usage, in every variation that is known.

import { describe, expect, spyOn, test } from 'bun:test'
import type { FinishReason } from '../../../src/ir/event.ts'
import { fold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import { sealTag } from '../../../src/wire/seal.ts'
import { call, chunk, DONE, decode, delta, parts, stop } from './stream.ts'

describe('what a provider may send', () => {
  test('parallel calls of one index each overlap until their arguments are whole', () => {
    const frames = [
      call(0, { name: 'f', arguments: '{"a":' }, 'A'),
      call(1, { name: 'g', arguments: '{"b"' }, 'B'),
      call(0, { arguments: '1}' }),
      call(1, { arguments: ':2}' }),
      stop('tool_calls'),
    ]
    expect(parts(frames)).toEqual([
      { type: 'tool-call', id: 'A', name: 'f', kind: 'function', input: '{"a":1}' },
      { type: 'tool-call', id: 'B', name: 'g', kind: 'function', input: '{"b":2}' },
    ])
  })

  test('a call whose arguments are whole ends where the next one starts', () => {
    const types = decode([
      call(0, { name: 'f', arguments: '{}' }, 'A'),
      call(1, { name: 'g', arguments: '{' }, 'B'),
    ]).map((event) => event.type)
    expect(types).toEqual(['start', 'tool-start', 'tool-delta', 'tool-end', 'tool-start', 'tool-delta', 'error'])
  })

  test.each<[string, { data: string }[], unknown[]]>([
    [
      'arguments and reason in one chunk',
      [
        chunk({
          delta: { tool_calls: [{ index: 0, id: 'A', function: { name: 'f', arguments: '{"a":1}' } }] },
          finish_reason: 'tool_calls',
        }),
      ],
      [['A', 'f', '{"a":1}']],
    ],
    ['no arguments at all', [call(0, { name: 'f', arguments: '' }, 'A'), stop('tool_calls')], [['A', 'f', '{}']]],
    ['arguments that are null', [call(0, { name: 'f', arguments: null }, 'A'), stop('tool_calls')], [['A', 'f', '{}']]],
    [
      'arguments as an object',
      [call(0, { name: 'f', arguments: { a: 1 } }, 'A'), stop('tool_calls')],
      [['A', 'f', '{"a":1}']],
    ],
    [
      'the call itself in place of the list',
      [
        delta({ tool_calls: { index: 0, id: 'A', function: { name: 'f', arguments: '' } } }),
        delta({ tool_calls: { index: 0, function: { arguments: '{"a":1}' } } }),
        stop('tool_calls'),
      ],
      [['A', 'f', '{"a":1}']],
    ],
    [
      'every call under index 0',
      [call(0, { name: 'f', arguments: '{}' }, 'A'), call(0, { name: 'g', arguments: '{}' }, 'B'), stop('tool_calls')],
      [
        ['A', 'f', '{}'],
        ['B', 'g', '{}'],
      ],
    ],
    [
      'no index',
      [
        call(undefined, { name: 'f', arguments: '{' }, 'A'),
        call(undefined, { arguments: '}' }),
        call(undefined, { name: 'g', arguments: '{}' }, 'B'),
        stop('tool_calls'),
      ],
      [
        ['A', 'f', '{}'],
        ['B', 'g', '{}'],
      ],
    ],
    [
      'the end of the arguments under the next index',
      [
        call(0, { name: 'f', arguments: '' }, 'A'),
        call(0, { arguments: '{"a":' }),
        call(1, { arguments: '1' }),
        call(1, { arguments: '}' }),
        call(1, { name: 'g', arguments: '{}' }, 'B'),
        stop('tool_calls'),
      ],
      [
        ['A', 'f', '{"a":1}'],
        ['B', 'g', '{}'],
      ],
    ],
    [
      'a second call that begins under the first one’s index and ends under its own',
      [
        call(0, { name: 'f', arguments: '{"a":1}' }, 'A'),
        call(0, { name: 'f', arguments: '{"b":' }, 'B'),
        call(1, { arguments: '2}' }),
        stop('tool_calls'),
      ],
      [
        ['A', 'f', '{"a":1}'],
        ['B', 'f', '{"b":2}'],
      ],
    ],
    [
      'a first entry under another index than the arguments, its id repeated',
      [
        call(1, { name: 'f', arguments: '' }, 'A'),
        call(0, { name: 'f', arguments: '{"a":' }, 'A'),
        call(0, { name: 'f', arguments: '1}' }, 'A'),
        call(0, { name: 'f', arguments: '' }, 'B'),
        call(1, { name: 'f', arguments: '{"b":' }, 'B'),
        call(1, { name: 'f', arguments: '2}' }, 'B'),
        stop('tool_calls'),
      ],
      [
        ['A', 'f', '{"a":1}'],
        ['B', 'f', '{"b":2}'],
      ],
    ],
    [
      'first entries under the index of their tool, arguments under the number of the call',
      [
        call(1, { name: 'g', arguments: '' }, 'A'),
        call(0, { arguments: '{"a":' }),
        call(0, { arguments: '1}' }),
        call(0, { name: 'f', arguments: '' }, 'B'),
        call(1, { arguments: '{"b":' }),
        call(1, { arguments: '2}' }),
        stop('tool_calls'),
      ],
      [
        ['A', 'g', '{"a":1}'],
        ['B', 'f', '{"b":2}'],
      ],
    ],
    [
      'the whole call again under the next index, its id repeated',
      [
        call(0, { name: 'f', arguments: '' }, 'A'),
        call(0, { arguments: '{"a":' }),
        call(0, { arguments: '1}' }),
        call(1, { name: 'f', arguments: '{"a": 1}' }, 'A'),
        stop('tool_calls'),
      ],
      [['A', 'f', '{"a":1}']],
    ],
    [
      'one id for calls of different indexes',
      [
        call(0, { name: 'f', arguments: '' }, 'A'),
        call(1, { name: 'g', arguments: '' }, 'A'),
        call(0, { arguments: '{"a":1}' }),
        call(1, { arguments: '{"b":2}' }),
        stop('tool_calls'),
      ],
      [
        ['A', 'f', '{"a":1}'],
        ['A', 'g', '{"b":2}'],
      ],
    ],
    [
      'name and id repeated',
      [call(0, { name: 'f', arguments: '{' }, 'A'), call(0, { name: 'f', arguments: '}' }, 'A'), stop('tool_calls')],
      [['A', 'f', '{}']],
    ],
    [
      'name and id empty later',
      [call(0, { name: 'f', arguments: '{' }, 'A'), call(0, { name: '', arguments: '}' }, ''), stop('tool_calls')],
      [['A', 'f', '{}']],
    ],
    [
      'a name that comes late',
      [call(0, { arguments: '{"a"' }, 'A'), call(0, { name: 'f', arguments: ':1}' }), stop('tool_calls')],
      [['A', 'f', '{"a":1}']],
    ],
    [
      'neither index nor id, several in one chunk',
      [
        delta({
          tool_calls: [{ function: { name: 'f', arguments: '{}' } }, { function: { name: 'f', arguments: '{"a":1}' } }],
        }),
        stop('tool_calls'),
      ],
      [
        [expect.any(String), 'f', '{}'],
        [expect.any(String), 'f', '{"a":1}'],
      ],
    ],
    [
      'no index, several in one chunk, and then their arguments without ids',
      [
        delta({
          tool_calls: [
            { id: 'A', function: { name: 'f', arguments: '' } },
            { id: 'B', function: { name: 'g', arguments: '' } },
          ],
        }),
        delta({ tool_calls: [{ function: { arguments: '{"a":' } }, { function: { arguments: '{"b":' } }] }),
        delta({ tool_calls: [{ function: { arguments: '1}' } }, { function: { arguments: '2}' } }] }),
        delta({
          tool_calls: [{ function: { arguments: ' ' } }, { id: 'C', function: { name: 'h', arguments: '{}' } }],
        }),
        stop('tool_calls'),
      ],
      [
        ['A', 'f', '{"a":1}'],
        ['B', 'g', '{"b":2} '],
        ['C', 'h', '{}'],
      ],
    ],
    [
      'no index, several in one chunk, each with its arguments in entries without ids behind it',
      [
        delta({
          tool_calls: [
            { id: 'A', function: { name: 'f', arguments: '' } },
            { function: { arguments: '{"a":' } },
            { function: { arguments: '1}' } },
            { id: 'B', function: { name: 'g', arguments: '{"b":' } },
            { function: { arguments: '2}' } },
          ],
        }),
        stop('tool_calls'),
      ],
      [
        ['A', 'f', '{"a":1}'],
        ['B', 'g', '{"b":2}'],
      ],
    ],
    [
      'index 0 and no id, its arguments after its name',
      [
        call(0, { name: 'f', arguments: '{"a":1}' }),
        call(0, { name: 'g', arguments: '' }),
        call(0, { arguments: '{"b":' }),
        call(0, { name: 'g', arguments: '2}' }),
        call(0, { name: 'g', arguments: '' }),
        stop('tool_calls'),
      ],
      [
        [expect.any(String), 'f', '{"a":1}'],
        [expect.any(String), 'g', '{"b":2}'],
      ],
    ],
    ['the reason stop', [call(0, { name: 'f', arguments: '{}' }, 'A'), stop('stop')], [['A', 'f', '{}']]],
    [
      'its arguments told once more',
      [
        call(0, { name: 'f', arguments: '{"a":' }, 'A'),
        call(0, { arguments: '1}' }),
        call(0, { arguments: '{"a": 1}' }),
        call(0, { name: 'f', arguments: '{"a":1}' }, 'A'),
        delta({ content: 'x' }),
        call(0, { arguments: '{"a":1}' }),
        stop('tool_calls'),
      ],
      [['A', 'f', '{"a":1}'], { type: 'text', text: 'x' }],
    ],
    [
      'a place for its arguments before them',
      [
        call(0, { name: 'f', arguments: '{}' }, 'A'),
        call(0, { name: 'f', arguments: '{"a":' }, 'A'),
        call(0, { arguments: '1}' }),
        call(1, { name: 'g', arguments: '{}' }, 'B'),
        call(1, { arguments: '\n' }),
        stop('tool_calls'),
      ],
      [
        ['A', 'f', '{"a":1}'],
        ['B', 'g', '{}'],
      ],
    ],
    [
      'the id and the index of the one before it',
      [
        call(0, { name: 'f', arguments: '{"a":1}' }, 'A'),
        call(0, { name: 'f', arguments: '{"a":2}' }, 'A'),
        stop('tool_calls'),
      ],
      [
        ['A', 'f', '{"a":1}'],
        ['A', 'f', '{"a":2}'],
      ],
    ],
    ...[undefined, 0].map((index): [string, { data: string }[], unknown[]] => [
      `nothing but ids to tell it from others, all under index ${index}`,
      [
        call(index, { name: 'f', arguments: '' }, 'A'),
        call(index, { name: 'g', arguments: '' }, 'B'),
        call(index, { arguments: '{"a":1}' }, 'A'),
        call(index, { arguments: '{"b":2}' }, 'B'),
        stop('tool_calls'),
      ],
      [
        ['A', 'f', '{"a":1}'],
        ['B', 'g', '{"b":2}'],
      ],
    ]),
  ])('a call with %s', (_, frames, expected) => {
    const answer = fold(decode([...frames, DONE]))
    expect(answer.parts.map((part) => (part.type === 'tool-call' ? [part.id, part.name, part.input] : part))).toEqual(
      expected as never,
    )
    expect(answer.finish).toBe('tool-calls')
  })

  test.each([
    ['full of braces', (at: number) => call(0, { arguments: at % 4 === 0 ? '{}' : 'code of a page ' })],
    ['under a name in every piece', () => call(0, { name: 'f', arguments: 'code of a page ' }, 'A')],
  ])('arguments %s are not parsed again with every piece', (_, piece) => {
    const pieces = Array.from({ length: 2_000 }, (_, at) => piece(at))
    const parsing = spyOn(JSON, 'parse')
    decode([call(0, { name: 'f', arguments: '{"a":"' }, 'A'), ...pieces])
    const read = parsing.mock.calls.reduce((sum, [text]) => sum + text.length, 0)
    parsing.mockRestore()
    expect(read).toBeLessThan(3 * pieces.reduce((sum, { data }) => sum + data.length, 0))
  })

  test.each([
    ['under indexes of their own', (at: number) => [call(at + 1, { arguments: ',{"b":1}' })]],
    ['with text between', () => [call(0, { arguments: ',{"b":1}' }), delta({ content: 'x' })]],
  ])('arguments whose pieces end in braces, %s, are not parsed with each', (_, piece) => {
    const pieces = Array.from({ length: 2_000 }, (_, at) => piece(at)).flat()
    const ends = [call(0, { arguments: ']}' }), stop('tool_calls'), DONE]
    const parsing = spyOn(JSON, 'parse')
    const events = decode([call(0, { name: 'f', arguments: '{"a":["{",0' }, 'A'), ...pieces, ...ends])
    const read = parsing.mock.calls.reduce((sum, [text]) => sum + text.length, 0)
    parsing.mockRestore()
    expect(read).toBeLessThan(3 * pieces.reduce((sum, { data }) => sum + data.length, 0))
    const [made] = fold(events).parts
    expect(made?.type === 'tool-call' && JSON.parse(made.input).a).toHaveLength(2_002)
  })

  test('arguments after the end of their call become a call without a name', () => {
    const late = [
      call(0, { name: 'f', arguments: '{"a":1}' }, 'A'),
      delta({ content: 'x' }),
      call(0, { arguments: ',"b":2}' }),
      stop('tool_calls'),
    ]
    const calls = decode([...late, DONE]).filter((event) => event.type === 'tool-start')
    expect(calls.map(({ name }) => name)).toEqual(['f', ''])
  })

  test('many calls that are cut off take linear time', () => {
    const many = Array.from({ length: 500 }, (_, at) => call(at, { name: 'f', arguments: '{"a":{}' }, `c${at}`))
    const parsing = spyOn(JSON, 'parse')
    decode(many)
    const read = parsing.mock.calls.reduce((sum, [text]) => sum + text.length, 0)
    parsing.mockRestore()
    expect(read).toBeLessThan(3 * many.reduce((sum, { data }) => sum + data.length, 0))
  })

  test('many calls that are open at once take linear time', () => {
    const many = Array.from({ length: 50_000 }, (_, at) => call(at, { name: 'f', arguments: '' }, `c${at}`))
    expect(decode(many).filter(({ type }) => type === 'tool-start')).toHaveLength(many.length)
  })

  test('calls without ids get unique ones', () => {
    const [one, two] = parts([
      call(0, { name: 'f', arguments: '{}' }),
      call(1, { name: 'f', arguments: '{}' }),
      stop('tool_calls'),
    ])
    if (one?.type !== 'tool-call' || two?.type !== 'tool-call') throw new Error('no calls')
    expect(one.id).toMatch(/^call_[a-z0-9]+_0$/)
    expect(two.id).not.toBe(one.id)
  })

  test('free text for a custom tool, and the legacy call', () => {
    const custom = delta({ tool_calls: [{ index: 0, id: 'A', type: 'custom', custom: { name: 'p', input: 'a' } }] })
    const more = delta({ tool_calls: [{ index: 0, custom: { input: 'b' } }] })
    expect(parts([custom, more, stop('tool_calls')])).toEqual([
      { type: 'tool-call', id: 'A', name: 'p', kind: 'custom', input: 'ab' },
    ])
    const legacy = [
      delta({ function_call: { name: 'f', arguments: '{' } }),
      delta({ function_call: { arguments: '}' } }),
      stop('function_call'),
    ]
    expect(parts(legacy)).toMatchObject([{ type: 'tool-call', name: 'f', input: '{}' }])
  })

  test.each<[string, JsonObject[], unknown[]]>([
    [
      'thoughts under either name, once',
      [{ reasoning_content: 'a', reasoning: 'a' }, { reasoning: 'b' }, { content: 'x' }],
      [
        { type: 'reasoning', text: 'ab', full: true },
        { type: 'text', text: 'x' },
      ],
    ],
    [
      'thoughts among the content',
      [
        { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'a' }] }] },
        { content: [{ type: 'text', text: 'x' }] },
      ],
      [
        { type: 'reasoning', text: 'a', full: true, seal: { origin: 'chat-completions', value: { open: 'thinking' } } },
        { type: 'text', text: 'x' },
      ],
    ],
    [
      'thoughts in short among the content',
      [
        { content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'a' }] }] },
        { content: [{ type: 'text', text: 'x' }] },
      ],
      [
        { type: 'reasoning', text: 'a' },
        { type: 'text', text: 'x' },
      ],
    ],
    ['a refusal', [{ refusal: 'no' }, { refusal: ' way' }], [{ type: 'refusal', text: 'no way' }]],
    [
      'a citation',
      [
        { content: 'x' },
        {
          annotations: [
            { type: 'url_citation', url_citation: { url: 'https://a.b', title: 't', start_index: 0, end_index: 1 } },
          ],
        },
      ],
      [{ type: 'text', text: 'x', citations: [{ kind: 'url', url: 'https://a.b', title: 't', start: 0, end: 1 }] }],
    ],
    [
      'a citation before its text, behind a thought',
      [
        { reasoning_content: 'a', annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.b' } }] },
        { content: 'x' },
        { content: 'y' },
      ],
      [
        { type: 'reasoning', text: 'a', full: true },
        { type: 'text', text: 'xy', citations: [{ kind: 'url', url: 'https://a.b' }] },
      ],
    ],
    [
      'a citation of a text that a call has ended',
      [
        { content: 'See it.' },
        { tool_calls: [{ index: 0, id: 'A', function: { name: 'f', arguments: '{}' } }] },
        { annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.b', start_index: 4, end_index: 6 } }] },
      ],
      [
        { type: 'text', text: 'See it.', citations: [{ kind: 'url', url: 'https://a.b', start: 4, end: 6 }] },
        { type: 'tool-call', id: 'A', name: 'f', kind: 'function', input: '{}' },
      ],
    ],
    [
      'citations of both texts before a thought, told behind it, and one without a place',
      [
        { content: 'ab' },
        { reasoning_content: 't' },
        { content: 'cd' },
        { reasoning_content: 'u' },
        {
          annotations: [
            { type: 'url_citation', url_citation: { url: 'https://a.b', start_index: 3, end_index: 4 } },
            { type: 'url_citation', url_citation: { url: 'https://c.d', start_index: 0, end_index: 2 } },
            { type: 'url_citation', url_citation: { url: 'https://e.f' } },
          ],
        },
      ],
      [
        { type: 'text', text: 'ab', citations: [{ kind: 'url', url: 'https://c.d', start: 0, end: 2 }] },
        { type: 'reasoning', text: 't', full: true },
        {
          type: 'text',
          text: 'cd',
          citations: [
            { kind: 'url', url: 'https://a.b', start: 1, end: 2 },
            { kind: 'url', url: 'https://e.f' },
          ],
        },
        { type: 'reasoning', text: 'u', full: true },
      ],
    ],
    [
      'members that are written out empty',
      [
        {
          content: 'x',
          function_call: {},
          tool_calls: [],
          audio: { id: '', data: '', transcript: '', expires_at: 0 },
          annotations: [],
        },
        { content: 'y', function_call: { name: '', arguments: '' }, audio: {}, reasoning_details: [] },
        {
          tool_calls: [
            {
              index: 0,
              id: 'A',
              function: { name: 'f', arguments: '{"a":1}' },
              custom: { name: '', input: '' },
              extra_content: {},
            },
          ],
        },
      ],
      [
        { type: 'text', text: 'xy' },
        { type: 'tool-call', id: 'A', name: 'f', kind: 'function', input: '{"a":1}' },
      ],
    ],
    [
      'audio, gathered',
      [{ audio: { id: 'au', data: 'AA' } }, { audio: { data: 'BB', transcript: 'hi' } }, { audio: { expires_at: 9 } }],
      [
        {
          type: 'opaque',
          origin: 'chat-completions',
          value: { audio: { id: 'au', expires_at: 9, data: 'AABB', transcript: 'hi' } },
        },
      ],
    ],
  ])('%s', (_, pieces, expected) => {
    expect(parts([...pieces.map(delta), stop()])).toEqual(expected as never)
  })

  test.each<[string, JsonObject, unknown[]]>([
    ['as links', { citations: ['https://a.b', 'no link'] }, [{ kind: 'url', url: 'https://a.b' }]],
    [
      'with their titles',
      { citations: ['https://a.b'], search_results: [{ title: 't', url: 'https://a.b' }, { title: 'none' }] },
      [{ kind: 'url', url: 'https://a.b', title: 't' }],
    ],
    [
      'under another name',
      { web_search: [{ title: 't', link: 'https://a.b' }] },
      [{ kind: 'url', url: 'https://a.b', title: 't' }],
    ],
    [
      'within what is told of the search',
      { search_info: { search_results: [{ index: 1, title: 't', url: 'https://a.b' }] } },
      [{ kind: 'url', url: 'https://a.b', title: 't' }],
    ],
    ['and none', { citations: [], search_results: null }, []],
  ])('sources beside the answer become citations of its text: %s', (_, beside, cited) => {
    const due = [{ type: 'text', text: 'ab', ...(cited.length === 0 ? {} : { citations: cited }) }]
    const frames = [
      chunk({ delta: { content: 'a' } }, beside),
      chunk({ delta: { content: 'b' } }, beside),
      chunk({ delta: {}, finish_reason: 'stop' }, beside),
    ]
    expect(parts(frames)).toEqual(due as never)
    const late = chunk({ delta: {} }, { citations: null, search_results: [] })
    expect(parts([...frames, late])).toEqual(due as never)
    const body = {
      choices: [{ index: 0, message: { role: 'assistant', content: 'ab' }, finish_reason: 'stop' }],
      ...beside,
    }
    expect(chatCompletions.decodeResponse(body).parts).toEqual(due as never)
  })

  test('audio that ends without a finish reason is whole', () => {
    const said = [
      delta({ audio: { id: 'au', data: 'AA', transcript: 'hi' } }),
      chunk({ delta: { audio: { expires_at: 9 } } }),
    ]
    const answer = fold(decode([...said, DONE]))
    expect(answer.finish).toBe('stop')
    expect(answer.parts).toEqual([
      {
        type: 'opaque',
        origin: 'chat-completions',
        value: { audio: { id: 'au', expires_at: 9, data: 'AA', transcript: 'hi' } },
      },
    ])
  })

  test.each([true, false])('a thought signed in pieces is put together, with plain text beside it: %p', (beside) => {
    const piece = (text: string, more: JsonObject = {}) =>
      delta({
        ...(beside ? { reasoning: text } : {}),
        reasoning_details: [{ type: 'reasoning.text', text, index: 0, format: 'x', ...more }],
      })
    const sealed = { type: 'reasoning.text', text: 'ab', index: 0, format: 'x', signature: 's' }
    const own = { type: 'reasoning.encrypted', data: 'e', index: 1 }
    const another = { ...own, data: 'f' }
    const frames = [
      piece('a'),
      piece('b'),
      piece('', { text: null, signature: 's' }),
      delta({ reasoning_details: [own] }),
      delta({ reasoning_details: [another] }),
    ]
    const thought = {
      type: 'reasoning',
      text: 'ab',
      full: true,
      seal: { origin: 'chat-completions', value: { reasoning_details: [sealed, own, another] } },
    }
    expect(parts([...frames, delta({ content: 'x' }), stop()])).toEqual([thought, { type: 'text', text: 'x' }] as never)
    const message = {
      role: 'assistant',
      content: 'x',
      ...(beside ? { reasoning: 'ab' } : {}),
      reasoning_details: [sealed, own, another],
    }
    expect(chatCompletions.decodeResponse({ choices: [{ index: 0, message, finish_reason: 'stop' }] }).parts).toEqual([
      thought,
      { type: 'text', text: 'x' },
    ] as never)
  })

  test('an empty refusal is ignored', () => {
    expect(parts([delta({ content: 'a', refusal: '' }), stop()])).toEqual([{ type: 'text', text: 'a' }])
  })

  test('details without a signature or data are plain thoughts', () => {
    const details = { reasoning_details: [{ type: 'reasoning.summary', summary: 'a' }] }
    const due = [{ type: 'reasoning', text: 'a', full: true }]
    expect(parts([delta(details), stop()])).toEqual(due as never)
    const message = { role: 'assistant', content: null, ...details }
    expect(chatCompletions.decodeResponse({ choices: [{ index: 0, message }] }).parts).toEqual(due as never)
  })

  test('a tagged thought passes a chain of gateways unchanged', () => {
    const sealed = {
      type: 'reasoning' as const,
      text: 'hm',
      full: true,
      seal: { origin: 'messages' as const, value: { signature: 's' } },
    }
    const redacted = {
      type: 'reasoning' as const,
      text: '',
      seal: { origin: 'messages' as const, value: { data: 'd' } },
    }
    const tag = (part: typeof sealed | typeof redacted) =>
      delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: sealTag(part) }] })
    expect(
      parts([delta({ reasoning_content: 'hm' }), tag(sealed), tag(redacted), delta({ content: 'x' }), stop()]),
    ).toEqual([sealed, redacted, { type: 'text', text: 'x' }])
  })

  test('log probabilities stay with their text', () => {
    const logprobs = {
      content: [{ token: 'x', logprob: -1, bytes: null, top_logprobs: [{ token: 'y', logprob: -2, bytes: [1] }] }],
    }
    expect(parts([chunk({ delta: { content: 'x' }, logprobs, finish_reason: null }), stop()])).toEqual([
      {
        type: 'text',
        text: 'x',
        logprobs: [{ token: 'x', logprob: -1, bytes: null, top: [{ token: 'y', logprob: -2, bytes: [1] }] }],
      },
    ])
  })

  test.each<[string, { data: string }[]]>([
    [
      'after the reason',
      [
        stop(),
        chunk(undefined, {
          usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
        }),
      ],
    ],
    [
      'beside the reason',
      [
        chunk(
          { delta: {}, finish_reason: 'stop' },
          { usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } } },
        ),
      ],
    ],
    [
      'within the choice',
      [
        chunk({
          delta: {},
          finish_reason: 'stop',
          usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
        }),
      ],
    ],
    [
      'in every chunk',
      [
        chunk({ delta: { content: 'a' } }, { usage: { prompt_tokens: 10, completion_tokens: 1 } }),
        chunk(
          { delta: {}, finish_reason: 'stop' },
          { usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } } },
        ),
      ],
    ],
    [
      'before anything else',
      [
        chunk(undefined, {
          id: '',
          usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
        }),
        stop(),
      ],
    ],
  ])('usage %s', (_, frames) => {
    expect(fold(decode([...frames, DONE])).usage).toEqual({ input: 6, cacheRead: 4, output: 3 })
  })

  test('a later usage report keeps the members that it leaves out', () => {
    const frames = [
      chunk(
        { delta: { content: 'a' }, finish_reason: 'stop' },
        { usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } } },
      ),
      chunk(undefined, { usage: { prompt_tokens: 10, completion_tokens: 4, prompt_tokens_details: null } }),
      DONE,
    ]
    expect(fold(decode(frames)).usage).toEqual({ input: 6, cacheRead: 4, output: 4 })
  })

  test.each<[string, JsonObject]>([
    ['after the text', { error: { message: 'secret' } }],
    ['within the choice', { choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { message: 'secret' } }] }],
  ])('usage beside an error %s is read, translated and passing', (_, members) => {
    const usage = { prompt_tokens: 10, completion_tokens: 3 }
    const frames = [delta({ content: 'a' }), chunk(undefined, { ...members, usage })]
    expect(decode(frames).slice(-2)).toMatchObject([
      { type: 'usage', usage: { input: 10, output: 3 } },
      { type: 'error' },
    ])
    const tap = chatCompletions.tap({ model: 'm', includeUsage: false, now: 1 })
    for (const frame of frames) tap.see(frame)
    expect(tap).toMatchObject({ state: 'failed', usage: { input: 10, output: 3 }, rawUsage: usage })
  })

  test.each<JsonObject>([{}, { message: '', code: 0, param: null }])(
    'an error that says nothing is none: %j',
    (error) => {
      const frames = [
        chunk({ delta: { content: 'a' }, error }, { error }),
        chunk({ delta: {}, finish_reason: 'stop' }),
        DONE,
      ]
      expect(fold(decode(frames)).parts).toEqual([{ type: 'text', text: 'a' }])
      const tap = chatCompletions.tap({ model: 'm', includeUsage: false, now: 1 })
      for (const frame of frames) tap.see(frame)
      expect(tap.state).toBe('done')
    },
  )

  test('a first chunk without an id, chunks without choices, a missing role and repeated reasons are accepted', () => {
    const frames = [
      { data: JSON.stringify({ id: '', model: '', created: 0, choices: [], prompt_filter_results: [] }) },
      chunk(undefined, { moderation: {} }),
      delta({ content: 'a' }),
      stop(),
      stop(),
      DONE,
    ]
    const answer = fold(decode(frames))
    expect([answer.id, answer.createdAt, answer.parts]).toEqual(['chatcmpl-1', 5, [{ type: 'text', text: 'a' }]])
  })

  test('an early finish reason does not end the answer, and the last one counts', () => {
    const early = (delta: JsonObject) => chunk({ delta, finish_reason: 'stop' })
    const frames = [early({ reasoning_content: 'r' }), early({ content: 'a' }), delta({ content: 'b' }), stop('length')]
    const answer = fold(decode([...frames, DONE]))
    expect([answer.finish, answer.parts]).toEqual([
      'length',
      [
        { type: 'reasoning', text: 'r', full: true },
        { type: 'text', text: 'ab' },
      ],
    ])
    const usage = { prompt_tokens: 10, completion_tokens: 3 }
    expect(decode([...frames, chunk(undefined, { usage })]).find(({ type }) => type === 'usage')).toEqual({
      type: 'usage',
      usage: { input: 10, output: 3 },
    })
    const called = [
      chunk({
        delta: { tool_calls: [{ index: 0, id: 'A', function: { name: 'f', arguments: '{' } }] },
        finish_reason: 'stop',
      }),
      call(0, { arguments: '}' }),
      stop('tool_calls'),
    ]
    expect(parts(called)).toMatchObject([{ type: 'tool-call', id: 'A', input: '{}' }])
  })

  test.each([true, false])(
    'a message that repeats at the end what was told in pieces adds nothing, a reason before it %p',
    (before) => {
      const message = { role: 'assistant', content: 'ab' }
      const usage = { prompt_tokens: 3, completion_tokens: 2 }
      const frames = [
        delta({ content: 'a' }),
        delta({ content: 'b' }),
        ...(before ? [stop()] : []),
        chunk({ message, finish_reason: 'stop' }, { usage }),
        DONE,
      ]
      const answer = fold(decode(frames))
      expect([answer.parts, answer.usage]).toEqual([[{ type: 'text', text: 'ab' }], { input: 3, output: 2 }])
      expect(parts([chunk({ message, finish_reason: 'stop' })])).toEqual([{ type: 'text', text: 'ab' }])
    },
  )

  test('a fractional time is rounded down to seconds', () => {
    expect(fold(decode([chunk({ delta: {}, finish_reason: 'stop' }, { created: 5.9 }), DONE])).createdAt).toBe(5)
    const body = { created: 5.9, choices: [{ index: 0, message: {}, finish_reason: 'stop' }] }
    expect(chatCompletions.decodeResponse(body).createdAt).toBe(5)
  })

  test('of several choices the first is read', () => {
    expect(
      parts([
        delta({ content: 'a' }),
        chunk({ index: 1, delta: { content: 'b' } }),
        stop(),
        chunk({ index: 1, delta: {}, finish_reason: 'stop' }),
      ]),
    ).toEqual([{ type: 'text', text: 'a' }])
  })

  test.each<[string, string, FinishReason]>([
    ['stop', 'a', 'stop'],
    ['length', 'a', 'length'],
    ['content_filter', 'a', 'content-filter'],
    ['tool_calls', 'a', 'stop'],
    ['eos', 'a', 'stop'],
    ['model_length', 'a', 'length'],
    ['repetition', 'a a a', 'length'],
    ['repetition_truncation', 'a a a', 'length'],
    ['sensitive', 'a', 'content-filter'],
    ['content_filter: RECITATION', 'a', 'content-filter'],
    ['PROHIBITED_CONTENT', 'a', 'content-filter'],
    ['IMAGE_SAFETY', 'a', 'content-filter'],
    ['Max_Tokens', 'a', 'length'],
    ['model_context_window_exceeded', 'a', 'context-length'],
    ['refusal', 'a', 'refusal'],
  ])('the reason %s', (reason, content, expected) => {
    expect(fold(decode([delta({ content }), stop(reason), DONE])).finish).toBe(expected)
  })
})
