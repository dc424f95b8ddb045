// Stories of tools: calls, their arguments, their results.

import type { Ask, Said, Shown, Story } from '../story.ts'
import { clock, PDF, PIXEL, says, user, weather } from './parts.ts'

const asks = (text: string, more: Partial<Ask> = {}): Ask => ({ turns: [user(text)], tools: [weather, clock], ...more })
const call = (id: string, place: string): Said => ({
  call: id,
  name: 'get_weather',
  input: JSON.stringify({ place }),
})
const calls = (...pieces: Said[]): Story['answer'] => ({
  pieces,
  finish: 'calls',
  usage: { input: 80, output: 24 },
})

/** A conversation in which a call has come back. */
const returned = (...parts: Shown[]): Ask => ({
  tools: [weather],
  turns: [
    user('Weather in Paris?'),
    { role: 'assistant', parts: [call('call_1', 'Paris')] },
    { role: 'user', parts: [{ of: 'call_1', result: parts }] },
  ],
})

/** What the client says of its search for tools. */
const search = {
  description: 'Searches for tools.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string' }, limit: { type: 'integer' } },
    required: ['query'],
  },
}

const SEEING: Story['clients'] = ['responses', 'messages']

const parallel: Ask['turns'] = [
  user('Weather in Paris and Lima?'),
  { role: 'assistant', parts: [{ text: 'I look.' }, call('call_1', 'Paris'), call('call_2', 'Lima')] },
]

export const ACTING: Story[] = [
  { group: 'Tools', name: 'one call', ask: asks('Weather in Paris?'), answer: calls(call('call_1', 'Paris')) },
  {
    group: 'Tools',
    name: 'parallel calls',
    ask: asks('Weather in Paris and Lima?'),
    answer: calls(call('call_1', 'Paris'), call('call_2', 'Lima')),
  },
  {
    group: 'Tools',
    name: 'parallel calls, deltas mixed',
    ask: asks('Weather in Paris, Lima and Oslo?'),
    answer: { ...calls(call('call_1', 'Paris'), call('call_2', 'Lima'), call('call_3', 'Oslo')), overlap: true },
    vendors: ['chat-completions', 'responses'],
    lax: ['chat-completions', 'responses'],
  },
  {
    group: 'Tools',
    name: 'call after text',
    ask: asks('Weather in Paris?'),
    answer: calls({ text: 'I look.' }, call('call_1', 'Paris')),
  },
  {
    group: 'Tools',
    name: 'call without arguments',
    ask: asks('What time is it?'),
    answer: calls({ call: 'call_1', name: 'now', input: '{}' }),
  },
  {
    group: 'Tools',
    name: 'unicode and big numbers in arguments',
    ask: {
      tools: [weather],
      turns: [
        user('Weather in 北京?'),
        {
          role: 'assistant',
          parts: [{ call: 'call_0', name: 'get_weather', input: '{"place":"北京","at":98765432109876543210}' }],
        },
        { role: 'user', parts: [{ of: 'call_0', result: [{ text: '晴 ☀️' }] }] },
        user('And for 12345678901234567890?'),
      ],
    },
    answer: calls({
      call: 'call_1',
      name: 'get_weather',
      input: '{"place":"Zürich \\u0000 \\"👩🏽‍🚀\\"","id":12345678901234567890,"x":1.25}',
    }),
    verbatim: '12345678901234567890',
  },
  {
    group: 'Tools',
    name: 'choice: none',
    ask: asks('Hello', { choice: 'none' }),
    answer: says('Hello.'),
  },
  {
    group: 'Tools',
    name: 'choice: any tool, one at a time',
    ask: asks('Weather?', { choice: 'required', parallel: false }),
    answer: calls(call('call_1', 'Paris')),
  },
  {
    group: 'Tools',
    name: 'choice: this tool',
    ask: asks('Weather?', { choice: { tool: 'get_weather' } }),
    answer: calls(call('call_1', 'Paris')),
  },
  {
    group: 'Tools',
    name: 'strict tool',
    ask: asks('Weather?', { tools: [{ ...weather, strict: true }] }),
    answer: calls(call('call_1', 'Paris')),
  },
  {
    group: 'Tools',
    name: 'free-form tool',
    ask: { turns: [user('Patch it.')], tools: [{ name: 'patch', description: 'Applies a patch.', custom: true }] },
    answer: calls({ call: 'call_1', name: 'patch', input: '*** Begin\n+"ü"\n', custom: true }),
    clients: ['chat-completions', 'responses'],
  },
  {
    group: 'Tools',
    name: 'free-form tool where the vendor has none',
    ask: {
      tools: [{ name: 'patch', description: 'Applies a patch.', custom: true }],
      turns: [
        user('Patch it.'),
        { role: 'assistant', parts: [{ call: 'call_0', name: 'patch', input: 'first "try"', custom: true }] },
        { role: 'user', parts: [{ of: 'call_0', result: [{ text: 'failed' }] }] },
      ],
    },
    answer: calls({ call: 'call_1', name: 'patch', input: '*** Begin\n+"ü"\n', custom: true }),
    variant: 'no-custom',
    clients: ['responses'],
    vendors: ['chat-completions', 'messages'],
  },
  {
    group: 'Tools',
    name: 'shell and patches, run by the client',
    ask: {
      tools: [
        { name: 'shell', own: { type: 'shell', environment: { type: 'local' } } },
        { name: 'local_shell', own: { type: 'local_shell' } },
        { name: 'apply_patch', own: { type: 'apply_patch' } },
      ],
      turns: [
        user('Is there an a.txt?'),
        {
          role: 'assistant',
          parts: [
            {
              call: 'call_0',
              name: 'shell',
              input: '{"commands":["ls"]}',
              own: { type: 'shell_call', status: 'completed', action: { commands: ['ls'] } },
            },
          ],
        },
        {
          role: 'user',
          parts: [
            {
              of: 'call_0',
              result: [{ text: 'exit code 0\nb.txt' }],
              own: {
                type: 'shell_call_output',
                output: [{ stdout: 'b.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
              },
            },
          ],
        },
      ],
    },
    answer: calls(
      { text: 'No. I write one.' },
      {
        call: 'call_1',
        name: 'apply_patch',
        input: '{"type":"create_file","path":"a.txt","diff":"+ü \\"😀\\"\\n"}',
        own: {
          type: 'apply_patch_call',
          operation: { type: 'create_file', path: 'a.txt', diff: '+ü "😀"\n' },
        },
      },
      {
        call: 'call_2',
        name: 'shell',
        input: '{"commands":["cat a.txt","ls -l\\n"],"timeout_ms":1000}',
        own: {
          type: 'shell_call',
          action: { commands: ['cat a.txt', 'ls -l\n'], timeout_ms: 1000, max_output_length: null },
          environment: { type: 'local' },
        },
      },
      {
        call: 'call_3',
        name: 'local_shell',
        input: '{"command":["wc","a.txt"],"working_directory":"/tmp"}',
        own: {
          type: 'local_shell_call',
          action: { type: 'exec', command: ['wc', 'a.txt'], env: {}, working_directory: '/tmp' },
        },
      },
    ),
    clients: ['responses'],
  },
  {
    group: 'Tools',
    name: 'search for tools, run by the client',
    ask: {
      tools: [weather, { name: 'tool_search', own: { type: 'tool_search', execution: 'client', ...search } }],
      turns: [
        user('Weather in Paris?'),
        {
          role: 'assistant',
          parts: [
            {
              call: 'call_0',
              name: 'tool_search',
              input: '{"query":"weather"}',
              own: { type: 'tool_search_call', execution: 'client', arguments: { query: 'weather' } },
            },
          ],
        },
        {
          role: 'user',
          parts: [
            {
              of: 'call_0',
              result: [{ text: 'Tools found, which can be called from now on: get_weather' }],
              own: {
                type: 'tool_search_output',
                execution: 'client',
                status: 'completed',
                tools: [
                  {
                    type: 'function',
                    name: weather.name,
                    description: weather.description ?? '',
                    parameters: weather.schema ?? null,
                    strict: false,
                    defer_loading: true,
                  },
                ],
              },
            },
          ],
        },
      ],
    },
    answer: calls(
      { text: 'I look for the time, too.' },
      {
        call: 'call_1',
        name: 'tool_search',
        input: '{"query":"ü \\"😀\\"\\n","limit":2}',
        own: {
          type: 'tool_search_call',
          execution: 'client',
          arguments: { query: 'ü "😀"\n', limit: 2 },
        },
      },
      call('call_2', 'Paris'),
    ),
    clients: ['responses'],
  },
  {
    group: 'Tools',
    name: 'tool in a namespace',
    ask: {
      tools: [weather, { ...weather, namespace: 'paris' }],
      turns: [
        user('Weather in Paris?'),
        { role: 'assistant', parts: [{ call: 'call_0', name: 'get_weather', input: '{}', namespace: 'paris' }] },
        { role: 'user', parts: [{ of: 'call_0', result: [{ text: 'fog' }] }] },
      ],
    },
    answer: calls({ call: 'call_1', name: 'get_weather', input: '{"place":"Paris"}', namespace: 'paris' }),
    clients: ['responses'],
  },
  {
    group: 'Results',
    name: 'text result',
    ask: returned({ text: 'fog' }),
    answer: says('There is fog.'),
  },
  { group: 'Results', name: 'empty result', ask: returned(), answer: says('Nothing came back.') },
  {
    group: 'Results',
    name: 'failed call',
    ask: {
      ...returned(),
      turns: [
        ...parallel,
        {
          role: 'user',
          parts: [
            { of: 'call_1', result: [{ text: 'no such city' }], failed: true },
            { of: 'call_2', result: [{ text: 'sun' }] },
          ],
        },
      ],
    },
    answer: says('Only Lima is known.'),
  },
  {
    group: 'Results',
    name: 'picture in a result',
    ask: returned({ text: 'the sky' }, { image: PIXEL }),
    answer: says('It is blue.'),
    clients: SEEING,
  },
  {
    group: 'Results',
    name: 'only a picture in a result',
    ask: returned({ image: PIXEL }),
    answer: says('It is blue.'),
    clients: SEEING,
  },
  {
    group: 'Results',
    name: 'document in a result',
    ask: returned({ pdf: PDF, name: 'sky.pdf' }, { file: 'clouds: 3', name: 'sky.txt' }),
    answer: says('Three clouds.'),
    clients: SEEING,
  },
  {
    group: 'Results',
    name: 'several results, out of order, then words',
    ask: {
      tools: [weather],
      turns: [
        ...parallel,
        {
          role: 'user',
          parts: [
            { of: 'call_2', result: [{ text: 'sun' }] },
            { of: 'call_1', result: [{ text: 'fog' }, { text: 'and rain' }] },
            { text: 'Which is better?' },
          ],
        },
      ],
    },
    answer: says('Lima.'),
  },
  {
    group: 'Results',
    name: 'several rounds of calls',
    ask: {
      tools: [weather],
      turns: [
        ...parallel,
        {
          role: 'user',
          parts: [
            { of: 'call_1', result: [{ text: 'fog' }] },
            { of: 'call_2', result: [{ text: 'sun' }] },
          ],
        },
        { role: 'assistant', parts: [call('call_3', 'Oslo')] },
        { role: 'user', parts: [{ of: 'call_3', result: [{ text: 'snow' }] }] },
      ],
    },
    answer: says('Fog, sun, snow.'),
  },
  {
    group: 'Results',
    name: 'a call that never came back',
    ask: { tools: [weather], turns: [...parallel, user('Never mind. Hello?')] },
    answer: says('Hello.'),
  },
]
