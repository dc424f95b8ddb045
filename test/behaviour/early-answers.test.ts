// Providers that answer before they have read the request: it still reaches them whole, though nothing holds it any more.

import { expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startGateway } from '../support/gateway.ts'
import { gate } from '../support/provider/scripted.ts'

const frame = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    ...(finish === null ? {} : { usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } }),
  })}\n\n`

/** More than connections take on their own. */
const TEXT = 'early and late ខ្មែរ '.repeat(300_000)

test('a stream that has begun lets the rest of its request be read', async () => {
  const begun = gate()
  const received = Promise.withResolvers<string>()
  const server = createServer(async (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frame('early'))
    await begun.opened
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    received.resolve(Buffer.concat(pieces).toString())
    response.end(`${frame('', 'stop')}data: [DONE]\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const gateway = await startGateway({ vendorB: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` })
  try {
    const body = { model: 'vendorB-5.5', stream: true, messages: [{ role: 'user', content: TEXT }] }
    const answer = await gateway.post('/v1/chat/completions', body)
    const reader = answer.body?.getReader()
    await reader?.read()
    // From here on the gateway holds nothing of the prompt but what is being sent.
    begun.open()
    const sent = JSON.parse(await received.promise) as typeof body
    expect(sent.messages).toEqual(body.messages)
    for (let done = false; !done; ) done = (await reader?.read())?.done ?? true
  } finally {
    await gateway.stop()
    server.close()
    server.closeAllConnections()
  }
})
