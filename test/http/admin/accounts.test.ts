// An account's test: what its vendor says when asked for a word, told to admins alone.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RealVendors, startRealVendors, VENDOR_KEYS } from '../../support/provider/real-vendors.ts'
import { type Desk, refusal, startDesk } from './support.ts'

let vendors: RealVendors
let desk: Desk
beforeAll(async () => {
  vendors = await startRealVendors()
  desk = await startDesk({ vendorA: vendors.a, keys: { vendorA: VENDOR_KEYS.a } })
})
afterAll(async () => {
  await desk.stop()
  await vendors.stop()
})

const main = { provider: 'vendor_a', account: 'main' }

test('tells what each model is refused for, in words that are not the vendor\u2019s', async () => {
  const { items } = await desk.call('accounts.test', desk.admin, main)
  expect(items[0]).toMatchObject({
    model: 'vendorA-opus-4-8',
    upstream: 'vendorA-opus-4-8',
    ok: false,
    verdict: 'unknown-model',
  })
  expect(JSON.stringify(items)).not.toContain('what is')
  expect(JSON.stringify(items)).not.toContain(VENDOR_KEYS.a)
})

test('bills no key, and asks once for all who ask meanwhile', async () => {
  vendors.refused.length = 0
  const [first, second] = await Promise.all([
    desk.call('accounts.test', desk.admin, main),
    desk.call('accounts.test', desk.admin, main),
  ])
  expect(second).toEqual(first)
  expect(vendors.refused).toHaveLength(first.items.length)
  const { totals } = await desk.call('usage.get', desk.admin)
  expect(totals.requests).toBe(0)
})

test('is of an account that is there, and for no member', async () => {
  const other = { provider: 'vendor_a', account: 'spare' }
  expect(await refusal(await desk.request('accounts.test', desk.admin, other))).toMatchObject({ status: 404 })
  expect(await refusal(await desk.request('accounts.test', desk.member, main))).toMatchObject({ status: 403 })
})
