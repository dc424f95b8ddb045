// The vendor's tools that the client runs itself, with models of other vendors: they are sent as functions, and calls come
// back as items of their own, whatever arguments the model wrote.

import { describe, expect, test } from 'bun:test'
import type { GatewayError } from '../../../src/errors.ts'
import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import { withExact } from '../../../src/lib/json-exact.ts'
import { translateResponse, translateStream } from '../../../src/relay/translate.ts'
import type { Ask, EncodedRequest } from '../../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { responses } from '../../../src/wire/responses/index.ts'
import { openaiAnswered } from '../../support/answered.ts'
import { checkResponsesStream } from '../../support/automaton/responses.ts'
import { changes } from '../../support/changes.ts'
import { compileSchemas, SCHEMAS, violations } from '../../support/corpus.ts'
import { framesOf } from '../../support/frames.ts'
import { refusal } from '../../support/refusal.ts'

compileSchemas()

type Foreign = Exclude<ChatWire, 'responses'>
const FOREIGN: Foreign[] = ['messages', 'chat-completions']

const SHELL = { type: 'shell', environment: { type: 'local' } }
const LOCAL_SHELL = { type: 'local_shell' }
const APPLY_PATCH = { type: 'apply_patch' }
const SEARCH = {
  type: 'tool_search',
  execution: 'client',
  description: 'Searches among the tools that are not listed, by what they do and are called.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
}
const ALL = [SHELL, LOCAL_SHELL, APPLY_PATCH, SEARCH]
const fn = (name: string): JsonObject => ({ type: 'function', name, parameters: null, strict: false })

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const cross = (to: ChatWire, asked: JsonObject): EncodedRequest => {
  const request = responses.decodeRequest({ model: 'm', input: 'hi', ...asked })
  const sent = CHAT_CODECS[to].encodeRequest(request, { model: 'up', maxOutput: 64_000, quirks: {} })
  expect(violations(SCHEMAS[to].request, sent.body)).toEqual([])
  return sent
}

const refused = (to: ChatWire, asked: JsonObject): GatewayError => refusal(() => cross(to, asked))

/** A function as the model sees it. */
type Told = { name: Json | undefined; about: string; schema: JsonObject }
const functionsIn = ({ body }: EncodedRequest): Told[] =>
  list(body.tools).map((tool) => {
    const inner = tool.function ?? tool.custom
    const told = isObject(inner) ? inner : tool
    const schema = told.parameters ?? told.input_schema
    return { name: told.name, about: String(told.description ?? ''), schema: isObject(schema) ? schema : {} }
  })
const namesIn = (sent: EncodedRequest) => functionsIn(sent).map(({ name }) => name)

/** The calls and results in the request, in order. */
const saidIn = (to: Foreign, { body }: EncodedRequest): Json[] =>
  list(body.messages).flatMap((message): Json[] => {
    if (to === 'messages') {
      return list(message.content).flatMap((block): Json[] => {
        if (block.type === 'tool_use') return [[block.name ?? null, block.id ?? null, block.input ?? null]]
        if (block.type === 'tool_result')
          return [[block.tool_use_id ?? null, block.content ?? null, ...(block.is_error === true ? [true] : [])]]
        return []
      })
    }
    if (message.role === 'tool') return [[message.tool_call_id ?? null, message.content ?? null]]
    return list(message.tool_calls).map(({ id, function: called }) => {
      const { name, arguments: input } = isObject(called) ? called : {}
      return [name ?? null, id ?? null, JSON.parse(String(input))]
    })
  })

const isResult = (said: Json): boolean =>
  Array.isArray(said) && typeof said[1] === 'string' && said[0] !== 'apply_patch'

describe.each(FOREIGN)('towards %s', (to) => {
  test('each is sent as a function with a simple schema and a description', () => {
    const sent = cross(to, { tools: ALL })
    expect(sent.dropped).toEqual([])
    expect(changes(sent.undo)).toEqual({})
    const told = functionsIn(sent)
    expect(told.map(({ name, schema }) => [name, Object.keys(schema.properties ?? {}), schema.required])).toEqual([
      ['shell', ['commands', 'timeout_ms', 'max_output_length'], ['commands']],
      ['local_shell', ['command', 'working_directory', 'env', 'timeout_ms', 'user'], ['command']],
      ['apply_patch', ['type', 'path', 'diff'], ['type', 'path']],
      ['tool_search', ['query'], ['query']],
    ])
    expect(told.at(-1)?.about).toBe(SEARCH.description)
    for (const { about } of told) expect(about.length).toBeGreaterThan(60)
  })

  test('a shell without an environment runs at the client', () => {
    expect(namesIn(cross(to, { tools: [{ type: 'shell' }] }))).toEqual(['shell'])
    expect(namesIn(cross(to, { tools: [{ type: 'shell', environment: null }] }))).toEqual(['shell'])
  })

  test('a search that says nothing of itself takes names', () => {
    const [told] = functionsIn(cross(to, { tools: [{ type: 'tool_search', execution: 'client' }] }))
    expect([told?.name, told?.schema.required]).toEqual(['tool_search', ['paths']])
    expect(told?.about.length).toBeGreaterThan(60)
  })

  test.each([{}, { execution: 'server' }])('a search of the provider’s (%j) is left out', (execution) => {
    const sent = cross(to, { tools: [fn('f'), { type: 'tool_search', ...execution }] })
    expect([namesIn(sent), sent.dropped]).toEqual([['f'], ['tools.1']])
    expect(refused(to, { tools: [{ type: 'tool_search', ...execution }] }).param).toBe('tools.0')
  })

  test('skills are described with their paths', () => {
    const skills = [{ name: 'charts', description: 'Draws charts.', path: '/skills/charts' }]
    const [told] = functionsIn(cross(to, { tools: [{ type: 'shell', environment: { type: 'local', skills } }] }))
    expect(told?.about).toContain('- charts: Draws charts. (/skills/charts)')
  })

  test('names of the client’s own tools are not reused', () => {
    const custom = { type: 'custom', name: 'apply_patch' }
    const later = { type: 'additional_tools', role: 'developer', tools: [fn('local_shell')] }
    const found = { type: 'tool_search_output', execution: 'client', call_id: 'a', tools: [fn('tool_search')] }
    const sent = cross(to, {
      tools: [...ALL, fn('shell'), custom],
      input: [
        { role: 'user', content: 'hi' },
        later,
        { type: 'tool_search_call', execution: 'client', call_id: 'a', arguments: { query: 'x' } },
        found,
      ],
    })
    const renamed = ['shell_2', 'local_shell_2', 'apply_patch_2', 'tool_search_2']
    expect(namesIn(sent)).toEqual([...renamed, 'shell', 'apply_patch', 'local_shell', 'tool_search'])
    expect(saidIn(to, sent)).toEqual([
      ['tool_search_2', 'a', { query: 'x' }],
      ['a', 'Tools found, which can be called from now on: tool_search'],
    ])
  })

  test('one that is added again in the conversation stays the same tool', () => {
    const again = { type: 'additional_tools', role: 'developer', tools: [SHELL, APPLY_PATCH] }
    const sent = cross(to, { tools: [SHELL], input: [{ role: 'user', content: 'hi' }, again, again] })
    expect([namesIn(sent), sent.dropped]).toEqual([['shell', 'apply_patch'], []])
  })

  test('optional built-in tools beside them are dropped', () => {
    const sent = cross(to, { tools: [SHELL, { type: 'image_generation' }, { type: 'programmatic_tool_calling' }] })
    expect([namesIn(sent), sent.dropped]).toEqual([['shell'], ['tools.1', 'tools.2']])
  })

  test('a member that the function cannot express is listed as dropped', () => {
    expect(cross(to, { tools: [{ ...APPLY_PATCH, allowed_callers: ['direct'] }] }).dropped).toEqual([
      'tools.0.allowed_callers',
    ])
  })

  test.each<[string, JsonObject]>([
    ['a container', { type: 'shell', environment: { type: 'container_auto' } }],
    ['a container of the client’s', { type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }],
    ['programs of the provider’s', { type: 'shell', allowed_callers: ['programmatic'] }],
    ['a screen', { type: 'computer' }],
  ])('one for %s is refused', (_, tool) => {
    const { code, param, message } = refused(to, { tools: [tool, fn('f')] })
    expect([code, param]).toEqual(['invalid_request', 'tools.0'])
    expect(message).toContain('Take it out')
  })

  test.each([
    [{ type: 'shell' }, 'shell'],
    [{ type: 'apply_patch' }, 'apply_patch'],
    [{ type: 'local_shell' }, 'local_shell'],
    [{ type: 'tool_search' }, 'tool_search'],
    [{ type: 'function', name: 'shell' }, 'shell'],
  ])('the choice %j becomes a choice of the function', (tool_choice, name) => {
    const own = tool_choice.type === 'function' ? [...ALL.slice(1), fn('shell')] : ALL
    const { body } = cross(to, { tools: own, tool_choice })
    const due = to === 'messages' ? { type: 'tool', name } : { type: 'function', function: { name } }
    expect(body.tool_choice).toEqual(due)
  })

  test('a choice among some of them becomes one among the functions', () => {
    const some = {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'shell' }, { type: 'tool_search' }, fn('f')],
    }
    const sent = cross(to, { tools: [...ALL, fn('f')], tool_choice: some })
    const names = ['shell', 'tool_search', 'f']
    if (to === 'messages') expect([namesIn(sent), sent.body.tool_choice]).toEqual([names, { type: 'any' }])
    else {
      const tools = names.map((name) => ({ type: 'function', function: { name } }))
      expect(sent.body.tool_choice).toEqual({ type: 'allowed_tools', allowed_tools: { mode: 'required', tools } })
    }
  })

  test('a choice of one that is not offered is refused', () => {
    expect(refused(to, { tools: [fn('f')], tool_choice: { type: 'shell' } }).param).toBe('tool_choice')
  })

  const wrote = (stdout: string, stderr = '', outcome: JsonObject = { type: 'exit', exit_code: 0 }) => ({
    stdout,
    stderr,
    outcome,
  })

  test.each<[string, JsonObject[], Json[]]>([
    [
      'commands of a shell, in a call and beside another',
      [
        {
          type: 'shell_call',
          id: 'sh_1',
          call_id: 'a',
          status: 'completed',
          action: { commands: ['ls', 'false'], timeout_ms: 500, max_output_length: null },
          environment: { type: 'local' },
        },
        { type: 'function_call', call_id: 'b', name: 'f', arguments: '{"n":1}' },
        {
          type: 'shell_call_output',
          call_id: 'a',
          max_output_length: null,
          output: [wrote('a.txt\n'), wrote('', 'no\n', { type: 'exit', exit_code: 1 })],
        },
        { type: 'function_call_output', call_id: 'b', output: 'one' },
      ],
      [
        ['shell', 'a', { commands: ['ls', 'false'], timeout_ms: 500 }],
        ['f', 'b', { n: 1 }],
        ['a', 'Command 1: exit code 0\na.txt\n\n\nCommand 2: exit code 1\nstderr:\nno\n'],
        ['b', 'one'],
      ],
    ],
    [
      'a command that took too long',
      [
        { type: 'shell_call', call_id: 'a', action: { commands: ['sleep 9'] } },
        { type: 'shell_call_output', call_id: 'a', output: [wrote('', '', { type: 'timeout' })] },
      ],
      [
        ['shell', 'a', { commands: ['sleep 9'] }],
        ['a', 'timed out'],
      ],
    ],
    [
      'as much of an output as was wanted',
      [
        { type: 'shell_call', call_id: 'a', action: { commands: ['seq 9'], max_output_length: 6 } },
        { type: 'shell_call_output', call_id: 'a', max_output_length: 6, output: [wrote('123456789')] },
      ],
      [
        ['shell', 'a', { commands: ['seq 9'], max_output_length: 6 }],
        ['a', 'exit code 0\n123\n[3 characters left out]\n789'],
      ],
    ],
    [
      'an output that would be cut within a surrogate pair',
      [
        { type: 'shell_call', call_id: 'a', action: { commands: ['cat a'] } },
        { type: 'shell_call_output', call_id: 'a', max_output_length: 6, output: [wrote('ab😀😀cd')] },
      ],
      [
        ['shell', 'a', { commands: ['cat a'] }],
        ['a', 'exit code 0\nab\ufffd\n[2 characters left out]\n\ufffdcd'],
      ],
    ],
    [
      'no command',
      [
        { type: 'shell_call', call_id: 'a', action: { commands: [''] } },
        { type: 'shell_call_output', call_id: 'a', output: [] },
      ],
      [
        ['shell', 'a', { commands: [''] }],
        ['a', 'No command was run.'],
      ],
    ],
    [
      'a program, its output by the id of the call',
      [
        {
          type: 'local_shell_call',
          id: 'lsh_1',
          call_id: 'a',
          status: 'completed',
          action: { type: 'exec', command: ['ls', '-a'], env: {}, working_directory: '/tmp', user: null },
        },
        { type: 'local_shell_call_output', call_id: 'a', output: '{"output":"a"}' },
      ],
      [
        ['local_shell', 'a', { command: ['ls', '-a'], env: {}, working_directory: '/tmp' }],
        ['a', '{"output":"a"}'],
      ],
    ],
    ...['lsh_1', 'a'].map((id): [string, JsonObject[], Json[]] => [
      `a program, its output under ${id}`,
      [
        { type: 'local_shell_call', id: 'lsh_1', call_id: 'a', action: { type: 'exec', command: ['ls'], env: {} } },
        { type: 'local_shell_call_output', id, output: 'a.txt' },
      ],
      [
        ['local_shell', 'a', { command: ['ls'], env: {} }],
        ['a', 'a.txt'],
      ],
    ]),
    [
      'a program, called by its item’s id alone and answered as a function is',
      [
        { type: 'local_shell_call', id: 'lsh_1', call_id: null, action: { type: 'exec', command: ['ls'] } },
        { type: 'function_call_output', call_id: 'lsh_1', output: 'a.txt' },
      ],
      [
        ['local_shell', 'lsh_1', { command: ['ls'] }],
        ['lsh_1', 'a.txt'],
      ],
    ],
    [
      'patches that were applied',
      [
        {
          type: 'apply_patch_call',
          call_id: 'a',
          status: 'completed',
          operation: { type: 'create_file', path: 'a', diff: '+x' },
        },
        {
          type: 'apply_patch_call',
          call_id: 'b',
          status: 'completed',
          operation: { type: 'delete_file', path: 'b' },
        },
        { type: 'apply_patch_call_output', call_id: 'a', status: 'completed' },
        { type: 'apply_patch_call_output', call_id: 'b', status: 'completed', output: 'Gone.' },
      ],
      [
        ['apply_patch', 'a', { type: 'create_file', path: 'a', diff: '+x' }],
        ['apply_patch', 'b', { type: 'delete_file', path: 'b' }],
        ['a', 'The patch was applied.'],
        ['b', 'Gone.'],
      ],
    ],
    [
      'searches for tools',
      [
        {
          type: 'tool_search_call',
          id: 'tsc_1',
          call_id: 'a',
          execution: 'client',
          status: 'completed',
          arguments: { query: 'mail' },
        },
        { type: 'tool_search_call', call_id: 'b', execution: 'client', arguments: '{"query":"none"}' },
        { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: null },
        {
          type: 'tool_search_output',
          id: 'tso_1',
          call_id: 'a',
          execution: 'client',
          status: 'completed',
          tools: [
            { type: 'namespace', name: 'mail', description: 'Mail.', tools: [{ ...fn('send'), defer_loading: true }] },
            fn('late'),
            fn('f'),
            SHELL,
          ],
        },
        { type: 'tool_search_output', call_id: 'b', execution: 'client', status: 'completed', tools: [] },
        { type: 'tool_search_output', call_id: 'c', execution: 'client', status: 'completed', tools: [fn('late')] },
      ],
      [
        ['tool_search', 'a', { query: 'mail' }],
        ['tool_search', 'b', { query: 'none' }],
        ['tool_search', 'c', {}],
        ['a', 'Tools found, which can be called from now on: mail__send, late, f, shell'],
        ['b', 'No tool was found.'],
        ['c', 'Tools found, which can be called from now on: late'],
      ],
    ],
  ])('the conversation holds %s', (_, items, due) => {
    const input = [{ role: 'user', content: 'hi' }, ...items]
    const sent = cross(to, { tools: [...ALL, fn('f')], input })
    expect(saidIn(to, sent)).toEqual(due)
    expect(sent.dropped).toEqual([])
    // The tools may be gone by then.
    if (to === 'messages') expect(saidIn(to, cross(to, { input }))).toEqual(due)
  })

  test('a patch that failed is an error', () => {
    const items = [undefined, 'No such line.'].flatMap((output, at): JsonObject[] => [
      { type: 'apply_patch_call', call_id: `${at}`, operation: { type: 'update_file', path: 'a', diff: '@@\n-x' } },
      { type: 'apply_patch_call_output', call_id: `${at}`, status: 'failed', ...(output ? { output } : {}) },
    ])
    const results = saidIn(to, cross(to, { tools: ALL, input: items })).filter(isResult)
    const error = to === 'messages' ? '' : 'Error: '
    const failed = to === 'messages' ? [true] : []
    expect(results).toEqual([
      ['0', `${error}The patch could not be applied.`, ...failed],
      ['1', `${error}No such line.`, ...failed],
    ])
  })

  const later = (name: string): JsonObject => ({ ...fn(name), description: `About ${name}.`, defer_loading: true })
  const crm = (tools: JsonObject[]) => ({ type: 'namespace', name: 'crm', description: 'Customers.', tools })

  test('tools that a search must find first are not listed, and named by the search', () => {
    const tools = [fn('f'), later('late'), crm([later('list'), fn('now')]), SEARCH]
    const added = { type: 'additional_tools', role: 'developer', tools: [later('later')] }
    const input = [
      { role: 'user', content: 'hi' },
      added,
      { type: 'tool_search_call', call_id: 'a', execution: 'client', arguments: {} },
    ]
    const sent = cross(to, { tools, input })
    expect([namesIn(sent), sent.dropped]).toEqual([['f', 'crm__now', 'tool_search'], []])
    const about = `${SEARCH.description}\n\nIt can find:\n- late: About late.\n- crm: Customers.\n- later: About later.`
    expect(functionsIn(sent).at(-1)?.about).toBe(about)
    const found = { type: 'tool_search_output', call_id: 'a', execution: 'client' }
    const after = cross(to, { tools, input: [...input, { ...found, tools: [crm([later('list')]), later('late')] }] })
    expect([namesIn(after), after.dropped]).toEqual([['f', 'crm__now', 'tool_search', 'crm__list', 'late'], []])
    expect(functionsIn(after)[2]?.about).toBe(about)
  })

  test.each<JsonObject>([
    { type: 'function', name: 'late' },
    { type: 'allowed_tools', mode: 'auto', tools: [fn('late'), { type: 'tool_search' }] },
  ])('a tool that must be found first is listed where the choice %j names it', (tool_choice) => {
    expect(namesIn(cross(to, { tools: [later('late'), later('other'), SEARCH], tool_choice }))).toEqual([
      'late',
      'tool_search',
    ])
  })

  test('without a search of the client’s all tools are listed', () => {
    const sent = cross(to, { tools: [later('late'), { type: 'tool_search' }] })
    expect([namesIn(sent), sent.dropped.toSorted()]).toEqual([['late'], ['tools.0.defer_loading', 'tools.1']])
  })

  test('tools that were found are told by the names they are sent under', () => {
    const namespace = 'a namespace of more than forty-five characters'
    const tools = [{ type: 'namespace', name: namespace, description: '', tools: [fn('one_of_its_tools'), fn('ü')] }]
    const input = [
      { type: 'tool_search_call', call_id: 'a', execution: 'client', arguments: {} },
      { type: 'tool_search_output', call_id: 'a', execution: 'client', tools },
    ]
    const sent = cross(to, { tools: [SEARCH], input })
    const [, ...names] = namesIn(sent)
    expect(new Set(names).size).toBe(2)
    expect(saidIn(to, sent).at(-1)).toEqual(['a', `Tools found, which can be called from now on: ${names.join(', ')}`])
  })

  test('a search without its call becomes the user’s text', () => {
    const found = { type: 'tool_search_output', call_id: 'a', execution: 'client', tools: [fn('late')] }
    const sent = cross(to, { tools: [SEARCH], input: [{ role: 'user', content: 'hi' }, found] })
    expect([saidIn(to, sent), namesIn(sent)]).toEqual([[], ['tool_search', 'late']])
    expect(JSON.stringify(sent.body.messages)).toContain('from now on: late')
  })

  test('a search of the provider’s is no call', () => {
    const server = { call_id: null, execution: 'server' }
    const input = [
      { role: 'user', content: 'hi' },
      { type: 'tool_search_call', ...server, arguments: { paths: ['late'] } },
      { type: 'tool_search_output', ...server, tools: [fn('late')] },
      { type: 'tool_search_call', execution: 'client', arguments: { query: 'a call that no result can name' } },
      { type: 'tool_search_output', execution: 'client', tools: [] },
    ]
    const sent = cross(to, { tools: [SEARCH], input })
    expect([saidIn(to, sent), namesIn(sent)]).toEqual([[], ['tool_search', 'late']])
    expect(sent.dropped).toEqual(['input.1', 'input.3'])
  })

  test('calls that the provider ran itself are no calls, but what they gave is said', () => {
    const environment = { type: 'container_reference', container_id: 'c' }
    const input = [
      { role: 'user', content: 'hi' },
      { type: 'shell_call', id: 'sh_1', call_id: 'a', status: 'completed', action: { commands: ['ls'] }, environment },
      { type: 'shell_call_output', id: 'sho_1', call_id: 'a', output: [wrote('x')] },
      { type: 'apply_patch_call', call_id: 'p', caller: { type: 'program', caller_id: 'q' }, operation: {} },
      { role: 'user', content: 'go on' },
    ]
    const sent = cross(to, { input })
    expect(saidIn(to, sent)).toEqual([])
    expect(JSON.stringify(sent.body)).toContain('stdout: x')
    expect(sent.dropped).toEqual(['input.3'])
  })

  test('integers too large for a number are kept', () => {
    const huge = '98765432109876543210'
    const text = `{"tools":[{"type":"shell","environment":{"type":"local","skills":[{"name":${huge}}]}}],"input":[
      {"type":"shell_call","call_id":"a","action":{"commands":["ls"],"timeout_ms":${huge}}},
      {"type":"shell_call_output","call_id":"a","max_output_length":${huge},"output":[{"outcome":{"type":"exit","exit_code":${huge}}}]},
      {"type":"tool_search_call","call_id":"b","execution":"client","arguments":{"id":${huge}}}]}`
    const sent = JSON.stringify(cross(to, withExact(text, JSON.parse(text))).body)
    expect(sent).toContain(`exit code ${huge}`)
    expect(sent.replaceAll('\\', '')).toContain(`"timeout_ms":${huge}`)
    expect(sent.replaceAll('\\', '')).toContain(`{"id":${huge}}`)
  })

  test.each<[JsonObject, string]>([
    [{ type: 'shell_call', action: { commands: [] } }, 'input.1.call_id'],
    [{ type: 'shell_call', call_id: 'a', action: 'ls' }, 'input.1.action'],
    [{ type: 'apply_patch_call', call_id: 'a', operation: [] }, 'input.1.operation'],
    [{ type: 'shell_call_output', call_id: 'a', output: 7 }, 'input.1.output'],
    [{ type: 'shell_call_output', call_id: 'a', output: [{ stdout: 7 }] }, 'input.1.output.0.stdout'],
  ])('%j is refused by its member', (item, param) => {
    expect(refused(to, { tools: ALL, input: [{ role: 'user', content: 'hi' }, item] }).param).toBe(param)
  })
})

test('on their own wire tools, calls and results are unchanged', () => {
  const input = [
    { type: 'message', role: 'user', content: 'hi' },
    {
      type: 'shell_call',
      id: 'sh_1',
      call_id: 'a',
      status: 'completed',
      action: { commands: ['ls'], timeout_ms: null },
    },
    {
      type: 'local_shell_call',
      id: 'l',
      call_id: 'b',
      status: 'completed',
      action: { type: 'exec', command: ['ls'], env: {} },
    },
    { type: 'shell_call_output', call_id: 'a', output: [], max_output_length: null },
    { type: 'local_shell_call_output', id: 'b', output: 'x' },
    { type: 'apply_patch_call', call_id: 'c', status: 'completed', operation: { type: 'delete_file', path: 'b' } },
    { type: 'apply_patch_call_output', call_id: 'c', status: 'failed', output: 'no' },
    { type: 'shell_call', call_id: 'd', action: { commands: ['ls'] } },
    { type: 'message', role: 'user', content: 'and' },
    { type: 'tool_search_call', call_id: 'e', execution: 'client', status: 'completed', arguments: { query: 'x' } },
    {
      type: 'tool_search_output',
      call_id: 'e',
      execution: 'client',
      status: 'completed',
      tools: [{ ...fn('late'), defer_loading: true }],
    },
    { type: 'message', role: 'user', content: 'and' },
    { type: 'shell_call_output', call_id: 'of an answer before', output: [] },
  ]
  for (const tool_choice of [{ type: 'shell' }, { type: 'allowed_tools', mode: 'auto', tools: [APPLY_PATCH, SHELL] }]) {
    const tools = [...ALL, { ...APPLY_PATCH, allowed_callers: ['direct'] }, { ...fn('late'), defer_loading: true }]
    const asked = { model: 'm', tools, tool_choice, input }
    const once = responses.decodeRequest(asked)
    const { body, dropped } = responses.encodeRequest(once, { model: 'm', maxOutput: 64_000, quirks: {} })
    expect([body.input, body.tools, dropped] as unknown[]).toEqual([input, asked.tools, []])
    expect(responses.decodeRequest(body)).toEqual(once)
    if (tool_choice.type === 'shell') expect(body.tool_choice).toEqual(tool_choice)
  }
})

// Answers.

type Call = { name: string; input: string }
type Ending = 'calls' | 'length' | 'refusal'
const USAGE = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }

/** An answer of the vendor: text, then the calls. */
const ANSWERS: Record<
  Foreign,
  { whole(calls: Call[], end: Ending): JsonObject; stream(calls: Call[], end: Ending): string }
> = {
  messages: {
    whole: (calls, end) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'up',
      content: [
        { type: 'text', text: 'Well.' },
        ...calls.map(({ name, input }, at) => ({ type: 'tool_use', id: `t${at}`, name, input: JSON.parse(input) })),
      ],
      stop_reason: { calls: 'tool_use', length: 'max_tokens', refusal: 'refusal' }[end],
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 5 },
    }),
    stream: (calls, end) =>
      [
        {
          type: 'message_start',
          message: {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: 'up',
            content: [],
            stop_reason: null,
            usage: { input_tokens: 3, output_tokens: 1 },
          },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Well.' } },
        { type: 'content_block_stop', index: 0 },
        ...calls.flatMap(({ name, input }, at): JsonObject[] => [
          {
            type: 'content_block_start',
            index: at + 1,
            content_block: { type: 'tool_use', id: `t${at}`, name, input: {} },
          },
          ...pieces(input).map((partial_json) => ({
            type: 'content_block_delta',
            index: at + 1,
            delta: { type: 'input_json_delta', partial_json },
          })),
          { type: 'content_block_stop', index: at + 1 },
        ]),
        {
          type: 'message_delta',
          delta: { stop_reason: { calls: 'tool_use', length: 'max_tokens', refusal: 'refusal' }[end] },
          usage: { output_tokens: 5 },
        },
        { type: 'message_stop' },
      ]
        .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
        .join(''),
  },
  'chat-completions': {
    whole: (calls, end) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'up',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Well.',
            tool_calls: calls.map(({ name, input }, at) => ({
              id: `t${at}`,
              type: 'function',
              function: { name, arguments: input },
            })),
          },
          finish_reason: { calls: 'tool_calls', length: 'length', refusal: 'content_filter' }[end],
        },
      ],
      usage: USAGE,
    }),
    stream: (calls, end) => {
      const chunk = (delta: JsonObject, reason: string | null = null) => ({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'up',
        choices: [{ index: 0, delta, finish_reason: reason }],
      })
      const chunks = [
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'Well.' }),
        ...calls.flatMap(({ name, input }, index) => [
          chunk({ tool_calls: [{ index, id: `t${index}`, type: 'function', function: { name, arguments: '' } }] }),
          ...pieces(input).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
        ]),
        chunk({}, { calls: 'tool_calls', length: 'length', refusal: 'content_filter' }[end]),
        { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [], usage: USAGE },
      ]
      return `${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`
    },
  },
}

/** Cut within escapes and characters, too. */
const pieces = (text: string): string[] => text.match(/[\s\S]{1,3}/g) ?? []

const askFor = (body: JsonObject): Ask => ({ model: 'gateway-model', body, inputEstimate: 7, now: 1_790_000_000 })

const told = (from: Foreign, asked: JsonObject, answer: JsonObject): JsonObject => {
  const { undo } = cross(from, asked)
  const body = translateResponse(answer, { client: responses, provider: CHAT_CODECS[from], ask: askFor(asked), undo })
  expect(violations(SCHEMAS.responses.response, body)).toEqual([])
  return body
}

/** `cut`: the size of the stream's chunks, in bytes. */
const streamed = (from: Foreign, asked: JsonObject, stream: string, cut = stream.length): string => {
  const { undo } = cross(from, asked)
  const tap = translateStream({ client: responses, provider: CHAT_CODECS[from], ask: askFor(asked), undo })
  const bytes = new TextEncoder().encode(stream)
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += cut) chunks.push(bytes.subarray(at, at + cut))
  return framesOf(...chunks)
    .map((frame) => tap.see(frame))
    .join('')
}

/** The final answer of a stream, as the official SDK assembles it. */
const gathered = async (text: string): Promise<JsonObject> => {
  const frames = framesOf(text)
  expect(checkResponsesStream(frames)).toEqual([])
  for (const { data } of frames) expect(violations(SCHEMAS.responses.event, JSON.parse(data))).toEqual([])
  const response = await openaiAnswered(text).responses.stream({ model: 'm', input: 'x' }).finalResponse()
  return JSON.parse(JSON.stringify(response))
}

const callsIn = (body: JsonObject): JsonObject[] => list(body.output).filter(({ type }) => type !== 'message')

/** A call's item without the ids that the gateway makes. */
const bare = ({ id: _, call_id: __, ...item }: JsonObject): JsonObject => item

const LOCAL = { environment: { type: 'local' }, status: 'completed', type: 'shell_call' }
const shell = (commands: string[], limits: JsonObject = {}): JsonObject => ({
  ...LOCAL,
  action: { commands, timeout_ms: null, max_output_length: null, ...limits },
})
const exec = (command: string[], more: JsonObject = {}): JsonObject => ({
  type: 'local_shell_call',
  status: 'completed',
  action: { type: 'exec', command, env: {}, ...more },
})
const patch = (operation: JsonObject): JsonObject => ({ type: 'apply_patch_call', status: 'completed', operation })
const searched = (args: JsonObject): JsonObject => ({
  type: 'tool_search_call',
  execution: 'client',
  status: 'completed',
  arguments: args,
})
const update = (path: string, diff: string): JsonObject => patch({ type: 'update_file', path, diff })

const asked = { tools: ALL, input: [{ role: 'user', content: 'hi' }] }
const CALLS: Call[] = [
  { name: 'shell', input: '{"commands":["echo \\"é 😀\\"\\n","pwd"],"timeout_ms":1000}' },
  { name: 'local_shell', input: '{"command":["ls","-a"],"env":{"A":"b"},"working_directory":"/tmp"}' },
  { name: 'apply_patch', input: '{"diff":"@@\\n-a\\n+b\\n","path":"x.txt","type":"update_file"}' },
  { name: 'tool_search', input: '{"query":"é 😀","limit":8}' },
]
const ITEMS = [
  shell(['echo "é 😀"\n', 'pwd'], { timeout_ms: 1000 }),
  exec(['ls', '-a'], { env: { A: 'b' }, working_directory: '/tmp' }),
  update('x.txt', '@@\n-a\n+b\n'),
  searched({ query: 'é 😀', limit: 8 }),
]

describe.each(FOREIGN)('from %s', (from) => {
  const { whole, stream } = ANSWERS[from]

  test('a whole answer contains the calls as items of their own', () => {
    const body = told(from, asked, whole(CALLS, 'calls'))
    expect(callsIn(body).map(bare)).toEqual(ITEMS)
    expect(callsIn(body).map(({ call_id }) => call_id)).toEqual(['t0', 't1', 't2', 't3'])
    expect(callsIn(body).map(({ id }) => String(id).split('_')[0])).toEqual(['sh', 'lsh', 'apc', 'tsc'])
    expect(body.status).toBe('completed')
  })

  test('a stream gives the same items, however it is chunked, and the SDK reads it', async () => {
    const text = stream(CALLS, 'calls')
    const answer = streamed(from, asked, text)
    for (const cut of [1, 2, 7, 61]) expect(streamed(from, asked, text, cut)).toBe(answer)
    const body = await gathered(answer)
    expect(callsIn(body).map(bare)).toEqual(ITEMS)
    expect(callsIn(body).map(({ call_id }) => call_id)).toEqual(['t0', 't1', 't2', 't3'])
    const frames = framesOf(answer)
    const added = frames
      .filter(({ event }) => event === 'response.output_item.added')
      .map(({ data }) => JSON.parse(data))
    expect(added.map(({ item }) => item.status)).toEqual(added.map(() => 'in_progress'))
    const events = frames.map(({ event }) => event)
    const commands = ['added', 'delta', 'done', 'added', 'delta', 'done'].map(
      (end) => `response.shell_call_command.${end}`,
    )
    expect(events.filter((event) => event?.includes('shell_call_command'))).toEqual(commands)
  })

  test('the client’s own functions stay functions, whatever their names', () => {
    const own = {
      ...asked,
      tools: [SHELL, fn('shell'), { type: 'namespace', name: 'n', description: 'n', tools: [fn('apply_patch')] }],
    }
    const calls = [
      { name: 'shell', input: '{"a":1}' },
      { name: 'shell_2', input: '{"commands":["ls"]}' },
      { name: 'n__apply_patch', input: '{}' },
      { name: 'apply_patch', input: '{"type":"delete_file","path":"x"}' },
    ]
    const body = told(from, own, whole(calls, 'calls'))
    const types = callsIn(body).map(({ type, name, namespace }) => [type, name, namespace])
    expect(types).toEqual([
      ['function_call', 'shell', undefined],
      ['shell_call', undefined, undefined],
      ['function_call', 'apply_patch', 'n'],
      // The bare name of the one tool in a namespace.
      ['function_call', 'apply_patch', 'n'],
    ])
  })

  test.each<[string, string, JsonObject]>([
    ['shell', '{}', shell([''])],
    ['shell', '{"commands":"ls -l"}', shell(['ls -l'])],
    ['shell', '{"command":"ls -l"}', shell(['ls -l'])],
    ['shell', '{"commands":"[\\"ls\\",\\"pwd\\"]"}', shell(['ls', 'pwd'])],
    ['shell', '{"commands":"[ -f a ] && cat a"}', shell(['[ -f a ] && cat a'])],
    ['shell', '{"commands":"[\\"ls\\"] && [\\"a\\"]"}', shell(['["ls"] && ["a"]'])],
    ['shell', '{"commands":[]}', shell([''])],
    ['shell', '{"commands":[7,null,"ls"]}', shell(['ls'])],
    ['shell', '{"commands":null,"timeout_ms":-1,"max_output_length":"9"}', shell([''])],
    [
      'shell',
      '{"commands":["ls"],"timeout_ms":1.6,"max_output_length":0}',
      shell(['ls'], { timeout_ms: 2, max_output_length: 0 }),
    ],
    ['local_shell', '{}', exec(['bash', '-lc', ''])],
    ['local_shell', '{"command":"ls | wc"}', exec(['bash', '-lc', 'ls | wc'])],
    ['local_shell', '{"command":"[\\"ls\\"]"}', exec(['ls'])],
    [
      'local_shell',
      '{"command":["ls"],"env":{"A":1,"B":null,"__proto__":"c"},"timeout_ms":5,"user":"u"}',
      exec(['ls'], { env: { A: '1', ['__proto__']: 'c' }, timeout_ms: 5, user: 'u' }),
    ],
    ['local_shell', '{"command":["ls"],"env":"A=1","user":""}', exec(['ls'])],
    ['apply_patch', '{}', update('.', '@@')],
    ['apply_patch', '{"type":"delete_file"}', update('.', '@@')],
    ['apply_patch', '{"type":"delete_file","path":"a","diff":"x"}', patch({ type: 'delete_file', path: 'a' })],
    ['apply_patch', '{"type":"create_file","path":"a"}', patch({ type: 'create_file', path: 'a', diff: '+' })],
    ['apply_patch', '{"type":"update_file","path":"a","diff":""}', update('a', '@@')],
    ['apply_patch', '{"type":"Add File","path":"a","diff":"+x"}', update('a', '+x')],
    [
      'apply_patch',
      '{"operation":{"type":"create_file","path":"a","diff":"+x"}}',
      patch({ type: 'create_file', path: 'a', diff: '+x' }),
    ],
    ['apply_patch', '{"operation":7,"path":7,"diff":[1]}', update('.', '@@')],
    ['tool_search', '{}', searched({})],
    ['tool_search', '{"query":7,"more":[null]}', searched({ query: 7, more: [null] })],
  ])('%s called with %s is a call that its client can answer', async (name, input, due) => {
    const calls = [{ name, input }]
    expect(callsIn(told(from, asked, whole(calls, 'calls'))).map(bare)).toEqual([due])
    expect(callsIn(await gathered(streamed(from, asked, stream(calls, 'calls')))).map(bare)).toEqual([due])
  })

  test.each(['shell', 'local_shell', 'apply_patch', 'tool_search'])('half a call of %s is none', async (name) => {
    for (const input of ['{"commands":["rm -rf /tm', '{"type":"delete_file","path":"a', '']) {
      const calls = [
        { name: 'shell', input: '{"commands":["ls"]}' },
        { name, input },
      ]
      const body = await gathered(streamed(from, asked, stream(calls, 'length')))
      expect(callsIn(body).map(bare)).toEqual([shell(['ls'])])
      expect([body.status, body.incomplete_details]).toEqual(['incomplete', { reason: 'max_output_tokens' }])
    }
    if (from === 'messages') {
      const body = told(from, asked, whole([{ name, input: '{}' }], 'length'))
      expect([callsIn(body), body.status]).toEqual([[], 'incomplete'])
    }
  })

  test('integers too large for a number are kept in a search', () => {
    const calls = [{ name: 'tool_search', input: '{"id":98765432109876543210}' }]
    expect(streamed(from, asked, stream(calls, 'calls'))).toContain('"arguments":{"id":98765432109876543210}')
  })

  test('a call that breaks off in a completed answer is an error', () => {
    const text = streamed(from, asked, stream([{ name: 'shell', input: '{"commands":["ls' }], 'calls'))
    expect(text).not.toContain('shell_call')
    expect(text).not.toContain('response.completed')
  })

  test('a refusal in the middle of a call leaves no call', async () => {
    const body = await gathered(streamed(from, asked, stream([{ name: 'shell', input: '{"commands":["l' }], 'refusal')))
    expect(callsIn(body)).toEqual([])
  })

  test('the client can continue from the answer', async () => {
    const body = await gathered(streamed(from, asked, stream(CALLS, 'calls')))
    const items = list(body.output)
    const outputs = callsIn(body).map(({ type, call_id }): JsonObject => {
      if (type === 'shell_call') return { type: 'shell_call_output', call_id, output: [{ stdout: 'a', stderr: '' }] }
      if (type === 'tool_search_call')
        return { type: 'tool_search_output', call_id, execution: 'client', tools: [fn('late')] }
      return { type: `${String(type)}_output`, call_id, id: call_id, status: 'completed', output: 'b' }
    })
    const sent = cross(from, { ...asked, input: [...asked.input, ...items, ...outputs] })
    const args = CALLS.map(({ name, input }, at) => [name, `t${at}`, JSON.parse(input)])
    expect(saidIn(from, sent)).toEqual([
      ...args,
      ['t0', 'a'],
      ['t1', 'b'],
      ['t2', 'b'],
      ['t3', 'Tools found, which can be called from now on: late'],
    ])
  })
})

test('long arguments in many pieces take linear time', () => {
  const input = JSON.stringify({ commands: Array.from({ length: 20_000 }, (_, at) => `echo ${at}`) })
  const answer = streamed('messages', asked, ANSWERS.messages.stream([{ name: 'shell', input }], 'calls'))
  expect(answer.match(/shell_call_command\.done\n/g)).toHaveLength(20_000)
})

test('one search tells what can be found, however often it is listed', () => {
  const late = { ...fn('late'), defer_loading: true }
  const told = functionsIn(cross('chat-completions', { tools: [late, SEARCH, SEARCH] })).map(({ about }) => about)
  expect(told).toEqual([`${SEARCH.description}\n\nIt can find:\n- late`, SEARCH.description])
})

test('a choice among very many tools is read in time', () => {
  const tools = Array.from({ length: 80_000 }, (_, at) => fn(`t${at}`))
  const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: tools.map(({ type, name }) => ({ type, name })) }
  expect(responses.decodeRequest({ model: 'm', input: 'hi', tools, tool_choice }).tools.length).toBe(80_000)
})
