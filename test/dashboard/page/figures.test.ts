// What was used and what is under way: the overview, exchanges, the live stream.

import { expect, test } from 'bun:test'
import { ADMIN, describePage, heading, hold, look } from './browsing.ts'

describePage('figures and exchanges', ({ gateway, admin, issue, say, hang }) => {
  test('a month is looked at and exported, every key of it, and no label becomes a formula', () =>
    admin('/dashboard', async (page) => {
      const { secret } = await issue('=HYPERLINK("http://x","y")')
      await say(secret, 'Say hello [[usage:123456,7]]')
      await page.getByLabel('Group by').selectOption('key')
      const [month = ''] = await page.getByLabel('Month').selectOption({ index: 1 })
      await page.getByText('by day of UTC').waitFor()
      // Each day of every key is more than a table holds.
      expect(await page.getByRole('button', { name: 'Export by day' }).count()).toBe(0)
      const whole = await page.getByLabel('Totals').textContent()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export as CSV' }).click(),
      ])
      expect(download.suggestedFilename()).toStartWith(`usage by key ${month}-01 to ${month}-`)
      const lines = (await Bun.file(await download.path()).text()).trim().split('\r\n')
      expect(lines[0]).toBe(
        'key,label,owner,requests,errors,input,cache_read,cache_write,output,reasoning,tokens,usd,khr,fees_usd',
      )
      expect(lines.find((line) => line.includes('HYPERLINK'))).toContain(
        `"'=HYPERLINK(""http://x"",""y"")",Sophea,1,0,123456,0,0,7,0,123463,`,
      )
      const counts = lines.slice(1).map((line) => Number(line.split(',').at(-11)))
      const requests = counts.slice(0, -1).reduce((sum, count) => sum + count, 0)
      expect([lines.at(-1)?.split(',')[0], counts.at(-1)]).toEqual(['total', requests])
      expect(whole).toStartWith(`Requests${requests.toLocaleString('en-US')}`)
    }))

  test('what part of a cost is fees has a column of its own, once there are any', () =>
    admin('/dashboard', async (page) => {
      const fees = page.getByRole('columnheader', { name: 'Of which fees', exact: true })
      await page.getByText('Usage over time').waitFor()
      expect(await fees.count()).toBe(0)
      const model = 'vendorB-image-1'
      const price = { input: 0, output: 0, per_image: { default: 0.25 } }
      const set = `fetch('/admin/api/entries/models/${model}', ${JSON.stringify({
        ...{ method: 'PUT', headers: { 'content-type': 'application/json' } },
        body: JSON.stringify({ value: { price } }),
      })}).then(({ status }) => status)`
      expect(await page.evaluate(set)).toBe(200)
      const { secret } = await issue('draws')
      const body = JSON.stringify({ model, prompt: 'a lock', n: 2 })
      const headers = { 'x-api-key': secret, 'content-type': 'application/json' }
      const drawn = await fetch(`${gateway.url}/v1/images/generations`, { method: 'POST', headers, body })
      expect(drawn.status).toBe(200)
      await drawn.text()
      await page.reload()
      await fees.waitFor()
      const cells = await page.getByRole('row', { name: model }).first().getByRole('cell').allTextContents()
      expect(cells.slice(-3)).toEqual(['$0.50', '$0.50', '2,050'])
    }))

  test('a request that was refused is found by the id its client was given, and says why and what to do', () =>
    admin('/dashboard', async (page) => {
      const { secret, id } = await issue('bounded', { models: ['vendorA-haiku-4-5'] })
      const body = JSON.stringify({
        model: 'vendorA-opus-4-8',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'x' }],
      })
      const headers = { 'x-api-key': secret, 'content-type': 'application/json', 'x-gateway-tag': 'customer 7' }
      const refused = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body })
      expect(refused.status).toBe(403)
      await page.goto(`${gateway.url}/dashboard/exchanges`)
      await page.getByLabel('Find by request id').fill(refused.headers.get('x-request-id') ?? '')
      await page.keyboard.press('Enter')
      await heading(page, 'Refused request').waitFor()
      const alert = page.getByRole('alert')
      expect(await alert.textContent()).toContain('refused it at the check of permission')
      expect(await alert.textContent()).toContain('allow it on the key')
      await page.getByText('customer 7').waitFor()
      await page.goto(`${gateway.url}/dashboard/keys/${id}`)
      await page.getByRole('link', { name: '1 request refused' }).click()
      await page.locator('tbody tr', { hasText: 'bounded' }).waitFor()
      await page.goto(`${gateway.url}/dashboard`)
      await page
        .getByLabel('Totals')
        .getByText(/\d% errors.*, \d+ refused besides/)
        .waitFor()
    }))

  test('usage is told apart by member and by tag, and a week by its days', () =>
    admin('/dashboard?range=7d', async (page) => {
      const { secret } = await issue('tagged')
      const body = JSON.stringify({
        model: 'vendorA-opus-4-8',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'x' }],
      })
      const headers = { 'x-api-key': secret, 'content-type': 'application/json', 'x-gateway-tag': 'harvest' }
      await (await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body })).text()
      await page.reload()
      await page.getByText('by day of UTC').waitFor()
      const table = (name: string) => page.locator('.card', { has: page.getByRole('heading', { name, exact: true }) })
      await page.getByLabel('Group by').selectOption('tag')
      await table('By tag').locator('tbody tr', { hasText: 'harvest' }).waitFor()
      await page.getByLabel('Group by').selectOption('member')
      await table('By member').locator('tbody tr', { hasText: ADMIN.name }).waitFor()
      await page.getByLabel('Group by').selectOption('account')
      await table('By account').locator('tbody tr', { hasText: 'vendor_a/main' }).waitFor()
    }))

  test('the month and the budgets stand on the overview, the fullest first', () =>
    admin('/dashboard', async (page) => {
      await issue('half empty', { budget: { tokens: 1_000, renews: 'month' } })
      await issue('all gone', { budget: { tokens: 0, renews: 'month' } })
      await page.reload()
      const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Spending' }) })
      await card.getByText(/this month/).waitFor()
      const budgets = card.locator('li')
      await budgets.filter({ hasText: 'Key half empty' }).waitFor()
      expect(await budgets.first().textContent()).toContain('all gone')
    }))

  test('keys stand in the order of what is looked at', () =>
    admin('/dashboard', async (page) => {
      const [many, dear] = [await issue('many tokens'), await issue('dear tokens')]
      await say(many.secret, 'Say hello [[usage:900000,1]]', 'vendorA-haiku-4-5')
      await say(dear.secret, 'Say hello [[usage:1,800000]]', 'vendorA-opus-4-8')
      await page.goto(`${gateway.url}/dashboard?by=key&measure=tokens`)
      const table = page.locator('.card', { has: page.getByRole('heading', { name: 'By key' }) })
      await table.locator('tbody tr:first-child', { hasText: 'many tokens' }).waitFor()
      await page.getByRole('button', { name: 'USD' }).click()
      await table.locator('tbody tr:first-child', { hasText: 'dear tokens' }).waitFor()
    }))

  test('an account that fails is told of on the overview, since when, and leads to what failed', () =>
    admin('/dashboard', async (page) => {
      const { secret } = await issue('meets an outage')
      await page.getByLabel('Totals').waitFor()
      for (let at = 0; at < 5; at++) await say(secret, 'Say hello [[error:500]]', 'vendorA-sonnet-4-6')
      await page.getByText(/vendor_a \/ main: vendorA-sonnet-4-6 since .+ It failed itself \(500\)/).waitFor()
      await page.getByRole('link', { name: 'See the accounts' }).click()
      await page.getByText('5 failures in a row').waitFor()
      await page.getByRole('link', { name: 'What failed' }).click()
      await page.locator('tbody tr').first().waitFor()
      expect(await page.locator('tbody tr', { hasText: 'meets an outage' }).count()).toBe(5)
      await page.locator('tbody tr', { hasText: 'meets an outage' }).first().getByRole('link').first().click()
      await page.getByRole('alert').getByRole('link', { name: 'See the accounts' }).click()
      await heading(page, 'Accounts').waitFor()
    }))

  test.each([
    ['[[error:401]]', 2, 'It refused the credential (401)'],
    ['[[error:402]]', 1, 'The account is out of money'],
  ])('after %s, %i times, the overview says what to mend, and is a press away from where', (fault, times, words) =>
    admin('/dashboard', async (page) => {
      const { secret } = await issue('meets a refusal')
      await page.getByLabel('Totals').waitFor()
      for (let at = 0; at < times; at++) await say(secret, `Say hello ${fault}`, 'vendorA-haiku-4-5')
      await page.reload()
      await page.getByText(/Failing: vendor_a \/ main: .*vendorA-haiku-4-5/).waitFor()
      await page.getByText(words).waitFor()
      await page.getByRole('link', { name: 'See the accounts' }).click()
      await heading(page, 'Accounts').waitFor()
      await say(secret, 'Say hello', 'vendorA-haiku-4-5')
    }),
  )

  test('a gateway without an account says on the overview that it can answer nothing yet, and how to change that', () =>
    admin('/docs', async (page) => {
      await page.route('**/admin/api/accounts', (route) => route.fulfill({ json: { items: [] } }))
      await page.goto(`${gateway.url}/dashboard`)
      await page.getByText('No provider account is configured').waitFor()
      await page.getByRole('link', { name: 'Add the first one' }).click()
      await page.waitForURL('**/dashboard/start')
    }))

  test('an account that is tested says how its models answer, and what stands in the way of those that do not', () =>
    admin('/dashboard/accounts', async (page) => {
      const button = page.getByRole('button', { name: 'Test vendor_a / main' })
      await button.click()
      await page.getByText('5 models fine').waitFor()
      const words = 'it knows no opus-9; it has opus-8: set the upstream of this model'
      const wrong = { model: 'vendorA-opus-4-8', upstream: 'opus-9', ok: false, verdict: 'unknown-model', words }
      await page.route('**/accounts/vendor_a/main/test', (route) => route.fulfill({ json: { items: [wrong] } }))
      await button.click()
      await page.getByText(`vendorA-opus-4-8: ${words}`).waitFor()
      await page.route('**/accounts/vendor_a/main/test', (route) => route.abort())
      await button.click()
      await page.getByText('The test failed:').waitFor()
    }))

  test('a server that says nothing any more is not called live', () =>
    admin('/dashboard', async (page) => {
      await page.clock.install()
      await page.reload()
      await page.getByText(/^Live/).first().waitFor()
      const again = page.waitForRequest((request) => request.url().endsWith('/live'))
      await page.clock.fastForward(60_000)
      await again
      await page.getByText(/^Live/).first().waitFor()
    }))

  test('a stream the browser asks for again, and no one answers, is asked for anew', () =>
    admin('/dashboard/models', async (page) => {
      await heading(page, 'Models').waitFor()
      await page.clock.install()
      let asked = 0
      await page.route('**/admin/api/live', (route) => {
        asked++
        // The first ends at once, the second is held.
        if (asked === 1) return route.fulfill({ status: 200, contentType: 'text/event-stream', body: 'retry: 10\n\n' })
        return asked === 2 ? undefined : route.continue()
      })
      const held = page.waitForRequest((request) => request.url().endsWith('/live') && asked > 0)
      await page.getByRole('link', { name: 'Overview' }).click()
      await held
      await page.getByText('Connection lost').waitFor()
      const again = page.waitForRequest((request) => request.url().endsWith('/live'))
      await page.clock.fastForward(60_000)
      await again
      await page.getByText(/^Live/).first().waitFor()
    }))

  test('a chart whose part of the page is gone says what to do', () =>
    admin('/dashboard/models', async (page) => {
      const { secret } = await issue('charted')
      await say(secret, 'Say hello')
      await page.route('**/assets/part-*.js', (route) => route.abort())
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByText('The chart could not be loaded').waitFor()
    }))

  test('what is under way leaves the list of it when it ends', () =>
    admin('/dashboard', async (page) => {
      const { secret, id } = await issue('under way')
      const leave = hang(secret)
      await page.goto(`${gateway.url}/dashboard/exchanges?outcome=open&key=${id}`)
      const row = page.locator('tbody tr', { hasText: 'under way' })
      await row.waitFor()
      // What it costs is not known yet.
      expect(await row.textContent()).not.toContain('$')
      await leave()
      await page.getByText('No exchange matches').waitFor()
    }))

  test('older ones under way stay in the list that is asked for again by itself', () =>
    admin('/dashboard', async (page) => {
      const { secret, id } = await issue('three at once')
      const leave = [hang(secret), hang(secret), hang(secret)]
      await page.goto(`${gateway.url}/dashboard/exchanges?outcome=open&key=${id}`)
      await page.locator('tbody tr').nth(2).waitFor()
      // In pages of one.
      await page.route('**/admin/api/exchanges?*', (route) =>
        route.continue({
          url: route
            .request()
            .url()
            .replace(/limit=\d+/, 'limit=1'),
        }),
      )
      await page.getByText('1 shown').waitFor()
      await page.getByRole('button', { name: 'Older' }).click()
      await page.getByText('2 shown').waitFor()
      for (let times = 0; times < 2; times++) {
        const next = page.waitForResponse((response) => /exchanges\?.*before=/.test(response.url()))
        await (await next).finished()
        expect(await page.locator('tbody tr').count()).toBe(2)
      }
      await leave[1]?.()
      await page.getByText('2 shown').waitFor()
      await leave[0]?.()
      await leave[2]?.()
      await page.getByText('No exchange matches').waitFor()
    }))

  test('what ends stands where it began in the list, before and after it is loaded again', () =>
    admin('/dashboard', async (page) => {
      const { secret, id } = await issue('long and short')
      const leave = hang(secret)
      await page.goto(`${gateway.url}/dashboard/exchanges?key=${id}`)
      const rows = page.locator('tbody tr')
      await rows.filter({ hasText: 'open' }).waitFor()
      await say(secret, 'Say hello')
      await rows.filter({ hasText: 'done' }).waitFor()
      await leave()
      await rows.filter({ hasText: 'aborted' }).waitFor()
      const order = () => page.locator('tbody .badge').allTextContents()
      expect(await order()).toEqual(['done', 'aborted'])
      await page.reload()
      await rows.filter({ hasText: 'aborted' }).waitFor()
      expect(await order()).toEqual(['done', 'aborted'])
    }))

  test.each([
    ['/dashboard?range=constructor', 'Overview'],
    ['/dashboard/exchanges?since=constructor&outcome=constructor', 'Exchanges'],
  ])('an address that asks for what there is not, %s, shows what it shows unasked', (path, title) =>
    admin(path, async (page) => {
      await heading(page, title).waitFor()
      await page.locator('main .card').first().waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    }),
  )

  test('exchanges come in by themselves, are filtered, and one is explained', () =>
    admin('/dashboard/exchanges', async (page) => {
      await page.getByText(/^Live/).waitFor()
      const { secret, id } = await issue('live one')
      await say(secret, 'Say hello')
      await page.getByRole('row', { name: /live one/ }).waitFor()
      await say(secret, 'Fail [[error:content_policy]]')
      await page.goto(`${gateway.url}/dashboard/exchanges?key=${id}&outcome=refused`)
      const rows = page.locator('tbody tr')
      await rows.first().waitFor()
      expect(await rows.count()).toBe(1)
      await rows.first().click()
      await heading(page, 'vendorA-opus-4-7').waitFor()
      const text = (await page.getByRole('main').textContent()) ?? ''
      for (const part of ['Checks', 'Route', 'Quota', 'content_policy_violation', 'HTTP 400'])
        expect(text).toContain(part)
    }))

  test('an exchange is found by the request id a client was given; of an unknown one it is said why', () =>
    admin('/dashboard/exchanges?outcome=done', async (page) => {
      const { secret } = await issue('found again')
      const id = await say(secret, 'Say hello', 'vendorB-5.4')
      const find = page.getByLabel('Find by request id')
      await find.fill(` ${id} `)
      await find.press('Enter')
      await heading(page, 'vendorB-5.4').waitFor()
      // The way back leads to the list as it was left.
      await page.getByRole('link', { name: '‹ Exchanges' }).click()
      await heading(page, 'Exchanges').waitFor()
      expect(page.url()).toEndWith('?outcome=done')
      await find.fill('req_nobodys')
      await find.press('Enter')
      expect(await page.getByRole('alert').textContent()).toContain('There is no such exchange')
    }))

  test('what failed to load says so until it is there, also while it is asked for again', () =>
    admin('/dashboard/audit', async (page) => {
      await page.route('**/admin/api/audit?*', (route) => route.abort())
      await page.reload()
      await page.getByText('The gateway did not answer').waitFor()
      await page.unroute('**/admin/api/audit?*')
      const answer = await hold(page, '**/admin/api/audit?*')
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.locator('button[aria-busy="true"]', { hasText: 'Try again' }).waitFor()
      expect(await page.getByRole('alert').textContent()).toContain('The gateway did not answer')
      answer()
      await page.locator('tbody tr').first().waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    }))

  test('figures are never shown as those of another grouping, however long its own are on their way', () =>
    admin('/dashboard?by=model', async (page) => {
      await say((await issue('grouped')).secret, 'Say hello')
      await page.reload()
      await page.getByRole('heading', { name: 'By model' }).waitFor()
      const answer = await hold(page, '**/admin/api/usage?*by=key*')
      await page.getByLabel('Group by').selectOption('key')
      await page.locator('[aria-busy="true"]').getByRole('heading', { name: 'By model' }).waitFor()
      expect(await page.locator('a[href*="/dashboard/keys/vendor"]').count()).toBe(0)
      answer()
      await page.getByRole('heading', { name: 'By key' }).waitFor()
      expect(await page.locator('[aria-busy="true"]').count()).toBe(0)
    }))

  test('figures that are long on their way arrive, however much traffic there is meanwhile', () =>
    admin('/dashboard', async (page) => {
      const { secret, id } = await issue('busy')
      let asked = 0
      page.on('request', (request) => {
        if (request.url().includes(`/keys/${id}/usage`)) asked++
      })
      const answer = await hold(page, `**/admin/api/keys/${id}/usage?*`)
      // What ends before the page listens is not told to it.
      const listening = page.waitForResponse('**/admin/api/live')
      await page.goto(`${gateway.url}/dashboard/keys/${id}`)
      await page.getByRole('status', { name: 'Loading' }).first().waitFor()
      await listening
      for (const left of ['999,000', '998,000', '997,000']) {
        await say(secret, 'Say hello [[usage:900,100]]')
        await page.getByText(left, { exact: true }).waitFor()
      }
      expect(asked).toBe(1)
      answer()
      await page.getByText('3 requests').waitFor()
    }))

  test('older ones that could not be fetched are told of in their own list only', () =>
    admin('/dashboard', async (page) => {
      const { secret, id } = await issue('many exchanges')
      for (let at = 0; at < 51; at++) await say(secret, 'Say hello')
      await page.goto(`${gateway.url}/dashboard/exchanges?key=${id}`)
      await page.route('**/admin/api/exchanges?*before=*', (route) => route.abort())
      await page.getByRole('button', { name: 'Older' }).click()
      await page.getByText('The gateway did not answer').waitFor()
      await page.getByLabel('Outcome').selectOption('Done')
      await page.getByText('50 shown').waitFor()
      expect(await page.getByText('The gateway did not answer').count()).toBe(0)
    }))

  test('the live list goes on after the stream was refused for a while, with what ended meanwhile', async () => {
    const { secret } = await issue('unseen for a while')
    await admin('/dashboard/exchanges', async (page) => {
      await page.getByText(/^Live/).waitFor()
      await page.route('**/admin/api/live', (route) => route.fulfill({ status: 502, body: '' }))
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByText('Connection lost').waitFor()
      await say(secret, 'Say hello')
      await page.unroute('**/admin/api/live')
      await page.getByText(/^Live/).waitFor()
      await page.getByText('unseen for a while').waitFor()
    })
  })

  test('a tab that nobody looks at gives its connection back, and shows what ended meanwhile when it is looked at', async () => {
    const { secret } = await issue('unseen in another tab')
    await admin('/dashboard/exchanges', async (page) => {
      await page.getByText(/^Live/).waitFor()
      const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/live'))
      await look(page, true)
      await closed
      await say(secret, 'Say hello')
      await look(page, false)
      await page.getByRole('row', { name: /unseen in another tab/ }).waitFor()
      await page.getByText(/^Live/).waitFor()
    })
  })

  test('the key exchanges are filtered by is named, however many were made since', async () => {
    const { id } = await issue('an early key')
    await Promise.all(Array.from({ length: 200 }, () => issue('one of many')))
    await admin(`/dashboard/exchanges?key=${id}`, async (page) => {
      await page.getByLabel('Key', { exact: true }).getByText('an early key').waitFor({ state: 'attached' })
      expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe(id)
    })
  })
})
