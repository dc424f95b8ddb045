// When the connection of a stream counts as idle again, and may be closed for others: once its end has left.

import { expect, test } from 'bun:test'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { CHAT, streamed } from '../chaos/support/stories.ts'
import { startGateway } from '../support/gateway.ts'
import { gate, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { until } from '../support/until.ts'

const stopping = stopsAfterEach()

test('a stream whose end waits until it is settled keeps its connection from those that are idle', async () => {
  const vendor = stopping(await startScripted(() => streamed(CHAT)))
  const { post, server } = stopping(await startGateway({ vendorB: `${vendor.origin}/v1` }))
  const { gateway } = server
  const { ledger, listener } = gateway
  const written = gate()
  const settle: Ledger['settle'] = (...settled) => ({ ...ledger.settle(...settled), written: written.opened })
  const idle: Request[] = []
  Object.assign(gateway, {
    ledger: { ...ledger, settle },
    listener: {
      ...listener,
      streamed(request: Request) {
        idle.push(request)
        listener?.streamed(request)
      },
    },
  })
  const text = (await post(CHAT.path, CHAT.request(true))).text()
  await until(() => gateway.open.size === 0)
  expect(idle).toEqual([])
  written.open()
  expect(await text).toContain('[DONE]')
  expect(idle).toHaveLength(1)
})
