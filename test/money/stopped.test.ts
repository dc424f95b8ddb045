// A server that is stopped settles what it cuts: nothing is left for the next start to guess at.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { databasePath } from '../../src/config.ts'
import { ask, settlement } from '../ledger/support.ts'
import { startGateway } from '../support/gateway.ts'

/** Longer than clients are given to read the end of their answers. */
const COUNTING_MS = 1_500

test('what a stop cuts is settled before it ends, though its text takes a while to count', async () => {
  const gateway = await startGateway({ config: { drainMs: 1 } })
  const { ledger, open, store } = gateway.server.gateway
  const key = store.keys.get((await gateway.issue()).id)
  if (key === undefined) throw new Error('there is no key')
  const reservation = await ledger.reserve(ask(key))
  const call = new AbortController()
  open.set(reservation.exchangeId, { gone: false, call, callOutlivesClient: false })
  const counted = (): void => {
    ledger.settle(reservation, settlement({ outcome: 'aborted', estimated: true }))
    open.delete(reservation.exchangeId)
  }
  call.signal.addEventListener('abort', () => setTimeout(counted, COUNTING_MS))
  await gateway.server.stop()
  const database = new Database(databasePath(gateway.config), { readonly: true })
  const left = database.query('SELECT count(*) AS count FROM reservations').get()
  const settled = database.query('SELECT outcome, estimated FROM exchanges').all()
  database.close()
  rmSync(gateway.config.dataDir, { recursive: true, force: true })
  expect([left, settled]).toEqual([{ count: 0 }, [{ outcome: 'aborted', estimated: 1 }]])
})
