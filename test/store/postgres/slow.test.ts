// What one request of a group would have read, and cannot: the others go on, and it goes on without where it can.

import { describe, expect, test } from 'bun:test'
import type { GatewayError } from '../../../src/errors.ts'
import type { ReserveAsk } from '../../../src/ledger/ledger.ts'
import { storeError } from '../../../src/store/store.ts'
import { addBudget, addKey, keyAt, ledgersOfTests, type PgNode, STILL } from '../../ledger/shared/postgres.ts'
import { ask } from '../../ledger/support.ts'
import { postgresMissing } from '../../support/postgres.ts'

const newLedger = ledgersOfTests()
const reserve = (node: PgNode, id: string, more: Partial<ReserveAsk> = {}) =>
  node.ledger.reserve(ask(keyAt(node, id), { inputEstimate: 10, outputCap: 10, ...more }))

describe.skipIf(postgresMissing !== undefined)('of a group of requests', () => {
  test('one whose tags are not to be read is billed as it says, and no other waits for it', async () => {
    const ledger = await newLedger()
    const id = await addKey(ledger.admin)
    const node = await ledger.node(STILL)
    const lock = () =>
      ledger.admin.begin(
        async (tx) => {
          await tx.query('LOCK TABLE usage_tags IN ACCESS EXCLUSIVE MODE')
          const tagged = ['a', 'b', 'c'].map((tag) => reserve(node, id, { tag }))
          return (await Promise.all([...tagged, reserve(node, id)])).map(({ tag }) => tag)
        },
        { stuckMs: 0 },
      )
    expect(await lock()).toEqual(['a', 'b', 'c', undefined])
  })

  test('one is refused by a budget whose name nobody tells, and the others are granted', async () => {
    const ledger = await newLedger()
    const [id, other] = [await addKey(ledger.admin), await addKey(ledger.admin)]
    await addBudget(ledger.admin, { id: `key:${id}`, unit: 'tokens', amount: 5 })
    await ledger.admin.query('UPDATE budgets SET used_tokens = amount')
    const node = await ledger.node(STILL)
    node.cache.budgets.nameOf = () => new Promise<never>(() => undefined)
    const code = (error: GatewayError) => error.code
    const asked = [reserve(node, id), reserve(node, id), reserve(node, other)]
    const [refused, again, granted] = await Promise.all(asked.map((one) => one.catch(code)))
    expect([refused, again]).toEqual(['quota_exhausted', 'quota_exhausted'])
    expect(granted).toMatchObject({ keyId: other, reserved: 20 })
  })

  test('one whose key cannot be looked up is told to come again, and that is not its fault', async () => {
    const ledger = await newLedger()
    const known = await addKey(ledger.admin)
    let isAway = false
    const node = await ledger.node({
      ...STILL,
      over: (client) => ({
        ...client,
        query: async (text, ...more) => {
          if (isAway && text.includes('FROM keys')) throw storeError('the records are away')
          return client.query(text, ...more)
        },
      }),
    })
    const key = { ...node.cache.keys.get(known), id: 'key_new' } as never
    isAway = true
    const refused = node.ledger.reserve(ask(key)).catch((error: GatewayError) => [error.code, error.retryAfterMs])
    expect(await Promise.all([refused, reserve(node, known)])).toMatchObject([
      ['service_unavailable', 1_000],
      { keyId: known },
    ])
  })
})
