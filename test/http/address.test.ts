// Where a request comes from, by whose word, and which keys may be used from there.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { requireAddress } from '../../src/keys/address.ts'
import { type DemoGateway, SYSTEM, startDemoGateway } from '../support/gateway.ts'

let gateway: DemoGateway
beforeAll(async () => {
  gateway = await startDemoGateway()
})
afterAll(() => gateway.stop())

const trust = (trust_proxy: boolean | string[]) => gateway.server.gateway.settings.change({ trust_proxy }, SYSTEM)
const hello = { model: 'vendorA-opus-4-8', max_tokens: 10, messages: [{ role: 'user', content: 'Say hello' }] }
const ask = async (headers: Record<string, string>, secret = gateway.secret) => {
  const response = await gateway.post('/v1/messages', hello, { 'x-api-key': secret, ...headers })
  await response.text()
  await gateway.idle()
  const id = response.headers.get('x-request-id') ?? ''
  return { status: response.status, row: (await gateway.server.gateway.store.exchanges({ limit: 1, id }))[0] }
}

const HOPS: [string, boolean | string[], string | undefined, string][] = [
  ['nobody is trusted', false, '203.0.113.7', '127.0.0.1'],
  ['the peer is no trusted proxy', ['192.0.2.0/24'], '203.0.113.7', '127.0.0.1'],
  ['the peer is', ['127.0.0.1'], '203.0.113.7', '203.0.113.7'],
  ['it says nothing', ['127.0.0.1'], undefined, '127.0.0.1'],
  ['what the client itself wrote stands before', ['127.0.0.1'], '10.9.9.9, 203.0.113.7', '203.0.113.7'],
  ['another trusted proxy stands between', ['127.0.0.1', '192.0.2.0/24'], '203.0.113.7, 192.0.2.9', '203.0.113.7'],
  ['all hops are trusted', ['127.0.0.1', '192.0.2.0/24'], '192.0.2.8, 192.0.2.9', '192.0.2.8'],
  ['anyone is trusted, by the last hop', true, '10.9.9.9, 203.0.113.7', '203.0.113.7'],
  ['with a port', ['127.0.0.1'], '203.0.113.7:5678', '203.0.113.7'],
  ['of IPv6 in brackets', ['127.0.0.1'], '[2001:db8::1]:5678', '2001:db8::1'],
]

test.each(HOPS)('an exchange has its client’s address where %s', async (_, trusted, forwarded, address) => {
  await trust(trusted)
  const { status, row } = await ask(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded })
  expect([status, row?.address]).toEqual([200, address])
})

describe('a key for certain networks', () => {
  const issue = async (ips: string[]) => (await gateway.issue({ label: 'bound', ips })).secret
  test('is taken from there alone, on every endpoint, and says where it was used from', async () => {
    await trust(false)
    const here = await issue(['127.0.0.0/8'])
    const there = await issue(['203.0.113.0/24', '2001:db8::/32'])
    expect((await ask({}, here)).status).toBe(200)
    const paths: [string, RequestInit][] = [
      ['/v1/models', {}],
      ['/v1/usage', {}],
      ['/v1/responses/resp_1', {}],
      ['/v1/messages/count_tokens', { method: 'POST', body: JSON.stringify(hello) }],
      ['/v1/messages', { method: 'POST', body: JSON.stringify(hello) }],
      ['/v1/embeddings', { method: 'POST', body: '{}' }],
    ]
    for (const [path, init] of paths) {
      const response = await fetch(gateway.url + path, { ...init, headers: { 'x-api-key': there } })
      const { error } = (await response.json()) as { error: { code: string; message: string } }
      expect([path, response.status, error.code]).toEqual([path, 403, 'permission_denied'])
      expect(error.message).toContain('may not be used from 127.0.0.1')
    }
  })
  test('is not let in by what a client says of itself', async () => {
    await trust(false)
    const there = await issue(['203.0.113.0/24'])
    expect((await ask({ 'x-forwarded-for': '203.0.113.7' }, there)).status).toBe(403)
    await trust(['127.0.0.1'])
    expect((await ask({ 'x-forwarded-for': '203.0.113.7' }, there)).status).toBe(200)
    expect((await ask({ 'x-forwarded-for': '203.0.113.7, 198.51.100.1' }, there)).status).toBe(403)
    expect((await ask({ 'x-forwarded-for': 'unknown' }, there)).status).toBe(403)
  })
  test('is refused where nobody knows whence it came', () => {
    expect(() => requireAddress({ ips: ['0.0.0.0/0'] }, undefined)).toThrow('an unknown address')
  })
  test('takes what is changed at once', async () => {
    await trust(false)
    const { id, secret } = await gateway.issue({ label: 'moving', ips: ['203.0.113.7'] })
    const { keys } = gateway.server.gateway.store
    expect((await ask({}, secret)).status).toBe(403)
    await keys.update(id, { ips: ['127.0.0.1'] }, SYSTEM)
    expect((await ask({}, secret)).status).toBe(200)
    await keys.update(id, { ips: ['203.0.113.7'] }, SYSTEM)
    expect((await ask({}, secret)).status).toBe(403)
    await keys.update(id, { ips: null }, SYSTEM)
    expect((await ask({}, secret)).status).toBe(200)
  })
  test.each([
    ['none', []],
    ['too long a prefix', ['10.0.0.0/33']],
    ['a name', ['nowhere']],
    ['too many', Array<string>(101).fill('10.0.0.1')],
  ])('cannot be for %s', async (_, ips) => {
    await expect(gateway.issue({ ips })).rejects.toThrow(/^ips: /)
  })
})
