// A vendor that is set up by neutral words and turns out to be a real one, by the version header that it misses.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'

type Seen = { path: string; version: string; model: string }

let seen: Seen[]
let server: Bun.Server<undefined>
let gateway: TestGateway

/** What the vendor refuses first is its missing header, then an id that it does not sell. */
const vendor = (request: Request, body: { model: string }): Response => {
  const { pathname } = new URL(request.url)
  const version = [...request.headers.keys()].filter((name) => name.endsWith('version')).join()
  seen.push({ path: pathname, version, model: body.model })
  const refuse = (status: number, type: string, message: string) =>
    Response.json({ type: 'error', error: { type, message } }, { status })
  if (!request.headers.has('anthropic-version'))
    return refuse(400, 'invalid_request_error', 'anthropic-version: header is required')
  if (!body.model.startsWith('claude-')) return refuse(404, 'not_found_error', `model: ${body.model}`)
  if (pathname.endsWith('/count_tokens')) return Response.json({ input_tokens: 3 })
  return Response.json({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: body.model, stop_reason: 'end_turn' },
    ...{ content: [{ type: 'text', text: 'Hi' }], usage: { input_tokens: 1, output_tokens: 1 } },
  })
}

beforeEach(async () => {
  seen = []
  server = Bun.serve({
    port: 0,
    fetch: async (request) => vendor(request, (await request.json()) as { model: string }),
  })
  gateway = await startGateway({ vendorA: `http://127.0.0.1:${server.port}` })
})
afterEach(async () => {
  await gateway.stop()
  await server.stop(true)
})

const ask = (model: string, path = '/v1/messages', secret?: string) =>
  gateway.post(
    path,
    { model, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] },
    secret === undefined ? {} : { authorization: `Bearer ${secret}` },
  )

test('is asked again by its own names, and by these at once from then on', async () => {
  const first = await ask('auto')
  expect([first.status, await first.json()]).toEqual([200, expect.objectContaining({ model: 'vendorA-opus-4-8' })])
  expect(await (await ask('auto')).json()).toMatchObject({ content: [{ text: 'Hi' }] })
  expect(seen).toEqual([
    { path: '/v1/messages', version: 'vendora-version', model: 'vendorA-opus-4-8' },
    { path: '/v1/messages', version: 'anthropic-version', model: 'claude-opus-4-8' },
    { path: '/v1/messages', version: 'anthropic-version', model: 'claude-opus-4-8' },
  ])
})

test('on another wire, and where tokens are counted', async () => {
  expect((await ask('vendorA-haiku-4-5', '/v1/chat/completions')).status).toBe(200)
  expect(await (await ask('vendorA-haiku-4-5', '/v1/messages/count_tokens')).json()).toEqual({ input_tokens: 3 })
  expect(seen.map(({ model }) => model)).toEqual(['vendorA-haiku-4-5', 'claude-haiku-4-5', 'claude-haiku-4-5'])
})

test('for each key by itself: what one is told changes nothing for another', async () => {
  await ask('auto')
  const other = await gateway.issue()
  expect((await ask('auto', '/v1/messages', other.secret)).status).toBe(200)
  expect(seen.map(({ model }) => model.split('-')[0])).toEqual(['vendorA', 'claude', 'vendorA', 'claude'])
})

test('not without end where it misses the header all the same', async () => {
  await server.stop(true)
  let times = 0
  server = Bun.serve({
    port: 0,
    fetch: () => {
      times += 1
      const error = { type: 'invalid_request_error', message: 'anthropic-version: header is required' }
      return Response.json({ type: 'error', error }, { status: 400 })
    },
  })
  const [account] = gateway.server.gateway.providers.get('vendor_a')?.accounts ?? []
  if (account === undefined) throw new Error('no account')
  account.baseUrl = `http://127.0.0.1:${server.port}`
  expect((await ask('auto')).status).toBe(502)
  expect(times).toBe(2)
})
