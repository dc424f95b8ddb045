// A model that two vendors sell, each by its own name: where the first fails, the second is asked.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, problemLine } from '../../src/config.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-fallback-'))
const asked: [string, string, unknown][] = []

/** Sees what it is asked for, and answers by `answer`. */
const vendor = (name: string, answer: () => Response) =>
  Bun.serve({
    port: 0,
    fetch: async (request) => {
      const { model } = (await request.json()) as { model: string }
      asked.push([name, new URL(request.url).pathname, model])
      return answer()
    },
  })

const usage = { input_tokens: 1, output_tokens: 1 }
const content = [{ type: 'text', text: 'Hi' }]
const first = vendor('first', () =>
  Response.json({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, { status: 529 }),
)
const second = vendor('second', () =>
  Response.json({ id: 'm', type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'end_turn', usage }),
)

let gateway: TestGateway
beforeAll(async () => {
  const at = (port: number | undefined, path: string) =>
    `accounts: [{ name: main, base_url: "http://127.0.0.1:${port}${path}", credential: env:K }]`
  const yaml = `
providers:
  vendor_a: { preset: anthropic, ${at(first.port, '')} }
  openrouter: { preset: openrouter, ${at(second.port, '/api/v1')} }
fallbacks: { claude-opus-4-8: [openrouter/claude-opus-4-8] }
`
  writeFileSync(join(folder, 'sluice.yaml'), yaml)
  const loaded = loadConfig({ env: { K: 'k' }, cwd: folder })
  if (!loaded.ok) throw new Error(loaded.problems.map(problemLine).join('\n'))
  const { providers, models, brands, aliases, fallbacks } = loaded.config
  gateway = await startGateway({ config: { providers, models, brands, aliases, fallbacks } })
})
afterAll(async () => {
  await gateway.stop()
  await Promise.all([first.stop(true), second.stop(true)])
  rmSync(folder, { recursive: true, force: true })
})

test('the second is asked by its own name, and the answer names the model that served it', async () => {
  const messages = [{ role: 'user', content: 'hi' }]
  const answer = await gateway.post('/v1/messages', { model: 'claude-opus-4.8', max_tokens: 5, messages })
  expect([answer.status, await answer.json()]).toEqual([
    200,
    expect.objectContaining({ model: 'openrouter/claude-opus-4-8' }),
  ])
  expect(asked).toEqual([
    ['first', '/v1/messages', 'claude-opus-4-8'],
    ['second', '/api/v1/messages', 'anthropic/claude-opus-4.8'],
  ])
})
