// What lies in the compiled file as files of its own is found there and does what it does from source: tables, and libraries
// that no start needs. Runs when SLUICE_BINARY names it.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { countBody } from '../../src/relay/estimate.ts'
import { loadTokenizer } from '../money/support.ts'
import { GOOGLE_TOKEN, type Google, startGoogle } from '../support/provider/google.ts'
import { MESSAGE } from '../support/provider/message.ts'
import { until } from '../support/until.ts'
import { BINARY, endAll, launch, PROGRAM } from './support/process.ts'

/** One server for all that is reached from within. */
const startWorld = () => {
  const seen: { path: string; headers: Headers; bytes: number }[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      seen.push({ path: pathname, headers: request.headers, bytes: (await request.arrayBuffer()).byteLength })
      if (pathname.endsWith('count_tokens')) return new Response('', { status: 404 })
      return Response.json({
        ...MESSAGE,
        ...{ content: [{ type: 'text', text: 'Hello.' }], usage: { input_tokens: 5, output_tokens: 3 } },
      })
    },
  })
  return { seen, url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

describe.skipIf(BINARY === undefined)('the compiled file', () => {
  let world: ReturnType<typeof startWorld>
  let google: Google
  let cwd: string
  beforeAll(() => {
    world = startWorld()
    google = startGoogle()
  })
  afterAll(async () => {
    await google.stop()
    await world.stop()
  })
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'sluice-packed-'))
  })
  afterEach(async () => {
    await endAll()
    rmSync(cwd, { recursive: true, force: true })
  })

  const serve = async (yaml: string, env: Record<string, string> = {}) => {
    writeFileSync(join(cwd, 'sluice.yaml'), yaml)
    const made = await launch(PROGRAM, ['keys', 'create', '--label', 'first', '--json'], cwd, env).out
    const { key } = JSON.parse(made) as { key: string }
    const child = launch(PROGRAM, ['serve', '--port', '0'], cwd, env)
    const url = await child.ready()
    const setup = await child.says(/^Setup\s+\S+#(\S+)$/)
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key, 'vendorA-version': '2023-06-01', ...headers },
        body: JSON.stringify(body),
      })
    return { url, key, post, setup }
  }
  const ask = (model: string) => ({ model, max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] })

  test('counts by the tokenizer', async () => {
    const { post } = await serve(
      `providers: { mine: { wires: [messages], auth: x-api-key, accounts: [{ name: main, base_url: "${world.url}", credential: c }] } }
models: { m: { provider: mine } }`,
    )
    const text = 'The quick brown fox jumps over the lazy dog; ភាសាខ្មែរ is Khmer, 数 is a number. '.repeat(20)
    const body = { model: 'm', messages: [{ role: 'user', content: text }] }
    const counted = async () =>
      ((await (await post('/v1/messages/count_tokens', body)).json()) as { input_tokens: number }).input_tokens
    // A machine that is too busy to begin a thread in time is answered by an estimate.
    await loadTokenizer()
    const exact = await countBody(body)
    await until(async () => (await counted()) === exact)
    expect(exact).not.toBe(Math.ceil(text.length / 4))
  })

  test('signs for Amazon, shows itself to Google, and sends spans', async () => {
    const { post } = await serve(
      `otlp: { endpoint: "${world.url}/otlp" }
providers:
  amazon: { preset: bedrock, auth: aws-sigv4, proxy: "${world.url}", accounts: [{ name: main, base_url: "http://bedrock-mantle.eu-west-1.api.aws/aws", credential: "AKIDEXAMPLE:secret" }] }
  google: { preset: vertex, accounts: [{ name: main, base_url: "${world.url}/google" }] }
models: { a: { provider: amazon }, g: { provider: google } }`,
      {
        GOOGLE_APPLICATION_CREDENTIALS: process.env.GOOGLE_APPLICATION_CREDENTIALS ?? '',
      },
    )
    for (const model of ['a', 'g']) expect((await post('/v1/messages', ask(model))).status).toBe(200)
    const of = (start: string) => world.seen.find(({ path }) => path.startsWith(start))
    expect(of('/aws')?.headers.get('authorization')).toStartWith('AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/')
    expect(of('/google')?.headers.get('authorization')).toBe(`Bearer ${GOOGLE_TOKEN}`)
    await until(() => of('/otlp/v1/traces') !== undefined)
  })

  test('knows passwords that are tried first, and asks mail servers', async () => {
    const { url, setup } = await serve(
      'alerts: { email: { to: [a@example.com], from: b@example.com, host: 127.0.0.1, port: 9, security: none } }',
    )
    const set = (password: string) =>
      fetch(`${url}/admin/api/setup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url },
        body: JSON.stringify({ token: setup, name: 'Dara', password }),
      })
    expect((await set('qwertyuiop123')).status).toBe(400)
    const made = await set('a lock of many words')
    expect(made.status).toBe(200)
    const cookie = made.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ')
    const tested = await fetch(`${url}/admin/api/alerts/test`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, cookie },
      body: '{}',
    })
    expect(await tested.json()).toMatchObject({ items: [{ ok: false, words: 'it cannot be reached (ESOCKET)' }] })
  })

  test.each([
    ['codex', '.codex/config.toml', 'own = 1 # mine', 'model_provider = "sluice"'],
    ['goose', '.config/goose/config.yaml', 'OWN: 1 # mine', 'GOOSE_PROVIDER: '],
    ['opencode', '.config/opencode/opencode.json', '{ "own": 1 /* mine */ }', '"provider"'],
  ])('changes the configuration of %s, and leaves the rest', async (client, path, own, ours) => {
    const { url, key } = await serve('')
    mkdirSync(join(cwd, dirname(path)), { recursive: true })
    writeFileSync(join(cwd, path), `${own}\n`)
    const env = { HOME: cwd, SLUICE_API_KEY: key }
    expect(await launch(PROGRAM, ['connect', client, '--server', url, '--untried'], cwd, env).exited).toBe(0)
    const written = readFileSync(join(cwd, path), 'utf8')
    for (const part of ['mine', ours]) expect(written).toContain(part)
  })
})
