// `connect` writes a client's own files for a gateway that answers, and puts back what was there.

import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Format, JsonObject } from '../../src/clients/client.ts'
import { CLIENTS } from '../../src/clients/index.ts'
import { startDemoGateway } from '../support/gateway.ts'
import { stopAfterAll } from '../support/stopping.ts'
import { openTerminal, type Terminal } from './terminal.ts'

let gateway: Awaited<ReturnType<typeof startDemoGateway>>
beforeAll(async () => {
  gateway = await startDemoGateway()
})
stopAfterAll(() => [gateway])

let terminal: Terminal
beforeEach(() => {
  terminal = openTerminal()
  Object.assign(terminal.env, { HOME: terminal.cwd, USERPROFILE: terminal.cwd, SLUICE_SERVER: gateway.url })
  terminal.env.SLUICE_API_KEY = gateway.secret
})
afterEach(() => terminal.close())

const type = (...words: string[]) => terminal.type('connect', ...words)
const at = (path: string) => join(terminal.cwd, path)
const put = (path: string, text: string, mode = 0o644): void => {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), text)
  chmodSync(at(path), mode)
}
const CODEX = '.codex/config.toml'
const MINE = '# mine\nmodel = "o-1" # old\n\n[projects."/src"]\ntrust_level = "trusted"\n'

describe.each(CLIENTS.map((client) => [client.name, client] as const))('%s', (name, client) => {
  test('is set up, the same the second time, and is gone after --undo', async () => {
    const before = readdirSync(terminal.cwd)
    const { code, out } = await type(name)
    expect([code, out]).toEqual([0, expect.stringContaining('written')])
    const files = client.files.map((file) =>
      file.path({ home: terminal.cwd, env: terminal.env, platform: process.platform }),
    )
    const texts = files.map((path) => readFileSync(path, 'utf8'))
    client.files.forEach(({ secret }, index) => {
      expect(texts[index]?.includes(gateway.secret)).toBe(secret)
      if (secret) expect(statSync(files[index] ?? '').mode & 0o777).toBe(0o600)
    })
    expect((await type(name)).out).not.toContain('written')
    expect(files.map((path) => readFileSync(path, 'utf8'))).toEqual(texts)
    expect((await type(name, '--undo')).code).toBe(0)
    expect(readdirSync(terminal.cwd).filter((entry) => entry !== '.local')).toEqual(before)
  })

  test('--print writes nothing and does not show the key', async () => {
    const { code, out } = await type(name, '--print')
    expect(code).toBe(0)
    for (const { shown } of client.files) expect(out).toContain(shown)
    expect(out).not.toContain(gateway.secret)
    expect(readdirSync(terminal.cwd)).toEqual([])
  })
})

/** What its owner has in a file of each format. */
const OWN: Record<Format, string> = {
  json: '{\n\t"own": [1,2], // mine\n}\n',
  yaml: '# mine\nown:   1\n',
  'yaml-list': '# mine\n- model_id:   own\n',
  toml: '# mine\nown   = 1\n',
  env: '# mine\nOWN=1\n',
}

test.each(CLIENTS.map((client) => [client.name, client] as const))(
  'what is in the files of %s comes back byte for byte',
  async (name, client) => {
    const home = { home: terminal.cwd, env: terminal.env, platform: process.platform }
    const files = client.files.map((file) => [file.path(home), OWN[file.format]] as const)
    for (const [path, text] of files) put(relative(terminal.cwd, path), text)
    expect(await type(name)).toMatchObject({ code: 0 })
    for (const [path, text] of files) expect(readFileSync(path, 'utf8')).not.toBe(text)
    expect(await type(name, '--undo')).toMatchObject({ code: 0 })
    for (const [path, text] of files) expect(readFileSync(path, 'utf8')).toBe(text)
  },
)

test('no warning is given of a gateway on this machine by a name of its own', async () => {
  const { host } = new URL(gateway.url.replace('127.0.0.1', 'app.localhost'))
  expect(await type('codex', '--server', `http://${host}`)).toMatchObject({
    code: 0,
    err: expect.not.stringContaining('not encrypted'),
  })
})

test('what was there is merged, and comes back byte for byte with its mode', async () => {
  put(CODEX, MINE, 0o640)
  expect((await type('codex')).code).toBe(0)
  const text = readFileSync(at(CODEX), 'utf8')
  for (const part of ['# mine', '# old', '[projects."/src"]', 'trust_level', 'vendorB-5.5'])
    expect(text).toContain(part)
  expect(text).not.toContain('o-1')
  await type('codex', '--model', 'vendorA-sonnet-5')
  expect((await type('codex', '--undo')).out).toContain('as it was before')
  expect(readFileSync(at(CODEX), 'utf8')).toBe(MINE)
  expect(statSync(at(CODEX)).mode & 0o777).toBe(0o640)
})

test('what its owner has changed since stays, also over a second connect', async () => {
  put(CODEX, MINE)
  await type('codex')
  put(CODEX, `${readFileSync(at(CODEX), 'utf8')}\n[notice]\nseen = true\n`)
  await type('codex', '--model', 'vendorA-sonnet-5')
  put(CODEX, `${readFileSync(at(CODEX), 'utf8')}\n[more]\nseen = true\n`)
  expect((await type('codex', '--undo')).out).toContain('only what connect wrote is gone')
  const { model, ...rest } = Bun.TOML.parse(readFileSync(at(CODEX), 'utf8')) as Record<string, unknown>
  expect(model).toBe('o-1')
  expect(Object.keys(rest)).toEqual(['projects', 'notice', 'more'])
})

test('a link stays a link, and what it leads to is written', async () => {
  put('dotfiles/config.toml', MINE)
  mkdirSync(at('.codex'))
  symlinkSync(at('dotfiles/config.toml'), at(CODEX))
  await type('codex')
  expect(readFileSync(at('dotfiles/config.toml'), 'utf8')).toContain('sluice')
  await type('codex', '--undo')
  expect(readFileSync(at('dotfiles/config.toml'), 'utf8')).toBe(MINE)
})

test('a link that leads nowhere yet stays one, and its file is made where it leads', async () => {
  mkdirSync(at('dotfiles'))
  mkdirSync(at('.codex'))
  symlinkSync('../dotfiles/config.toml', at(CODEX))
  await type('codex')
  expect(readFileSync(at('dotfiles/config.toml'), 'utf8')).toContain('sluice')
  expect((await type('codex', '--undo')).out).toContain('gone, as there was none before')
  expect([readlinkSync(at(CODEX)), readdirSync(at('dotfiles'))]).toEqual(['../dotfiles/config.toml', []])
})

test('a file that cannot be written is told of, and what was connected before can be undone still', async () => {
  const stale = async (after: () => Promise<unknown>) => {
    mkdirSync(at(`${CODEX}.${process.pid}.tmp`))
    expect(await type('codex', '--model', 'vendorA-sonnet-5')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /config\.toml cannot be written \(\w*EISDIR\): let this user write it and its folder\.$/,
      ),
    })
    rmdirSync(at(`${CODEX}.${process.pid}.tmp`))
    await after()
  }
  put(CODEX, MINE)
  await stale(async () => expect((await type('codex', '--undo')).err).toContain('Nothing is kept of'))
  expect(readFileSync(at(CODEX), 'utf8')).toBe(MINE)
  await type('codex')
  await stale(async () => expect((await type('codex', '--undo')).out).toContain('as it was before'))
  expect(readFileSync(at(CODEX), 'utf8')).toBe(MINE)
})

test.each([
  ['model = \n', 'it is no TOML'],
  ['model_providers = 1\n', '"model_providers" in it is no group of settings'],
])('a file that says %j is refused and stays', async (text, reason) => {
  put(CODEX, text)
  expect(await type('codex')).toMatchObject({ code: 1, err: expect.stringContaining(reason) })
  expect(readFileSync(at(CODEX), 'utf8')).toBe(text)
})

test('the model is the one asked for, or one of the vendor whose wire the client speaks', async () => {
  expect((await type('codex')).out).toMatch(/model +vendorB-5\.5: the first whose vendor has the responses wire/)
  expect((await type('claude-code')).out).toMatch(/model +vendorA-opus-4-8: the gateway's own choice/)
  expect((await type('codex', '--model', 'vendorA-opus-4.8')).out).toMatch(/model +vendorA-opus-4-8: as you asked/)
  terminal.env.SLUICE_API_KEY = (await gateway.issue({ models: ['vendorB-5.4-mini'] })).secret
  expect((await type('claude-code')).out).toMatch(/model +vendorB-5\.4-mini: the first that the key may use/)
})

test.each([
  ['pi', '.pi/agent/models.json', { thinkingLevelMap: { xhigh: 'xhigh', max: 'max' } }],
  ['opencode', '.config/opencode/opencode.json', {}],
])('%s is told which models think, or it asks none to', async (name, path, levels) => {
  await type(name)
  const { models } = Object.values<JsonObject>(
    JSON.parse(readFileSync(at(path), 'utf8'))[name === 'pi' ? 'providers' : 'provider'],
  )[0] as { models: JsonObject[] | JsonObject }
  const of = (id: string) => (Array.isArray(models) ? models.find((model) => model.id === id) : models[id])
  expect(of('vendorA-opus-4-8')).toMatchObject({ reasoning: true, ...levels })
  expect(of('vendorB-4o')).not.toHaveProperty('reasoning')
})

test('Mistral Vibe is told the windows by which it compacts, and which models see', async () => {
  await type('mistral-vibe')
  const { models } = Bun.TOML.parse(readFileSync(at('.vibe/config.toml'), 'utf8')) as { models: JsonObject[] }
  const of = (id: string) => models.find(({ name }) => name === id)
  expect(of('vendorA-opus-4-8')).toMatchObject({ max_context_length: 1_000_000, supports_images: true })
  expect(of('vendorB-4')).toMatchObject({ max_context_length: 32_768, supports_images: false })
})

test('Qwen Code and droid are told which models see, without which they show them no picture', async () => {
  await type('droid')
  const { customModels } = JSON.parse(readFileSync(at('.factory/settings.json'), 'utf8')) as {
    customModels: JsonObject[]
  }
  const blind = customModels.flatMap(({ model, noImageSupport }) => (noImageSupport === false ? [] : [model]))
  expect(blind).toEqual(['vendorB-4'])
  const QWEN = '.qwen/settings.json'
  const told = () => (JSON.parse(readFileSync(at(QWEN), 'utf8')) as { model: JsonObject }).model.generationConfig
  await type('qwen-code')
  expect(told()).toEqual({ contextWindowSize: 1_000_000, modalities: { image: true } })
  await type('qwen-code', '--model', 'vendorB-4')
  expect(told()).toEqual({ contextWindowSize: 32_768, modalities: {} })
})

test('where the gateway does not answer nothing is written', async () => {
  const nothing = () => expect(existsSync(at('.codex'))).toBe(false)
  expect(await type('codex', '--model', 'vendorB-9')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no model'),
  })
  nothing()
  terminal.env.SLUICE_API_KEY = (await gateway.issue({ tokensTotal: 0 })).secret
  expect(await type('codex')).toMatchObject({ code: 1, err: expect.stringContaining('--untried') })
  nothing()
  expect((await type('codex', '--untried')).code).toBe(0)
  await type('codex', '--undo')
  terminal.env.SLUICE_API_KEY = 'sk-sl-wrong'
  expect((await type('codex')).code).toBe(1)
  terminal.env.SLUICE_API_KEY = gateway.secret
  terminal.env.SLUICE_SERVER = 'http://127.0.0.1:1'
  expect(await type('codex')).toMatchObject({ code: 1, err: expect.stringContaining('No gateway can be reached') })
  nothing()
})

test.each([
  [['codx'], /did you mean "codex"\?/],
  [['cluade'], /did you mean "claude-code"\?/],
  [['vibe'], /did you mean "mistral-vibe"\?/],
  [[], /^Name the client: claude-code, codex/],
  [['codex', '--server', 'http://u:p@host'], /--server must be the address/],
  [['codex', '--key', 'a b'], /characters that no key has/],
])('%j is wrong usage', async (words, sentence) => {
  expect(await type(...words)).toMatchObject({ code: 2, err: expect.stringMatching(sentence) })
})

test('a key is needed', async () => {
  delete terminal.env.SLUICE_API_KEY
  const { code, err } = await type('codex')
  expect([code, err]).toEqual([2, expect.stringContaining('A key is needed')])
  expect(err).toContain('"sluice keys create --label NAME" makes one')
})

test('what was never connected cannot be undone', async () => {
  expect(await type('pi', '--undo')).toMatchObject({ code: 1, err: expect.stringContaining('Nothing is kept of pi') })
})

test.skipIf(process.platform === 'win32')('on a terminal the key is asked for, and not echoed', async () => {
  let screen = ''
  let grown = Promise.withResolvers<void>()
  const child = Bun.spawn([process.execPath, join(import.meta.dir, '../../src/main.ts'), 'connect', 'codex'], {
    cwd: terminal.cwd,
    env: { PATH: process.env.PATH ?? '', HOME: terminal.cwd, SLUICE_SERVER: gateway.url },
    terminal: {
      data: (_terminal, bytes) => {
        screen += Buffer.from(bytes).toString()
        grown.resolve()
        grown = Promise.withResolvers()
      },
    },
  })
  while (!screen.includes('Key: ')) await grown.promise
  child.terminal?.write(`x\x7f${gateway.secret}\r`)
  expect(await child.exited).toBe(0)
  expect(screen).not.toContain(gateway.secret)
  expect(readFileSync(at(CODEX), 'utf8')).toContain(gateway.secret)
})

test('a record that is damaged is told of, and nothing is lost by it', async () => {
  put(CODEX, MINE)
  await type('codex')
  put('.local/state/sluice/connect/codex/record.json', '{')
  expect(await type('codex', '--undo')).toMatchObject({ code: 1, err: expect.stringContaining('lies beside it') })
  expect(readFileSync(at('.local/state/sluice/connect/codex/0-config.toml'), 'utf8')).toBe(MINE)
})
