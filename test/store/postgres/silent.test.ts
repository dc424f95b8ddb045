// Nodes of which the database hears nothing any more in the midst of a transaction: what they had locked is free again soon.

import { afterEach, describe, expect, test } from 'bun:test'
import type { Client, Queries } from '../../../src/store/postgres/client.ts'
import { alone } from '../../../src/store/postgres/sums.ts'
import { postgresMissing } from '../../support/postgres.ts'
import { createProxy, type Proxy as Line, through } from '../../support/proxy.ts'
import { dropAll, newDatabase, nodeOn } from './support.ts'

const lines: Line[] = []
afterEach(async () => {
  await dropAll()
  for (const line of lines.splice(0)) line.close()
})

type Begin = (client: Client, run: (tx: Queries) => Promise<unknown>) => Promise<unknown>
const BEGINS: [string, Begin][] = [
  ['any', (client, run) => client.begin(run)],
  ['one that writes sums', alone],
]

describe.skipIf(postgresMissing !== undefined)('a transaction', () => {
  test('of a node that fell silent keeps no other from writing sums', async () => {
    const url = await newDatabase()
    const line = await createProxy(Number(new URL(url).port))
    lines.push(line)
    const [silent, other] = [await nodeOn(through(url, line)), await nodeOn(url)]
    await new Promise<void>((begun) => {
      const stands = alone(silent.client, () => {
        begun()
        return new Promise<never>(() => undefined)
      })
      stands.catch(() => undefined)
    })
    line.silence('lost')
    expect(await alone(other.client, (tx) => tx.query('SELECT 1 AS one'))).toEqual([{ one: 1 }])
  })

  test.each(BEGINS)('neither stands still nor waits for others for long: %s', async (_, begin) => {
    const { client } = await nodeOn(await newDatabase())
    const told: unknown[] = []
    await begin(client, async (tx) => {
      for (const name of ['idle_in_transaction_session_timeout', 'lock_timeout', 'transaction_isolation'])
        told.push(...(await tx.query(`SELECT current_setting('${name}') AS value`)))
    })
    expect(told).toEqual([{ value: '3s' }, { value: '4s' }, { value: 'read committed' }])
  })
})
