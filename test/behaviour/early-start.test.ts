// A stream that is begun before its provider has answered: the client has its 200 then, and a sign of life.

import { beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Gate, gate, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'

let provider: Scripted
let gateway: TestGateway
let answered: Gate

beforeAll(async () => {
  provider = await startScripted(async () => {
    await answered.opened
    return { status: 500 }
  })
  gateway = await startGateway({ vendorA: provider.origin, config: { earlyStartMs: 5, maxTries: 1 } })
})
stopAfterAll(() => [gateway, provider])

const messages = [{ role: 'user', content: 'hi' }]

test.each([
  ['/v1/chat/completions', { messages }, ': keep-alive\n'],
  ['/v1/responses', { input: 'hi' }, ': keep-alive\n'],
  ['/v1/messages', { max_tokens: 5, messages }, 'event: ping\ndata: {"type":"ping"}\n\n'],
])(
  '%s is begun while the provider is silent, with a keep-alive that dispatches nothing',
  async (path, body, keepAlive) => {
    answered = gate()
    try {
      const response = await gateway.post(path, { ...body, model: 'vendorA-opus-4-8', stream: true })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(keepAlive)
      answered.open()
      let rest = ''
      for (let read = await reader.read(); !read.done; read = await reader.read())
        rest += new TextDecoder().decode(read.value)
      expect(rest).toContain('event: error\ndata: {')
      expect(rest).toContain('upstream_error')
    } finally {
      answered.open()
    }
  },
)
