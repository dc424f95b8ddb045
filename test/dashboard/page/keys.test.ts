// Keys made, changed, found and used.

import { expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Page, Request } from 'playwright-core'
import type { Key } from '../../../src/admin-api/schema.ts'
import { CLIENTS } from '../../../src/clients/index.ts'
import { describePage, heading } from './browsing.ts'

describePage('keys', ({ gateway, admin, asAdmin, newKey, create, makeKey, issue, say }) => {
  test('a key made in the page works in both official SDKs, and its quota is seen to fall', () =>
    admin('/dashboard/keys', async (page) => {
      const secret = await makeKey(page, 'sdk key', '50,000')
      expect(secret).toMatch(/^sk-sl-[0-9A-Za-z]{43}$/)
      expect(await page.content()).not.toContain(secret)
      const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 })
      const chat = await openai.chat.completions.create({
        model: 'auto',
        messages: [{ role: 'user', content: 'Say hello [[usage:9000,1000]]' }],
      })
      expect(chat.choices[0]?.message.content).toBeTruthy()
      const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: secret, maxRetries: 0 })
      const message = await anthropic.messages.create({
        model: 'vendorB-5.5',
        max_tokens: 2000,
        messages: [{ role: 'user', content: 'Say hello [[usage:9000,1000]]' }],
      })
      expect(message.content.length).toBeGreaterThan(0)
      // The row moves by itself: nothing is loaded again.
      await page
        .getByRole('row', { name: /sdk key/ })
        .getByText('30K', { exact: true })
        .waitFor()
      await page.getByRole('link', { name: 'sdk key' }).click()
      await heading(page, 'sdk key').waitFor()
      await page.getByText('30,000', { exact: true }).waitFor()
    }))

  test('a key that is used up is seen to be, and what its exchange cost is the same to the last digit on every page', () =>
    admin('/dashboard/keys', async (page) => {
      const secret = await makeKey(page, 'used up', '1,000')
      await say(secret, 'Say hello [[usage:992,9]]')
      await page.getByRole('row', { name: /used up.*exhausted/ }).waitFor()
      await page.getByRole('link', { name: 'used up' }).click()
      await page.getByRole('link', { name: 'Its exchanges' }).click()
      await page
        .getByRole('row', { name: /used up/ })
        .getByText('$0.005185', { exact: true })
        .waitFor()
      await page.getByRole('row', { name: /used up/ }).click()
      await page.getByRole('heading', { name: 'One attempt' }).waitFor()
      expect(await page.getByLabel('Figures').textContent()).toContain('$0.005185')
    }))

  test('a request that failed is counted on its key’s page at once', () =>
    admin('/dashboard', async (page) => {
      const { secret, id } = await issue('failing')
      await page.goto(`${gateway.url}/dashboard/keys/${id}`)
      await page.getByText('0 requests').waitFor()
      await say(secret, 'Fail [[error:content_policy]]')
      await page.getByText('1 request,').waitFor()
    }))

  test('the snippets carry the key and this address, and can be reached by arrow keys', () =>
    admin('/dashboard/keys', async (page) => {
      await newKey(page, 'snippets')
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      const secret = (await page.locator('.secret code').textContent()) ?? '-'
      const seen = new Set<string>()
      await page.getByRole('tab', { name: 'curl' }).focus()
      for (let at = 0; at < 5; at++) {
        const text = (await page.getByRole('tabpanel').locator('pre').textContent()) ?? ''
        expect(text).toContain(secret)
        expect(text).toContain(gateway.url)
        seen.add(text)
        await page.keyboard.press('ArrowRight')
      }
      expect(seen.size).toBe(5)
      // The last of them has every client that `sluice connect` knows.
      await page.keyboard.press('ArrowLeft')
      for (const { name, title } of CLIENTS) {
        await page.getByRole('tabpanel').getByLabel('Client').selectOption({ label: title })
        const text = (await page.getByRole('tabpanel').locator('pre').textContent()) ?? ''
        expect(text).toContain(`sluice connect ${name} --server ${gateway.url}`)
      }
    }))

  test('a key is edited, topped up, rotated and revoked, and a revoked one is refused at once', () =>
    admin('/dashboard/keys', async (page) => {
      const secret = await makeKey(page, 'life of a key', '1000')
      const ask = (key: string): Promise<number> =>
        fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status)
      expect(await ask(secret)).toBe(200)
      await page.getByRole('link', { name: 'life of a key' }).click()

      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByLabel('Label').fill('renamed')
      await page.getByRole('button', { name: 'Save' }).click()
      await heading(page, 'renamed').waitFor()

      await page.getByRole('button', { name: 'Top up' }).click()
      await page.getByLabel('Tokens to add').fill('4k')
      await page.getByRole('button', { name: 'Add tokens' }).click()
      await page.getByText('5,000 tokens').waitFor()

      await page.getByRole('button', { name: 'Rotate' }).click()
      await page.getByRole('button', { name: 'Make a new secret' }).click()
      const next = (await page.locator('.secret code').textContent()) ?? ''
      await page.getByRole('button', { name: 'Done' }).click()
      expect([await ask(secret), await ask(next)]).toEqual([401, 200])

      await page.getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('button', { name: 'Revoke key' }).click()
      await page.getByText('revoked', { exact: true }).waitFor()
      expect(await ask(next)).toBe(401)
      expect(await page.getByRole('button', { name: 'Top up' }).count()).toBe(0)
    }))

  test('a key whose prompts and answers are captured says so on its page and on that for its holder', async () => {
    const { id, secret } = await issue('overheard')
    const words = (page: Page) => page.getByText('What is said with this key is captured')
    await admin(`/dashboard/keys/${id}`, async (page) => {
      await heading(page, 'overheard').waitFor()
      expect(await words(page).count()).toBe(0)
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByLabel('Capture what is said').check()
      await page.getByRole('button', { name: 'Save' }).click()
      await words(page).waitFor()
      await page.goto(`${gateway.url}/usage`)
      await page.getByLabel('Key').fill(secret)
      await page.getByRole('button', { name: 'Show usage' }).click()
      await words(page).waitFor()
    })
  })

  test('an edit of a key leaves what another changed of it meanwhile, also where the page shows that', async () => {
    const { id, secret } = await issue('busy')
    await admin(`/dashboard/keys/${id}`, async (page) => {
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByLabel('Label').fill('busy, renamed')
      await asAdmin('POST', `/keys/${id}/top-up`, { tokens: 500_000 })
      await asAdmin('PATCH', `/keys/${id}`, { models: ['vendorA-opus-4-8'] })
      await say(secret, 'hi', 'auto')
      await page.getByText('1,500,000 tokens').waitFor()
      await page.getByRole('button', { name: 'Save' }).click()
      await heading(page, 'busy, renamed').waitFor()
    })
    const kept = { label: 'busy, renamed', tokens_total: 1_500_000, models: ['vendorA-opus-4-8'] }
    expect(await asAdmin<Key>('GET', `/keys/${id}`)).toMatchObject(kept)
  })

  test('a key that was changed is shown so, whatever was on its way from before', async () => {
    const { id, secret } = await issue('overtaken')
    await admin('/dashboard/models', async (page) => {
      const isOld = (request: Request): boolean =>
        request.method() === 'GET' && request.url().endsWith(`/keys/${id}`) && held
      const asked = Promise.withResolvers<void>()
      const over = Promise.withResolvers<void>()
      const release = Promise.withResolvers<void>()
      let held = false
      const listening = page.waitForResponse('**/admin/api/live')
      await page.goto(`${gateway.url}/dashboard/keys/${id}`)
      await heading(page, 'overtaken').waitFor()
      await listening
      await page.route(`**/admin/api/keys/${id}`, async (route) => {
        if (route.request().method() !== 'GET' || held) return route.continue()
        held = true
        const answer = await route.fetch()
        asked.resolve()
        await release.promise
        await route.fulfill({ response: answer }).catch(() => undefined)
      })
      for (const event of ['requestfinished', 'requestfailed'] as const)
        page.on(event as 'requestfinished', (request) => isOld(request) && over.resolve())
      await say(secret, 'Say hello')
      await asked.promise
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByLabel('Label').fill('renamed in time')
      await page.getByRole('button', { name: 'Save' }).click()
      await heading(page, 'renamed in time').waitFor()
      release.resolve()
      await over.promise
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))')
      expect(await heading(page, 'renamed in time').count()).toBe(1)
    })
  })

  test('snippets of a key that draws only are of the kind it may use, and the playground takes the key over', () =>
    admin('/dashboard/keys', async (page) => {
      const dialog = await newKey(page, 'draws')
      await dialog.getByLabel('All models').uncheck()
      await dialog.getByLabel('vendorB-image-1').check()
      await dialog.getByLabel('vendorA-opus-4-8').uncheck()
      await dialog.getByRole('button', { name: 'Create key' }).click()
      await page.getByText('/v1/images/generations').waitFor()
      await page.getByRole('button', { name: 'Try it in the playground' }).click()
      await heading(page, 'Playground').waitFor()
      await page.getByLabel('Size').fill('256x256')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByAltText('What the model drew').waitFor()
    }))

  test('snippets of a key without the model behind auto name one it may use', () =>
    admin('/dashboard/keys', async (page) => {
      const dialog = await newKey(page, 'other vendor')
      await dialog.getByLabel('All models').uncheck()
      await dialog.getByLabel('vendorB-5.4-mini').check()
      await dialog.getByLabel('vendorA-opus-4-8').uncheck()
      await dialog.getByRole('button', { name: 'Create key' }).click()
      const snippet = await page.getByRole('tabpanel').locator('pre').textContent()
      expect(snippet).toContain('"model": "vendorB-5.4-mini"')
    }))

  test('an expiry that has passed is refused in words of the form', () =>
    admin('/dashboard/keys', async (page) => {
      const dialog = await newKey(page, 'too late')
      await dialog.getByLabel('Expires').fill('2020-01-01T00:00')
      await dialog.getByRole('button', { name: 'Create key' }).click()
      expect(await dialog.getByRole('alert').textContent()).toContain('Expires: choose a time to come')
    }))

  test('a point is a decimal before k and M only: alone it may part thousands, and a part of one is no limit', () =>
    admin('/dashboard/keys', async (page) => {
      const dialog = await newKey(page, 'with a point')
      const quota = dialog.getByLabel('Token quota')
      const refused = async (text: string): Promise<void> => {
        await dialog.getByRole('button', { name: 'Create key' }).click()
        await dialog.getByRole('alert').getByText(text).waitFor()
      }
      await quota.fill('250.000')
      await refused('Token quota: write a whole number')
      await quota.fill('0.25M')
      await dialog.getByText('250,000 tokens', { exact: true }).waitFor()
      await dialog.getByLabel('Requests / minute').fill('0.4')
      await refused('Requests / minute: write a whole number')
    }))

  test('no model stays chosen that is not ticked, and a pattern names those to come', () =>
    admin('/dashboard/keys', async (page) => {
      const dialog = await newKey(page, 'patterned')
      await dialog.getByLabel('All models').uncheck()
      await dialog.getByLabel('vendorB-4o').check()
      await dialog.getByLabel('vendorB-4o').uncheck()
      await dialog.getByRole('button', { name: 'Create key' }).click()
      expect(await dialog.getByRole('alert').textContent()).toContain('choose at least one')
      await dialog.getByLabel('Models by a pattern').fill('vendorB-5*')
      await create(page)
      await page.getByRole('link', { name: 'patterned' }).click()
      await page.getByText('vendorB-5*', { exact: true }).waitFor()
    }))

  test('a pattern that begins with what means every model can be typed to its end', () =>
    admin('/dashboard/keys', async (page) => {
      const dialog = await newKey(page, 'all the small ones')
      await dialog.getByLabel('All models').uncheck()
      const pattern = dialog.getByLabel('Models by a pattern')
      await pattern.pressSequentially('*-mini')
      // What was typed before all were chosen is not half in force after.
      await dialog.getByLabel('All models').check()
      await dialog.getByLabel('All models').uncheck()
      expect(await pattern.inputValue()).toBe('')
      await pattern.pressSequentially('*-mini')
      await create(page)
      await page.getByRole('link', { name: 'all the small ones' }).click()
      await page.getByText('*-mini', { exact: true }).waitFor()
    }))

  test('the secret that is shown once is copied by the next press of a key, and not closed', () =>
    admin('/dashboard/keys', async (page) => {
      await newKey(page, 'pressed twice')
      await page.keyboard.press('Enter')
      await page.getByText('Copy the secret now').waitFor()
      await page.keyboard.press('Enter')
      await page.locator('.secret').getByText('Copied').waitFor()
      await page.getByText('Copy the secret now').waitFor()
    }))

  test('the page of a rotated key says how long the old secret works', () =>
    admin('/dashboard', async (page) => {
      const { id } = await issue('in grace')
      await page.goto(`${gateway.url}/dashboard/keys/${id}`)
      await page.getByRole('button', { name: 'Rotate' }).click()
      await page.getByLabel('The old secret').selectOption('Works for one more day')
      await page.getByRole('button', { name: 'Make a new secret' }).click()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByText('The secret before this one works, too').waitFor()
      await page.getByRole('button', { name: 'Rotate' }).click()
      await page.getByRole('button', { name: 'Make a new secret' }).click()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByText('The secret before this one works, too').waitFor({ state: 'detached' })
    }))

  test('a key that was revoked by mistake is followed by one like it', () =>
    admin('/dashboard', async (page) => {
      const { id, secret } = await issue('by mistake')
      await say(secret, 'Say hello [[usage:900,100]]')
      await page.goto(`${gateway.url}/dashboard/keys/${id}`)
      await page.getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('button', { name: 'Revoke key' }).click()
      await page.getByRole('button', { name: 'Make a new key like it' }).click()
      const dialog = page.getByRole('dialog')
      expect(await dialog.getByLabel('Label').inputValue()).toBe('by mistake')
      expect(await dialog.getByLabel('Token quota').inputValue()).toBe('999,000')
      await create(page)
      await page.getByText('active', { exact: true }).waitFor()
      await heading(page, 'by mistake').waitFor()
      expect(page.url()).not.toContain(id)
    }))

  test('a label is text, whatever it holds', () =>
    admin('/dashboard/keys', async (page) => {
      const label = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
      await makeKey(page, label)
      await page.getByText(label, { exact: true }).first().waitFor()
      expect(await page.locator('table img, table script').count()).toBe(0)
      expect(await page.title()).toBe('Keys · sluice')
    }))

  test('the list of keys is sorted from the keyboard, which stays where it is', () =>
    admin('/dashboard/keys', async (page) => {
      await makeKey(page, 'sorted')
      await page.getByRole('button', { name: 'Label', exact: true }).focus()
      await page.keyboard.press('Enter')
      await page.locator('th[aria-sort="ascending"] button:focus', { hasText: 'Label' }).waitFor()
      await page.keyboard.press('Enter')
      await page.locator('th[aria-sort="descending"] button:focus', { hasText: 'Label' }).waitFor()
    }))

  test('the search says what the list was searched for, wherever that was asked', () =>
    admin('/dashboard/keys?search=nobody%20has%20this', async (page) => {
      await page.getByText('No key matches').waitFor()
      const search = page.getByLabel('Search keys')
      expect(await search.inputValue()).toBe('nobody has this')
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await page.locator('tbody tr').first().waitFor()
      expect(await search.inputValue()).toBe('')
      await search.pressSequentially('nothing like it', { delay: 20 })
      await page.getByText('No key matches').waitFor()
      expect(await search.inputValue()).toBe('nothing like it')
    }))

  test('a filter that is chosen before a search is asked for stays', () =>
    admin('/dashboard/keys', async (page) => {
      await page.getByLabel('Search keys').fill('nobody has this')
      await page.getByLabel('Status').selectOption('revoked')
      await page.waitForURL(/search=nobody/)
      expect(page.url()).toContain('status=revoked')
    }))

  test('the way back leads to where on the page one was, and a page opened anew begins at its top', async () => {
    for (let made = 0; made < 6; made++) await issue()
    await admin(
      '/dashboard/keys',
      async (page) => {
        const far = () => page.evaluate('scrollY') as Promise<number>
        const last = page.locator('tbody a').last()
        await last.scrollIntoViewIfNeeded()
        const before = await far()
        expect(before).toBeGreaterThan(200)
        await last.click()
        await page.getByRole('heading', { name: 'Usage over time' }).waitFor()
        expect(await far()).toBe(0)
        const asked = Promise.withResolvers<void>()
        await page.route('**/admin/api/keys?*', async (route) => {
          await asked.promise
          await route.continue()
        })
        await page.goBack()
        await page.locator('.bone').first().waitFor()
        asked.resolve()
        await page.waitForFunction((place) => (globalThis as unknown as { scrollY: number }).scrollY === place, before)
      },
      { viewport: { width: 1280, height: 300 } },
    )
  })

  test('an address past the last key shows the first ones', () =>
    admin('/dashboard/keys?offset=50000', async (page) => {
      await page.locator('tbody tr').first().waitFor()
      expect(page.url()).not.toContain('offset')
    }))

  test('keys that could not be fetched are told of, and those shown counted as what they are, while traffic goes on', () =>
    admin('/dashboard', async (page) => {
      for (let at = 0; at < 50; at++) await issue(`one of many ${at}`)
      const { secret } = await issue('last made')
      await page.goto(`${gateway.url}/dashboard/keys?search=&offset=50`)
      await page.locator('tbody tr').first().waitFor()
      await page.getByRole('button', { name: 'Previous' }).click()
      await page.getByText(/^1–50 of/).waitFor()
      await page.route('**/admin/api/keys?*offset=50*', (route) => route.abort())
      await page.getByRole('button', { name: 'Next' }).click()
      await page.getByText('The gateway did not answer').waitFor()
      await page
        .locator('.stale')
        .getByText(/^1–50 of/)
        .waitFor()
      await say(secret, 'Say hello [[usage:900,100]]')
      await page.getByRole('row', { name: /last made.*1,000/ }).waitFor()
      expect(await page.getByText('The gateway did not answer').count()).toBe(1)
    }))
})
