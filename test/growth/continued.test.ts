// A request that continues an answer by its id brings all of the conversation to its provider: what it may come to is known
// wherever it is asked, however the gateway is run.

import { describe, expect, test } from 'bun:test'
import { providersAt } from '../chaos/support/gateway.ts'
import { MODEL_OF, requestOn, spoken } from '../money/support.ts'
import { PATHS } from '../support/paths.ts'
import { gate, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { sample } from './books.ts'
import type { Node } from './fleet.ts'
import { FORMS } from './forms.ts'

const stopping = stopsAfterEach()

const ask = (node: Node, secret: string, body: object, stream: boolean): Promise<Response> =>
  fetch(node.url + PATHS.responses, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ ...requestOn('responses', MODEL_OF.responses, stream, 20), ...body }),
  })

describe.each(FORMS.map((form) => [form.name, form] as const))('%s', (_, form) => {
  test.skipIf(form.missing !== undefined).each([
    { stream: false, accounts: 1 },
    { stream: true, accounts: 1 },
    { stream: true, accounts: 2 },
  ])('let in no more of one long conversation than a key has tokens for: %p', async ({ stream, accounts }) => {
    const late = gate()
    const vendor = stopping(
      await startScripted(async ({ text }) => {
        const body = JSON.parse(text)
        if (body.previous_response_id === undefined)
          return spoken('responses', body.stream, { billed: { input: 4_000, cached: 1_000, output: 500 } })
        await late.opened
        return spoken('responses', body.stream, { billed: { input: 5_500, output: 5 } })
      }),
    )
    const origins = Array.from({ length: accounts }, () => vendor.origin)
    const fleet = stopping(await form.start({ providers: providersAt({ b: origins }) }))
    const sampler = sample(fleet.reading)
    const { id, secret } = await fleet.newKey({ tokens_total: 50_000 })
    const first = await ask(fleet.at(0), secret, {}, stream)
    expect(first.status).toBe(200)
    await first.text()

    // Who is refused is refused while all others wait.
    const other = fleet.at(fleet.all.length - 1)
    const refused = Promise.withResolvers<void>()
    let count = 0
    const asking = Array.from({ length: 50 }, async () => {
      const response = await ask(other, secret, { previous_response_id: 'resp_1' }, stream)
      if (response.status === 429 && ++count === 42) refused.resolve()
      return [response.status, await response.text()] as const
    })
    await Promise.race([refused.promise, vendor.arrived(9)])
    late.open()
    const statuses = (await Promise.all(asking)).map(([status]) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(8)
    await sampler.sound()
    await fleet.books()
    expect(await fleet.reading.query(`SELECT tokens_used AS used FROM keys WHERE id = '${id}'`)).toEqual([
      { used: 5_500 + 8 * 5_505 },
    ])
  })
})
