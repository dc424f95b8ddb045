// The compiled file from an empty folder, as a newcomer and as an operator meet it. Runs when SLUICE_BINARY names it.

import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DemoProviders, startDemoProviders } from '../../src/demo/index.ts'
import { VERSION } from '../../src/version.ts'
import { until } from '../support/until.ts'
import { BINARY, type Child, endAll, familyOf, launch, PROGRAM } from './support/process.ts'

describe.skipIf(BINARY === undefined)('the compiled file', () => {
  let vendors: DemoProviders
  let env: Record<string, string>
  let cwd: string

  beforeAll(async () => {
    vendors = await startDemoProviders()
    env = vendors.env
  })
  afterAll(() => vendors.stop())
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'sluice-binary-'))
  })
  afterEach(async () => {
    await endAll()
    rmSync(cwd, { recursive: true, force: true })
  })

  const start = (...words: string[]): Child => launch(PROGRAM, words, cwd, env)
  const run = async (...words: string[]): Promise<{ code: number; out: string; err: string }> => {
    const child = start(...words)
    return { code: await child.exited, out: await child.out, err: await child.err }
  }
  const json = async (...words: string[]) => {
    const { code, out, err } = await run(...words, '--json')
    if (code !== 0) throw new Error(err)
    return JSON.parse(out)
  }
  const serve = async (...words: string[]): Promise<{ child: Child; url: string }> => {
    const child = start('serve', '--port', '0', ...words)
    return { child, url: await child.ready() }
  }
  const stop = async (child: Child): Promise<number> => {
    child.kill('SIGTERM')
    return child.exited
  }
  const post = (url: string, key: string, path: string, body: object): Promise<Response> =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    })
  const usageOf = async (url: string, key: string): Promise<{ status: number; tokens_used: number }> => {
    const response = await fetch(`${url}/v1/usage`, { headers: { 'x-api-key': key } })
    const { tokens_used } = (await response.json()) as { tokens_used: number }
    return { status: response.status, tokens_used }
  }

  test('says its version, writes a configuration, and checks it', async () => {
    expect((await run('version')).out).toContain(VERSION)
    expect((await run('config', 'init')).code).toBe(0)
    expect(readdirSync(cwd)).toEqual(['sluice.yaml'])
    expect((await run('config', 'check')).code).toBe(0)
    writeFileSync(join(cwd, 'sluice.yaml'), 'limits: { rpm: fast }\n')
    const wrong = await run('config', 'check')
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('limits.rpm: found "fast"')])
    expect((await run('nonsense')).code).toBe(2)
  })

  test('takes nothing from the folder it is run in but its own configuration', async () => {
    const marker = join(cwd, 'ran')
    writeFileSync(join(cwd, 'first.ts'), `require('node:fs').writeFileSync(${JSON.stringify(marker)}, '')`)
    writeFileSync(join(cwd, 'bunfig.toml'), 'preload = ["./first.ts"]\n')
    writeFileSync(join(cwd, '.env'), 'SLUICE_SERVER=http://127.0.0.1:1\n')
    expect((await run('models')).code).toBe(0)
    expect(existsSync(marker)).toBe(false)
  })

  const said = 'say a few words'
  const WIRES: [string, (stream: boolean) => object, RegExp, RegExp][] = [
    [
      '/v1/chat/completions',
      (stream) => ({ model: 'vendorB-5.5', messages: [{ role: 'user', content: said }], stream }),
      /"object":"chat\.completion"/,
      /data: \[DONE\]\n\n$/,
    ],
    [
      '/v1/responses',
      (stream) => ({ model: 'vendorB-5.5', input: said, stream }),
      /"object":"response"/,
      /event: response\.completed\n/,
    ],
    [
      '/v1/messages',
      (stream) => ({ model: 'auto', max_tokens: 200, messages: [{ role: 'user', content: said }], stream }),
      /"type":"message"/,
      /event: message_stop\n/,
    ],
  ]

  test('serves every wire with nothing but an environment; keys made and revoked beside it are in force at once', async () => {
    const { child, url } = await serve()
    const { id, key } = await json('keys', 'create', '--label', 'first', '--tokens', '100000')
    await until(async () => (await usageOf(url, key)).status === 200)
    for (const [path, body, whole, streamed] of WIRES) {
      const answer = await post(url, key, path, body(false))
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(whole)])
      const stream = await post(url, key, path, body(true))
      expect([stream.headers.get('content-type'), await stream.text()]).toEqual([
        'text/event-stream; charset=utf-8',
        expect.stringMatching(streamed),
      ])
    }
    const crossed = await post(url, key, '/v1/messages', { ...WIRES[2]?.[1](true), model: 'vendorB-5.5' })
    expect(await crossed.text()).toContain('event: message_stop')
    const image = await post(url, key, '/v1/images/generations', { model: 'vendorB-image-1', prompt: 'a lock' })
    const { data } = (await image.json()) as { data: { b64_json: string }[] }
    expect(
      Buffer.from(data[0]?.b64_json ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG')
    const { tokens_used } = await usageOf(url, key)
    expect(tokens_used).toBeGreaterThan(0)

    await json('keys', 'revoke', id)
    await until(async () => (await usageOf(url, key)).status === 401)
    expect(await stop(child)).toBe(0)
    const rows = await json('usage')
    expect(JSON.stringify(rows)).toContain('vendorB-5.5')
  })

  test('embeds the dashboard, and metrics without configuration of their own', async () => {
    writeFileSync(join(cwd, 'sluice.yaml'), 'metrics: { enabled: true }\n')
    const { child, url } = await serve()
    const page = await fetch(`${url}/dashboard`)
    const html = await page.text()
    expect(html).toContain('<title>sluice</title>')
    for (const [, src] of html.matchAll(/(?:src|href)="(\/dashboard\/assets\/[^"]+)"/g)) {
      expect((await fetch(url + src)).status).toBe(200)
    }
    const metrics = await fetch(`${url}/metrics`)
    expect([metrics.status, await metrics.text()]).toEqual([200, expect.stringContaining('sluice_open_exchanges 0')])
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect(await stop(child)).toBe(0)
  })

  const LONG = { model: 'vendorB-5.5', messages: [{ role: 'user', content: '[[pace:10]][[long:60]]' }], stream: true }

  test('drains a running stream on SIGTERM, refuses new connections, and ends with 0', async () => {
    const { child, url } = await serve()
    const { key } = await json('keys', 'create', '--label', 'drained')
    await until(async () => (await usageOf(url, key)).status === 200)
    const response = await post(url, key, '/v1/chat/completions', LONG)
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = (await reader?.read())?.value ?? ''
    child.kill('SIGTERM')
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value
    expect(text).toEndWith('data: [DONE]\n\n')
    expect(await child.exited).toBe(0)
    expect(await fetch(`${url}/v1`).catch(() => 'refused')).toBe('refused')
  })

  test('ends at once on a second SIGTERM', async () => {
    const { child, url } = await serve()
    const { key } = await json('keys', 'create', '--label', 'cut')
    await until(async () => (await usageOf(url, key)).status === 200)
    const hanging = { ...LONG, messages: [{ role: 'user', content: '[[stall:3]]one two three four' }] }
    const response = await post(url, key, '/v1/chat/completions', hanging)
    await response.body?.getReader().read()
    child.kill('SIGTERM')
    await until(async () => (await fetch(`${url}/v1`).catch(() => undefined)) === undefined)
    child.kill('SIGTERM')
    // One that has let its answers end is 0.
    expect(await child.exited).not.toBe(0)
  })

  test('killed in the middle and started again, it has every row once, and sums that agree', async () => {
    const first = await serve()
    const { id, key } = await json('keys', 'create', '--label', 'killed', '--tokens', '1000000')
    await until(async () => (await usageOf(first.url, key)).status === 200)
    const ask = (stream: boolean, content: string) =>
      post(first.url, key, '/v1/chat/completions', { ...LONG, stream, messages: [{ role: 'user', content }] })
    for (let at = 0; at < 20; at++) await (await ask(false, said)).text()
    const settled = (await usageOf(first.url, key)).tokens_used
    const open = await Promise.all(Array.from({ length: 5 }, () => ask(true, '[[stall:9]][[long:50]]')))
    await Promise.all(open.map((response) => response.body?.getReader().read()))
    const db = new Database(join(cwd, 'data', 'sluice.db'), { readonly: true })
    const one = (sql: string) => db.query<Record<string, number>, []>(sql).get() ?? {}
    // What a running stream has come to is soon durable.
    const written = 'SELECT count(*) AS n FROM reservations WHERE output > 0'
    await until(async () => one(written).n === 5)
    const busy = Array.from({ length: 20 }, () => ask(false, '[[slow:50]]').catch(() => undefined))
    await Bun.sleep(30)
    first.child.kill('SIGKILL')
    await first.child.exited
    await Promise.all(busy)

    const second = await serve()
    const used = (await usageOf(second.url, key)).tokens_used
    expect(used).toBeGreaterThan(settled)
    const sum = 'sum(coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) + coalesce(output, 0))'
    expect(one('SELECT count(*) AS n FROM reservations')).toEqual({ n: 0 })
    expect(one('SELECT count(*) - count(DISTINCT id) AS n FROM exchanges')).toEqual({ n: 0 })
    expect(one("SELECT count(*) AS n FROM exchanges WHERE outcome = 'done'").n).toBeGreaterThanOrEqual(20)
    expect(one("SELECT count(*) AS n FROM exchanges WHERE stream = 1 AND outcome = 'failed'")).toEqual({ n: 5 })
    expect(one(`SELECT ${sum} AS n FROM exchanges`)).toEqual({ n: used })
    expect(one(`SELECT ${sum} AS n FROM usage_days`)).toEqual({ n: used })
    expect(one(`SELECT ${sum} AS n FROM usage_hours`)).toEqual({ n: used })
    expect(one('SELECT sum(requests) AS n FROM usage_days')).toEqual(one('SELECT count(*) AS n FROM exchanges'))
    expect(db.query('SELECT tokens_used AS n FROM keys WHERE id = ?').get(id)).toEqual({ n: used })
    const left = one("SELECT count(*) AS n FROM exchanges WHERE error_code = 'internal_error'").n
    db.close()
    expect(await stop(second.child)).toBe(0)
    const told = (await second.child.err).split('\n').find((line) => line.includes('a previous process was killed'))
    expect(JSON.parse(told ?? '{}')).toMatchObject({ level: 40, exchanges: left })
  })

  test('copies its database beside the running server, and takes the copy back', async () => {
    const { child, url } = await serve()
    const { key } = await json('keys', 'create', '--label', 'kept')
    await until(async () => (await usageOf(url, key)).status === 200)
    expect((await run('backup', 'copy.db')).code).toBe(0)
    const late = await json('keys', 'create', '--label', 'lost')
    const running = await run('restore', 'copy.db')
    expect([running.code, running.err]).toEqual([1, expect.stringContaining('Another server is running')])
    expect(await stop(child)).toBe(0)
    expect((await run('restore', 'copy.db')).code).toBe(0)
    const again = await serve()
    expect((await usageOf(again.url, key)).status).toBe(200)
    expect((await usageOf(again.url, late.key)).status).toBe(401)
    expect(await stop(again.child)).toBe(0)
  })

  test('does not start on a damaged database, and leaves it as it was', async () => {
    await json('keys', 'create', '--label', 'any')
    const path = join(cwd, 'data', 'sluice.db')
    writeFileSync(path, 'this is no database at all, whatever its name says'.repeat(100))
    const before = await Bun.file(path).text()
    const refused = await run('serve', '--port', '0')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(path)])
    expect(refused.err).not.toContain('fault of sluice')
    expect(await Bun.file(path).text()).toBe(before)
    rmSync(`${path}-wal`, { force: true })
    await json('keys', 'create', '--label', 'any', '--data', 'other')
    truncateSync(join(cwd, 'other', 'sluice.db'), 5_000)
    expect((await run('serve', '--port', '0', '--data', 'other')).code).toBe(1)
  })

  test.skipIf(process.platform !== 'linux')(
    'reads the figures of a large database in a thread of its own',
    async () => {
      const { key } = await json('keys', 'create', '--label', 'busy', '--tokens', '1000')
      const db = new Database(join(cwd, 'data/sluice.db'))
      db.run(
        `INSERT INTO exchanges (row, id, key_id, model, wire, stream, started_at, input_estimate, reserved)
       VALUES (1000000, 'req_last', 'key_other', 'vendorA-opus-4-8', 'messages', 0, 0, 0, 0)`,
      )
      db.close()
      const { child, url } = await serve()
      const tasks = familyOf(child.pid).map((pid) => `/proc/${pid}/task`)
      /** The runtime names its threads for modules so. */
      const workers = (): number =>
        tasks.flatMap((all) =>
          readdirSync(all).filter((id) => readFileSync(join(all, id, 'comm'), 'utf8') === 'Worker\n'),
        ).length
      expect(workers()).toBe(0)
      const response = await fetch(`${url}/v1/usage/history`, { headers: { 'x-api-key': key } })
      expect([response.status, workers()]).toEqual([200, 1])
      expect(await stop(child)).toBe(0)
    },
  )

  test('says which port is in use', async () => {
    const { child, url } = await serve()
    const { port } = new URL(url)
    const second = await run('serve', '--port', port, '--data', 'other')
    expect([second.code, second.err]).toEqual([1, expect.stringContaining(port)])
    expect(second.err).not.toContain('fault of sluice')
    expect(await stop(child)).toBe(0)
  })

  test('runs the demo, which leaves nothing behind', async () => {
    const child = start('demo', '--port', '0')
    const url = await child.ready()
    expect((await fetch(`${url}/v1`)).status).toBe(200)
    child.kill('SIGINT')
    expect(await child.exited).toBe(0)
    expect(await child.out).toContain('/v1/messages')
    expect(readdirSync(cwd)).toEqual([])
  })
})
