// How a key's clients are connected, as the dashboard shows it: what `connect` writes, with the models of the key.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { applied, read } from '../../../src/clients/edit.ts'
import { CLIENTS } from '../../../src/clients/index.ts'
import { type Desk, startDesk } from './support.ts'

let desk: Desk
beforeAll(async () => {
  desk = await startDesk()
})
afterAll(() => desk.stop())

const ORIGIN = 'https://gateway.example'
const keyFor = async (models: string[]): Promise<string> =>
  (await desk.call('keys.create', desk.admin, { label: 'c', tokens_total: 10, models })).key.id

test('every client that is known is told of, each file as it would be written', async () => {
  const { items } = await desk.call('clients.list', desk.admin, { key: await keyFor(['*']), origin: ORIGIN })
  expect(items.map(({ name }) => name)).toEqual(CLIENTS.map(({ name }) => name))
  for (const { name, files } of items) {
    const client = CLIENTS.find((each) => each.name === name)
    expect(files.map(({ shown }) => shown)).toEqual(client?.files.map(({ shown }) => shown) ?? [])
    const all = files.map(({ text }) => text).join('\n')
    expect([name, all.includes(ORIGIN), all.includes('YOUR_KEY')]).toEqual([
      ...[name, true],
      client?.files.some(({ secret }) => secret) ?? false,
    ])
  }
})

test('Codex gets the provider that connect sets, for the one model that its key may use', async () => {
  const { items } = await desk.call('clients.list', desk.admin, { key: await keyFor(['vendorB-5.4']), origin: ORIGIN })
  const [file] = items.find(({ name }) => name === 'codex')?.files ?? []
  const main = {
    id: 'vendorB-5.4',
    provider: 'vendor_b',
    context: 1_050_000,
    output: 128_000,
    images: true,
    text: true,
    reasons: true,
  }
  const setup = { origin: ORIGIN, key: 'YOUR_KEY', main, small: main, models: [main] }
  const edits = CLIENTS.find(({ name }) => name === 'codex')?.files[0]?.edits(setup) ?? []
  expect(read('toml', file?.text ?? '')).toEqual(applied({}, edits))
})

describe('there is nothing', () => {
  test('for a key without a model that answers in text', async () => {
    const key = await keyFor(['vendorB-image-1'])
    expect(await desk.call('clients.list', desk.admin, { key, origin: ORIGIN })).toEqual({ items: [] })
  })

  test("of another's key for a member", async () => {
    const asked = { key: await keyFor(['*']), origin: ORIGIN }
    expect((await desk.request('clients.list', desk.member, asked)).status).toBe(404)
  })

  test.each(['ftp://x', 'https://a"b', 'https://a b', 'javascript:alert(1)'])('for the address %s', async (origin) => {
    const asked = { key: await keyFor(['*']), origin }
    expect((await desk.request('clients.list', desk.admin, asked)).status).toBe(400)
  })
})
