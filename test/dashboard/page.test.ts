// The page end to end, in a real browser against a running gateway: from the first boot to every page there is. The
// compiled file when SLUICE_BINARY names it.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import axe from 'axe-core'
import OpenAI from 'openai'
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request, Route } from 'playwright-core'
import type { Key, KeyWithSecret, Member, Settings, Usage } from '../../src/admin-api/schema.ts'
import { chromiumPath, launchBrowser, MISSING } from './browser.ts'
import { type Started, startDashboard } from './support.ts'

setDefaultTimeout(120_000)
if (chromiumPath === undefined) console.warn(MISSING)

const ADMIN = { name: 'Sophea', password: 'lock-gates-open-at-dawn' }

describe.skipIf(chromiumPath === undefined)('the page', () => {
  let gateway: Started
  let browser: Browser
  let signedIn: Awaited<ReturnType<BrowserContext['storageState']>>
  /** What went wrong in any page, in the browser's own words: a refused script, an error nobody caught. */
  const troubles: string[] = []

  /** Runs with a page of its own and closes it. `as` is a kept session; none is a stranger. */
  const visit = async <T>(
    path: string,
    run: (page: Page) => Promise<T>,
    { as, ...options }: BrowserContextOptions & { as?: typeof signedIn } = {},
  ): Promise<T> => {
    // A browser the machine has killed must not fail every test after.
    if (!browser.isConnected()) browser = await launchBrowser()
    const context = await browser.newContext({ ...options, ...(as === undefined ? {} : { storageState: as }) })
    context.setDefaultTimeout(30_000)
    const page = await context.newPage()
    page.on('pageerror', (error) => troubles.push(error.message))
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/i.test(message.text())) troubles.push(message.text())
    })
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url())
      if (protocol.startsWith('http') && origin !== gateway.url) troubles.push(`asked ${request.url()}`)
    })
    try {
      await page.goto(path.startsWith('http') ? path : gateway.url + path)
      return await run(page)
    } finally {
      await context.close()
    }
  }

  const admin = <T>(path: string, run: (page: Page) => Promise<T>, options: BrowserContextOptions = {}): Promise<T> =>
    visit(path, run, { ...options, as: signedIn })

  const signIn = async (page: Page): Promise<void> => {
    await page.getByLabel('Name').fill(ADMIN.name)
    await page.getByLabel('Password').fill(ADMIN.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  /** Sets the password of someone who was invited. */
  const accept = async (page: Page): Promise<void> => {
    await page.getByLabel('Password', { exact: true }).fill('a boat waits below')
    await page.getByLabel('Password again').fill('a boat waits below')
    await page.getByRole('button', { name: 'Accept' }).click()
  }

  /** The form of a new key with its label filled in. */
  const newKey = async (page: Page, label: string) => {
    await page.getByRole('button', { name: 'Create key', exact: true }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Label').fill(label)
    return dialog
  }

  /** Sends the form of a key and hands back the secret that was shown once. */
  const create = async (page: Page): Promise<string> => {
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('Copy the secret now').waitFor()
    const secret = (await dialog.locator('.secret code').textContent()) ?? ''
    await dialog.getByRole('button', { name: 'Done' }).click()
    return secret
  }

  const makeKey = async (page: Page, label: string, tokens?: string): Promise<string> => {
    const dialog = await newKey(page, label)
    if (tokens !== undefined) await dialog.getByLabel('Token quota').fill(tokens)
    return create(page)
  }

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

  beforeAll(async () => {
    gateway = await startDashboard()
    browser = await launchBrowser()
    signedIn = await visit(gateway.setupLink, async (page) => {
      await page.getByLabel('Your name').fill(ADMIN.name)
      await page.getByLabel('Password', { exact: true }).fill(ADMIN.password)
      await page.getByLabel('Password again').fill(ADMIN.password)
      await page.getByRole('button', { name: 'Create administrator' }).click()
      await heading(page, 'Overview').waitFor()
      return page.context().storageState()
    })
  })

  afterAll(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  test('a first boot without the link says where the link is', async () => {
    const fresh = await startDashboard()
    try {
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(`${fresh.url}/dashboard`)
      await heading(page, 'Welcome to sluice').waitFor()
      expect(await page.getByRole('main').textContent()).toContain('setup link')
      await context.close()
    } finally {
      await fresh.stop()
    }
  })

  test('a setup link works once', () =>
    visit(gateway.setupLink, async (page) => {
      await heading(page, 'Sign in').waitFor()
      expect(await page.getByLabel('Your name').count()).toBe(0)
    }))

  test('a setup link that is opened again by who is signed in leads to the overview', () =>
    admin(gateway.setupLink, async (page) => {
      await heading(page, 'Overview').waitFor()
      expect(page.url()).toBe(`${gateway.url}/dashboard`)
    }))

  test('a stranger signs in with the right password only, and lands where they wanted to go', () =>
    visit('/dashboard/models', async (page) => {
      await page.getByLabel('Name').fill(ADMIN.name)
      await page.getByLabel('Password').fill('not the password at all')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').waitFor()
      await page.getByLabel('Password').fill(ADMIN.password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await heading(page, 'Models').waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await heading(page, 'Sign in').waitFor()
    }))

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
      for (let at = 0; at < 7; at++) {
        const text = (await page.getByRole('tabpanel').locator('pre').textContent()) ?? ''
        expect(text).toContain(secret)
        expect(text).toContain(gateway.url)
        seen.add(text)
        await page.keyboard.press('ArrowRight')
      }
      expect(seen.size).toBe(7)
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

  test('an edit of a member gives back no right that another took meanwhile', async () => {
    const invited = { name: 'Vanna', role: 'admin', limits: { max_keys: 9 } }
    const { member } = await asAdmin<{ member: Member }>('POST', '/members', invited)
    await admin('/dashboard/members', async (page) => {
      await page.getByRole('button', { name: 'Edit Vanna' }).click()
      await asAdmin('PATCH', `/members/${member.id}`, { role: 'member', limits: { max_keys: 1 } })
      await page.getByLabel('Name', { exact: true }).fill('Vanna S.')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('button', { name: 'Edit Vanna S.' }).waitFor()
    })
    const { items } = await asAdmin<{ items: Member[] }>('GET', '/members')
    const now = items.find(({ id }) => id === member.id)
    expect(now).toMatchObject({ name: 'Vanna S.', role: 'member', limits: { max_keys: 1 } })
  })

  test('settings that another saved meanwhile stay when those beside them are saved', () =>
    admin('/dashboard/settings', async (page) => {
      await page.getByLabel('Tokens / minute').fill('9000')
      await page.getByLabel('Days until expiry').fill('30')
      const limits = { rpm: 7000, tpm: 0, concurrency: 0 }
      const key_defaults = { tokens_total: 2_000_000, expires_days: 365, models: ['*'] }
      await asAdmin('PUT', '/settings', { limits, key_defaults })
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved and in force').waitFor()
      expect(await page.getByLabel('Requests / minute').inputValue()).toBe('7,000')
      const now = await asAdmin<Settings>('GET', '/settings')
      await asAdmin('PUT', '/settings', { limits: null, key_defaults: null })
      expect(now.limits).toEqual({ ...limits, tpm: 9000 })
      expect(now.key_defaults).toEqual({ ...key_defaults, expires_days: 30 })
    }))

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

  test('a month is looked at and exported, every key of it, and no label becomes a formula', () =>
    admin('/dashboard', async (page) => {
      const { secret } = await issue('=HYPERLINK("http://x","y")')
      await say(secret, 'Say hello [[usage:123456,7]]')
      await page.getByRole('button', { name: 'By key' }).click()
      const [month = ''] = await page.getByLabel('Month').selectOption({ index: 1 })
      await page.getByText('by day of UTC').waitFor()
      const whole = await page.getByLabel('Totals').textContent()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export as CSV' }).click(),
      ])
      expect(download.suggestedFilename()).toStartWith(`usage by key ${month}-01 to ${month}-`)
      const lines = (await Bun.file(await download.path()).text()).trim().split('\r\n')
      expect(lines[0]).toBe('key,label,requests,errors,input,cache_read,cache_write,output,reasoning,tokens,usd,khr')
      expect(lines.find((line) => line.includes('HYPERLINK'))).toContain(
        `"'=HYPERLINK(""http://x"",""y"")",1,0,123456,0,0,7,0,123463,`,
      )
      const requests = lines.slice(1).reduce((sum, line) => sum + Number(line.split(',').at(-10)), 0)
      expect(whole).toStartWith(`Requests${requests.toLocaleString('en-US')}`)
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
      await page.getByText(/vendor_a \/ main: vendorA-sonnet-4-6 since/).waitFor()
      await page.getByRole('link', { name: 'See the accounts' }).click()
      await page.getByText('5 failures in a row').waitFor()
      await page.getByRole('link', { name: 'What failed' }).click()
      await page.locator('tbody tr').first().waitFor()
      expect(await page.locator('tbody tr', { hasText: 'meets an outage' }).count()).toBe(5)
    }))

  test('a gateway without an account says on the overview that it can answer nothing yet, and how to change that', () =>
    admin('/docs', async (page) => {
      await page.route('**/admin/api/accounts', (route) => route.fulfill({ json: { items: [] } }))
      await page.goto(`${gateway.url}/dashboard`)
      await page.getByText('No provider account is configured').waitFor()
      await page.getByRole('link', { name: 'See what is missing' }).click()
      await page.getByText('VENDOR_A_BASE_URL').waitFor()
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

  test('nothing moves for those who asked for that', () =>
    admin(
      '/dashboard',
      async (page) => {
        await page.getByText(/^Live/).first().waitFor()
        expect(await page.evaluate('document.getAnimations().length')).toBe(0)
      },
      { reducedMotion: 'reduce' },
    ))

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

  test('a session that ends in the middle of a form asks for the password, and the form is as it was', () =>
    visit('/dashboard/keys', async (page) => {
      await signIn(page)
      await newKey(page, 'half written')
      await page.getByRole('dialog').getByLabel('Token quota').fill('4321')
      await page.context().clearCookies()
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      const again = page.getByRole('dialog', { name: 'Sign in again' })
      await again.waitFor()
      expect(await faults(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      expect(await again.getByLabel('Name').inputValue()).toBe(ADMIN.name)
      await again.getByLabel('Password').fill(ADMIN.password)
      await page.keyboard.press('Enter')
      await again.waitFor({ state: 'detached' })
      await page.locator('dialog button:focus', { hasText: 'Create key' }).waitFor()
      const form = page.getByRole('dialog', { name: 'New key' })
      expect(await form.getByLabel('Label').inputValue()).toBe('half written')
      expect(await form.getByLabel('Token quota').inputValue()).toBe('4321')
      await form.getByRole('button', { name: 'Create key' }).click()
      await page.getByText('Copy the secret now').waitFor()
    }))

  test('who signs in again in one tab is in again in the others, once they are looked at', () =>
    visit('/dashboard/keys', async (page) => {
      await signIn(page)
      await heading(page, 'Keys').waitFor()
      const other = await page.context().newPage()
      await other.goto(`${gateway.url}/dashboard/keys`)
      await newKey(other, 'half written')
      await page.context().clearCookies()
      await other.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      await other.getByRole('dialog', { name: 'Sign in again' }).waitFor()
      await page.reload()
      await signIn(page)
      await heading(page, 'Keys').waitFor()
      await look(other, false)
      await other.getByRole('dialog', { name: 'Sign in again' }).waitFor({ state: 'detached' })
      expect(await other.getByLabel('Label').inputValue()).toBe('half written')
    }))

  test('a tab that is looked at shows who is signed in by now, whichever tab they came in by', async () => {
    const cookies = await joined('Newcomer')
    await visit('/dashboard/keys', async (page) => {
      await heading(page, 'Sign in').waitFor()
      await page.context().addCookies(signedIn.cookies)
      await look(page, false)
      await heading(page, 'Keys').waitFor()
      await newKey(page, 'of an admin')
      await page.context().addCookies(cookies)
      await look(page, false)
      await page.locator('.who').getByText('Newcomer').waitFor()
      expect(await page.getByRole('dialog').count()).toBe(0)
    })
  })

  test('another person who signs in over a form finds nothing of it', async () => {
    await joined('Passer-by')
    await visit('/dashboard/keys', async (page) => {
      await signIn(page)
      const secret = await makeKey(page, 'of the first')
      await newKey(page, 'half written')
      await page.context().clearCookies()
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      const again = page.getByRole('dialog', { name: 'Sign in again' })
      await again.getByLabel('Name').fill('Passer-by')
      await again.getByLabel('Password').fill('a boat waits below')
      await page.keyboard.press('Enter')
      await page.getByText('No keys yet').waitFor()
      expect(await page.getByRole('dialog').count()).toBe(0)
      for (const theirs of [secret, 'of the first', 'half written']) expect(await page.content()).not.toContain(theirs)
    })
  })

  test('a proxy that refuses everything, the question who is signed in too, is not asked without end', () =>
    admin('/dashboard', async (page) => {
      await page.getByText(/^Live/).first().waitFor()
      let asked = 0
      let askedWho = 0
      await page.route('**/admin/api/**', (route) => {
        if (route.request().url().endsWith('/session')) askedWho++
        else asked++
        return route.fulfill({ status: 403, body: 'no' })
      })
      for (const name of ['Members', 'Audit', 'Keys']) {
        await page.getByRole('link', { name, exact: true }).click()
        await heading(page, name).waitFor()
        await page.getByText('The gateway answered 403').first().waitFor()
      }
      expect(askedWho).toBeLessThanOrEqual(asked)
    }))

  test('a label is text, whatever it holds', () =>
    admin('/dashboard/keys', async (page) => {
      const label = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
      await makeKey(page, label)
      await page.getByText(label, { exact: true }).first().waitFor()
      expect(await page.locator('table img, table script').count()).toBe(0)
      expect(await page.title()).toBe('Keys · sluice')
    }))

  test('a member makes keys within the limits the admin set, and sees only their own', async () => {
    const link = await admin('/dashboard/members', async (page) => {
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByLabel('Name', { exact: true }).fill('Dara')
      await page.getByLabel('Keys', { exact: true }).fill('1')
      await page.getByLabel('Tokens for each key').fill('5000')
      await page.getByRole('button', { name: 'Make the link' }).click()
      return (await page.locator('.secret code').textContent()) ?? ''
    })
    await visit(link, async (page) => {
      await accept(page)
      await heading(page, 'Overview').waitFor()
      const pages = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
      expect(pages).not.toContain('Members')
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await page.getByText('No keys yet').waitFor()

      await newKey(page, 'too much')
      await page.getByLabel('Token quota').fill('5001')
      expect(await page.getByLabel('All models').isChecked()).toBe(true)
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('dialog').getByRole('alert').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

      await makeKey(page, 'mine', '5000')
      await page.getByRole('link', { name: 'mine' }).click()
      await page.getByRole('button', { name: 'Top up' }).click()
      await page.getByText('The key has the 5,000 tokens').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: '‹ Keys' }).click()
      await page.getByRole('link', { name: 'mine' }).waitFor()
      expect(await page.locator('tbody tr').count()).toBe(1)

      await newKey(page, 'one too many')
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('dialog').getByRole('alert').waitFor()

      await page.goto(`${gateway.url}/dashboard/audit`)
      await heading(page, 'Not found').waitFor()
    })
    await visit(link, async (page) => {
      await page.getByRole('alert').waitFor()
      expect(await page.getByRole('main').textContent()).toContain('This link was used')
    })
  })

  test('an admin makes a key for a member, within that member’s limits, and a link for a forgotten password', async () => {
    const link = await admin('/dashboard/members', async (page) => {
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByLabel('Name', { exact: true }).fill('Rith')
      await page.getByLabel('Tokens for each key').fill('7000')
      await page.getByRole('button', { name: 'Make the link' }).click()
      await page.getByRole('button', { name: 'Done' }).click()

      await page.goto(`${gateway.url}/dashboard/keys`)
      const dialog = await newKey(page, 'for Rith')
      await dialog.getByLabel('Owner').selectOption({ label: 'Rith' })
      expect(await dialog.getByLabel('Token quota').inputValue()).toBe('7,000')
      await dialog.getByLabel('Token quota').fill('8000')
      await dialog.getByRole('button', { name: 'Create key' }).click()
      await dialog.getByText('A key of Rith may have 7000 tokens at most.').waitFor()
      await dialog.getByLabel('Token quota').fill('6000')
      await create(page)
      await page.getByRole('row', { name: /for Rith.*Rith/ }).waitFor()

      // The other's name is in a label, too; that is no key of theirs.
      await issue('not for Rith')
      await page.goto(`${gateway.url}/dashboard/members`)
      await page.getByRole('link', { name: '1 key of Rith' }).click()
      await page.getByText('Only the keys of Rith').waitFor()
      expect(await page.locator('tbody tr').count()).toBe(1)
      await page.goto(`${gateway.url}/dashboard/members`)
      await page.getByRole('button', { name: 'New link for Rith' }).click()
      return (await page.locator('.secret code').textContent()) ?? ''
    })
    await visit(link, async (page) => {
      await accept(page)
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await page.getByRole('link', { name: 'for Rith' }).waitFor()
    })
  })

  test.each([
    ['Chat completions', 'vendorA-sonnet-5'],
    ['Responses', 'vendorA-haiku-4-5'],
    ['Messages', 'vendorB-5.5'],
  ])('the playground streams %s with %s and shows the raw frames', (wire, model) =>
    admin('/dashboard/playground', async (page) => {
      const { secret } = await issue()
      await page.getByLabel('Key', { exact: true }).fill(secret)
      await page.getByLabel('Wire').selectOption({ label: wire })
      await page.getByLabel('Model', { exact: true }).selectOption(model)
      await page.getByLabel('Prompt').fill('What does “Phnom Penh” mean? [[pace:20]]')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('Answering').waitFor()
      await page.getByText('Done', { exact: true }).waitFor()
      expect((await page.locator('.answer').textContent())?.length).toBeGreaterThan(10)
      await page.getByRole('button', { name: 'Raw frames' }).click()
      expect(await page.locator('.frames li').count()).toBeGreaterThan(4)
      await page.getByRole('button', { name: 'Answer' }).click()
      await page.getByRole('link', { name: 'See how this request went' }).click()
      await heading(page, model).waitFor()
      await page.getByRole('heading', { name: 'One attempt' }).waitFor()
    }),
  )

  test('the playground shows a tool call, an image to the model, and an image by a model', () =>
    admin('/dashboard/playground', async (page) => {
      const { secret } = await issue()
      await page.getByLabel('Key', { exact: true }).fill(secret)
      await page.getByLabel('Offer a tool').check()
      await page.getByLabel('Image').setInputFiles({ name: 'lock.png', mimeType: 'image/png', buffer: ONE_PIXEL })
      await page.getByLabel('Prompt').fill('Use the tool get_weather for Phnom Penh')
      await page.getByAltText('To be sent').waitFor()
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByRole('heading', { name: 'Calls get_weather' }).waitFor()
      await page.getByLabel('Wire').selectOption({ label: 'Images' })
      await page.getByLabel('Size').fill('256x256')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByAltText('What the model drew').waitFor()
    }))

  test('the playground puts every piece of a call to its own, though calls come in turns', () =>
    admin('/dashboard/playground', async (page) => {
      const piece = (index: number, call: object) => ({
        choices: [{ index: 0, delta: { tool_calls: [{ index, ...call }] } }],
      })
      const begin = (index: number, name: string) =>
        piece(index, { id: `call_${index}`, type: 'function', function: { name, arguments: '' } })
      const go = (index: number, text: string) => piece(index, { function: { arguments: text } })
      const chunks = [
        ...[begin(0, 'first'), begin(1, 'second'), go(0, '{"a":'), go(1, '{"b":'), go(0, '1}'), go(1, '2}')],
        { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
      ]
      const frames = chunks.map((chunk) => `data: ${JSON.stringify({ id: 'c', model: 'm', ...chunk })}\n\n`)
      await page.route('**/v1/chat/completions', (route) =>
        route.fulfill({ contentType: 'text/event-stream', body: `${frames.join('')}data: [DONE]\n\n` }),
      )
      await page.getByLabel('Key', { exact: true }).fill('sk-sl-any')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('Done', { exact: true }).waitFor()
      expect(await page.locator('.snippet pre').allTextContents()).toEqual(['{"a":1}', '{"b":2}'])
    }))

  test('the playground keeps what was asked and answered on the way back, without the key after a reload, and nothing after signing out', () =>
    visit('/dashboard/playground', async (page) => {
      await signIn(page)
      const { secret } = await issue()
      await page.getByLabel('Key', { exact: true }).fill(secret)
      await page.getByLabel('Wire').selectOption('messages')
      await page.getByLabel('Prompt').fill('Say when')
      await page.getByLabel('Prompt').press('Control+Enter')
      await page.getByText('Done', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'See how this request went' }).click()
      await page.getByRole('heading', { name: 'One attempt' }).waitFor()
      const standing = async () => [
        await page.getByLabel('Key', { exact: true }).inputValue(),
        await page.getByLabel('Wire').inputValue(),
        await page.getByLabel('Prompt').inputValue(),
      ]
      await page.goBack()
      await page.getByText('Done', { exact: true }).waitFor()
      expect(await standing()).toEqual([secret, 'messages', 'Say when'])
      await page.reload()
      await heading(page, 'Playground').waitFor()
      expect(await standing()).toEqual(['', 'messages', 'Say when'])
      await page.getByRole('button', { name: 'Sign out' }).click()
      await heading(page, 'Sign in').waitFor()
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}')
    }))

  test('what one wrote in the playground is not there for another who has signed in since', () =>
    admin('/dashboard/playground', async (page) => {
      await page.getByLabel('Prompt').fill('For nobody else')
      await page.reload()
      await heading(page, 'Playground').waitFor()
      expect(await page.getByLabel('Prompt').inputValue()).toBe('For nobody else')
      await page.context().clearCookies()
      await page.context().addCookies(await joined('Next'))
      await page.reload()
      await heading(page, 'Playground').waitFor()
      expect(await page.getByLabel('Prompt').inputValue()).not.toContain('For nobody else')
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}')
    }))

  test('the playground says why a request failed in words that say what to do', () =>
    admin('/dashboard/playground', async (page) => {
      const refused = async (secret: string, words: string): Promise<void> => {
        await page.getByLabel('Key', { exact: true }).fill(secret)
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByRole('alert').getByText(words).waitFor()
      }
      await refused('sk-sl-wrong', 'The API key is not valid')
      await page.getByText("in the gateway's log only").waitFor()
      expect(await page.getByRole('link', { name: 'See how this request went' }).count()).toBe(0)
      // No header can hold these: a placeholder that was taken along, a space of no width.
      await refused('sk-sl-…', 'copy it again')
      await refused('sk-sl-\u200bwrong', 'copy it again')
      await page.context().setOffline(true)
      await refused('sk-sl-wrong', 'The gateway did not answer')
    }))

  test('the playground sends a request once, however often it is asked to, and stops without losing the focus', () =>
    admin('/dashboard/playground', async (page) => {
      let sent = 0
      page.on('request', (request) => {
        if (request.url().endsWith('/v1/messages')) sent += 1
      })
      await page.getByLabel('Key', { exact: true }).fill((await issue()).secret)
      await page.getByLabel('Wire').selectOption('messages')
      const prompt = page.getByLabel('Prompt')
      await prompt.fill('[[pace:100]] [[long:200]]')
      for (let press = 0; press < 3; press++) await prompt.press('Control+Enter')
      const said = page.getByRole('status').filter({ hasText: 'first frame' })
      await said.getByText('Answering').waitFor()
      await page.getByRole('button', { name: 'Stop' }).focus()
      await page.keyboard.press('Enter')
      await said.getByText('Stopped').waitFor()
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Stop')
      expect(sent).toBe(1)
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

  test('the audit shows what was done to one key, owners by name, and all again', () =>
    admin('/dashboard/keys', async (page) => {
      await makeKey(page, 'audited')
      await page.getByRole('link', { name: 'audited' }).click()
      await page.getByRole('link', { name: 'In the audit' }).click()
      await page.getByText('key.issue').first().waitFor()
      expect(await page.locator('tbody tr').count()).toBe(1)
      await page.getByText(`owner ${ADMIN.name}`).last().waitFor()
      await page.getByRole('button', { name: 'Show all' }).click()
      await page.getByText('member.add').first().waitFor()
    }))

  test('the audit shows all that was set, in its order, whatever direction a label is written in', async () => {
    const label = '\u202Eeman a si siht'
    const limits = { rpm: 11, tpm: 12, concurrency: 13, renews: 'week' }
    const { key } = await asAdmin<KeyWithSecret>('POST', '/keys', { label, ...limits })
    await admin(`/dashboard/audit?target=${key.id}`, async (page) => {
      const names = page.locator('tbody tr td:last-child .change .muted')
      await names.first().waitFor()
      const told = (await names.allTextContents()).filter((name) => name !== 'renews at' && name !== 'owner').toSorted()
      const all = [
        'label',
        'expires at',
        'tokens total',
        'tokens used',
        'models',
        'renews',
        'rpm',
        'tpm',
        'concurrency',
      ]
      expect(told).toEqual(all.toSorted())
      const places = await names.evaluateAll((all) =>
        all.map((one) => one.getBoundingClientRect()).map(({ x, y }) => ({ x, y })),
      )
      const read = places.toSorted((one, other) => (Math.abs(one.y - other.y) < 4 ? one.x - other.x : one.y - other.y))
      expect(places).toEqual(read)
    })
  })

  test('the key-holder page shows one key’s usage to a stranger and nothing else', () =>
    visit('/usage', async (page) => {
      const { secret } = await issue('holder')
      await say(secret, 'Hello [[usage:300,200]]', 'vendorA-sonnet-5')
      await page.getByLabel('Key').fill('sk-sl-not-a-key')
      await page.getByRole('button', { name: 'Show usage' }).click()
      await page.getByRole('alert').waitFor()
      await page.getByLabel('Key').fill(secret)
      await page.getByRole('button', { name: 'Show usage' }).click()
      await page.getByRole('heading', { name: 'holder' }).waitFor()
      await page
        .getByRole('row', { name: /vendorA-sonnet-5/ })
        .getByText('500', { exact: true })
        .waitFor()
      expect(page.url()).not.toContain(secret)
      expect(await page.locator('a[href^="/dashboard/"]').count()).toBe(0)
      // Figures are never shown beside another key.
      await page.getByLabel('Key').fill('sk-sl-…')
      await page.getByRole('heading', { name: 'holder' }).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Show usage' }).click()
      await page.getByRole('alert').getByText('copy it again').waitFor()
    }))

  test('what is told of a key is not shown beside another that was written meanwhile', () =>
    visit('/usage', async (page) => {
      const { secret } = await issue('the one before')
      const answer = await hold(page, '**/v1/usage**')
      await page.getByLabel('Key').fill(secret)
      const show = page.getByRole('button', { name: 'Show usage' })
      await show.click()
      await page.locator('button[aria-busy="true"]').waitFor()
      await page.getByLabel('Key').fill('sk-sl-another')
      answer()
      await page.locator('button[type="submit"][aria-busy="false"]').waitFor()
      expect(await page.getByRole('heading', { name: 'the one before' }).count()).toBe(0)
    }))

  test('a refusal of a key is not shown beside another', () =>
    visit('/usage', async (page) => {
      await page.getByLabel('Key').fill('sk-sl-mistyped')
      await page.getByRole('button', { name: 'Show usage' }).click()
      await page.getByRole('alert').waitFor()
      await page.getByLabel('Key').fill('sk-sl-another')
      await page.getByRole('alert').waitFor({ state: 'detached' })
    }))

  test.each<[string, (route: Route) => Promise<void>, string]>([
    ['is not answered', (route) => route.abort(), 'The gateway did not answer. Check that it is running'],
    [
      'a proxy answers for',
      (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><p>Sign in' }),
      'What came is no answer of the gateway, or broke off. Reload the page.',
    ],
  ])('documentation that %s says what to do', (_, answer, said) =>
    visit('/usage', async (page) => {
      await page.route('**/docs/guides.json', answer)
      await page.goto(`${gateway.url}/docs`)
      await page.getByRole('alert').getByText(said).waitFor()
    }),
  )

  test('the documentation opens operations and guides without signing in', () =>
    visit('/docs', async (page) => {
      await heading(page, 'API reference').waitFor()
      await page.locator('#createMessage summary').click()
      await page.locator('#createMessage').getByText('max_tokens', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Claude Code' }).click()
      await heading(page, 'Claude Code').waitFor()
      expect(await page.getByRole('main').textContent()).toContain(`ANTHROPIC_BASE_URL="${gateway.url}"`)
    }))

  test('settings are changed, in force at once, and go back to the configuration’s', () =>
    admin('/dashboard/settings', async (page) => {
      await page.getByLabel('Riel for one US dollar').fill('4050')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Back to the configuration').waitFor()
      await page.getByText('Saved and in force').waitFor()
      const { secret } = await issue()
      const usage = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': secret } })
      expect(await usage.json()).toMatchObject({ rate: { khr_per_usd: 4050 } })
      await page.getByRole('button', { name: 'Back to the configuration' }).click()
      await page.getByText('Back to the configuration').waitFor({ state: 'detached' })
      expect(await page.getByLabel('Riel for one US dollar').inputValue()).toBe('4100')
    }))

  test('what a form cannot send is refused by the name of its field', () =>
    admin('/dashboard/settings', async (page) => {
      const gateway = page.locator('.card', { has: page.getByRole('heading', { name: 'Gateway' }) })
      const refused = async (field: string, text: string, words: string): Promise<void> => {
        const before = await gateway.getByLabel(field).inputValue()
        await gateway.getByLabel(field).fill(text)
        await gateway.getByRole('button', { name: 'Save', exact: true }).click()
        await gateway.getByRole('alert').getByText(words).waitFor()
        await gateway.getByLabel(field).fill(before)
      }
      await refused('Riel for one US dollar', '0', 'Riel for one US dollar: write a number above 0.')
      await refused('Riel for one US dollar', '-3', 'Riel for one US dollar: write a number above 0.')
      await refused('Keep single exchanges', '-1', 'Keep single exchanges: write a number from 0 on.')
      await refused('Days until expiry', '0', 'Days until expiry: write a whole number from 1')
      await page.getByRole('button', { name: 'Create token' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Label').fill('too late')
      await dialog.getByLabel('Expires').fill('2020-01-01T00:00')
      await dialog.getByRole('button', { name: 'Create token' }).click()
      await dialog.getByRole('alert').getByText('Expires: choose a time to come.').waitFor()
    }))

  test('a shorter time for exchanges is asked about before anything is removed', () =>
    admin('/dashboard/settings', async (page) => {
      const days = page.getByLabel('Keep single exchanges')
      await days.fill('7')
      await page.getByRole('button', { name: 'Save' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('cannot be brought back').waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await page.reload()
      await heading(page, 'Settings').waitFor()
      expect(await days.inputValue()).toBe('90')
    }))

  test('the theme is the system’s until one is chosen, and the choice stays', () =>
    visit(
      '/docs',
      async (page) => {
        const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
        await heading(page, 'API reference').waitFor()
        const dark = await ground()
        await page.getByRole('button', { name: /^Theme: system/ }).click()
        const light = await ground()
        expect(light).not.toBe(dark)
        await page.reload()
        await heading(page, 'API reference').waitFor()
        expect(await ground()).toBe(light)
      },
      { colorScheme: 'dark' },
    ))

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

  test('saving leaves the focus on the button, also while it lasts', () =>
    admin('/dashboard/settings', async (page) => {
      await page.getByLabel('Riel for one US dollar').fill('4060')
      const answer = await hold(page, '**/admin/api/settings')
      const save = page.getByRole('button', { name: 'Save', exact: true })
      await save.focus()
      await page.keyboard.press('Enter')
      await page.locator('button[aria-busy="true"]:focus', { hasText: 'Save' }).waitFor()
      answer()
      await page.getByText('Saved and in force').waitFor()
      await page.locator('button[aria-busy="false"]:focus', { hasText: 'Save' }).waitFor()
      await page.getByRole('button', { name: 'Back to the configuration' }).click()
      await page.getByText('Back to the configuration').waitFor({ state: 'detached' })
    }))

  test('an invitation without its secret says what is missing; what is not there is not asked for again', () =>
    admin('/dashboard/invite', async (page) => {
      await page.getByText('This link is not whole').waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
      await page.goto(`${gateway.url}/dashboard/keys/key_none`)
      await page.getByText('There is no such key').waitFor()
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
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
      await page.getByRole('button', { name: 'By key' }).click()
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
      await page.getByRole('status', { name: 'Loading' }).waitFor()
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

  test('a time that is no whole number is written as the language of who looks has it', () =>
    admin(
      '/dashboard',
      async (page) => {
        const id = await say((await issue('slow')).secret, 'Say hello [[slow:1100]]')
        await page.goto(`${gateway.url}/dashboard/exchanges/${id}`)
        await page
          .getByLabel('Figures')
          .getByText(/^\d,\d\d s$/)
          .waitFor()
      },
      { locale: 'de-DE' },
    ))

  test('large sums stand in one line, on any screen', () =>
    admin('/dashboard', async (page) => {
      await say((await issue('dear')).secret, 'Say hello')
      let micro = 0
      await page.route('**/admin/api/usage?*', async (route) => {
        const answer = await route.fetch()
        const usage = (await answer.json()) as Usage
        const totals = { ...usage.totals, requests: micro / 1_000, cost_micro_usd: micro, cost_khr: micro / 250 }
        await route.fulfill({ response: answer, json: { ...usage, totals } })
      })
      for (const cost of [9_999.99, 99_999.99, 999_999.99, 99_999_999.99]) {
        micro = Math.round(cost * 1e6)
        for (const width of [360, 820, 1024, 1280]) {
          await page.setViewportSize({ width, height: 740 })
          await page.goto(`${gateway.url}/dashboard`)
          await page.getByLabel('Totals').waitFor()
          const lines = await page.evaluate(
            "[...document.querySelectorAll('.figure')].map((each) => Math.round(each.clientHeight / parseFloat(getComputedStyle(each).lineHeight)))",
          )
          expect([cost, width, lines]).toEqual([cost, width, [1, 1, 1, 1, 1, 1]])
        }
      }
    }))

  test('the figures of a key stay within their fields, and the page within the narrowest screen', () =>
    admin('/dashboard/keys', async (page) => {
      // Expires in 12 months.
      await makeKey(page, 'narrow')
      await page.getByRole('link', { name: 'narrow' }).click()
      await page.getByRole('heading', { name: 'Usage over time' }).waitFor()
      for (const width of [320, 360, 640]) {
        await page.setViewportSize({ width, height: 740 })
        const wider = await page.evaluate(
          "[document.documentElement, ...document.querySelectorAll('.stat')].map((each) => each.scrollWidth - each.clientWidth)",
        )
        expect([width, wider]).toEqual([width, [0, 0, 0, 0, 0, 0]])
      }
    }))

  test('tables and the figures of an exchange fit the narrowest screen', () =>
    admin('/dashboard/keys', async (page) => {
      const secret = await makeKey(page, `narrow ${'W'.repeat(90)}`, '9007199254740991')
      await say(secret, 'Say hello [[error:429]]', 'vendorB-5.4-mini')
      await page.setViewportSize({ width: 320, height: 740 })
      const wider = () =>
        page.evaluate(
          "[document.documentElement, ...document.querySelectorAll('.table-wrap')].map((each) => each.scrollWidth - each.clientWidth).filter((more) => more > 0)",
        )
      for (const path of ['', '/models', '/accounts', '/exchanges']) {
        await page.goto(`${gateway.url}/dashboard${path}`)
        await page.locator('tbody tr').first().waitFor()
        expect([path, await wider()]).toEqual([path, []])
      }
      const row = page.locator('tbody tr', { hasText: 'service_unavailable' }).first()
      await row.getByRole('link').click()
      await page.getByRole('heading', { name: 'Quota' }).waitFor()
      expect(await wider()).toEqual([])
    }))

  test('what classes of service cost takes few lines of a model’s row', () =>
    admin('/dashboard/models', async (page) => {
      const told = page.getByText('priority\u00a0×\u00a02.5')
      await told.waitFor()
      expect((await told.boundingBox())?.height).toBeLessThan(80)
    }))

  test('long names leave room for what stands beside them, on any screen', () =>
    admin('/dashboard/members', async (page) => {
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByLabel('Name', { exact: true }).fill('Wolfeschlegelsteinhausenbergerdorff'.repeat(2))
      await page.getByRole('button', { name: 'Make the link' }).click()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.goto(`${gateway.url}/dashboard/keys`)
      await makeKey(page, 'W'.repeat(200), '100')
      const wider = () =>
        page.evaluate(
          "[...document.querySelectorAll('.table-wrap')].map((each) => each.scrollWidth - each.clientWidth)",
        )
      for (const width of [360, 820, 1280]) {
        await page.setViewportSize({ width, height: 740 })
        for (const path of ['/dashboard/keys', '/dashboard/members']) {
          await page.goto(gateway.url + path)
          await page.locator('tbody tr').first().waitFor()
          expect([width, path, await wider()]).toEqual([width, path, [0]])
        }
        // A word of a state is one line.
        await page.goto(`${gateway.url}/dashboard/keys`)
        const state = await page.locator('tbody .badge').first().boundingBox()
        expect(state?.height).toBeLessThan(26)
      }
    }))

  test('the menu of a phone closes by Escape, which gives the focus back, and by the page that is shown', () =>
    admin(
      '/dashboard/keys',
      async (page) => {
        const menu = page.getByRole('button', { name: 'Menu', exact: true })
        const link = page.getByRole('link', { name: 'Keys', exact: true })
        await menu.click()
        await link.focus()
        await page.keyboard.press('Escape')
        await page.locator('.topbar button:focus').waitFor()
        await menu.click()
        await link.click()
        await link.waitFor({ state: 'hidden' })
      },
      { viewport: { width: 360, height: 740 } },
    ))

  const PAGES = [
    '/dashboard',
    '/dashboard/keys',
    '/dashboard/exchanges',
    '/dashboard/playground',
    '/dashboard/models',
    '/dashboard/accounts',
    '/dashboard/members',
    '/dashboard/audit',
    '/dashboard/settings',
    '/usage',
    '/docs',
    '/docs/guides/start',
  ]

  test.each(PAGES)('%s fits a phone, has no serious fault for assistive tools, light and dark', async (path) => {
    await admin(
      path,
      async (page) => {
        await page.locator('h1').first().waitFor()
        await page.locator('.bone').first().waitFor({ state: 'detached' })
        const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        expect({ path, widerThanThePhoneBy: wide }).toEqual({ path, widerThanThePhoneBy: 0 })
        expect(await faults(page)).toEqual([])
        await page.emulateMedia({ colorScheme: 'dark' })
        expect(await faults(page)).toEqual([])
        await page.setViewportSize({ width: 1280, height: 860 })
        expect(await faults(page)).toEqual([])
      },
      { viewport: { width: 360, height: 740 }, colorScheme: 'light', reducedMotion: 'reduce' },
    )
  })

  test('a dialog has no serious fault either, keeps the focus, and gives it back', () =>
    admin('/dashboard/keys', async (page) => {
      const opener = page.getByRole('button', { name: 'Create key', exact: true })
      await opener.first().focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      expect(await faults(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      const focused = () => page.evaluate('document.activeElement.textContent') as Promise<string>
      expect(await focused()).toContain('Create key')

      // One dialog after another leads back to the first one's opener; what is gone, to the heading.
      await makeKey(page, 'focus')
      await page.locator('button:focus', { hasText: 'Create key' }).waitFor()
      await page.getByRole('link', { name: 'focus' }).click()
      await page.getByRole('button', { name: 'Rotate' }).click()
      await page.getByRole('button', { name: 'Make a new secret' }).click()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.locator('button:focus', { hasText: /^Rotate$/ }).waitFor()
      await page.getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('button', { name: 'Revoke key' }).click()
      await page.locator('h1:focus').waitFor()
    }))

  test('what is in the guides can be copied, whole and as it stands', () =>
    visit('/docs/guides/claude-code', async (page) => {
      await heading(page, 'Claude Code').waitFor()
      const blocks = page.locator('.snippet')
      expect(await blocks.count()).toBeGreaterThan(2)
      expect(await blocks.first().locator('pre').textContent()).toBe(
        `export ANTHROPIC_BASE_URL="${gateway.url}"\nexport ANTHROPIC_AUTH_TOKEN="sk-sl-…"\nclaude`,
      )
      await blocks.first().getByRole('button', { name: 'Copy' }).click()
      await page.getByText('Copied').waitFor()
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

  test('signing out everywhere ends the other sessions at once', async () => {
    const other = await visit('/dashboard', async (page) => {
      await signIn(page)
      await heading(page, 'Overview').waitFor()
      return page.context().storageState()
    })
    await visit('/dashboard', async (page) => {
      await signIn(page)
      await heading(page, 'Overview').waitFor()
      await page.getByRole('link', { name: 'Settings' }).click()
      await page.getByRole('button', { name: 'Sign out everywhere' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
      await heading(page, 'Sign in').waitFor()
    })
    await visit('/dashboard', (page) => heading(page, 'Sign in').waitFor(), { as: other })
  })

  test('nothing was refused by the policy, thrown uncaught, or asked of another host', () => {
    expect(troubles).toEqual([])
  })

  /** A change made elsewhere than in the page that is looked at. */
  const asAdmin = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const cookie = signedIn.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const answer = await fetch(`${gateway.url}/admin/api${path}`, {
      method,
      headers: { cookie, origin: gateway.url, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
    return (await answer.json()) as T
  }

  const issue = async (label = 'page test'): Promise<{ id: string; secret: string }> => {
    const made = await asAdmin<KeyWithSecret>('POST', '/keys', { label, tokens_total: 1_000_000 })
    return { id: made.key.id, secret: made.secret }
  }

  /** The cookies of a new member. */
  const joined = async (name: string) => {
    const link = await admin('/dashboard/members', async (page) => {
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByLabel('Name', { exact: true }).fill(name)
      await page.getByRole('button', { name: 'Make the link' }).click()
      return (await page.locator('.secret code').textContent()) ?? ''
    })
    return visit(link, async (page) => {
      await accept(page)
      await heading(page, 'Overview').waitFor()
      return page.context().cookies()
    })
  }

  /** A request that is not answered; the client leaves when the function it gives is called. */
  const hang = (secret: string): (() => Promise<void>) => {
    const leaving = new AbortController()
    const asked = say(secret, '[[hang]]', 'vendorA-opus-4-7', leaving.signal).catch(() => undefined)
    return async () => {
      leaving.abort()
      await asked
    }
  }

  /** Asks with a key; the request id of the answer. */
  const say = async (secret: string, content: string, model = 'vendorA-opus-4-7', signal?: AbortSignal) => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
      ...(signal === undefined ? {} : { signal }),
    })
    await answer.arrayBuffer()
    return answer.headers.get('x-request-id')
  }
})

const ONE_PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Has a tab shown or hidden. */
const look = (page: Page, hidden: boolean) =>
  page.evaluate(
    `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`,
  )

/** Keeps requests to an address from being answered until the function it gives is called. */
const hold = async (page: Page, address: string): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

/** Serious and critical findings of axe, each with where it was found. */
const faults = async (page: Page): Promise<string[]> => {
  // Through the tools' own door: the page's policy lets no foreign script in.
  await page.evaluate(axe.source)
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as axe.AxeResults
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')} ${failureSummary}`),
    )
}
