// What the demo says: on a terminal one screen; elsewhere commands to paste, one for every wire and for what surrounds them,
// and the faults that the vendors show on demand.

import { columns } from './table.ts'

/** Fits a terminal of 80 columns and 24 rows, long lines wrapped. `link`: to the dashboard. */
export const demoScreen = (url: string, secret: string, link: string): string =>
  `
sluice demo: a gateway and two vendors of its own on this machine. No account is
needed, and nothing leaves it. Any model answers on any wire. Try one:

curl -s ${url}/v1/chat/completions \\
  -H 'x-api-key: ${secret}' \\
  -d '{"model":"auto","messages":[{"role":"user","content":"Say hello"}]}'

The other wires, SDKs, coding agents, and faults to provoke: ${url}/docs

Key        ${secret}
Dashboard  ${link}

Ctrl-C ends it and removes what it has kept.`

/** `url` is the gateway's without `/v1`, `secret` a key of it; `directives`: each by name, with what it does. */
export const demoCommands = (url: string, secret: string, directives: Readonly<Record<string, string>>): string => {
  const post = (path: string, body: object, headers = `-H 'Authorization: Bearer ${secret}'`, flags = "-s -w '\\n'") =>
    `curl ${flags} ${url}${path} ${headers} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'`
  const get = (path: string) => `curl -s -w '\\n' ${url}${path} -H 'Authorization: Bearer ${secret}'`
  const hello = [{ role: 'user', content: 'Say hello' }]
  const messagesHeaders = `-H 'x-api-key: ${secret}' -H 'vendorA-version: 2023-06-01'`
  const weather = {
    type: 'function',
    function: {
      name: 'weather',
      description: 'The weather in a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  }
  const image = { model: 'vendorB-image-1', prompt: 'A lock on a canal', size: '256x256' }
  const sections: [string, string][] = [
    ['Chat completions', post('/v1/chat/completions', { model: 'auto', max_tokens: 100, messages: hello })],
    [
      'Chat completions, streamed',
      post('/v1/chat/completions', { model: 'vendorB-5.5', stream: true, messages: hello }, undefined, '-sN'),
    ],
    [
      'A tool call',
      post('/v1/chat/completions', {
        model: 'vendorA-sonnet-5',
        tools: [weather],
        messages: [{ role: 'user', content: 'Use the tool weather for Phnom Penh' }],
      }),
    ],
    ['Responses', post('/v1/responses', { model: 'vendorB-5.4-mini', input: 'Say hello' })],
    [
      'Responses, streamed, by a model of the other vendor',
      post('/v1/responses', { model: 'vendorA-opus-4.8', stream: true, input: 'Say hello' }, undefined, '-sN'),
    ],
    [
      'Messages',
      post('/v1/messages', { model: 'vendorA-haiku-4-5', max_tokens: 100, messages: hello }, messagesHeaders),
    ],
    [
      'Messages, streamed, by a model of the other vendor',
      post(
        '/v1/messages',
        { model: 'vendorB-5.5', max_tokens: 100, stream: true, messages: hello },
        messagesHeaders,
        '-sN',
      ),
    ],
    [
      'An answer that breaks off, streamed',
      post(
        '/v1/messages',
        { model: 'auto', max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'Say hello [[cut:6]]' }] },
        messagesHeaders,
        '-sN',
      ),
    ],
    [
      'An image',
      `${post('/v1/images/generations', image)} \\\n  | sed 's/.*"b64_json": *"\\([^"]*\\)".*/\\1/' | base64 -d > image.png`,
    ],
    ['Models', get('/v1/models')],
    ['Usage', get('/v1/usage')],
  ]
  const text = sections.map(([title, line]) => `# ${title}\n${line}`).join('\n\n')
  const faults = [
    'Faults on demand: write one anywhere in a prompt, its argument after a colon: [[error:429]], [[slow:500]].',
    '[[error:429*2]] fails the first two times only, [[error@vendor_a]] at one vendor only.',
    ...columns(
      Object.entries(directives).map(([name, does]) => [`[[${name}]]`, does]),
      '  ',
    ),
  ].join('\n')
  return `Key  ${secret}\n\n${text}\n\n${faults}\n\nPress Ctrl-C to stop.`
}
