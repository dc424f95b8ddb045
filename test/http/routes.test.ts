// Every route that the framework was given, whoever added it: what is not of the admin API's table, and not named here as open
// to anyone, asks for a client's key, and for nothing else that would open another door.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ADMIN_BASE, ROUTES } from '../../src/admin-api/routes.ts'
import { createApp } from '../../src/app.ts'
import type { Side } from '../../src/http/endpoints.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Desk, startDesk } from './admin/support.ts'

/** What says nothing that is not in the manual, or answers for itself. */
const OPEN: Record<string, string> = {
  'GET /': 'leads to the pages',
  'GET /v1': 'the list of endpoints',
  'GET /v1/v1': 'the list of endpoints',
  'GET /healthz': 'a probe',
  'GET /health': 'a probe',
  'GET /readyz': 'a probe',
  'GET /docs': 'the manual',
  'GET /docs/*': 'the manual',
  'GET /docs/openapi.json': 'the manual',
  'GET /docs/guides.json': 'the manual',
  'GET /docs/assets/:name': 'the files of the pages',
  'GET /dashboard': 'the files of the pages, which ask the admin API',
  'GET /dashboard/*': 'the files of the pages, which ask the admin API',
  'GET /dashboard/assets/:name': 'the files of the pages',
  'GET /usage': 'the files of the page, which asks with the key that is typed in',
  'GET /metrics': 'for its own token, or this machine',
  'ALL /*': 'what is nowhere else',
}

let plain: TestGateway
beforeAll(async () => {
  plain = await startGateway({})
})
afterAll(() => plain.stop())

const routesOf = (side: Side): string[] =>
  createApp(plain.server.gateway, side).routes.map(({ method, path }) => `${method} ${path}`)

test('those of the admin API are its table, whole, and nothing beside it', () => {
  const there = routesOf('operators').filter((route) => route.includes(ADMIN_BASE))
  const table = Object.values(ROUTES).map(({ method, path }) => `${method} ${ADMIN_BASE}${path}`)
  expect(there.toSorted()).toEqual([...table, `ALL ${ADMIN_BASE}/*`].toSorted())
})

test('where clients are served apart, none is an operator’s', () => {
  expect(routesOf('clients').filter((route) => /\/admin\b|\/metrics|\/dashboard/.test(route))).toEqual([])
})

test('what is open to anyone is there', () => {
  const there = new Set((['operators', 'clients'] as const).flatMap(routesOf))
  expect(Object.keys(OPEN).filter((route) => !there.has(route))).toEqual([])
})

describe('asks for a key', () => {
  let desk: Desk
  let token: string
  beforeAll(async () => {
    desk = await startDesk()
    token = (await desk.server.gateway.membership.issueToken('ci', undefined, desk.admin.member)).secret
  })
  afterAll(() => desk.stop())

  test('every other', async () => {
    const keyed = routesOf('operators').filter((route) => !route.includes(ADMIN_BASE) && !Object.hasOwn(OPEN, route))
    expect(keyed.length).toBeGreaterThan(40)
    const { id, secret } = await desk.issue()
    await desk.server.gateway.store.keys.revoke(id, { kind: 'system', id: 'test' })
    const callers: [string, Record<string, string>, string][] = [
      ['nobody', {}, 'missing_api_key'],
      ['an admin’s session', desk.admin.headers, 'missing_api_key'],
      ['an admin token', { authorization: `Bearer ${token}` }, 'invalid_api_key'],
      [
        'a session’s secret as a key',
        { 'x-api-key': desk.admin.headers.cookie?.split('=')[1] ?? '' },
        'invalid_api_key',
      ],
      ['a key that was revoked', { 'x-api-key': secret }, 'invalid_api_key'],
    ]
    const wrong: string[] = []
    for (const route of keyed) {
      const [method = '', path = ''] = route.split(' ')
      const url = desk.url + path.replace(/:\w+|\*/, 'some')
      for (const [name, headers, code] of callers) {
        const body = method === 'POST' ? { body: '{"model":"vendorB-5.5","input":"hi"}' } : {}
        const all = { 'content-type': 'application/json', origin: desk.url, ...headers }
        const response = await fetch(url, { method, headers: all, ...body })
        const said = `${response.status} ${response.headers.get('x-gateway-error-code')}`
        await response.body?.cancel()
        // A method that is not served says so to anyone.
        if (said !== `401 ${code}` && said !== '405 method_not_allowed') wrong.push(`${route}, ${name}: ${said}`)
      }
    }
    expect(wrong).toEqual([])
  })
})
