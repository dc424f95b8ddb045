// The command line as a whole: help, wrong words, and the commands that need no server.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandsIn } from '../../src/cli/command.ts'
import { CLI_ACTOR } from '../../src/cli/io.ts'
import { COMMANDS } from '../../src/cli/run.ts'
import { createLedger } from '../../src/ledger/create.ts'
import { calendarOf, UTC } from '../../src/lib/calendar.ts'
import { HOUR_MS } from '../../src/lib/spans.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import { openTerminal, type Terminal } from './terminal.ts'

let terminal: Terminal
beforeEach(() => {
  terminal = openTerminal()
})
afterEach(() => terminal.close())
const type = (...words: string[]) => terminal.type(...words)

const PATHS = commandsIn(COMMANDS).map(({ path }) => path)

const GROUPS = COMMANDS.flatMap((entry) => ('commands' in entry ? [entry.name] : []))

describe('help', () => {
  test('of the whole tool is the golden text', async () => {
    const { code, out } = await type('--help')
    expect(code).toBe(0)
    expect(out).toMatchSnapshot()
  })

  test('of the whole tool fits a screen and names every command', async () => {
    const { out } = await type('--help')
    const lines = out.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(30)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    for (const path of PATHS) {
      const [name, below = ''] = path.split(' ')
      expect(out).toMatch(new RegExp(`^  ${name} .*${below}`, 'm'))
    }
  })

  test.each([...PATHS, ...GROUPS])('of "%s" is the golden text, asked either way', async (words) => {
    const path = words.split(' ')
    const { code, out, err } = await type(...path, '--help')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatchSnapshot()
    // Examples are to be copied as they stand.
    const [told = ''] = out.split('\nExamples:')
    expect(told.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect((await type('help', ...path)).out).toBe(out)
    expect((await type(...path, '-h')).out).toBe(out)
  })

  test.each([[[]], [['help']], [['-h']], [['help', '--help']], [['-h', 'help']]])(
    'of the whole tool answers %j',
    async (words) => {
      expect(await type(...words)).toEqual({ code: 0, out: (await type('--help')).out, err: '' })
    },
  )
})

test.each([
  [['nonsense'], 'Unknown command "sluice nonsense". "sluice" takes: serve, demo, keys'],
  [['sevre'], 'Did you mean "sluice serve"?'],
  [['help', 'nonsense'], 'Unknown command "sluice nonsense"'],
  [['config'], 'A command is missing. "sluice config" takes: check, schema, init, set, unset, entries.'],
  [['serve', '--prot', '1'], 'Unknown flag --prot; did you mean --port?'],
  [['serve', '-p', '1'], 'Unknown flag -p; --help lists those that this command takes.'],
  [['serve', '--port', 'x'], '--port: found "x", allowed: a whole number from 0 to 65535'],
  [['serve', '--data='], '--data needs a value.'],
  [['keys', 'list', '--config', ''], '--config needs a value.'],
  [['models', '--data', 'a', '--json', '--data=b'], '--data is given twice; give it once.'],
  [['serve', 'now'], 'Unexpected argument "now".'],
  [['serve', '9000'], 'Unexpected argument "9000". Did you mean --port 9000?'],
  [['--prot', '9000'], 'Unknown flag --prot; "sluice help" lists the commands, which come before their flags.'],
  [['--port', '9000'], 'A command comes before its flags: "sluice serve --port" runs the gateway'],
  [['config', 'check', 'my.yaml'], 'Unexpected argument "my.yaml". Did you mean --config my.yaml?'],
  [
    ['connect', 'cursor'],
    'There is no client "cursor" here, but perhaps a guide at /docs of the gateway; allowed: claude-code,',
  ],
  [['connect', 'claude'], 'There is no client "claude" here; did you mean "claude-code"?'],
  [['usage', '--by', 'hour'], '--by: found "hour", allowed: model, key, member, team, account, provider, tag, day.'],
  [['usage', '--csv', '--json'], '--csv and --json cannot be used together.'],
  [['usage', '--by', 'key', '--daily'], '--daily with --by key needs a --key'],
  [['usage', '--by', 'day', '--daily'], '--daily goes with another --by than day.'],
  [['usage', '--by', 'account', '--key', 'a'], '--by account is summed over all keys together: leave --key out.'],
  [['usage', '--since', 'ever'], '--since: found "ever"'],
  [['backup'], 'Missing FILE: file to write; must not exist yet.'],
  [['restore'], 'Missing FILE: a file made by "sluice backup".'],
  [['serve', '--config', 'none.yaml'], 'none.yaml: the file cannot be read (no such file or folder)'],
  [['keys', 'list', '--config', 'none.yaml'], 'none.yaml: the file cannot be read (no such file or folder)'],
])('%j ends with 2 and a sentence', async (words, sentence) => {
  const { code, out, err } = await type(...words)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toContain(sentence)
})

test.each([[['keys', 'list']], [['backup', 'copy.db']]])(
  '%j does not take a folder it cannot look into for an empty one',
  async (words) => {
    const { code, out, err } = await type(...words, '--data', 'x'.repeat(300))
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toEndWith('cannot be made; choose another data directory with --data.')
  },
)

test('a flag may be given after --, as a word', async () => {
  expect(await type('keys', 'show', '--', '--json')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no key "--json"'),
  })
})

test('version is one line, or one document', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(await type('version')).toEqual({ code: 0, out: `sluice ${version}`, err: '' })
  expect(await type('--version')).toEqual({ code: 0, out: `sluice ${version}`, err: '' })
  expect(JSON.parse((await type('version', '--json')).out)).toMatchObject({ name: 'sluice', version })
})

describe('models', () => {
  test('takes the flags of every command on a data directory, and makes none', async () => {
    const { code, out } = await type('models', '--data', 'elsewhere', '--json')
    expect({ code, out }).toEqual({ code: 0, out: (await type('models', '--json')).out })
    expect(existsSync(join(terminal.cwd, 'elsewhere'))).toBe(false)
  })

  test('lists the catalogue and the aliases of the configuration', async () => {
    writeFileSync(
      join(terminal.cwd, 'sluice.yaml'),
      'aliases: { fast: vendorA-haiku-4-5 }\nmodels: { mine: { provider: vendor_b } }',
    )
    const { models, aliases } = JSON.parse((await type('models', '--json')).out)
    expect(models).toHaveLength(13)
    expect(models[0]).toMatchObject({ id: 'vendorA-opus-4-8', provider: 'vendor_a', price: { input: 5, output: 25 } })
    expect(aliases).toEqual({ auto: 'vendorA-opus-4-8', fast: 'vendorA-haiku-4-5' })
    const { code, out } = await type('models')
    expect(code).toBe(0)
    for (const word of ['vendorB-imagegen-3', 'mine', 'auto', 'fast']) expect(out).toContain(word)
  })
})

describe('config', () => {
  const ENV = {
    VENDOR_A_BASE_URL: 'http://a.localhost',
    VENDOR_A_API_KEY: 'secret-of-a',
    VENDOR_B_BASE_URL: 'http://b.localhost/v1',
    VENDOR_B_API_KEY: 'secret-of-b',
  }

  test('init writes a file that check accepts, and that leaves the vendors to the environment', async () => {
    expect(await type('config', 'init')).toMatchObject({ code: 0, out: '' })
    const before = await type('config', 'check')
    expect(before).toMatchObject({ code: 0, err: expect.stringContaining('no provider is configured') })
    Object.assign(terminal.env, ENV)
    const after = await type('config', 'check')
    expect(after).toMatchObject({ code: 0, err: '' })
    expect(after.out).toContain('main at http://a.localhost')
    expect(after.out).not.toContain('secret')
  })

  test('check says that it leaves out what was set at run time, where that may be', async () => {
    expect((await type('config', 'check')).err).not.toContain('config entries')
    await type('keys', 'create', '--label', 'x')
    expect((await type('config', 'check')).err).toContain('"sluice config entries" lists it')
  })

  test('init leaves a file that exists alone, unless forced', async () => {
    const path = join(terminal.cwd, 'mine.yaml')
    writeFileSync(path, 'data: x')
    expect(await type('config', 'init', 'mine.yaml')).toMatchObject({
      code: 1,
      err: expect.stringContaining('--force'),
    })
    expect(readFileSync(path, 'utf8')).toBe('data: x')
    expect(await type('config', 'init', 'mine.yaml', '--force')).toMatchObject({ code: 0 })
    expect(readFileSync(path, 'utf8')).toContain('listen:')
    expect(await type('config', 'init', 'none/mine.yaml')).toMatchObject({
      code: 1,
      err: expect.stringContaining('(no such file or folder)'),
    })
  })

  test('check --json is one document for a right and a wrong configuration, without secrets', async () => {
    Object.assign(terminal.env, ENV)
    const right = await type('config', 'check', '--json')
    writeFileSync(join(terminal.cwd, 'apart.yaml'), 'admin: { listen: "127.0.0.1:8099", hosts: [ops.example] }')
    const apart = await type('config', 'check', '--config', 'apart.yaml')
    expect(apart.out).toContain('dashboard      127.0.0.1:8099\ndashboard for  ops.example\n')
    expect(right.code).toBe(0)
    expect(JSON.parse(right.out)).toMatchObject({ ok: true, listen: { host: '127.0.0.1', port: 8080 }, warnings: [] })
    expect(right.out).not.toContain('secret')
    writeFileSync(join(terminal.cwd, 'sluice.yaml'), 'limits: { rpm: fast }')
    const wrong = await type('config', 'check', '--json')
    expect(wrong.code).toBe(2)
    expect(JSON.parse(wrong.out)).toEqual({
      ok: false,
      problems: [
        { source: 'sluice.yaml', path: 'limits.rpm', message: 'found "fast", allowed: a whole number of 0 or more' },
      ],
    })
  })

  test.each([
    [{ ...ENV, VENDOR_A_BASE_URL: 'http://a.test' }, 'a.test would be sent the neutral id'],
    [
      { VENDOR_B_BASE_URL: 'http://b.localhost/v1', VENDOR_B_API_KEY: 'k' },
      'auto is vendorA-opus-4-8, and vendor_a is not',
    ],
    [{ ...ENV, VENDOR_B_BASE_URL: 'http://127.0.0.1:8080/v1' }, "its base URL is this gateway's own address"],
  ])('check warns of what a start would warn of: %j', async (env, sentence) => {
    Object.assign(terminal.env, env)
    const told = await type('config', 'check')
    expect(told).toMatchObject({ code: 0, err: expect.stringContaining(sentence) })
    expect(JSON.parse((await type('config', 'check', '--json')).out).warnings).toContainEqual(
      expect.stringContaining(sentence),
    )
  })

  test('check warns of a secret in the file without showing it', async () => {
    writeFileSync(
      join(terminal.cwd, 'sluice.yaml'),
      'providers: { vendor_a: { accounts: [{ name: m, base_url: "http://a.test", credential: in-the-open }] } }',
    )
    const { code, out, err } = await type('config', 'check')
    expect(code).toBe(0)
    expect(err).toStartWith('warning: sluice.yaml: providers.vendor_a.accounts[0].credential')
    expect(out + err).not.toContain('in-the-open')
  })

  test('schema is one JSON document', async () => {
    expect(JSON.parse((await type('config', 'schema')).out)).toMatchObject({
      type: 'object',
      additionalProperties: false,
    })
  })
})

describe('on a data directory with exchanges', () => {
  const path = () => join(terminal.cwd, 'data', 'sluice.db')

  const record = async (serverTools = {}, zone = 'UTC') => {
    const created = JSON.parse((await type('keys', 'create', '--label', 'alice', '--json')).out)
    const store = openStore(path(), { clock: () => terminal.clock.now, calendar: calendarOf(zone) ?? UTC })
    await store.settings.write({ time_zone: { zone } }, CLI_ACTOR)
    const prices = () => ({ input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25, perCall: { web_search: 0.01 } })
    const ledger = createLedger({ store, clock: () => terminal.clock.now, prices: () => prices })
    const key = store.keys.get(created.id)
    if (!key) throw new Error('the key is not there')
    for (const [index, model] of ['vendorA-opus-4-8', 'vendorA-opus-4-8', 'vendorB-4o'].entries()) {
      const reservation = await ledger.reserve({
        ...{ exchangeId: `req_${index}`, key, model, wire: 'messages', stream: false },
        ...{ inputEstimate: 10, outputCap: 100, maxOutput: 1000 },
      })
      ledger.settle(reservation, {
        ...{ outcome: index === 1 ? 'failed' : 'done', status: 200, attempts: 1, totalMs: 5, estimated: false },
        usage: { input: 1000, output: 200, cacheRead: 100 },
        ...(index === 0 ? { serverTools } : {}),
      })
    }
    await ledger.flush()
    await store.close()
    return created.id as string
  }

  test('usage tells what part of a cost is fees, where there are any', async () => {
    await record({ web_search: 3 })
    const { out } = await type('usage')
    expect(out.split('\n').map((line) => line.trim().split(/ {2,}/).slice(-3))).toEqual([
      ['USD', 'KHR', 'OF WHICH FEES'],
      ['0.05010', '205', '0.03'],
      ['0.01005', '41.21', '0.00'],
      ['0.06015', '247', '0.03'],
      ['Calls of tools at the vendor: web_search 3'],
    ])
    const csv = (await type('usage', '--csv')).out.trim().split('\r\n')
    expect(csv.map((line) => line.split(',').at(-1))).toEqual(['fees_usd', '0.03', '0', '0.03'])
  })

  test('usage sums up tokens, USD and KHR by model, key and day', async () => {
    const id = await record()
    const byModel = JSON.parse((await type('usage', '--json')).out)
    // 1000 × 5 + 100 × 0.5 + 200 × 25 = 10,050 micro-USD for each exchange.
    expect(byModel).toMatchObject({ by: 'model', since: null, khr_per_usd: 4100 })
    expect(byModel.rows).toHaveLength(2)
    expect(byModel.rows).toContainEqual({
      ...{
        group: 'vendorA-opus-4-8',
        label: 'vendorA-opus-4-8',
        requests: 2,
        errors: 1,
        input: 2000,
        cache_read: 200,
        cache_write: 0,
      },
      ...{ output: 400, reasoning: 0, tokens: 2600, usd: 0.0201, khr: 82.41, fees_usd: 0 },
    })
    expect(byModel.total).toMatchObject({ group: 'total', requests: 3, tokens: 3900, usd: 0.03015, khr: 123.62 })
    expect(JSON.parse((await type('usage', '--by', 'key', '--key', id, '--json')).out).rows).toMatchObject([
      { group: id, label: 'alice', requests: 3 },
    ])
    const table = (await type('usage', '--by', 'key', '--csv')).out.trim().split('\r\n')
    expect(table[0]).toBe(
      'key,label,owner,requests,errors,input,cache_read,cache_write,output,reasoning,tokens,usd,khr,fees_usd',
    )
    expect(table.at(-1)).toStartWith('total,,,3,')
    expect(table.at(-1)).toEndWith(',3900,0.03015,123.62,0')
    for (const by of ['member', 'team', 'account', 'provider', 'tag'])
      expect(JSON.parse((await type('usage', '--by', by, '--json')).out).total).toMatchObject({
        requests: 3,
        usd: 0.03015,
      })
    expect(JSON.parse((await type('usage', '--by', 'day', '--since', '30d', '--json')).out).rows).toMatchObject([
      { group: '2026-09-01', requests: 3 },
    ])
    for (const by of ['model', 'account', 'tag']) {
      const { rows, total } = JSON.parse((await type('usage', '--by', by, '--daily', '--json')).out)
      expect([rows[0].day, total.requests]).toEqual(['2026-09-01', 3])
    }
    const daily = (await type('usage', '--by', 'account', '--daily')).out.split('\n')
    expect(daily[0]).toStartWith('DAY         ACCOUNT')
    expect(daily[1]).toStartWith('2026-09-01')
    expect(daily.at(-1)).toStartWith('total')
    expect(JSON.parse((await type('usage', '--since', '2026-10-01', '--json')).out)).toMatchObject({
      since: '2026-10-01T00:00:00.000Z',
      rows: [],
      total: { requests: 0, usd: 0 },
    })
    const september = ['usage', '--since', '2026-09-01', '--until', '2026-10-01', '--json']
    expect(JSON.parse((await type(...september)).out)).toMatchObject({
      until: '2026-10-01T00:00:00.000Z',
      total: { requests: 3 },
    })
    expect(JSON.parse((await type('usage', '--until', '2026-09-01', '--json')).out).total.requests).toBe(0)
    expect(await type('usage', '--until', 'never')).toMatchObject({ code: 2, out: '' })
    expect(await type('usage', '--since', '2026-10-01')).toMatchObject({
      code: 0,
      err: 'note: --since is in the future: nothing has been used since then',
    })
    for (const until of ['2026-08-01', '2026-08-02', '2026-08-02T12:00:00Z'])
      expect(await type('usage', '--since', '2026-08-02T12:00:00Z', '--until', until)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('--until must be later than --since.'),
      })
  })

  test.each([
    ['UTC', '2026-09-01', '2026-09-01T00:00:00.000Z', '2026-09-01T11:00:00.000Z'],
    ['Asia/Phnom_Penh', '2026-09-02', '2026-09-01T17:00:00.000Z', '2026-09-01T18:00:00.000Z'],
  ])(
    'usage says which day of %s it counts whole because its hours are no longer kept',
    async (zone, date, day, hour) => {
      writeFileSync(join(terminal.cwd, 'sluice.yaml'), `time_zone: ${zone}\n`)
      terminal.clock.now = Date.parse(hour) + HOUR_MS
      const id = await record({}, zone)
      const data = new Database(path())
      data.run('DELETE FROM usage_hours')
      data.close()
      const asked = ['usage', '--since', hour.replace(':00:00.000', ':30:00')]
      const { out, err } = await type(...asked, '--key', id, '--json')
      expect(JSON.parse(out)).toMatchObject({ since: day, total: { requests: 3 } })
      expect(err).toBe(`note: single hours of ${date} are no longer kept: the whole day is counted`)
      const whole = await type(...asked, '--json')
      expect([JSON.parse(whole.out).since, whole.err]).toEqual([hour, ''])
    },
  )

  test('usage by key names keys by their labels', async () => {
    await record()
    const { code, out } = await type('usage', '--by', 'key')
    expect(code).toBe(0)
    expect(out).toContain('alice')
    expect(out).toContain('0.03015')
    expect(out).toMatch(/ 124$/)
    expect(await type('usage', '--key', 'key_none')).toMatchObject({ code: 1, out: '' })
  })

  test('usage by key tells keys of one name apart', async () => {
    expect((await type('usage', '--by', 'key')).out).not.toContain('alice')
    const first = await record()
    expect((await type('usage', '--by', 'key')).out).not.toContain(first)
    const second = await record()
    const { out } = await type('usage', '--by', 'key')
    for (const id of [first, second]) expect(out).toContain(`alice (${id}) `)
  })

  test('backup and restore bring back what was there', async () => {
    const id = await record()
    expect(await type('backup', 'copy.db')).toMatchObject({ code: 0, out: '' })
    expect(await type('backup', 'copy.db')).toMatchObject({ code: 1 })
    await type('keys', 'revoke', id)
    expect(await type('restore', 'copy.db')).toMatchObject({ code: 0 })
    expect(JSON.parse((await type('keys', 'show', id, '--json')).out)).toMatchObject({
      status: 'active',
      tokens_used: 3900,
    })
    expect(await type('restore', 'none.db')).toMatchObject({
      code: 1,
      err: expect.not.stringContaining('fault of sluice'),
    })
  })

  test('backup, restore and config init print one document with --json', async () => {
    await record()
    const whole = async (...words: string[]) => {
      const { code, out, err } = await type(...words, '--json')
      expect({ code, err }).toEqual({ code: 0, err: '' })
      return JSON.parse(out)
    }
    const file = join(terminal.cwd, 'copy.db')
    expect(await whole('backup', 'copy.db')).toEqual({ database: path(), file })
    expect(await whole('restore', 'copy.db')).toEqual({ database: path(), file })
    expect(await whole('config', 'init', 'new.yaml')).toEqual({ file: join(terminal.cwd, 'new.yaml') })
    expect(await whole('config', 'schema')).toEqual(JSON.parse((await type('config', 'schema')).out))
  })

  test('backup without a database ends with 1 and makes none', async () => {
    expect(await type('backup', 'copy.db')).toMatchObject({ code: 1, err: expect.stringContaining('no database') })
    expect(existsSync(path())).toBe(false)
  })

  test('a usage of nothing yet is empty', async () => {
    expect(JSON.parse((await type('usage', '--json')).out)).toMatchObject({ rows: [], total: { requests: 0, khr: 0 } })
  })
})
