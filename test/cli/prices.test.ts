// `models prices --import`: the configured models beside the community's map, here and on another machine's server.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDesk } from '../http/admin/support.ts'
import { openTerminal, type Terminal } from './terminal.ts'

const MAP = {
  sample_spec: { litellm_provider: 'one of many', input_cost_per_token: 0 },
  'gpt-5.5': {
    ...{ litellm_provider: 'openai', input_cost_per_token: 4e-6, output_cost_per_token: 3e-5 },
    ...{ cache_read_input_token_cost: 4e-7, code_interpreter_cost_per_session: 0.03 },
  },
  'claude-opus-4-8': {
    ...{ litellm_provider: 'anthropic', input_cost_per_token: 5e-6, output_cost_per_token: 2.5e-5 },
    ...{ cache_read_input_token_cost: 5e-7, cache_creation_input_token_cost: 6.25e-6 },
    cache_creation_input_token_cost_above_1hr: 1e-5,
  },
  'gpt-5.4': { litellm_provider: 'azure', input_cost_per_token: 9e-6, output_cost_per_token: 9e-6 },
}

let terminal: Terminal
beforeEach(() => {
  terminal = openTerminal({ OPENAI_API_KEY: 'sk-b-0123456789abcdef', ANTHROPIC_API_KEY: 'sk-a-0123456789abcdef' })
  const map = join(terminal.cwd, 'map.json')
  writeFileSync(map, JSON.stringify(MAP))
  utimesSync(map, Date.UTC(2026, 9, 5) / 1000, Date.UTC(2026, 9, 5) / 1000)
})
afterEach(() => terminal.close())
const prices = (...words: string[]) => terminal.type('models', 'prices', '--import', 'map.json', ...words)
const priceOf = async (id: string) =>
  (
    JSON.parse((await terminal.type('models', '--json')).out) as { models: { id: string; price: object }[] }
  ).models.find((model) => model.id === id)?.price

test('the difference is shown, and nothing is set without a yes', async () => {
  const { code, out, err } = await prices()
  expect(out).toMatch(/^MODEL +PRICE +NOW +AS OF 2026-10-05\nvendorB-5\.5 +input +5 +4\n/)
  expect(out).toMatch(/long_context\.above +272000 *\n/)
  expect(out).toContain('vendorB-5.5 (gpt-5.5) is not taken over: containers of code, which are billed by the session.')
  expect(out).toMatch(/1 model with other prices, 1 with the same\. Not in the map.*: .*vendorB-5\.4,/)
  expect(out).not.toMatch(/vendorA-opus-4-8 +/)
  expect([code, err]).toEqual([1, expect.stringContaining('give --yes')])
  expect((await terminal.type('config', 'entries', '--json')).out).toBe('[]')
})

test('with --yes it is set, with its day, over what was set before; a second time there is nothing to do', async () => {
  const before = '{ context: 900000, price: { input: 7, output: 7, per_call: { file_search: 0.5 } } }'
  expect((await terminal.type('config', 'set', 'models', 'vendorB-5.5', before)).code).toBe(0)
  const { code, out } = await prices('--yes')
  expect([code, out]).toEqual([0, expect.stringContaining('Set the prices of 1 model.')])
  const price = { input: 4, output: 30, cache_read: 0.4, cache_write: 4, long_context: null, as_of: '2026-10-05' }
  expect(await priceOf('vendorB-5.5')).toMatchObject({ ...price, per_call: { web_search: 0.01, file_search: 0.5 } })
  expect(JSON.parse((await terminal.type('config', 'entries', '--json')).out)).toMatchObject([
    { section: 'models', name: 'vendorB-5.5', value: { context: 900_000 }, problem: null },
  ])
  expect((await terminal.type('models')).out).toMatch(/vendorB-5\.5 .* 4 +30 +2026-10-05/)
  expect(await prices()).toMatchObject({ code: 0, err: '' })
})

test('what the file says is not overridden, but printed for it', async () => {
  writeFileSync(join(terminal.cwd, 'sluice.yaml'), 'models: { vendorB-5.5: { price: { input: 1, output: 2 } } }')
  const { code, out } = await prices('--yes', '--date', '2026-11-01')
  expect(code).toBe(0)
  const pasted = out.slice(out.indexOf('models:'))
  expect(Bun.YAML.parse(pasted)).toEqual({
    models: {
      'vendorB-5.5': { price: { input: 4, output: 30, cache_read: 0.4, cache_write: 4, as_of: '2026-11-01' } },
    },
  })
  expect((await terminal.type('config', 'entries', '--json')).out).toBe('[]')
})

test('as JSON, of the models that are named', async () => {
  const { models, ...rest } = JSON.parse((await prices('--json', '--model', 'vendorA-opus-4-8,vendorB-5.5')).out)
  expect(rest).toEqual({ as_of: '2026-10-05', written: [] })
  expect(models).toMatchObject([
    { id: 'vendorA-opus-4-8', entry: 'claude-opus-4-8', changes: [] },
    { id: 'vendorB-5.5', entry: 'gpt-5.5', changes: expect.arrayContaining([{ price: 'input', now: 5, map: 4 }]) },
  ])
})

describe('is refused', () => {
  test.each([
    ['without --import', ['models', 'prices'], 2, '--import is required: the map'],
    ['without a file', ['models', 'prices', '--import', 'none.json'], 1, 'There is no file none.json'],
    ['with what is no map', ['models', 'prices', '--import', 'other.json'], 1, 'is no map of prices'],
    ['with a date that is none', ['models', 'prices', '--import', 'map.json', '--date', '2026-13-01'], 2, '--date'],
    ['with a model that there is not', ['models', 'prices', '--import', 'map.json', '--model', 'x'], 2, 'no model "x"'],
  ] as const)('%s', async (_what, words, code, said) => {
    writeFileSync(join(terminal.cwd, 'other.json'), '{"a":{"b":1}}')
    expect(await terminal.type(...words)).toMatchObject({ code, err: expect.stringContaining(said) })
  })
})

test('on another machine it is in force there', async () => {
  const desk = await startDesk()
  try {
    const map = {
      'vendor_b/vendorB-5.5': { litellm_provider: 'any', input_cost_per_token: 3e-6, output_cost_per_token: 9e-6 },
    }
    writeFileSync(join(terminal.cwd, 'map.json'), JSON.stringify(map))
    const { secret } = await desk.server.gateway.membership.issueToken('script', undefined, desk.admin.member)
    const { code, out } = await prices('--yes', '--server', desk.url, '--token', secret)
    expect([code, out]).toEqual([0, expect.stringContaining('Set the prices of 1 model.')])
    expect(desk.server.gateway.catalogue.resolve('vendorB-5.5')?.price).toMatchObject({ input: 3, output: 9 })
  } finally {
    await desk.stop()
  }
})
