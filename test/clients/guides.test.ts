// The guides and the dashboard's snippets say what `connect` writes.

import { expect, test } from 'bun:test'
import { guidePath, guideWith } from '../../scripts/guides.ts'
import type { Listed } from '../../src/clients/client.ts'
import { applied } from '../../src/clients/edit.ts'
import { CLIENTS } from '../../src/clients/index.ts'
import { TEXT_SNIPPETS } from '../../src/dashboard/page/lib/snippets.ts'
import { guides } from '../../src/http/docs.ts'

test.each(CLIENTS.map((client) => [client.name, client] as const))(
  'the guide of %s is up to date',
  async (name, client) => {
    const text = await Bun.file(guidePath(client)).text()
    expect(guideWith(client, text)).toBe(text)
    expect(guides().map((guide) => guide.name)).toContain(name)
  },
)

const main: Listed = { id: 'm-1', provider: 'vendor_a', context: 1_000_000, output: 10, images: false, text: true }
const setup = { origin: 'http://gateway', key: 'sk-sl-x', main, small: main, models: [main] }
const written = (name: string) =>
  applied({}, CLIENTS.find((client) => client.name === name)?.files[0]?.edits(setup) ?? [])
const snippet = (name: string): string => {
  const [, , write] = TEXT_SNIPPETS.find(([id]) => id === name) ?? []
  return write?.({ origin: setup.origin, secret: setup.key, model: main.id }) ?? ''
}

test("the dashboard's variables for Claude Code are those that connect sets", () => {
  const pairs = Array.from(snippet('claude-code').matchAll(/^export (\w+)="(.*)"$/gm), ([, name, value]) => [
    name,
    value,
  ])
  expect(written('claude-code')).toEqual({ env: Object.fromEntries(pairs) })
})

test("the dashboard's file for Codex differs from connect's by where the key is alone", () => {
  const [file = ''] = snippet('codex').split('# then')
  const { model, model_provider, model_providers } = written('codex')
  const { experimental_bearer_token: _, ...provider } = (model_providers as { sluice: Record<string, unknown> }).sluice
  expect(Bun.TOML.parse(file)).toEqual({
    ...{ model, model_provider },
    model_providers: { sluice: { ...provider, env_key: 'SLUICE_API_KEY' } },
  })
})

test("the dashboard's file for opencode is within connect's", () => {
  const { $schema: _, ...file } = JSON.parse(snippet('opencode').replace(/^\/\/.*/, ''))
  expect(written('opencode')).toMatchObject(file)
})
