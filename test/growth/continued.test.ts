// A request that continues an answer by its id brings all of the conversation to its provider: what it may come to is known
// wherever it is asked, however the gateway is run.

import { describe, expect, test } from 'bun:test'
import { providersAt } from '../chaos/support/gateway.ts'
import { MODEL_OF, requestOn, spoken } from '../money/support.ts'
import { PATHS } from '../support/paths.ts'
import { gate, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { sample } from './books.ts'
import { type Fleet, type Node, until } from './fleet.ts'
import { FORMS } from './forms.ts'

const stopping = stopsAfterEach()

const ask = (node: Node, secret: string, body: object, stream: boolean): Promise<Response> =>
  fetch(node.url + PATHS.responses, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ ...requestOn('responses', MODEL_OF.responses, stream, 20), ...body }),
  })

const FIRST = { billed: { input: 4_000, cached: 1_000, output: 500 } }

/** A vendor with one long conversation: what goes on with it waits until `late` opens. */
const startVendor = async () => {
  const late = gate()
  const vendor = stopping(
    await startScripted(async ({ method, path, text }) => {
      if (method === 'GET') return spoken('responses', path.includes('stream=true'), FIRST)
      const body = JSON.parse(text)
      if (body.background === true) return { steps: [JSON.stringify({ id: 'resp_1', status: 'queued', output: [] })] }
      if (body.previous_response_id === undefined) return spoken('responses', body.stream, FIRST)
      await late.opened
      return spoken('responses', body.stream, { billed: { input: 5_500, output: 5 } })
    }),
  )
  const isOneTooMany = (): Promise<unknown> => {
    let count = 0
    return vendor.next(({ text }) => text.includes('previous_response_id') && ++count > 8)
  }
  return { origin: vendor.origin, late, isOneTooMany: isOneTooMany() }
}

/** Fifty at once go on with it, for eight of which the key has tokens. */
const goOn = async (
  node: Node,
  secret: string,
  { stream, late, isOneTooMany }: { stream: boolean } & Omit<Awaited<ReturnType<typeof startVendor>>, 'origin'>,
): Promise<void> => {
  const refused = Promise.withResolvers<void>()
  let count = 0
  const asking = Array.from({ length: 50 }, async () => {
    const response = await ask(node, secret, { previous_response_id: 'resp_1' }, stream)
    if (response.status === 429 && ++count === 42) refused.resolve()
    await response.text()
    return response.status
  })
  // Who is refused is refused while all others wait.
  await Promise.race([refused.promise, isOneTooMany])
  late.open()
  const statuses = await Promise.all(asking)
  expect(statuses.filter((status) => status === 200)).toHaveLength(8)
}

const requireUsed = async ({ reading }: Fleet, id: string): Promise<void> =>
  expect(await reading.query(`SELECT tokens_used AS used FROM keys WHERE id = '${id}'`)).toEqual([
    { used: 5_500 + 8 * 5_505 },
  ])

describe.each(FORMS.map((form) => [form.name, form] as const))('%s', (_, form) => {
  test.skipIf(form.missing !== undefined).each([
    { stream: false, accounts: 1 },
    { stream: true, accounts: 1 },
    { stream: true, accounts: 2 },
  ])('let in no more of one long conversation than a key has tokens for: %p', async ({ stream, accounts }) => {
    const { origin, ...vendor } = await startVendor()
    const origins = Array.from({ length: accounts }, () => origin)
    const fleet = stopping(await form.start({ providers: providersAt({ b: origins }) }))
    const sampler = sample(fleet.reading)
    const { id, secret } = await fleet.newKey({ tokens_total: 50_000 })
    const first = await ask(fleet.at(0), secret, {}, stream)
    expect(first.status).toBe(200)
    await first.text()
    await goOn(fleet.at(fleet.all.length - 1), secret, { stream, ...vendor })
    await sampler.sound()
    await fleet.books()
    await requireUsed(fleet, id)
  })

  test.skipIf(form.missing !== undefined).each([['whole'], ['as a stream']])(
    'know how long one is that began in the background as soon as its end was read anywhere: %s',
    async (how) => {
      const { origin, late } = await startVendor()
      late.open()
      const fleet = stopping(await form.start({ providers: providersAt({ b: [origin] }) }))
      const { secret } = await fleet.newKey()
      const begun = await ask(fleet.at(0), secret, { background: true }, false)
      expect(await begun.json()).toMatchObject({ id: 'resp_1', status: 'queued' })
      const other = fleet.at(fleet.all.length - 1)
      const headers = { authorization: `Bearer ${secret}`, connection: 'close' }
      const query = how === 'whole' ? '' : '?stream=true'
      const read = await fetch(`${other.url}${PATHS.responses}/resp_1${query}`, { headers })
      expect(await read.text()).toContain('"status":"completed"')
      const continued = await ask(other, secret, { previous_response_id: 'resp_1' }, false)
      await continued.text()
      // Whoever watches it has heard of its end.
      await until(async () => (await fleet.reading.query('SELECT 1 FROM reservations')).length === 0)
      await fleet.books()
      const [row] = await fleet.reading.query<{ estimate: number }>(
        `SELECT input_estimate AS estimate FROM exchanges WHERE id = '${continued.headers.get('x-request-id')}'`,
      )
      expect(row?.estimate).toBeGreaterThan(5_500)
    },
  )
})
