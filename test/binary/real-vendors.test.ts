// One environment variable to the first real-shaped answer: the compiled file before stand-ins that are as strict as the
// real vendors. Runs when SLUICE_BINARY names it.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { type RealVendors, startRealVendors, VENDOR_KEYS } from '../support/provider/real-vendors.ts'
import { BINARY, endAll, launch, PROGRAM } from './support/process.ts'

describe.skipIf(BINARY === undefined)('the compiled file, with nothing but a vendor in its environment', () => {
  let vendors: RealVendors
  let cwd: string
  beforeAll(async () => {
    vendors = await startRealVendors()
  })
  afterAll(() => vendors.stop())
  beforeEach(() => {
    vendors.refused.length = 0
    cwd = mkdtempSync(join(tmpdir(), 'sluice-vendors-'))
  })
  afterEach(async () => {
    await endAll()
    rmSync(cwd, { recursive: true, force: true })
  })

  const start = async (env: Record<string, string>) => {
    const url = await launch(PROGRAM, ['serve', '--port', '0'], cwd, env).ready()
    const made = await launch(PROGRAM, ['keys', 'create', '--label', 'first', '--json'], cwd, env).out
    const { key } = JSON.parse(made)
    const post = (path: string, body: object) =>
      fetch(url + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          'vendorA-version': '2023-06-01',
        },
        body: JSON.stringify(body),
      })
    const models = async (): Promise<string[]> => {
      const list = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
      const { data } = (await list.json()) as { data: { id: string }[] }
      return data.map(({ id }) => id)
    }
    // A key is in force within a second.
    while ((await fetch(`${url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })).status !== 200);
    return { url, key, post, models }
  }

  const said = 'say a few words'
  const messages = [{ role: 'user', content: said }]
  const asked = (model: string): [string, object][] => [
    ['/v1/messages', { model, max_tokens: 50, messages }],
    ['/v1/chat/completions', { model, messages }],
    ['/v1/responses', { model, input: said }],
  ]
  const A = () => ({ ANTHROPIC_API_KEY: VENDOR_KEYS.a, ANTHROPIC_BASE_URL: vendors.a })
  const B = () => ({ OPENAI_API_KEY: VENDOR_KEYS.b, OPENAI_BASE_URL: vendors.b })

  test.each([
    ['vendor_a', A, ['auto', 'claude-opus-4-8', 'claude-haiku-4.5', 'vendorA-sonnet-5']],
    ['vendor_b', B, ['auto', 'gpt-5.5', 'vendorB-5.4-mini', 'gpt-4o']],
  ] as const)('answers on every wire for %s, by real ids and neutral ones', async (_, env, names) => {
    const { post } = await start(env())
    for (const [path, body] of names.flatMap(asked)) {
      for (const stream of [false, true]) {
        const answer = await post(path, { ...body, stream })
        expect([path, answer.status]).toEqual([path, 200])
        const text = await answer.text()
        expect(text).toMatch(stream ? /message_stop|\[DONE\]|response\.completed/ : /"usage"/)
      }
    }
    expect(vendors.refused).toEqual([])
  })

  test('answers the vendors\u2019 own SDKs by the ids that their users write', async () => {
    const { url, key } = await start({ ...A(), ...B() })
    const claude = new Anthropic({ baseURL: url, apiKey: key })
    const message = await claude.messages.create({
      model: 'claude-opus-4-8',
      max_tokens: 50,
      messages: [{ role: 'user', content: said }],
    })
    expect(message.content[0]?.type).toBe('text')
    const gpt = new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
    const response = await gpt.responses.create({ model: 'gpt-5.4-mini', input: said })
    expect(response.output_text).not.toBe('')
    let text = ''
    const stream = await gpt.chat.completions.create({
      model: 'claude-haiku-4-5-20251001',
      messages: [{ role: 'user', content: said }],
      stream: true,
    })
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
    expect(text).not.toBe('')
    expect(vendors.refused).toEqual([])
  })

  test('draws, and lists what the vendors have', async () => {
    const { post, models } = await start({ ...A(), ...B() })
    const drawn = await post('/v1/images/generations', { model: 'gpt-image-1', prompt: 'A cat', size: '1024x1024' })
    expect([drawn.status, await drawn.text()]).toEqual([200, expect.stringContaining('b64_json')])
    expect(vendors.refused).toEqual([])
    const listed = await models()
    expect(listed).toContain('vendorA-opus-4-8')
    expect(listed).not.toContain('vendorB-4')
  })

  test('connects an agent of either wire to the one vendor that there is', async () => {
    const { url, key, models } = await start(B())
    expect((await models()).filter((id) => id.startsWith('vendorA-'))).toEqual([])
    const env = { SLUICE_API_KEY: key, HOME: cwd }
    for (const client of ['claude-code', 'codex']) {
      const connected = launch(PROGRAM, ['connect', client, '--server', url], cwd, env)
      expect([client, await connected.exited, await connected.out]).toEqual([
        client,
        0,
        expect.stringMatching(/^model +vendorB-5\.5: /m),
      ])
    }
    expect(vendors.refused).toEqual([])
  })
})
