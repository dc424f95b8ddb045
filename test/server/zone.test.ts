// Which zone the days of sums are of, noted at a start.

import { afterEach, expect, test } from 'bun:test'
import { zoneIn } from '../../src/config/settings.ts'
import { noteZone } from '../../src/server/own-books.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { silentLog } from '../support/silent-log.ts'

let provider: Scripted
let gateway: TestGateway
afterEach(async () => {
  await gateway.stop()
  await provider.stop()
})

test('a zone that was another when something had been used is told of, and one from the beginning is not', async () => {
  const answer = { id: 'msg_1', type: 'message', role: 'assistant', model: 'up', stop_reason: 'end_turn' }
  const content = [{ type: 'text', text: 'Hello.' }]
  provider = await startScripted(() => json({ ...answer, content, usage: { input_tokens: 1, output_tokens: 1 } }))
  gateway = await startGateway({ vendorA: provider.origin })
  const { store, config, clock } = gateway.server.gateway
  const warned: string[] = []
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) }
  const startIn = (timeZone: string) => noteZone({ config: { ...config, timeZone }, store, log, clock })

  await startIn('Asia/Tokyo')
  expect(await zoneIn(store.settings)).toEqual({ zone: 'Asia/Tokyo' })
  expect(warned).toEqual([])

  const messages = [{ role: 'user', content: 'Hi' }]
  await (await gateway.post('/v1/messages', { model: 'vendorA-opus-4-8', max_tokens: 9, messages })).text()
  await gateway.idle()
  await startIn('Europe/Berlin')
  const noted = await zoneIn(store.settings)
  expect(noted).toEqual({ zone: 'Europe/Berlin', before: 'Asia/Tokyo', since: expect.any(String) })
  expect(warned).toHaveLength(1)
  await startIn('Europe/Berlin')
  expect(await zoneIn(store.settings)).toEqual(noted)
})
