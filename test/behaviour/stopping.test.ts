// A server that goes on behind stop sequences is sent none: the gateway ends its answers there, on the client's own wire too.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import type { Quirks } from '../../src/ir/quirks.ts'
import { onlyProvider, startGateway } from '../support/gateway.ts'
import { startScripted } from '../support/provider/scripted.ts'

const usage = { prompt_tokens: 3, completion_tokens: 9 }
const chunk = (choice: JsonObject, more: JsonObject = {}): string =>
  `data: ${JSON.stringify({ id: 'c', created: 5, model: 'up', choices: [{ index: 0, ...choice }], ...more })}\n\n`
const whole = {
  id: 'c',
  choices: [{ index: 0, message: { content: 'One END two' }, finish_reason: 'stop' }],
  usage,
}

test.each<[string, Quirks, boolean]>([
  ['is set as one that goes on', { stopsItself: false }, true],
  ['refuses them', { rejects: ['stop'] }, true],
  ['is as any other', {}, false],
])('a server that %s', async (_, quirks, held) => {
  const provider = await startScripted(({ text }) =>
    JSON.parse(text).stream === true
      ? {
          headers: { 'content-type': 'text/event-stream' },
          steps: [
            ...['One E', 'ND t', 'wo'].map((content) => chunk({ delta: { content } })),
            chunk({ delta: {}, finish_reason: 'stop' }, { usage }),
            'data: [DONE]\n\n',
          ],
        }
      : { steps: [JSON.stringify(whole)] },
  )
  const gateway = await startGateway({
    config: onlyProvider(`${provider.origin}/v1`, { wires: ['chat-completions'], quirks }),
  })
  try {
    for (const stream of [false, true]) {
      const asked = { model: 'vendorB-4o', stop: 'END', stream, messages: [{ role: 'user', content: 'Count.' }] }
      const response = await gateway.post('/v1/chat/completions', asked)
      const text = await response.text()
      const said = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, words]) => words).join('')
      expect(said).toBe(held ? 'One ' : 'One END two')
      expect(response.headers.get('x-gateway-dropped')).toBeNull()
      const sent = JSON.parse(provider.requests.at(-1)?.text ?? '')
      expect(sent.stop).toEqual(held ? undefined : 'END')
    }
  } finally {
    await gateway.stop()
    await provider.stop()
  }
})
