// The command line on a running server: the same words, the same output, the same exit codes as on its data directory.

import { Database } from 'bun:sqlite'
import { afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { databasePath } from '../../src/config.ts'
import { startHook, webhook } from '../alerts/support.ts'
import { type Desk, startDesk } from '../http/admin/support.ts'
import { freePort } from '../support/free-port.ts'
import { MESSAGE } from '../support/provider/message.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { SELF_SIGNED } from '../support/self-signed.ts'
import { stopAfterAll } from '../support/stopping.ts'
import { openTerminal, type Said, type Terminal } from './terminal.ts'

const DAY_MS = 86_400_000
const hello = { model: 'auto', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

let desk: Desk
let provider: Scripted
let token: string
let status = 200
let terminal: Terminal
beforeAll(async () => {
  provider = await startScripted(() =>
    json(
      {
        ...MESSAGE,
        ...{ content: [{ type: 'text', text: 'hi' }], usage: { input_tokens: 1_000, output_tokens: 200 } },
      },
      status,
    ),
  )
  desk = await startDesk({ vendorA: provider.origin })
  token = (await desk.call('tokens.create', desk.admin, { label: 'terminal' })).secret
})
stopAfterAll(() => [desk, provider])
beforeEach(() => {
  status = 200
  terminal = openTerminal()
  terminal.clock.now = Date.now()
})
afterEach(() => terminal.close())

const local = (...words: string[]): Promise<Said> => terminal.type(...words, '--data', desk.config.dataDir)
const remote = (...words: string[]): Promise<Said> => terminal.type(...words, '--server', desk.url, '--token', token)
const WAYS = [
  ['the data directory', local],
  ['the server', remote],
] as const

const ask = async (secret: string): Promise<void> => {
  await (await desk.post('/v1/messages', hello, { 'x-api-key': secret })).text()
  await desk.idle()
}

const made = async (...words: string[]) => {
  const { code, out, err } = await remote('keys', 'create', '--label', 'alice', ...words, '--json')
  expect({ code, err }).toMatchObject({ code: 0 })
  return JSON.parse(out)
}

test('members are listed from either side alike', async () => {
  const [here, there] = await Promise.all(WAYS.map(([, type]) => type('members', 'list', '--json')))
  expect(JSON.parse(there?.out ?? '')).toEqual(JSON.parse(here?.out ?? '-'))
})

describe('the same words', () => {
  test('make the same key, and the server’s audit names the token', async () => {
    const words = ['--tokens', '5000', '--expires', '2030-01-31', '--models', 'auto,vendorB-*', '--rpm', '60']
    const keys = await Promise.all(
      WAYS.map(async ([, type]) =>
        JSON.parse((await type('keys', 'create', '--label', ' bob ', ...words, '--json')).out),
      ),
    )
    const [here, there] = keys
    const { id, key, last_four, created_at } = there
    expect(there).toEqual({ ...here, id, key, last_four, created_at })
    expect(last_four).toBe(key.slice(-4))
    expect(Object.keys(there)).toEqual(Object.keys(here))
    expect(there.models).toEqual(['vendorA-opus-4-8', 'vendorB-*'])
    expect((await desk.get('/v1/usage', { 'x-api-key': there.key })).status).toBe(200)
    const { items } = await desk.call('audit.list', desk.admin, { target: there.id })
    expect(items.map(({ actor, action }) => [actor.kind, actor.name, action])).toEqual([
      ['token', 'terminal', 'key.issue'],
    ])
  })

  test('change the same key in the same way', async () => {
    for (const [, type] of WAYS) {
      const { id } = await made('--tokens', '100', '--tpm', '5', '--models', 'auto')
      const words = [
        '--label=new',
        '--add-tokens',
        '50',
        '--models',
        'vendorB-4o',
        '--rpm',
        '0',
        '--expires',
        '2031-05-01',
      ]
      const changed = await type('keys', 'update', id, ...words, '--json')
      expect(JSON.parse(changed.out)).toMatchObject({
        ...{ id, label: 'new', tokens_total: 150, models: ['vendorB-4o'], rpm: 0, tpm: 5 },
        expires_at: '2031-05-02T00:00:00.000Z',
      })
    }
    for (const [, type] of WAYS) {
      const { id } = await made('--rpm', '7', '--tpm', '5')
      const back = await type('keys', 'update', id, '--rpm', 'default', '--concurrency', '2', '--json')
      expect(JSON.parse(back.out)).toMatchObject({ rpm: null, tpm: 5, concurrency: 2 })
    }
    for (const [, type] of WAYS) {
      const { id, server_tools } = await made('--server-tools', 'web_search_20250305, code_interpreter,web_search')
      expect(server_tools).toEqual(['web_search', 'code_execution'])
      for (const word of ['none', 'all'])
        expect(JSON.parse((await type('keys', 'update', id, '--server-tools', word, '--json')).out)).toMatchObject({
          server_tools: word,
        })
    }
    for (const [, type] of WAYS) {
      const { id, key } = await made('--tokens', '10000')
      await ask(key)
      expect(JSON.parse((await type('keys', 'show', id, '--json')).out)).toMatchObject({ tokens_used: 1_200 })
      expect(JSON.parse((await type('keys', 'update', id, '--reset-usage', '--json')).out)).toMatchObject({
        ...{ tokens_used: 0, tokens_remaining: 10_000 },
      })
    }
  })

  test('rotate, with and without grace, and revoke', async () => {
    const { id, key } = await made()
    const first = JSON.parse((await remote('keys', 'rotate', id, '--grace', '1h', '--json')).out)
    const opens = async (secret: string) => (await desk.get('/v1/usage', { 'x-api-key': secret })).status
    expect([await opens(first.key), await opens(key)]).toEqual([200, 200])
    const second = JSON.parse((await remote('keys', 'rotate', id, '--json')).out)
    expect([await opens(second.key), await opens(first.key)]).toEqual([200, 401])
    expect(JSON.parse((await remote('keys', 'revoke', id, '--json')).out)).toMatchObject({ id, status: 'revoked' })
    expect(await opens(second.key)).toBe(401)
  })

  test('show what is there alike: keys, usage, models, in both forms', async () => {
    const { id, key } = await made()
    for (const answered of [200, 400]) {
      status = answered
      await ask(key)
    }
    // What the data directory was changed by beside the server.
    await desk.server.gateway.store.refresh()
    const since = new Date(Date.now() - 2 * DAY_MS).toISOString()
    for (const words of [
      ['keys', 'list'],
      ['keys', 'show', id],
      ['usage'],
      ['usage', '--by', 'key'],
      ...['member', 'team', 'account', 'provider', 'tag'].map((by) => ['usage', '--by', by]),
      ['usage', '--by', 'day', '--since', since],
      ['usage', '--until', since],
      ['usage', '--key', id],
    ]) {
      for (const form of [[], ['--json']]) {
        const [here, there] = [await local(...words, ...form), await remote(...words, ...form)]
        expect(there).toEqual(here)
        expect(there).toMatchObject({ code: 0, err: '' })
      }
    }
    const csv = ['usage', '--by', 'key', '--csv'] as const
    expect(await remote(...csv)).toEqual(await local(...csv))
    expect(JSON.parse((await remote('usage', '--key', id, '--json')).out).total).toMatchObject({
      ...{ requests: 2, errors: 1, input: 1_000, output: 200, usd: 0.01 },
    })
    for (const form of [[], ['--json']]) {
      expect(await terminal.type('models', ...form, '--server', desk.url, '--token', token)).toEqual(
        await terminal.type('models', ...form),
      )
    }
  })

  test('a rate that was set on the dashboard holds on the data directory too', async () => {
    await desk.call('settings.put', desk.admin, { khr_per_usd: 4000 })
    for (const [, type] of WAYS)
      expect(JSON.parse((await type('usage', '--json')).out)).toMatchObject({ khr_per_usd: 4000 })
    await desk.call('settings.put', desk.admin, { khr_per_usd: null })
  })

  test('what new keys get was set on the dashboard, and what is named stands over it', async () => {
    const key_defaults = { tokens_total: 42, expires_days: 2, models: ['vendorB-4o'] }
    await desk.call('settings.put', desk.admin, { key_defaults })
    for (const [, type] of WAYS) {
      const usual = JSON.parse((await type('keys', 'create', '--label', 'usual', '--json')).out)
      expect(usual).toMatchObject({ tokens_total: 42, models: ['vendorB-4o'] })
      expect((Date.parse(usual.expires_at) - Date.parse(usual.created_at)) / 86_400_000).toBeCloseTo(2, 1)
      const own = await type('keys', 'create', '--label', 'own', '--tokens', '7', '--models', '*', '--json')
      expect(JSON.parse(own.out)).toMatchObject({ tokens_total: 7, models: ['*'] })
    }
    await desk.call('settings.put', desk.admin, { key_defaults: null })
  })

  test('list more keys than one answer holds, oldest first', async () => {
    await desk.server.gateway.store.refresh()
    for (let i = 0; i < 210; i++) await desk.issue({ label: `many ${i}` })
    const [here, there] = [await local('keys', 'list', '--json'), await remote('keys', 'list', '--json')]
    expect(JSON.parse(there.out).length).toBeGreaterThan(210)
    expect(JSON.parse(there.out).map(({ id }: { id: string }) => id)).toEqual(
      JSON.parse(here.out).map(({ id }: { id: string }) => id),
    )
  })

  test.each([
    [1, ['keys', 'show', 'key_none'], 'There is no key "key_none"'],
    [1, ['keys', 'update', 'key_none', '--tokens', '1'], 'There is no key "key_none"'],
    [1, ['keys', 'revoke', 'key_none'], 'There is no key "key_none"'],
    [1, ['keys', 'rotate', 'key_none'], 'There is no key "key_none"'],
    [1, ['usage', '--key', 'key_none'], 'There is no key "key_none"'],
    [1, ['keys', 'rotate', 'REVOKED'], 'is revoked'],
    [1, ['keys', 'update', 'REVOKED', '--tokens', '1'], 'is revoked'],
    [2, ['keys', 'create', '--label', 'x', '--models', 'no-such-model'], 'no-such-model'],
    [2, ['keys', 'create', '--label', 'x', '--models', 'gpt-*'], 'gpt-*'],
    [2, ['keys', 'create', '--label', 'x', '--rpm', 'many'], '--rpm: found "many"'],
    [2, ['usage', '--by', 'hour'], '--by: found "hour"'],
  ])('fail with the same code, %d: %j', async (code, words, sentence) => {
    const { id } = await made()
    await remote('keys', 'revoke', id)
    for (const [, type] of WAYS) {
      const said = await type(...words.map((word) => (word === 'REVOKED' ? id : word)))
      expect({ ...said }).toMatchObject({ code, out: '', err: expect.stringContaining(sentence) })
      expect(said.err).not.toContain('fault of sluice')
      expect(said.err.split('\n')).toHaveLength(1)
    }
  })

  test('a label that was given while all were taken cannot write to the terminal', async () => {
    const label = 'a\u001b]0;owned\u0007\u202eb'
    const { key } = await desk.call('keys.create', desk.admin, { label: 'early' })
    const database = new Database(databasePath(desk.config))
    database.run('UPDATE keys SET label = ?, version = (SELECT max(version) + 1 FROM keys) WHERE id = ?', [
      label,
      key.id,
    ])
    database.close()
    await desk.server.gateway.store.refresh()
    for (const [, type] of WAYS) {
      for (const words of [
        ['keys', 'list'],
        ['keys', 'show', key.id],
      ]) {
        const { out } = await type(...words)
        expect(out).toContain('a\ufffd]0;owned\ufffd\ufffdb')
        expect(out).not.toContain('\u001b')
      }
      expect(JSON.parse((await type('keys', 'show', key.id, '--json')).out)).toMatchObject({ label })
    }
  })
})

describe('alerts', () => {
  test('are listed, and tested with an exit code for scripts', async () => {
    expect((await remote('alerts')).out).toContain('names nobody')
    const hook = startHook()
    desk.server.gateway.config.alerts.receivers = [webhook('pager', hook.url, { only: ['storage'] })]
    expect((await remote('alerts')).out).toMatch(/pager +json +127\.0\.0\.1:\d+ +storage +0 +-/)
    expect(await remote('alerts', 'test')).toMatchObject({ code: 0, out: 'pager: it took the test' })
    hook.behave(404)
    expect(await remote('alerts', 'test', 'pager')).toMatchObject({ code: 1, out: 'pager: it answers 404' })
    expect(await remote('alerts', 'test', 'other')).toMatchObject({
      code: 2,
      err: 'There is no receiver of that name; allowed: pager.',
    })
    await hook.stop()
    desk.server.gateway.config.alerts.receivers = []
  })

  test('are of a running server alone', async () => {
    const said = await terminal.type('alerts', 'test')
    expect(said).toMatchObject({ code: 2, err: expect.stringContaining('Only a running server sends alerts') })
  })
})

describe('accounts', () => {
  test('show what the server knows of their health', async () => {
    const healthy = await remote('accounts')
    expect(healthy.code).toBe(0)
    expect(healthy.out).toMatch(/vendor_a +main +healthy/)
    status = 500
    for (let i = 0; i < 5; i++) await ask(desk.secret)
    expect((await remote('accounts')).out).toMatch(/vendor_a +main +resting +vendorA-opus-4-8 resting/)
    const { items } = await desk.call('accounts.list', desk.admin)
    expect(JSON.parse((await remote('accounts', '--json')).out)).toEqual(items)
    expect((await remote('accounts', '--json')).out).not.toContain('secret-a')
  })
  test('without a server say where health is known', async () => {
    expect(await terminal.type('accounts')).toEqual({
      ...{ code: 2, out: '' },
      err: 'Only a running server knows the health of its accounts: give its address with --server (SLUICE_SERVER), and an admin token with --token (SLUICE_TOKEN).',
    })
  })
})

test('a change of which a part is refused adds no tokens, so that it can be made again', async () => {
  const { id } = await made('--tokens', '100')
  const { keys } = desk.server.gateway.store
  const { update } = keys
  const updating = spyOn(keys, 'update').mockImplementation((key, patch, actor) => {
    if (patch.tokensUsed !== undefined) throw new Error('no reset today')
    return update(key, patch, actor)
  })
  const change = ['keys', 'update', id, '--label', 'new', '--add-tokens', '50', '--reset-usage']
  expect((await remote(...change)).code).toBe(1)
  updating.mockRestore()
  expect((await remote(...change)).code).toBe(0)
  expect(JSON.parse((await remote('keys', 'show', id, '--json')).out)).toMatchObject({
    tokens_total: 150,
    label: 'new',
  })
})

test('a top-up with a name is made once', async () => {
  const { id } = await made('--tokens', '100')
  for (const _ of [1, 2]) {
    const { out } = await remote('keys', 'update', id, '--add-tokens', '50', '--once', 'invoice 7', '--json')
    expect(JSON.parse(out)).toMatchObject({ tokens_total: 150 })
  }
  const other = await remote('keys', 'update', id, '--add-tokens', '51', '--once', 'invoice 7')
  expect([other.code, other.err]).toEqual([2, expect.stringContaining('is of another change')])
})

describe('the server', () => {
  test('may be named by the environment; a flag that names this machine counts before it', async () => {
    terminal.env.SLUICE_SERVER = `${desk.url}/dashboard/`
    terminal.env.SLUICE_TOKEN = token
    const { id } = await made()
    expect((await terminal.type('keys', 'show', id)).code).toBe(0)
    expect((await terminal.type('accounts')).code).toBe(0)
    expect(await terminal.type('keys', 'show', id, '--data', terminal.cwd)).toMatchObject({
      ...{ code: 1, err: expect.stringContaining('There is no key') },
    })
    terminal.env.SLUICE_TOKEN = 'sl-admin-wrong'
    expect((await terminal.type('keys', 'show', id, '--token', token)).code).toBe(0)
  })

  test.each([
    [['--server', 'http://127.0.0.1:1', '--token', 't', '--data', 'x'], '--server and --data cannot be used together.'],
    [
      ['--server', 'http://127.0.0.1:1', '--token', 't', '--config', 'x'],
      '--server and --config cannot be used together.',
    ],
    [['--token', 't'], '--token needs --server'],
    [['--server', 'http://127.0.0.1:1'], '--token or SLUICE_TOKEN is needed'],
    [['--server', 'http://127.0.0.1:1', '--token', 'a b'], 'characters that no admin token has'],
    [['--server', 'localhost:8080', '--token', 't'], '--server must be the address of a gateway'],
    [['--server', 'ftp://x', '--token', 't'], '--server must be'],
    [['--server', 'http://ada:hunter2@x', '--token', 't'], '--server must be'],
  ])('%j ends with 2 and a sentence', async (words, sentence) => {
    const said = await terminal.type('keys', 'list', ...words)
    expect({ ...said }).toMatchObject({ code: 2, out: '', err: expect.stringContaining(sentence) })
    expect(said.err).not.toContain('hunter2')
  })

  test('that is not there, or refuses the token, is one sentence and 1', async () => {
    const revoked = await desk.call('tokens.create', desk.admin, { label: 'gone' })
    await desk.call('tokens.revoke', desk.admin, { id: revoked.token.id })
    for (const [url, secret, sentence] of [
      [`http://127.0.0.1:${freePort()}`, token, 'No gateway can be reached at'],
      [desk.url, revoked.secret, 'The server refuses the token'],
      [desk.url, desk.secret, 'The server refuses the token'],
    ] as const) {
      const said = await terminal.type('keys', 'list', '--server', url, '--token', secret)
      expect({ ...said }).toMatchObject({ code: 1, out: '', err: expect.stringContaining(sentence) })
      expect(said.err.split('\n')).toHaveLength(1)
      expect(said.err).not.toContain(secret)
    }
  })

  test('that would be reached past a proxy nobody speaks is not asked', async () => {
    const before = { ...process.env }
    try {
      for (const name of ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'no_proxy', 'NO_PROXY']) delete process.env[name]
      process.env.ALL_PROXY = 'socks5://user:word@127.0.0.1:1'
      const said = await terminal.type('keys', 'list', '--server', 'https://gateway.invalid', '--token', token)
      expect({ ...said }).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringContaining('ALL_PROXY names a proxy of the scheme socks5'),
      })
      expect(said.err).not.toContain('word@')
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
      Object.assign(process.env, before)
    }
  })

  test('whose admin API is elsewhere is told so, and at its dashboard’s address answers', async () => {
    const apart = await startDesk({ config: { adminListen: { host: '127.0.0.1', port: 0 } } })
    const { membership } = apart.server.gateway
    const { secret } = await membership.issueToken('there', undefined, apart.admin.member)
    const list = (url: string) => terminal.type('keys', 'list', '--json', '--server', url, '--token', secret)
    for (const url of [apart.url, `${apart.url}/v1`]) {
      expect(await list(url)).toMatchObject({
        ...{ code: 1, out: '', err: expect.stringContaining('has its admin API elsewhere') },
      })
    }
    expect((await list(apart.server.adminUrl)).code).toBe(0)
    expect((await list(`${apart.server.adminUrl}/dashboard`)).code).toBe(0)
    await apart.stop()
  })
  test('whose certificate nobody known has signed is one sentence and 1', async () => {
    const server = Bun.serve({ port: 0, tls: SELF_SIGNED, fetch: () => new Response() })
    try {
      const said = await terminal.type('keys', 'list', '--server', server.url.href, '--token', token)
      expect({ ...said }).toMatchObject({ code: 1, out: '', err: expect.stringContaining('NODE_EXTRA_CA_CERTS') })
      expect(said.err.split('\n')).toHaveLength(1)
    } finally {
      await server.stop(true)
    }
  })

  const other = (answer: (path: string) => Response) =>
    Bun.serve({ port: 0, fetch: ({ url }) => answer(new URL(url).pathname) })
  const missing = { error: { message: 'There is no such route of the admin API.', code: 'not_found' } }
  test.each([
    [
      'an older gateway',
      (path: string) =>
        path.endsWith('/session') ? Response.json({ version: '0.0.1' }) : Response.json(missing, { status: 404 }),
      'runs sluice 0.0.1',
    ],
    [
      'one that answers otherwise',
      (path: string) => Response.json(path.endsWith('/session') ? { version: '9.0.0' } : { keys: [] }),
      'runs sluice 9.0.0',
    ],
    ['no gateway', () => new Response('<html>', { status: 200 }), 'is no sluice gateway'],
    ['nothing of ours', () => new Response('no', { status: 404 }), '(404) is no sluice gateway'],
    ['a door to elsewhere', () => Response.redirect('https://elsewhere.example/'), 'sends callers elsewhere'],
    [
      'one in trouble',
      () => Response.json({ error: { code: 'service_unavailable', message: 'Wait\u001b[2J.' } }, { status: 503 }),
      'Wait\ufffd[2J.',
    ],
  ] as const)('that is %s is one sentence and 1', async (_, answer, sentence) => {
    const server = other(answer)
    try {
      const said = await terminal.type('keys', 'list', '--server', server.url.href, '--token', token)
      expect({ ...said }).toMatchObject({ code: 1, out: '', err: expect.stringContaining(sentence) })
      expect(said.err.split('\n')).toHaveLength(1)
    } finally {
      await server.stop(true)
    }
  })
})
