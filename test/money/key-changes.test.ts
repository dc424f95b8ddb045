// A key that is changed, by the command line or through the admin API, is what it was changed to: at once where the
// server does it itself, within a second where another process does.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ROUTES, type RouteName } from '../../src/admin-api/routes.ts'
import type { Key } from '../../src/keys/key.ts'
import { connect, rawPost } from '../chaos/support/socket.ts'
import { openTerminal } from '../cli/terminal.ts'
import { type Desk, startDesk } from '../http/admin/support.ts'
import { SYSTEM } from '../support/gateway.ts'
import { gate, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'
import { until } from '../support/until.ts'
import { requestOn, spoken } from './support.ts'

const MODEL = 'vendorA-opus-4-8'
const billed = { input: 30, output: 20 }
const DAY_MS = 86_400_000

let desk: Desk
let provider: Scripted
let script: () => Script | Promise<Script>
beforeAll(async () => {
  provider = await startScripted(() => script())
  desk = await startDesk({ vendorA: provider.origin })
})
stopAfterAll(() => [desk, provider])
const terminal = openTerminal()
afterAll(() => terminal.close())

const ask = async (secret: string): Promise<Response> => {
  const response = await desk.post('/v1/messages', requestOn('messages', MODEL, false, 100), { 'x-api-key': secret })
  await response.clone().text()
  return response
}
const usage = async (secret: string) => (await (await desk.get('/v1/usage', { 'x-api-key': secret })).json()) as object

/** A change as each of the two ways makes it; gives the new secret where there is one. */
type Way = {
  /** How long it may take to be in force. */
  withinMs: number
  topUp(id: string, tokens: number): Promise<unknown>
  total(id: string, tokens: number): Promise<unknown>
  reset(id: string): Promise<unknown>
  expire(id: string, at: number): Promise<unknown>
  models(id: string, model: string): Promise<unknown>
  rpm(id: string, rpm: number): Promise<unknown>
  rotate(id: string, graceS: number): Promise<string>
  revoke(id: string): Promise<unknown>
}

const cli = async (...words: string[]): Promise<{ key: string }> => {
  terminal.clock.now = Date.now()
  const { code, out, err } = await terminal.type('keys', ...words, '--data', desk.config.dataDir, '--json')
  if (code !== 0) throw new Error(err)
  return JSON.parse(out)
}
const api = async (name: RouteName, input: object): Promise<{ secret?: string }> => {
  const response = await desk.request(name, desk.admin, input)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${ROUTES[name].path}: ${text}`)
  return JSON.parse(text)
}

const WAYS: [string, Way][] = [
  [
    'the admin API',
    {
      withinMs: 0,
      topUp: (id, tokens) => api('keys.top-up', { id, tokens }),
      total: (id, tokens_total) => api('keys.update', { id, tokens_total }),
      reset: (id) => api('keys.reset', { id }),
      expire: (id, at) => api('keys.update', { id, expires_at: new Date(at).toISOString() }),
      models: (id, model) => api('keys.update', { id, models: [model] }),
      rpm: (id, rpm) => api('keys.update', { id, rpm }),
      rotate: async (id, grace_seconds) => (await api('keys.rotate', { id, grace_seconds })).secret ?? '',
      revoke: (id) => api('keys.revoke', { id }),
    },
  ],
  [
    'the command line',
    {
      withinMs: 1_000,
      topUp: (id, tokens) => cli('update', id, '--add-tokens', String(tokens)),
      total: (id, tokens) => cli('update', id, '--tokens', String(tokens)),
      reset: (id) => cli('update', id, '--reset-usage'),
      expire: (id, at) => cli('update', id, '--expires', new Date(at).toISOString()),
      models: (id, model) => cli('update', id, '--models', model),
      rpm: (id, rpm) => cli('update', id, '--rpm', String(rpm)),
      rotate: async (id, graceS) => (await cli('rotate', id, '--grace', `${graceS}s`)).key,
      revoke: (id) => cli('revoke', id),
    },
  ],
]

describe.each(WAYS)('%s', (_, way) => {
  /** Waits no longer than the change may take. */
  const inForce = (holds: () => boolean | Promise<boolean>): Promise<void> => until(holds, way.withinMs)
  /** A request that its provider answers once `late` is open. */
  const held = async (secret: string) => {
    const late = gate()
    script = async () => {
      await late.opened
      return spoken('messages', false, { billed })
    }
    const from = provider.requests.length
    const asking = ask(secret)
    await provider.arrived(from)
    return { late, from, asking }
  }
  const start = async (tokensTotal = 50) => {
    script = () => spoken('messages', false, { billed })
    const { id, secret } = await desk.issue({ tokensTotal })
    const key = desk.server.gateway.store.keys.get(id)
    if (key === undefined) throw new Error('the key is gone')
    return { id, secret, key }
  }

  test('tops a key up: an exhausted one answers again', async () => {
    const { id, secret, key } = await start()
    expect(await ask(secret)).toMatchObject({ status: 200 })
    expect(await ask(secret)).toMatchObject({ status: 402 })
    expect(await usage(secret)).toMatchObject({ tokens_used: 50, tokens_remaining: 0, status: 'exhausted' })
    await desk.idle()
    await way.topUp(id, 60)
    await inForce(() => key.tokensTotal === 110)
    expect(await usage(secret)).toMatchObject({ tokens_total: 110, tokens_remaining: 60, status: 'active' })
    expect(await ask(secret)).toMatchObject({ status: 200 })
    expect(await usage(secret)).toMatchObject({ tokens_used: 100, tokens_remaining: 10 })
  })

  test('takes quota away: what is used already counts', async () => {
    const { id, secret, key } = await start(1_000)
    expect(await ask(secret)).toMatchObject({ status: 200 })
    await desk.idle()
    await way.total(id, 40)
    await inForce(() => key.tokensTotal === 40)
    expect(await ask(secret)).toMatchObject({ status: 402 })
    expect(await usage(secret)).toMatchObject({ tokens_used: 50, tokens_remaining: 0, status: 'exhausted' })
  })

  test('resets the counter to 0, and exchanges in flight count after that', async () => {
    const { id, secret, key } = await start(500)
    expect(await ask(secret)).toMatchObject({ status: 200 })
    await desk.idle()
    const { late, asking } = await held(secret)
    await way.reset(id)
    await inForce(() => key.tokensUsed === 0)
    late.open()
    expect(await asking).toMatchObject({ status: 200 })
    await desk.idle()
    expect(await usage(secret)).toMatchObject({ tokens_used: 50, tokens_remaining: 450 })
    // What was consumed stays on the books.
    const [row] = (await desk.server.gateway.store.usage({ by: 'key', keyIds: [id] })).rows
    expect(row).toMatchObject({ requests: 2, input: 60, output: 40 })
  })

  test('ends a key by its expiry, to the millisecond', async () => {
    const { id, secret, key } = await start(500)
    const at = Date.now() + DAY_MS
    await way.expire(id, at)
    await inForce(() => key.expiresAt === at)
    expect(await ask(secret)).toMatchObject({ status: 200 })
    const { keys } = desk.server.gateway.store
    await keys.update(id, { expiresAt: Date.now() }, SYSTEM)
    const refused = await ask(secret)
    expect([refused.status, refused.headers.get('x-gateway-error-code')]).toEqual([401, 'invalid_api_key'])
  })

  const meanwhile: [
    string,
    (id: string) => Promise<unknown>,
    (key: Key, secret: string) => boolean | Promise<boolean>,
  ][] = [
    ['revokes', (id) => way.revoke(id), ({ revokedAt }) => revokedAt !== undefined],
    ['rotates', (id) => way.rotate(id, 0), async (_, secret) => !(await accepts(secret))],
  ]
  test.each(meanwhile)('%s a key while its request body is still arriving', async (_, change, isDone) => {
    const { id, secret, key } = await start(500)
    const from = provider.requests.length
    const body = JSON.stringify(requestOn('messages', MODEL, false, 100))
    const client = connect(desk.url)
    client.write(rawPost('/v1/messages', secret, '', body.length))
    await until(() => desk.server.gateway.arriving.count !== 0)
    await change(id)
    await inForce(() => isDone(key, secret))
    client.write(body)
    const heard = await client.hears('\r\n\r\n')
    client.socket.destroy()
    expect(heard).toStartWith('HTTP/1.1 401 ')
    expect(heard).toContain('x-gateway-error-code: invalid_api_key')
    expect(provider.requests.length).toBe(from)
  })

  test('removes models', async () => {
    const { id, secret, key } = await start(500)
    expect(await ask(secret)).toMatchObject({ status: 200 })
    await way.models(id, 'vendorB-5.5')
    await inForce(() => key.models.join() === 'vendorB-5.5')
    const refused = await ask(secret)
    expect([refused.status, refused.headers.get('x-gateway-error-code')]).toEqual([403, 'permission_denied'])
  })

  test('limits a key, and the requests of this minute count', async () => {
    const { id, secret, key } = await start(5_000)
    await way.rpm(id, 2)
    await inForce(() => key.rpm === 2)
    expect([await ask(secret), await ask(secret), await ask(secret)].map(({ status }) => status)).toEqual([
      200, 200, 429,
    ])
    await way.rpm(id, 3)
    await inForce(() => key.rpm === 3)
    expect([await ask(secret), await ask(secret)].map(({ status }) => status)).toEqual([200, 429])
  })

  test('rotates a key: the old secret is refused, and both are one key', async () => {
    const { id, secret, key } = await start(100)
    expect(await ask(secret)).toMatchObject({ status: 200 })
    await desk.idle()
    const next = await way.rotate(id, 0)
    await inForce(() => accepts(next))
    expect(await ask(secret)).toMatchObject({ status: 401 })
    expect(await ask(next)).toMatchObject({ status: 200 })
    expect(await ask(next)).toMatchObject({ status: 402 })
    expect(key.tokensUsed).toBe(100)
  })

  test('rotates a key with a grace period: both secrets use the one quota', async () => {
    const { id, secret } = await start(100)
    const next = await way.rotate(id, 60)
    await inForce(() => accepts(next))
    expect(await ask(secret)).toMatchObject({ status: 200 })
    expect(await ask(next)).toMatchObject({ status: 200 })
    expect(await ask(secret)).toMatchObject({ status: 402 })
  })

  test('revokes a key: exchanges in flight are answered and billed, and no more are admitted', async () => {
    const { id, secret, key } = await start(500)
    const { late, from, asking } = await held(secret)
    await way.revoke(id)
    await inForce(() => key.revokedAt !== undefined)
    expect(await ask(secret)).toMatchObject({ status: 401 })
    expect(await desk.get('/v1/usage', { 'x-api-key': secret })).toMatchObject({ status: 401 })
    late.open()
    expect(await asking).toMatchObject({ status: 200 })
    await desk.idle()
    expect(key.tokensUsed).toBe(50)
    expect(provider.requests.length - from).toBe(1)
  })
})

/** Whether the server knows a secret. */
const accepts = async (secret: string): Promise<boolean> => {
  try {
    await desk.server.gateway.store.keys.authenticate(new Headers({ 'x-api-key': secret }))
    return true
  } catch {
    return false
  }
}
