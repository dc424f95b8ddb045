// A model that another one stands in for: what the other cannot take is not what the client hears.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DemoGateway, startDemoGateway } from '../support/gateway.ts'

let gateway: DemoGateway
beforeAll(async () => {
  gateway = await startDemoGateway({
    fallbacks: { 'vendorB-5.5': ['vendorA-opus-4-8'], 'vendorA-opus-4-8': ['vendorB-4'] },
  })
})
afterAll(() => gateway.stop())

const ask = async (input: string, tools: object[]): Promise<unknown[]> => {
  const response = await gateway.post('/v1/responses', { model: 'vendorB-5.5', input, tools })
  const { model, error } = (await response.json()) as { model?: string; error?: { code: string } }
  return [response.status, error?.code ?? model, response.headers.has('retry-after')]
}

const shell = { type: 'function', name: 'shell', parameters: { type: 'object', properties: {} } }

test.each<[string, string, object[], unknown[]]>([
  ['answers in its place', '[[error:503@vendor_b]] hi', [shell], [200, 'vendorA-opus-4-8', false]],
  [
    'cannot take the request',
    '[[error:503@vendor_b]] hi',
    [{ type: 'code_interpreter', container: { type: 'auto' } }],
    [503, 'service_unavailable', true],
  ],
  [
    'finds it too long',
    '[[error:503@vendor_b]] [[error:context_length@vendor_a]] hi',
    [shell],
    [503, 'service_unavailable', true],
  ],
  ['is not asked', '[[error:context_length@vendor_b]] hi', [shell], [400, 'context_length_exceeded', false]],
])('the fallback model %s', async (_, said, tools, expected) => {
  for (const { target } of gateway.server.gateway.health.states()) gateway.server.gateway.health.succeeded(target)
  expect(await ask(said, tools)).toEqual(expected)
})

const url = 'https://example.com/a.png'
const down = '[[error:503@vendor_a]] What is this?'
test.each([
  [
    '/v1/chat/completions',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: down },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
    },
  ],
  [
    '/v1/responses',
    {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: down },
            { type: 'input_image', image_url: url },
          ],
        },
      ],
    },
  ],
  [
    '/v1/messages',
    {
      max_tokens: 9,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: down },
            { type: 'image', source: { type: 'url', url } },
          ],
        },
      ],
    },
  ],
])('%s: a fallback model that takes text only is not sent pictures', async (path, body) => {
  const response = await gateway.post(path, { ...body, model: 'vendorA-opus-4-8' })
  expect([response.status, response.headers.get('x-gateway-error-code')]).toEqual([503, 'service_unavailable'])
})
