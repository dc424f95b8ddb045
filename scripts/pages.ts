// How long the data of every page of the dashboard takes on a data directory, such as one that scripts/seed.ts has filled, and for
// how long its event loop is held meanwhile; it is given an admin. Linux only.
// bun scripts/pages.ts --data DIR [--binary dist/sluice] [--rounds 5] [name …]

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { probedIn } from '../bench/holds/probed.ts'
import { cpuUs } from '../bench/processes.ts'
import { ADMIN_BASE, ROUTES, type RouteName } from '../src/admin-api/routes.ts'
import { DAY_MS, HOUR_MS } from '../src/lib/spans.ts'

const { values, positionals } = parseArgs({
  options: { data: { type: 'string' }, binary: { type: 'string' }, rounds: { type: 'string', default: '5' } },
  allowPositionals: true,
})
if (values.data === undefined) {
  console.error('usage: bun scripts/pages.ts --data DIR [--binary dist/sluice] [--rounds 5] [name …]')
  process.exit(2)
}
const MAIN = new URL('../src/main.ts', import.meta.url).pathname
const program = values.binary === undefined ? [process.execPath, MAIN] : [values.binary]
const folder = mkdtempSync(join(tmpdir(), 'sluice-pages-'))
const probe = probedIn(folder)
const server = Bun.spawn([...program, 'serve', '--port', '0', '--data', values.data], {
  ...{ stdout: 'ignore', stderr: 'pipe', env: { PATH: process.env.PATH ?? '', ...probe.env } },
})
process.on('exit', () => {
  server.kill()
  rmSync(folder, { recursive: true, force: true })
})

let said = ''
const listen = async (): Promise<void> => {
  const text = new TextDecoder()
  for await (const chunk of server.stderr) said += text.decode(chunk, { stream: true })
}
void listen()
while (!/^Dashboard .*\n/m.test(said) && server.exitCode === null) await Bun.sleep(20)
// The setup link comes last, where there is one.
await Bun.sleep(300)
const base = /^API\s+(\S+)\/v1$/m.exec(said)?.[1]
if (base === undefined) {
  console.error(said)
  process.exit(1)
}

const headers: Record<string, string> = { 'content-type': 'application/json', origin: base }
const ask = async (name: RouteName, input: Record<string, string> = {}, body?: object): Promise<Response> => {
  const { method, path } = ROUTES[name]
  const left = { ...input }
  const at = path.replaceAll(/:(\w+)/g, (_, part: string) => {
    const value = left[part] ?? ''
    delete left[part]
    return encodeURIComponent(value)
  })
  const url = `${base}${ADMIN_BASE}${at}?${new URLSearchParams(left)}`
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`)
  return response
}
const password = 'lock-gates-open-at-dawn'
const tokenIn = (link: string): string => /#(\S+)/.exec(link)?.[1] ?? ''
const isNew = said.includes('/setup#')
const link = isNew
  ? said
  : await new Response(Bun.spawn([...program, 'admin', 'reset-link', '--data', values.data]).stdout).text()
const made = isNew
  ? await ask('setup', {}, { token: tokenIn(link), name: 'Measurer', password })
  : await ask('invitation.accept', {}, { token: tokenIn(link), password })
headers.cookie = made.headers.get('set-cookie')?.split(';')[0] ?? ''

const now = Date.now()
const iso = (ms: number): string => new Date(ms).toISOString()
const day = now - (now % DAY_MS)
const of = (days: number) => ({ since: iso(day - (days - 1) * DAY_MS), until: iso(day + DAY_MS), step: 'day' })
const keys = (await (await ask('keys.list', { limit: '3' })).json()) as { items: { id: string }[] }
const id = keys.items[0]?.id ?? ''
const exchanges = (await (await ask('exchanges.list', { limit: '1' })).json()) as { items: { id: string }[] }

/** As the overview asks: with the time before. */
const compare = 'true'
const GROUPS = ['model', 'key', 'member', 'team', 'account', 'provider', 'tag']
const ALL: [string, RouteName, Record<string, string>][] = [
  [
    'overview, a day by the hour',
    'usage.get',
    {
      since: iso(now - (now % HOUR_MS) - 23 * HOUR_MS),
      until: iso(now - (now % HOUR_MS) + HOUR_MS),
      step: 'hour',
      compare,
    },
  ],
  ...[7, 30, 90].flatMap((days) =>
    GROUPS.map((by): [string, RouteName, Record<string, string>] => [
      `usage by ${by}, ${days} days`,
      'usage.get',
      { ...of(days), by, compare },
    ]),
  ),
  ...GROUPS.map((by): [string, RouteName, Record<string, string>] => {
    const { step: _, ...span } = of(90)
    return [`export by ${by}, 90 days`, 'usage.table', { ...span, by }]
  }),
  ['keys', 'keys.list', { limit: '50' }],
  ['keys, by what is left', 'keys.list', { limit: '50', sort: 'tokens_remaining' }],
  ['keys, searched', 'keys.list', { limit: '50', search: 'seed 99' }],
  ['a key', 'keys.get', { id }],
  ['a key, 30 days', 'keys.usage', { id, ...of(30) }],
  ['a key, 90 days', 'keys.usage', { id, ...of(90) }],
  ['exchanges', 'exchanges.list', { limit: '50' }],
  ['exchanges that failed', 'exchanges.list', { limit: '50', outcome: 'failed' }],
  ['exchanges of a key', 'exchanges.list', { limit: '50', key: id }],
  ['exchanges of a key that failed', 'exchanges.list', { limit: '50', key: id, outcome: 'failed' }],
  ['refusals', 'exchanges.list', { limit: '50', outcome: 'refused' }],
  ['refusals of a key', 'exchanges.list', { limit: '50', key: id, outcome: 'refused' }],
  ['refusals, a month ago', 'exchanges.list', { limit: '50', outcome: 'refused', until: iso(day - 30 * DAY_MS) }],
  ['exchanges of a model that failed', 'exchanges.list', { limit: '50', model: 'vendorB-5.5', outcome: 'failed' }],
  ['exchanges of a model', 'exchanges.list', { limit: '50', model: 'vendorB-5.5' }],
  ['exchanges, a month ago', 'exchanges.list', { limit: '50', until: iso(day - 30 * DAY_MS) }],
  ['an exchange', 'exchanges.get', { id: exchanges.items[0]?.id ?? '' }],
  ['models', 'models.list', {}],
  ['accounts', 'accounts.list', {}],
  ['members', 'members.list', {}],
  ['teams', 'teams.list', {}],
  ['budgets', 'budgets.list', {}],
  ['audit', 'audit.list', { limit: '50' }],
  ['audit of a key', 'audit.list', { limit: '50', target: id }],
  ['settings', 'settings.get', {}],
  ['tokens', 'tokens.list', {}],
  ['sessions', 'sessions.list', {}],
  ['alerts', 'alerts.list', {}],
  ['entries', 'entries.list', {}],
  ['state', 'state', {}],
]

const rounds = Number(values.rounds)
console.log('| data | median, ms | CPU, ms | held, ms |\n| --- | --: | --: | --: |')
for (const [name, route, input] of ALL) {
  if (positionals.length > 0 && !positionals.some((part) => name.includes(part))) continue
  const took: number[] = []
  await (await ask(route, input)).text()
  const before = cpuUs(server.pid)
  await probe.begin()
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now()
    await (await ask(route, input)).text()
    took.push(performance.now() - begun)
  }
  const median = took.toSorted((a, b) => a - b)[rounds >> 1] ?? 0
  const { cpuMs } = await probe.end()
  const cpu = (cpuUs(server.pid) - before) / rounds / 1_000
  console.log(`| ${name} | ${median.toFixed(0)} | ${cpu.toFixed(0)} | ${cpuMs.toFixed(0)} |`)
}
server.kill()
await server.exited
