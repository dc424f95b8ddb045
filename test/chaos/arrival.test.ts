// What arrives too slowly, from either side: it is given up within the limits, however much of it was announced.

import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'
import { type Attacked, openGateway, providersAt } from './support/gateway.ts'
import { connect, rawPost } from './support/socket.ts'
import { CHAT, STORIES } from './support/stories.ts'

const MEGABYTE = 1024 * 1024

let script: Script = {}
let provider: Scripted
let gateway: Attacked

beforeAll(async () => {
  provider = await startScripted(() => script)
  const origins = { a: [provider.origin], b: [provider.origin] }
  const timeouts = { first_byte: '20s', idle: '20s', total: '2s' }
  gateway = await openGateway({ providers: providersAt(origins, timeouts), body_timeout: '2s', early_start: '20s' })
})
afterEach(async () => {
  await gateway.quiet()
})
stopAfterAll(() => [gateway, provider])

describe('a body', () => {
  test('that announces much and sends nothing is given up as soon as a small one', async () => {
    const client = connect(gateway.url)
    client.write(rawPost(CHAT.path, gateway.secret, '{"model":', 20 * MEGABYTE))
    const late = setTimeout(() => client.socket.destroy(), 20_000)
    const heard = await client.hears('\r\n\r\n')
    clearTimeout(late)
    expect(heard).toStartWith('HTTP/1.1 400 ')
    expect(heard).toContain('x-gateway-error-code: invalid_request')
    client.socket.destroy()
    expect(provider.requests).toHaveLength(0)
  })

  test('that comes steadily is read to its end, however long that takes', async () => {
    const body = JSON.stringify({ ...CHAT.request(false), user: 'x'.repeat(200 * 1024) })
    script = { steps: [JSON.stringify(CHAT.answer)] }
    const client = connect(gateway.url)
    client.write(rawPost(CHAT.path, gateway.secret, '', body.length))
    const pieces = 12
    for (let at = 0; at < pieces; at++) {
      const size = Math.ceil(body.length / pieces)
      client.write(body.slice(at * size, (at + 1) * size))
      // More than the limit in all.
      await Bun.sleep(200)
    }
    expect(await client.hears('hello')).toStartWith('HTTP/1.1 200 ')
    client.socket.destroy()
  })

  test('whose length is given twice, the same, is as long as that', async () => {
    script = { steps: [JSON.stringify(CHAT.answer)] }
    const body = JSON.stringify(CHAT.request(false))
    const client = connect(gateway.url)
    client.write(rawPost(CHAT.path, gateway.secret, body).replace(/(Content-Length: \d+\r\n)/, '$1$1'))
    expect(await client.hears('\r\n\r\n')).toStartWith('HTTP/1.1 200 ')
    client.socket.destroy()
  })
})

describe.each(STORIES.map((story) => [story.path, story] as const))('%s', (_, story) => {
  test('an answer that trickles in without end fails after its total timeout', async () => {
    const trickle = async function* () {
      for (;;) {
        yield ' '
        await Bun.sleep(20)
      }
    }
    script = { steps: trickle() }
    const response = await gateway.post(story.path, story.request(false), { signal: AbortSignal.timeout(20_000) })
    expect([response.status, response.headers.get('x-gateway-error-code')]).toEqual([504, 'gateway_timeout'])
    expect(await (await provider.arrived(provider.requests.length - 1)).closed).toBe('aborted')
  })
})
