// A provider with a proxy of its own is reached through it, with its user and password; one without as the environment says.

import { afterAll, expect, test } from 'bun:test'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { onlyProvider, startGateway } from '../support/gateway.ts'

const asked: { url: string; user: string | undefined }[] = []
const proxy = http.createServer((request, response) => {
  asked.push({ url: request.url ?? '', user: request.headers['proxy-authorization'] })
  request.resume()
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'up', stop_reason: 'end_turn' },
        content: [{ type: 'text', text: 'Hi.' }],
        usage: { input_tokens: 3, output_tokens: 2 },
      }),
    )
  })
})
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
afterAll(() => proxy.close())

test('a provider’s requests go through its own proxy', async () => {
  const { port } = proxy.address() as AddressInfo
  // A host that nobody else could reach.
  const gateway = await startGateway({
    config: onlyProvider('http://vendor.invalid', { wires: ['messages'], proxy: `http://me:word@127.0.0.1:${port}` }),
  })
  try {
    const body = { model: 'auto', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }
    expect((await gateway.post('/v1/messages', body)).status).toBe(200)
    expect(asked).toEqual([{ url: 'http://vendor.invalid/v1/messages', user: `Basic ${btoa('me:word')}` }])
  } finally {
    await gateway.stop()
  }
})
