// Strangers at the dashboard's door: what they send is small, there at once, and never in the way of others.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { ADMIN_BASE, ROUTES, type RouteName } from '../../../src/admin-api/routes.ts'
import { createLine } from '../../../src/http/admin/line.ts'
import { connect, type RawClient } from '../../chaos/support/socket.ts'
import { type Desk, PASSWORD, refusal, startDesk } from './support.ts'

describe('the line', () => {
  test('pushes out who has waited longest, and nobody while there is room', async () => {
    const line = createLine(2)
    const never = new Promise<string>(() => undefined)
    const ends: string[] = []
    const waits = ['first', 'second'].map((name) => line.wait(never).catch(() => void ends.push(name)))
    expect([ends, line.waiting()]).toEqual([[], 2])
    expect(await line.wait(Promise.resolve('here at once'))).toBe('here at once')
    await waits[0]
    expect([ends, line.waiting()]).toEqual([['first'], 1])
  })
  test('has room again for each that ends, however it ends', async () => {
    const line = createLine(1)
    for (let at = 0; at < 3; at++) {
      await line.wait(Promise.resolve(at))
      await expect(line.wait(Promise.reject(new Error('broke off')))).rejects.toThrow('broke off')
    }
    expect(line.waiting()).toBe(0)
  })
})

describe('a route without a session', () => {
  let desk: Desk
  const clients: RawClient[] = []
  beforeAll(async () => {
    desk = await startDesk()
  })
  afterAll(() => desk.stop())
  afterEach(() => {
    for (const { socket } of clients.splice(0)) socket.destroy()
  })

  const STRANGERS = (Object.keys(ROUTES) as RouteName[]).filter(
    (name) => ROUTES[name].access === 'anyone' && ROUTES[name].method !== 'GET',
  )
  const begin = (name: RouteName, length: number, sent = '{'): RawClient => {
    const client = connect(desk.url)
    clients.push(client)
    const { host } = new URL(desk.url)
    client.write(
      `${ROUTES[name].method} ${ADMIN_BASE}${ROUTES[name].path} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${desk.url}\r\n` +
        `Content-Length: ${length}\r\n\r\n${sent}`,
    )
    return client
  }

  test.each(STRANGERS)('%s takes no body above 4 KB, and says so before it has come', async (name) => {
    const heard = await begin(name, 4 * 1024 + 1).hears('\r\n\r\n')
    expect(heard).toStartWith('HTTP/1.1 413 ')
    expect(heard).toContain('x-gateway-error-code: payload_too_large')
  })
  test('the longest name and password that may be fit, written in escapes', async () => {
    const escaped = (length: number): string => '\\u00e9'.repeat(length)
    const body = `{"name":"${escaped(100)}","password":"${escaped(200)}"}`
    const response = await fetch(`${desk.url}${ADMIN_BASE}/session`, {
      method: 'POST',
      headers: { origin: desk.url },
      body,
    })
    expect(await refusal(response)).toMatchObject({ status: 401, code: 'invalid_api_key' })
  })
  test('one that trickles among many makes way for those who come, and a person is let in meanwhile', async () => {
    const slow = Array.from({ length: 40 }, (_, at) => begin(STRANGERS[at % STRANGERS.length] ?? 'setup', 300))
    const over = Promise.all(slow.slice(0, 20).map((client) => client.hears('\r\n\r\n')))
    for (const heard of await over) {
      expect(heard).toStartWith('HTTP/1.1 503 ')
      expect(heard).toMatch(/^retry-after: [1-9]/im)
    }
    const signedIn = await desk.request('session.sign-in', desk.nobody, { name: 'Mia', password: PASSWORD })
    expect(signedIn.status).toBe(200)
  })
})
