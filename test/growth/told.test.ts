// A gateway tells the same whichever database it has: every page's data and every command, over a file, and over PostgreSQL at
// two nodes in turn, to which the same file was moved; as they find it, and after the same changes.

import { describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { ADMIN_BASE, ROUTES, type RouteName } from '../../src/admin-api/routes.ts'
import type { Io } from '../../src/cli/io.ts'
import { COMMANDS as ALL, run } from '../../src/cli/run.ts'
import { calendarOf, UTC } from '../../src/lib/calendar.ts'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import { type Child, launch, PROGRAM } from '../binary/support/process.ts'
import { providersAt } from '../chaos/support/gateway.ts'
import { FROM, HOURS, record, some } from '../store/postgres/made.ts'
import { DAY, HOUR } from '../store/support.ts'
import { SYSTEM } from '../support/gateway.ts'
import { postgresMissing, testPostgres } from '../support/postgres.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { issue, letIn } from './fleet.ts'

const stopping = stopsAfterEach()

const ZONE = 'America/St_Johns'
const FILE = {
  ...{ listen: { port: 0 }, data: './data', time_zone: ZONE, drain: '1s', log: { level: 'error' } },
  retention: 0,
  providers: providersAt({ b: ['http://127.0.0.1:9'] }),
}
const EXCHANGES = 300
const SAME = { seed: 7, numRuns: EXCHANGES }

type Seed = { directory: string; token: string; ids: Record<string, string> }

/** People, keys and what they have used, by names that sort differently by their bytes, their letters and their age. */
const seed = async (): Promise<Seed> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-told-'))
  stopping({ stop: async () => rmSync(directory, { recursive: true, force: true }) })
  mkdirSync(join(directory, 'data'), { mode: 0o700 })
  writeFileSync(join(directory, 'sluice.yaml'), JSON.stringify(FILE))
  const path = join(directory, 'data', 'sluice.db')
  const made = fc.sample(some, SAME).map((one) => ({ ...one, outcome: one.outcome === 'open' ? 'done' : one.outcome }))
  const [first = '', , third = '', own = ''] = await record(path, ZONE, made as never)
  const store = openStore(path, { calendar: calendarOf(ZONE) ?? UTC })
  const { token } = await letIn(store)
  const teams: string[] = []
  for (const name of ['ünits', 'Zulu', 'alpha']) teams.push((await store.teams.add({ name }, SYSTEM)).id)
  for (const [i, name] of ['bob the second', 'Élodie', 'anna', 'Zoë'].entries())
    await store.members.add(
      { name, role: 'member', limits: DEFAULT_LIMITS, passwordHash: 'x', teamId: teams[i] ?? null },
      SYSTEM,
    )
  for (const label of ['b', 'B', 'a', 'ä', '_', 'Z', 'a%b', "it's", 'c'])
    await issue(store, {
      label,
      tokensTotal: 1_000,
      renews: label === 'a' ? 'month' : null,
      expiresAt: Date.now() + 9 * DAY,
    })
  await store.keys.update(
    first,
    { label: 'first', budget: { unit: 'usd', amount: 5_000_000, renews: 'month', warnAt: [80] } },
    SYSTEM,
  )
  await store.budgets.set('gateway', { unit: 'tokens', amount: 1e12, renews: undefined, warnAt: [] }, SYSTEM)
  await store.budgets.set(`team:${teams[0]}`, { unit: 'tokens', amount: 1e9, renews: 'week', warnAt: [50, 90] }, SYSTEM)
  await store.settings.write({ khr_per_usd: 4_100 }, SYSTEM)
  const entries = ['z', 'a', 'B', 'b'].map((name) => ({
    section: 'aliases' as const,
    name,
    next: () => ({ value: 'vendorB-5.5' }),
  }))
  await store.entries.change(entries, SYSTEM)
  const members = await store.members.list()
  const ann = members.find(({ name }) => name === 'Ann')?.id ?? ''
  await store.close()
  return { directory, token, ids: { first, third, own, ann, team: teams[0] ?? '' } }
}

/** A gateway, asked at its nodes in turn. */
type Form = {
  ask(path: string, init?: { method: string; body?: object }): Promise<{ status: number; text: string }>
  run(words: string[]): Promise<object>
}

const formOf = async (directory: string, token: string, env: Record<string, string>, nodes: number): Promise<Form> => {
  const children: Child[] = []
  const urls: string[] = []
  for (let i = 0; i < nodes; i++) {
    const child = launch(PROGRAM, ['serve'], directory, env)
    children.push(child)
    urls.push(await child.ready())
  }
  stopping({
    async stop() {
      for (const child of children) child.kill('SIGKILL')
      await Promise.all(children.map(({ exited }) => exited))
    },
  })
  let turn = 0
  return {
    async ask(path, { method = 'GET', body } = { method: 'GET' }) {
      const response = await fetch(`${urls[turn++ % nodes]}${ADMIN_BASE}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, text: await response.text() }
    },
    async run(words) {
      const [out, err]: string[][] = [[], []]
      const io: Io = {
        ...{ out: (text) => out?.push(text), err: (text) => err?.push(text) },
        ...{ env, cwd: directory, now: Date.now, onStop: () => () => undefined },
      }
      return { code: await run(words, io), out, err }
    },
  }
}

const at = (hour: number): string => new Date(FROM + hour * HOUR).toISOString()
const EVER = `since=${at(-24)}&until=${at(HOURS + 24)}`
const PART = `since=${at(9)}&until=${at(50)}`

/** What is asked of each route that tells something of what is kept. */
const READS: Partial<Record<RouteName, (ids: Record<string, string>) => string[]>> = {
  'members.list': () => [''],
  'members.sessions': () => [''],
  'teams.list': () => [''],
  'budgets.list': () => [''],
  'keys.list': () =>
    ['created_at', 'label', 'expires_at', 'tokens_used', 'tokens_remaining']
      .flatMap((sort) => ['asc', 'desc'].map((order) => `sort=${sort}&order=${order}`))
      .concat(
        'limit=3&offset=2',
        'search=THE%20',
        'search=%C3%A4',
        'search=a%25',
        'status=active',
        'status=revoked',
        'owner=none',
      ),
  'keys.get': ({ first = '' }) => [`/${first}`, '/key_none'],
  'keys.usage': ({ first = '', third = '' }) =>
    [first, third].flatMap((id) => ['day', 'hour'].map((step) => `/${id}/usage?${PART}&step=${step}`)),
  'usage.get': ({ first = '' }) =>
    ['none', 'model', 'key', 'member', 'team', 'account', 'provider', 'tag']
      .flatMap((by) => [
        `${EVER}&by=${by}`,
        `${PART}&by=${by}&most=cost&compare=true`,
        ...(by === 'tag' ? [] : [`${PART}&by=${by}&step=hour`]),
      ])
      .concat(`${EVER}&key=${first}`, `${EVER}&key=${first}&by=model`, `${EVER}&model=a`, 'by=model'),
  'usage.table': ({ first = '' }) =>
    ['model', 'key', 'member', 'team', 'account', 'provider', 'tag', 'day']
      .flatMap((by) => [`${EVER}&by=${by}`, `${PART}&by=${by}`, `by=${by}`])
      .concat(`by=day&key=${first}`, `${PART}&by=tag&key=${first}`),
  'exchanges.list': ({ first = '', third = '' }) => [
    '',
    'limit=200',
    'limit=7&before=120',
    'outcome=failed',
    'outcome=refused&limit=3',
    'outcome=aborted',
    'model=b',
    `key=${first}`,
    `key=${third}&outcome=done&limit=5`,
    PART,
    `${PART}&model=a&outcome=refused`,
  ],
  'exchanges.get': () => ['/x3', '/x17', '/x40', '/none'],
  'models.list': () => [''],
  'accounts.list': () => [''],
  'presets.list': () => [''],
  'entries.list': () => ['', 'section=aliases', 'section=models'],
  'clients.list': ({ first = '' }) => [`key=${first}&origin=http://127.0.0.1:1`],
  'alerts.list': () => [''],
  'audit.list': ({ first = '' }) => ['', 'limit=200', 'limit=3&before=9', `target=${first}`],
  'settings.get': () => [''],
  'tokens.list': () => [''],
}
/** Of one process, of who is signed in, or without an end. */
const UNTOLD = new Set<RouteName>(['session.get', 'sessions.list', 'live', 'state'])

/** As a shell would hand them over. Those that change something and those that tell what there is, in this order. */
const COMMANDS: string[][] = [
  ['keys', 'list'],
  ['keys', 'list', '--json'],
  ['keys', 'show', 'changed'],
  ['keys', 'show', 'nobody'],
  ['keys', 'show', 'a%b', '--json'],
  ...['model', 'key', 'member', 'team', 'account', 'provider', 'tag', 'day'].flatMap((by) => [
    ['usage', '--by', by],
    ['usage', '--by', by, '--csv', '--since', at(9), '--until', at(50)],
  ]),
  ['usage', '--key', 'changed', '--by', 'day', '--json'],
  ['models', '--json'],
  ['members', 'list'],
  ['members', 'budget', 'Ann'],
  ['teams', 'budget', 'alpha'],
  ['budget'],
  ['sessions', 'list'],
  [
    'keys',
    'create',
    '--label',
    'by hand',
    '--tokens',
    '500',
    '--budget',
    '5usd/month',
    '--expires',
    '2030-01-01',
    '--json',
  ],
  ['keys', 'update', 'by hand', '--add-tokens', '7', '--ips', '10.0.0.0/8', '--rpm', '3'],
  ['keys', 'rotate', 'by hand', '--grace', '1h', '--json'],
  ['keys', 'show', 'by hand', '--json'],
  ['keys', 'revoke', 'c'],
  ['keys', 'revoke', 'none'],
  ['teams', 'create', 'crafts', '--budget', '5Mtokens/day'],
  ['teams', 'create', 'CRAFTS'],
  ['teams', 'add', 'crafts', 'anna'],
  ['teams', 'list', '--json'],
  ['teams', 'leave', 'crafts', 'anna'],
  ['teams', 'budget', 'crafts', '--budget', 'none'],
  ['teams', 'remove', 'crafts'],
  ['members', 'budget', 'Ann', '--budget', '3usd'],
  ['members', 'remove', 'Bob'],
  ['members', 'invite', 'Nina', '--json'],
  ['members', 'list', '--json'],
  ['budget', '9usd/week'],
  ['config', 'set', 'aliases', 'mine', 'vendorB-5.5'],
  ['config', 'unset', 'aliases', 'z'],
  ['config', 'entries'],
  ['admin', 'reset-link', 'nodes'],
  ['sessions', 'end', '--member', 'anna'],
]
/** Those that concern a process, a file or a terminal, and not what is kept; `usage` and its like are above. */
const UNASKED = [
  ...[
    'serve',
    'demo',
    'connect',
    'models fetch',
    'models prices',
    'accounts',
    'alerts',
    'backup',
    'restore',
    'migrate',
  ],
  ...['config check', 'config schema', 'config init', 'health', 'reload', 'complete', 'version'],
]

type Step = { method: string; path: string; body?: object }
const changes = ({ first = '', own = '', ann = '', team = '' }: Record<string, string>): Step[] => [
  {
    method: 'POST',
    path: '/keys',
    body: {
      label: 'new',
      tokens_total: 50,
      rpm: 3,
      expires_at: '2030-01-01T00:00:00Z',
      models: ['vendorB-*'],
      budget: { usd: 3 },
    },
  },
  { method: 'POST', path: '/keys', body: { label: '' } },
  {
    method: 'PATCH',
    path: `/keys/${first}`,
    body: { label: 'changed', ips: ['10.0.0.0/8'], tpm: null, renews: 'week' },
  },
  { method: 'PATCH', path: '/keys/key_none', body: { label: 'x' } },
  { method: 'POST', path: `/keys/${first}/top-up`, body: { tokens: 99 } },
  { method: 'POST', path: `/keys/${first}/top-up`, body: { tokens: Number.MAX_SAFE_INTEGER } },
  { method: 'POST', path: `/keys/${first}/reset` },
  { method: 'POST', path: `/keys/${first}/rotate`, body: { grace_seconds: 60 } },
  { method: 'POST', path: `/keys/${own}/revoke` },
  { method: 'POST', path: `/keys/${own}/revoke` },
  { method: 'POST', path: '/teams', body: { name: 'ALPHA' } },
  { method: 'POST', path: '/teams', body: { name: 'fresh', budget: { tokens: 10, renews: 'day' } } },
  { method: 'PATCH', path: `/teams/${team}`, body: { name: 'renamed', budget: null } },
  { method: 'PUT', path: `/teams/${team}/members/${ann}` },
  { method: 'PUT', path: '/budgets/gateway', body: { budget: { usd: 100, renews: 'month', warn_at: [10] } } },
  { method: 'PUT', path: '/budgets/key:none', body: { budget: { usd: 1 } } },
  { method: 'POST', path: '/budgets/gateway/reset' },
  { method: 'PUT', path: '/settings', body: { limits: { rpm: 100 }, retention_days: 3, session_days: 3 } },
  { method: 'PUT', path: '/entries/aliases/own', body: { value: 'vendorB-5.5' } },
  { method: 'DELETE', path: '/entries/aliases/B' },
  { method: 'DELETE', path: '/entries/aliases/none' },
  { method: 'DELETE', path: `/teams/${team}/members/${ann}` },
  { method: 'DELETE', path: `/teams/${team}` },
]

const byText = (a: object, b: object): number => (plain(JSON.stringify(a)) < plain(JSON.stringify(b)) ? -1 : 1)

/** Or within the month that comes, in which what was made now ends or begins anew. */
const isNow = (ms: number): boolean => ms > Date.now() - HOUR && ms < Date.now() + 40 * DAY

/** What is made up anew in each gateway, and when. */
const plain = (text: string): string =>
  text
    .replace(/(key|mem|team|tok)_[0-9A-Za-z]{16}/g, '$1_ID')
    .replace(/sk-[\w-]{20,}|slc?_[\w-]{20,}/g, 'SECRET')
    .replace(/#\w+=[\w-]{20,}|[?#/][\w-]{40,}/g, 'LINK')
    .replace(/(last_?four\\?": ?)\\?"[^"]*"/gi, '$1LAST')
    // Milliseconds of times that are about now.
    .replace(/\b1[789]\d{11}\b/g, (ms) => (isNow(Number(ms)) ? 'NOW' : ms))
    .replace(/20(?:26|27)-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g, (time) =>
      isNow(Date.parse(time)) ? 'NOW' : time,
    )
    .replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')

describe.skipIf(postgresMissing !== undefined)('a gateway over a file and the same over PostgreSQL', () => {
  test('what tells something is asked here', () => {
    const gets = (Object.keys(ROUTES) as RouteName[]).filter(
      (name) => ROUTES[name].method === 'GET' && !UNTOLD.has(name),
    )
    expect(Object.keys(READS).sort()).toEqual(gets.sort())
    const asked = new Set([...COMMANDS.flatMap(([first, second]) => [first, `${first} ${second}`]), ...UNASKED])
    const commands = ALL.flatMap((each) =>
      'commands' in each ? each.commands.map(({ name }) => `${each.name} ${name}`) : [each.name],
    )
    expect(commands.filter((name) => !asked.has(name))).toEqual([])
  })

  test('tell the same on every page and by every command, before and after the same changes', async () => {
    const { directory, token, ids } = await seed()
    const database = await (await testPostgres()).database()
    stopping({ stop: () => database.drop() })
    const copy = `${directory}-copy`
    cpSync(directory, copy, { recursive: true })
    stopping({ stop: async () => rmSync(copy, { recursive: true, force: true }) })
    const moving = launch(PROGRAM, ['migrate', '--from', `sqlite:${join(copy, 'data')}`, '--to', database.url], copy)
    expect([await moving.exited, await moving.err]).toEqual([0, expect.any(String)])
    const key = Buffer.alloc(32, 9).toString('base64')
    const file = await formOf(directory, token, { SLUICE_KEY: key }, 1)
    const nodes = await formOf(copy, token, { SLUICE_STORE: database.url, SLUICE_KEY: key }, 2)
    const told = async (of: (form: Form) => Promise<object>): Promise<string[]> =>
      (await Promise.all([of(file), of(nodes)])).map((each) => plain(JSON.stringify(each, null, 1)))
    const differing: object[] = []
    const compare = (what: string, [one, other]: string[]): void => {
      if (one !== other) differing.push({ what, one, other })
    }
    const reads = async (isChanged = false): Promise<void> => {
      for (const [name, asked] of Object.entries(READS))
        for (const each of asked(ids)) {
          const { path } = ROUTES[name as RouteName]
          const url = each.startsWith('/') ? path.replace(/\/:.*/, '') + each : `${path}?${each}`
          const ask = async (form: Form): Promise<object> => {
            const { status, text } = await form.ask(url)
            const answer = JSON.parse(text) as { items?: object[] }
            // What was made in both has another id in each, by which what is alike otherwise is sorted.
            if (isChanged && /^\/(keys|budgets)\?/.test(url)) answer.items?.sort(byText)
            return { status, answer }
          }
          let found = await told(ask)
          // What was changed at one node is known at the other within half a second.
          for (let tries = 0; isChanged && tries < 50 && found[0] !== found[1]; tries++) found = await told(ask)
          compare(url, found)
        }
    }
    await reads()
    for (const { method, path, body } of changes(ids))
      compare(
        `${method} ${path}`,
        await told(async ({ ask }) => {
          const { status, text } = await ask(path, { method, ...(body === undefined ? {} : { body }) })
          return { status, answer: JSON.parse(text) }
        }),
      )
    for (const words of COMMANDS) compare(words.join(' '), await told(({ run }) => run(words)))
    await reads(true)
    expect(differing).toEqual([])
  }, 300_000)
})
