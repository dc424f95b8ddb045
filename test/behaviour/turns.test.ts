// What takes long of a large request is work in turns: reading it, admitting it, finding its conversation's account,
// translating it and making that bytes, a part of it at a time, translating its answer.

import { expect, test } from 'bun:test'
import { CHAT, MESSAGES, whole } from '../chaos/support/stories.ts'
import { startGateway } from '../support/gateway.ts'
import { type Script, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { until } from '../support/until.ts'

const stopping = stopsAfterEach()

const start = async (script: Script) => {
  const provider = stopping(await startScripted(() => script))
  const gateway = stopping(await startGateway({ vendorA: provider.origin, vendorB: `${provider.origin}/v1` }))
  const waiting: (() => void)[] = []
  let heard = Promise.withResolvers<void>()
  gateway.server.gateway.turns = (_, work) =>
    new Promise((resolve) => {
      waiting.push(() => resolve(work()))
      heard.resolve()
    })
  /** Lets the next pieces of work have their turns. */
  const turn = async (count = 1): Promise<void> => {
    for (let taken = 0; taken < count; taken++) {
      await heard.promise
      heard = Promise.withResolvers()
      waiting.shift()?.()
    }
  }
  return { provider, gateway, turn, waiting }
}

const chat = { model: 'vendorA-opus-4-8', messages: [{ role: 'user', content: 'hi' }] }

test.each([false, true])('a request, its place, its translation and a whole answer (a stream: %p)', async (stream) => {
  const { provider, gateway, turn, waiting } = await start(whole(MESSAGES))
  const asking = gateway.post('/v1/chat/completions', { ...chat, stream })
  await turn(3)
  expect(provider.requests).toHaveLength(0)
  await turn(3)
  const response = await asking
  expect([response.status, waiting.length]).toEqual([200, 0])
  expect(await response.text()).toContain('chat.completion')
})

test('a request on its own wire and its answer', async () => {
  const { gateway, turn } = await start(whole(CHAT))
  const asking = gateway.post('/v1/chat/completions', { ...chat, model: 'vendorB-5.5' })
  await turn(5)
  expect((await asking).status).toBe(200)
})

test('a prompt to count', async () => {
  const { gateway, turn, waiting } = await start({ steps: ['{"object":"response.input_tokens","input_tokens":12}'] })
  const asking = gateway.post('/v1/messages/count_tokens', { ...chat, model: 'vendorB-5.5' })
  await turn(4)
  expect([await (await asking).json(), waiting.length]).toEqual([{ input_tokens: 12 }, 0])
})

test.each([false, true])(
  'a client that leaves before its request is translated pays nothing (stream asked for: %p)',
  async (stream) => {
    const { provider, gateway, turn, waiting } = await start(whole(MESSAGES))
    const { open, store } = gateway.server.gateway
    const leaving = new AbortController()
    const asking = gateway.post('/v1/chat/completions', { ...chat, stream }, {}, leaving.signal).catch(() => undefined)
    await turn(3)
    await until(() => waiting.length !== 0)
    const [client] = open.values()
    const left = new Promise((resolve) => client?.call?.signal.addEventListener('abort', resolve))
    leaving.abort()
    await left
    await turn(2)
    await asking
    await gateway.idle()
    const [row] = await store.exchanges({ limit: 1 })
    expect([provider.requests.length, row?.outcome, row?.input ?? 0, row?.output ?? 0]).toEqual([0, 'aborted', 0, 0])
  },
)
