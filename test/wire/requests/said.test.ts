// What only one wire can hold of a history reaches the others in words and pictures.

import { describe, expect, test } from 'bun:test'
import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { tell } from '../../../src/wire/turns/said.ts'
import { cross } from './support.ts'

const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAEklEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC'

const foreign = (wire: ChatWire): ChatWire[] => CHAT_WIRES.filter((other) => other !== wire)
const written = (from: ChatWire, to: ChatWire, body: JsonObject) => {
  const sent = cross(from, to, body)
  return { text: JSON.stringify(sent.body), ...sent }
}
const input = (...items: JsonObject[]): JsonObject => ({
  input: [{ role: 'user', content: 'q' }, ...items, { role: 'user', content: 'go on' }],
})
const blocks = (...content: JsonObject[]): JsonObject => ({
  messages: [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: [...content, { type: 'text', text: 'ANSWER' }] },
    { role: 'user', content: 'go on' },
  ],
})

describe('what a vendor’s tool gave is said to the next vendor', () => {
  test.each<[string, JsonObject, string[]]>([
    [
      'a connector',
      { type: 'mcp_call', id: 'm', server_label: 'shop', name: 'find', arguments: '{"q":1}', output: 'FOUND' },
      ['shop.find', 'FOUND'],
    ],
    [
      'one that failed',
      { type: 'mcp_call', id: 'm', server_label: 'shop', name: 'find', arguments: '{}', error: 'GONE' },
      ['GONE'],
    ],
    [
      'code',
      {
        type: 'code_interpreter_call',
        id: 'c',
        code: 'CODE',
        container_id: 'x',
        outputs: [{ type: 'logs', logs: 'LINE1\nLINE2' }],
      },
      ['CODE', 'LINE1\\nLINE2'],
    ],
    [
      'a plot',
      {
        type: 'code_interpreter_call',
        id: 'c',
        code: 'CODE',
        outputs: [{ type: 'image', url: `data:image/png;base64,${PICTURE}` }],
      },
      [PICTURE],
    ],
    [
      'files',
      {
        type: 'file_search_call',
        id: 'f',
        queries: ['WHAT'],
        results: [{ file_id: 'x', filename: 'a.md', text: 'PASSAGE' }],
      },
      ['WHAT', 'a.md', 'PASSAGE'],
    ],
    ['a drawing', { type: 'image_generation_call', id: 'i', status: 'completed', result: PICTURE }, [PICTURE]],
    [
      'a container’s shell',
      {
        type: 'shell_call_output',
        call_id: 's',
        output: [{ stdout: 'WROTE', stderr: '', outcome: { type: 'exit', exit_code: 3 } }],
        caller: { type: 'program', caller_id: 'p' },
      },
      ['WROTE', '3'],
    ],
    [
      'a screen',
      {
        type: 'computer_call_output',
        call_id: 'c',
        output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${PICTURE}` },
      },
      [PICTURE],
    ],
    [
      'what was done on a screen',
      {
        type: 'computer_call',
        id: 'c',
        call_id: 'c',
        status: 'completed',
        actions: [{ type: 'scroll', x: 1, y: 2, scroll_x: 0, scroll_y: 90 }, { type: 'screenshot' }],
      },
      ['scroll', '90', 'screenshot'],
    ],
    ['a type of next year', { type: 'moon_call', id: 'x', phases: [{ name: 'FULL', at: 'NOON' }] }, ['FULL', 'NOON']],
  ])('%s of the responses wire', (_, item, due) => {
    for (const to of foreign('responses')) {
      const { text, dropped } = written('responses', to, input(item))
      for (const words of due) expect(text).toContain(words)
      expect(dropped).toEqual([])
    }
  })

  const use = (name: string): JsonObject => ({ type: 'server_tool_use', id: 's', name, input: { arg: 'ASKED' } })
  const gave = (type: string, content: Json): JsonObject => ({ type, tool_use_id: 's', content })
  test.each<[string, JsonObject[], string[], string[]]>([
    [
      'a connector',
      [
        { type: 'mcp_tool_use', id: 's', name: 'find', server_name: 'shop', input: {} },
        gave('mcp_tool_result', [{ type: 'text', text: 'FOUND' }]),
      ],
      ['shop.find', 'FOUND'],
      [],
    ],
    [
      'a shell',
      [
        use('bash_code_execution'),
        gave('bash_code_execution_tool_result', {
          type: 'bash_code_execution_result',
          stdout: 'WROTE',
          stderr: 'WARNED',
          return_code: 3,
          content: [],
        }),
      ],
      ['ASKED', 'WROTE', 'WARNED', '3'],
      [],
    ],
    [
      'a page',
      [
        use('web_fetch'),
        gave('web_fetch_tool_result', {
          type: 'web_fetch_result',
          url: 'https://a.test',
          content: { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'PAGE' } },
        }),
      ],
      ['https://a.test', 'PAGE'],
      [],
    ],
    [
      'a page that is a file',
      [
        gave('web_fetch_tool_result', {
          type: 'web_fetch_result',
          url: 'https://a.test',
          content: {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' },
          },
        }),
      ],
      ['JVBERi0xLjQK'],
      [],
    ],
    ['an adviser', [gave('advisor_tool_result', { type: 'advisor_result', text: 'ADVICE' })], ['ADVICE'], []],
    [
      'an adviser, sealed',
      [gave('advisor_tool_result', { type: 'advisor_redacted_result', encrypted_content: 'SEALED' })],
      [],
      ['messages.1.content.0'],
    ],
    [
      'a file that it keeps, and data',
      [
        gave('code_execution_tool_result', {
          type: 'code_execution_result',
          stdout: 'WROTE',
          content: [
            { type: 'code_execution_output', file_id: 'file_1' },
            { type: 'code_execution_output', file_id: 'file_2', data: 'QUJD'.repeat(200) },
          ],
        }),
      ],
      ['WROTE'],
      [
        'messages.1.content.0.content.content.0.file_id',
        'messages.1.content.0.content.content.1.data',
        'messages.1.content.0.content.content.1.file_id',
      ],
    ],
    [
      'code, partly sealed',
      [
        gave('code_execution_tool_result', {
          type: 'encrypted_code_execution_result',
          encrypted_stdout: 'SEALED',
          stderr: 'WARNED',
          return_code: 0,
          content: [],
        }),
      ],
      ['WARNED'],
      ['messages.1.content.0.content.encrypted_stdout'],
    ],
  ])('%s of the messages wire', (_, content, due, lost) => {
    for (const to of foreign('messages')) {
      const { text, dropped } = written('messages', to, blocks(...content))
      for (const words of [...due, 'ANSWER']) expect(text).toContain(words)
      expect(text).not.toContain('SEALED')
      expect(dropped.toSorted()).toEqual(lost)
    }
  })

  test('by the user, before what the model went on to say, never by the model itself', () => {
    const { body } = written(
      'messages',
      'chat-completions',
      blocks({ type: 'text', text: 'FIRST' }, use('x'), gave('y_tool_result', 'GAVE')),
    )
    const roles = (body.messages as JsonObject[]).map(({ role, content }) => [
      role,
      /GAVE|FIRST|ANSWER/.exec(String(content))?.[0],
    ])
    expect(roles).toEqual([
      ['user', undefined],
      ['assistant', 'FIRST'],
      ['user', 'GAVE'],
      ['assistant', 'ANSWER'],
      ['user', undefined],
    ])
  })

  test('calls of the client’s keep their results where a tool of the vendor’s ran beside them', () => {
    const asked = {
      input: [
        { role: 'user', content: 'q' },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'mcp_call', server_label: 's', name: 'n', arguments: '{}', output: 'FOUND' },
        { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'ONE' },
        { type: 'function_call_output', call_id: 'b', output: 'TWO' },
      ],
    }
    const { body } = written('responses', 'messages', asked)
    const results = (body.messages as JsonObject[]).flatMap(({ content }) =>
      Array.isArray(content) ? content.filter((one) => isObject(one) && one.type === 'tool_result') : [],
    )
    expect(results).toMatchObject([{ content: 'ONE' }, { content: 'TWO' }])
  })

  test('pictures are left out and listed where the model sees none', () => {
    const request = CHAT_CODECS.responses.decodeRequest({
      model: 'm',
      ...input({ type: 'image_generation_call', result: PICTURE, revised_prompt: 'MOON' }),
    })
    const sent = CHAT_CODECS['chat-completions'].encodeRequest(request, {
      model: 'up',
      maxOutput: 9,
      quirks: {},
      blind: true,
    })
    expect(JSON.stringify(sent.body)).not.toContain(PICTURE)
    expect(JSON.stringify(sent.body)).toContain('MOON')
    expect(sent.dropped).toEqual(['input.1.result'])
  })
})

test('a document of blocks is shown as its texts and pictures, in their order', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } }
  const content = [{ type: 'text', text: 'ONE' }, image, { type: 'text', text: 'TWO' }]
  const document = { type: 'document', title: 'TITLE', source: { type: 'content', content } }
  const result = { type: 'tool_result', tool_use_id: 't', content: [document] }
  const call = { type: 'tool_use', id: 't', name: 'f', input: {} }
  for (const to of foreign('messages')) {
    const shown = written('messages', to, { messages: [{ role: 'user', content: [document] }] })
    expect(shown.text).toMatch(new RegExp(`TITLE.*ONE.*${PICTURE.slice(0, 40).replaceAll('+', '\\+')}.*TWO`))
    expect(shown.dropped).toEqual([])
    const told = written('messages', to, {
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result] },
      ],
    })
    for (const words of ['TITLE', 'ONE', 'TWO', PICTURE]) expect(told.text).toContain(words)
  }
})

test('pictures of a chat answer follow in the user’s place', () => {
  const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } }]
  const messages = [
    { role: 'user', content: 'draw' },
    { role: 'assistant', content: 'here', images },
    { role: 'user', content: 'go on' },
  ]
  for (const to of foreign('chat-completions')) {
    const { text, dropped } = written('chat-completions', to, { messages })
    expect(text).toContain(PICTURE)
    expect(dropped).toEqual([])
  }
})

test('what says nothing is told as nothing', () => {
  expect(tell({ type: 'x_call', id: '1', status: 'completed', data: null, list: [] })).toEqual({
    text: '',
    shown: [],
    untold: [],
  })
})
