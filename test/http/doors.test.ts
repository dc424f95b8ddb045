// Where operators are served and where they are not, what every answer carries, and which hosts a request may name.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMIN_BASE, ROUTES, type RouteName } from '../../src/admin-api/routes.ts'
import { loadConfig } from '../../src/config.ts'
import { type Server, startServer } from '../../src/server/serve.ts'
import { connect } from '../chaos/support/socket.ts'
import { freePort } from '../support/free-port.ts'
import { SYSTEM } from '../support/gateway.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { silentLog } from '../support/silent-log.ts'
import { stopAfterAll } from '../support/stopping.ts'
import { PASSWORD } from './admin/support.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const ROUTE_PATHS = [...new Set(Object.values(ROUTES).map(({ path }) => ADMIN_BASE + path.replace(':id', 'some')))]
const PAGES = ['/dashboard', '/dashboard/', '/dashboard/setup', '/dashboard/keys', '/dashboard/assets/main.js']
/** The same place in other spellings. */
const SPELLINGS = ['//admin/api/session', '/admin//api/session', '/%61dmin/api/session', '/ADMIN/api/session']
const TRICKS = ['/v1/../admin/api/session', '/admin/api/session/', '/admin/api/session;x']

type Apart = {
  server: Server
  lines: string[]
  secret: string
  cookie: string
  token: string
  reload(file: object): ReturnType<Server['reload']>
  stop(): Promise<void>
}

const start = async (file: object): Promise<Apart> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-doors-'))
  const write = (content: object): void =>
    writeFileSync(
      join(directory, 'sluice.yaml'),
      JSON.stringify({ listen: { port: 0 }, drain: '1s', metrics: { enabled: true }, ...content }),
    )
  const read = () => {
    const loaded = loadConfig({ env: {}, cwd: directory })
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
    return loaded.config
  }
  write(file)
  const lines: string[] = []
  const server = await startServer(read(), { err: (line) => lines.push(line) }, { log: silentLog })
  const { store, membership } = server.gateway
  const setup = lines.flatMap((line) => /setup#(\w+)$/.exec(line)?.[1] ?? [])[0] ?? ''
  const { member: admin } = await membership.setUp(setup, 'Ada', PASSWORD, undefined)
  const input = { label: 'door', tokensTotal: 1_000_000, expiresAt: Date.now() + 86_400_000, models: ['*'] }
  return {
    server,
    lines,
    secret: (await store.keys.issue(input, SYSTEM)).secret,
    cookie: `sluice_session=${(await membership.openSession(admin)).secret}`,
    token: (await membership.issueToken('door', undefined, admin)).secret,
    reload: (content) => {
      write(content)
      return server.reload(read())
    },
    stop: async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const providersAt = (origin: string) => ({
  providers: {
    vendor_b: { accounts: [{ name: 'main', base_url: `${origin}/v1`, credential: 'secret' }] },
  },
})
const ANSWER = {
  ...{ id: 'r', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}
const ASKED = { model: 'vendorB-5.5', messages: [{ role: 'user', content: 'hi' }] }

/** What a raw request with these headers, one line each, is answered. */
const raw = async (url: string, line: string, headers: string[]): Promise<string> => {
  const client = connect(url)
  client.write(`${[line, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  return client.closed
}
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])

/** Every caller there is. */
const callers = ({ cookie, token, secret }: Apart, origin: string): Record<string, Record<string, string>> => ({
  nobody: {},
  'an admin': { cookie, origin },
  'an admin token': { authorization: `Bearer ${token}` },
  'a key': { authorization: `Bearer ${secret}` },
})

/** As if it did not exist: what an unknown path is answered, to the letter. */
const expectNothing = async (url: string, path: string, init: RequestInit): Promise<void> => {
  const [found, unknown] = await Promise.all([fetch(url + path, init), fetch(`${url}/nothing/here`, init)])
  const told = async (response: Response) => ({
    status: response.status,
    code: response.headers.get('x-gateway-error-code'),
    text: (await response.text()).replace(/There is no \S+ here/, 'There is nothing here'),
    names: [...response.headers.keys()].sort(),
  })
  expect(await told(found)).toEqual(await told(unknown))
  expect([found.status, found.headers.get('x-gateway-error-code')]).toEqual([404, 'not_found'])
}

let provider: Scripted
beforeAll(async () => {
  provider = await startScripted(() => json(ANSWER))
})
afterAll(() => provider.stop())

describe('with an address of their own', () => {
  let apart: Apart
  let clients: string
  let operators: string
  beforeAll(async () => {
    apart = await start({ admin: { listen: '127.0.0.1:0' }, ...providersAt(provider.origin) })
    clients = apart.server.url
    operators = apart.server.adminUrl
  })
  stopAfterAll(() => [apart])

  test('both addresses are printed, and the setup link is the operators’', () => {
    expect(operators).not.toBe(clients)
    expect(apart.lines.map((line) => line.replace(/#\w+$/, ''))).toEqual([
      `API        ${clients}/v1`,
      `Dashboard  ${operators}/dashboard`,
      `Setup      ${operators}/dashboard/setup`,
    ])
  })
  describe.each(['nobody', 'an admin', 'an admin token', 'a key'])('for %s', (caller) => {
    test.each([...ROUTE_PATHS, ...PAGES, ...SPELLINGS, ...TRICKS, '/metrics'])(
      '%s does not exist at the clients’, whatever the method',
      async (path) => {
        const headers = callers(apart, clients)[caller] ?? {}
        for (const method of METHODS) await expectNothing(clients, path, { method, headers })
      },
    )
  })
  test('nothing of it is changed through a body either', async () => {
    const headers = { cookie: apart.cookie, origin: clients, 'content-type': 'application/json' }
    const body = JSON.stringify({ label: 'made at the wrong door' })
    await expectNothing(clients, `${ADMIN_BASE}/keys`, { method: 'POST', headers, body })
    expect(apart.server.gateway.store.keys.list().map(({ label }) => label)).toEqual(['door'])
  })
  test('all of it is at the operators’, to whom it belongs', async () => {
    const names = Object.keys(ROUTES) as RouteName[]
    for (const name of names.filter((each) => ROUTES[each].method === 'GET' && each !== 'live')) {
      const url = operators + ADMIN_BASE + ROUTES[name].path
      const by = async (caller: string) =>
        (await fetch(url, { headers: callers(apart, operators)[caller] ?? {} })).status
      expect([name, await by('nobody')]).toEqual([name, ROUTES[name].access === 'anyone' ? 200 : 401])
      // Some want an id or a query that is not given here.
      expect([200, 400, 404]).toContain(await by('an admin'))
    }
    expect((await fetch(`${operators}/dashboard`)).status).toBe(200)
    expect((await fetch(`${operators}/metrics`)).status).toBe(200)
  })
  test('a change comes from the operators’ own page: another’s, the clients’ address among them, is refused', async () => {
    const post = (origin: string | undefined) =>
      fetch(`${operators}${ADMIN_BASE}/keys`, {
        method: 'POST',
        headers: { cookie: apart.cookie, ...(origin === undefined ? {} : { origin }) },
        body: JSON.stringify({ label: 'theirs' }),
      })
    for (const origin of [undefined, clients, 'null', 'https://evil.example', operators.replace('http:', 'ftp:')]) {
      const refused = await post(origin)
      expect([origin, refused.status]).toEqual([origin, 403])
    }
    expect((await post(operators)).status).toBe(200)
  })
  test('signing in there opens a session there', async () => {
    const signedIn = await fetch(`${operators}${ADMIN_BASE}/session`, {
      method: 'POST',
      headers: { origin: operators },
      body: JSON.stringify({ name: 'Ada', password: PASSWORD }),
    })
    expect(signedIn.status).toBe(200)
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    expect((await fetch(`${operators}${ADMIN_BASE}/keys`, { headers: { cookie } })).status).toBe(200)
    await expectNothing(clients, `${ADMIN_BASE}/keys`, { headers: { cookie } })
  })
  test('the client API is at both, and so are the probes', async () => {
    for (const url of [clients, operators]) {
      for (const path of ['/v1', '/healthz', '/health', '/readyz'])
        expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apart.secret}` },
        body: JSON.stringify(ASKED),
      })
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"hi"')])
    }
  })
  test.each(['/docs', '/docs/guides/codex', '/usage'])(
    '%s is shown at the clients’, with all that it loads',
    async (path) => {
      const html = await (await fetch(clients + path)).text()
      expect(html).toContain('<div id="page"></div>')
      expect(html).not.toContain('/dashboard')
      const assets = Array.from(html.matchAll(/(?:src|href)="([^"]+)"/g), ([, asset = '']) => asset)
      expect(assets.length).toBeGreaterThan(3)
      for (const asset of assets) expect([asset, (await fetch(clients + asset)).status]).toEqual([asset, 200])
    },
  )
  test('a browser that asks for the clients’ address alone is led to the guides', async () => {
    const headers = { accept: 'text/html' }
    const led = await fetch(clients, { headers, redirect: 'manual' })
    expect([led.status, led.headers.get('location')]).toEqual([302, '/docs'])
    expect(await (await fetch(clients)).text()).not.toContain('dashboard')
  })
  test('the dashboard’s commands name the clients’ address', async () => {
    const shown = async (url: string) =>
      /<meta name="api" content="([^"]*)">/.exec(await (await fetch(`${url}/docs`)).text())?.[1]
    expect([await shown(operators), await shown(clients)]).toEqual([clients, undefined])
    await apart.reload({ admin: { listen: '127.0.0.1:0', api: 'https://llm.example/x&y/v1/' } })
    expect(await shown(operators)).toBe('https://llm.example/x&amp;y')
  })
  test('a changed address needs a restart, and says so', async () => {
    const { refused } = await apart.reload({ admin: { listen: '127.0.0.1:1' } })
    expect(refused).toEqual(['admin.listen'])
    expect((await fetch(`${operators}/dashboard`)).status).toBe(200)
  })
})

test('an address that cannot be had is told with its setting, and the other one is free again', async () => {
  const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const port = freePort()
  const starting = start({ listen: { port }, admin: { listen: `127.0.0.1:${taken.port}` } })
  await expect(starting).rejects.toThrow(`Port ${taken.port} of 127.0.0.1 is in use`)
  await expect(starting).rejects.toThrow('choose another with admin.listen')
  const again = Bun.serve({ port, hostname: '127.0.0.1', fetch: () => new Response() })
  await Promise.all([again.stop(true), taken.stop(true)])
})

describe('by their host', () => {
  let apart: Apart
  let url: string
  const ask = (path: string, headers: string[], line = `GET ${path} HTTP/1.1`) => raw(url, line, headers)
  beforeAll(async () => {
    apart = await start({ admin: { hosts: ['Admin.Example', 'exact.example:8443', '[::1]'] } })
    url = apart.server.url
  })
  stopAfterAll(() => [apart])

  const INSIDE = ['admin.example', 'ADMIN.example', 'admin.example:8080', 'exact.example:8443', '[::1]', '[::1]:80']
  const OUTSIDE = [
    ...['gateway.example', 'exact.example', 'exact.example:80', 'admin.example.', 'admin.example:', 'admin.example:x'],
    ...['admin.example@evil', 'admin.example/dashboard', 'evil/admin.example', 'xadmin.example', '127.0.0.1', ''],
  ]
  const PATHS = ['/dashboard', '/dashboard/assets/x.js', `${ADMIN_BASE}/session`, `${ADMIN_BASE}/keys`, '/metrics']

  test.each(INSIDE)('"%s" is shown what is there', async (host) => {
    expect(statusOf(await ask('/dashboard', [`Host: ${host}`]))).toBe(200)
    expect(statusOf(await ask(`${ADMIN_BASE}/session`, [`Host: ${host}`]))).toBe(200)
    expect(statusOf(await ask(`${ADMIN_BASE}/keys`, [`Host: ${host}`, `Cookie: ${apart.cookie}`]))).toBe(200)
    expect(statusOf(await ask('/v1', [`Host: ${host}`]))).toBe(200)
  })
  test.each(OUTSIDE)('"%s" is shown nothing of it, and the client API', async (host) => {
    for (const path of PATHS) {
      const answer = await ask(path, [`Host: ${host}`, `Cookie: ${apart.cookie}`])
      expect([path, statusOf(answer)]).toEqual([path, 404])
      expect(answer).toContain('x-gateway-error-code: not_found')
    }
    expect(statusOf(await ask('/v1', [`Host: ${host}`]))).toBe(200)
  })
  test.each([
    ['no host at all', 'GET /dashboard HTTP/1.0', []],
    ['its host in the first line', 'GET http://admin.example/dashboard HTTP/1.1', ['Host: gateway.example']],
    ['its host in a forwarded header', 'GET /dashboard HTTP/1.1', ['Host: g', 'X-Forwarded-Host: admin.example']],
    [
      'its host in another header',
      'GET /dashboard HTTP/1.1',
      ['Host: g', 'X-Host: admin.example', 'Forwarded: host=admin.example'],
    ],
  ])('%s is shown nothing of it, proxies trusted or not', async (_, line, headers) => {
    for (const trust_proxy of [true, false]) {
      await apart.server.gateway.settings.change({ trust_proxy }, SYSTEM)
      expect(statusOf(await raw(url, line, headers))).toBe(404)
    }
  })
  test('the link that is printed is under a name that is answered', () => {
    const { port } = new URL(url)
    expect(apart.lines).toContain(`Dashboard  http://admin.example:${port}/dashboard`)
    expect(apart.lines[0]).toBe(`API        ${url}/v1`)
  })
  test('other names take effect with the configuration that is read again', async () => {
    const { changed, refused } = await apart.reload({ admin: { hosts: ['127.0.0.1'] } })
    expect([changed, refused]).toEqual([['admin.hosts'], []])
    expect((await fetch(`${url}/dashboard`)).status).toBe(200)
    expect(statusOf(await ask('/dashboard', ['Host: admin.example']))).toBe(404)
  })
})

describe('every answer', () => {
  let apart: Apart
  beforeAll(async () => {
    apart = await start(providersAt(provider.origin))
  })
  stopAfterAll(() => [apart])
  const trust = (trust_proxy: boolean) => apart.server.gateway.settings.change({ trust_proxy }, SYSTEM)
  const PLACES: [string, RequestInit][] = [
    ...['/', '/v1', '/v1/models', '/v1/usage', '/healthz', '/readyz', '/metrics', '/docs', '/docs/openapi.json'].map(
      (path): [string, RequestInit] => [path, {}],
    ),
    ...[
      '/usage',
      '/dashboard',
      `${ADMIN_BASE}/session`,
      `${ADMIN_BASE}/keys`,
      '/nothing',
      '/dashboard/assets/none',
    ].map((path): [string, RequestInit] => [path, {}]),
    ['/v1/chat/completions', { method: 'GET' }],
    ['/v1/messages', { method: 'POST', body: '{' }],
    ['/v1/responses', { headers: { upgrade: 'websocket', connection: 'upgrade' } }],
    ['/v1/images/generations', { method: 'OPTIONS' }],
  ]

  test.each(PLACES)('at %s is of the type it says', async (path, init) => {
    for (const authorization of ['Bearer wrong', `Bearer ${apart.secret}`]) {
      const { headers } = await fetch(apart.server.url + path, { ...init, headers: { authorization, ...init.headers } })
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
  })
  test.each(PLACES)('at %s keeps to https what came by https, by a trusted word only', async (path, init) => {
    const hsts = async (proto: string | undefined) => {
      const headers = { ...init.headers, ...(proto === undefined ? {} : { 'x-forwarded-proto': proto }) }
      return (await fetch(apart.server.url + path, { ...init, headers })).headers.get('strict-transport-security')
    }
    await trust(true)
    expect([await hsts('https'), await hsts('https, http')]).toEqual(['max-age=31536000', 'max-age=31536000'])
    expect([await hsts('http'), await hsts('http, https'), await hsts(undefined)]).toEqual([null, null, null])
    await trust(false)
    expect(await hsts('https')).toBeNull()
  })
  test('an exchange’s too, whole and streamed', async () => {
    const body = JSON.stringify(ASKED)
    const headers = { authorization: `Bearer ${apart.secret}` }
    const whole = await fetch(`${apart.server.url}/v1/chat/completions`, { method: 'POST', headers, body })
    expect([whole.status, whole.headers.get('x-content-type-options')]).toEqual([200, 'nosniff'])
    const live = await fetch(`${apart.server.url}${ADMIN_BASE}/live`, { headers: { cookie: apart.cookie } })
    expect([live.status, live.headers.get('x-content-type-options')]).toEqual([200, 'nosniff'])
    await live.body?.cancel()
  })

  const TWO = [
    ['two hosts', ['Host: a.example', 'Host: b.example']],
    ['the same host twice', ['Host: a.example', 'host: a.example']],
    ['an empty one and another', ['Host:', 'Host: a.example']],
    ['two in one', ['Host: a.example, b.example']],
  ] as const
  test.each(
    TWO.flatMap(([name, headers]) =>
      ['/v1', '/v1/messages', '/healthz', '/dashboard', `${ADMIN_BASE}/session`, '/nothing'].map(
        (path): [string, string, string[]] => [name, path, [...headers]],
      ),
    ),
  )('to %s at %s is a refusal', async (_, path, headers) => {
    const answer = await raw(apart.server.url, `GET ${path} HTTP/1.1`, headers)
    expect(statusOf(answer)).toBe(400)
    expect(answer).toContain('x-gateway-error-code: invalid_request')
    expect(answer.includes('"type":"error"')).toBe(path === '/v1/messages')
  })
  test('to none is a refusal, but for what is older than the header', async () => {
    expect(statusOf(await raw(apart.server.url, 'GET /v1 HTTP/1.1', []))).toBe(400)
    expect(statusOf(await raw(apart.server.url, 'GET /healthz HTTP/1.0', []))).toBe(200)
  })
})
