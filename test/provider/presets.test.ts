// Each preset, from the configuration that names it to the request its vendor gets: URL, headers and the model's id.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { loadConfig } from '../../src/config.ts'
import { fromConfig } from '../../src/gateway.ts'
import { isChatWire, KIND_OF, type Wire } from '../../src/ir/wire.ts'
import type { Preset } from '../../src/provider/preset.ts'
import { PRESETS } from '../../src/provider/presets/index.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { type Google, startGoogle } from '../support/provider/google.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-presets-'))

const ENV = {
  ...Object.fromEntries(PRESETS.flatMap(({ env }) => env.credential.map((name) => [name, `key-of-${name}`]))),
  AWS_REGION: 'eu-west-1',
  ANTHROPIC_VERTEX_PROJECT_ID: 'my-project',
  AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com/',
}

const configOf = (yaml: string) => {
  writeFileSync(join(folder, 'sluice.yaml'), yaml)
  const loaded = loadConfig({ env: ENV, cwd: folder })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  return loaded.config
}

const bodyFor = (wire: Wire, model: string): object =>
  wire === 'images'
    ? { model, prompt: 'A cat', size: '1024x1024' }
    : wire === 'responses'
      ? { model, input: 'Hi' }
      : { model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }

let gateway: TestGateway
let google: Google
beforeAll(async () => {
  google = startGoogle()
  gateway = await startGateway({})
})
afterAll(async () => {
  await gateway.stop()
  await google.stop()
  rmSync(folder, { recursive: true, force: true })
})

type Sent = { url: string; headers: Record<string, string>; model: unknown }

/** What the vendor gets first for a request on a wire. */
const sentBy = async (yaml: string, wire: Wire, model: string): Promise<Sent> => {
  const sent: Sent[] = []
  Object.assign(gateway.server.gateway, fromConfig(configOf(yaml)))
  gateway.server.gateway.fetch = Object.assign(
    async (url: string | URL | Request, init?: RequestInit) => {
      const body = init?.body
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body as Uint8Array)
      const { model } = JSON.parse(text)
      const headers = Object.fromEntries(new Headers(init?.headers))
      sent.push({ url: `${url}`, headers, model })
      return Response.json({ error: { message: 'no', type: 'invalid_request_error', code: 'x' } }, { status: 418 })
    },
    { preconnect: () => undefined },
  )
  await (await gateway.post(PATHS[wire], bodyFor(wire, model))).text()
  const [first] = sent
  if (first === undefined) throw new Error(`nothing was sent for ${model}`)
  const { 'content-type': _, 'accept-encoding': _encoding, 'user-agent': _agent, ...headers } = first.headers
  return { ...first, headers }
}

/** A model to ask for on a wire: the preset's first, else one that the operator names. */
const modelAt = (preset: Preset, wire: Wire): string | undefined => {
  const known = preset.models.find(({ kind = 'text', gone }) => kind === KIND_OF[wire] && gone === undefined)
  return known?.id ?? (preset.models.length === 0 && isChatWire(wire) ? 'local-model' : undefined)
}

const CASES = PRESETS.flatMap((preset) =>
  preset.wires.flatMap((wire) => {
    const model = modelAt(preset, wire)
    return model === undefined ? [] : [[preset.name, wire, model, preset] as const]
  }),
)

describe('a provider of a preset sends', () => {
  test.each(CASES)('%s, on %s, for %s', async (name, wire, model, { models, open, env }) => {
    const isGiven = open !== true && env.credential.length === 0
    const account = isGiven ? ', accounts: [{ name: m, base_url: "http://127.0.0.1:9/v1", credential: "key" }]' : ''
    const own = models.length === 0 ? `\nmodels: { ${model}: { provider: mine, upstream: own-id } }` : ''
    expect(await sentBy(`providers: { mine: { preset: ${name}${account} } }${own}`, wire, model)).toMatchSnapshot()
  })
})

describe('a vendor of the contract is sent no neutral id', () => {
  const BRANDED = PRESETS.flatMap((preset) =>
    (['vendor_a', 'vendor_b'] as const).flatMap((id) =>
      preset.brand?.[id] === undefined
        ? []
        : BUILTIN_MODELS.filter(
            (model) => model.provider === id && (model.kind === 'text' || preset.wires.includes('images')),
          ).map((model) => [preset.name, id, model.id, model.kind, preset] as const),
    ),
  )
  test.each(BRANDED)('by %s as %s, for %s', async (name, id, model, kind, { wires }) => {
    const wire = kind === 'image' ? 'images' : (wires.find(isChatWire) ?? 'messages')
    const sent = await sentBy(`providers: { ${id}: { preset: ${name} } }`, wire, model)
    // One vendor has the model in the path.
    expect(sent.model ?? sent.url).toMatch(/claude-|gpt-|dall-e-/)
    expect(`${sent.model}${sent.url}${JSON.stringify(sent.headers)}`).not.toMatch(/vendor[AB_]/)
  })
})

test('the presets of names and variables that are all their own', () => {
  const names = PRESETS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  const variables = PRESETS.flatMap(({ env }) => env.credential)
  expect(new Set(variables).size).toBe(variables.length)
})

test.each(PRESETS.map((preset) => [preset.name, preset] as const))('%s says how all it says is known', (_, preset) => {
  expect(preset.facts.length).toBeGreaterThan(0)
  for (const { on, how, source } of preset.facts) {
    expect(on).toMatch(/^2026-\d\d-\d\d$/)
    expect(source === '').toBe(how === 'unverified')
  }
  const priced = preset.models.some(({ price }) => price !== undefined)
  expect(preset.pricesOf !== undefined).toBe(priced || preset.name === 'openai')
})
