// The page end to end, in a real browser against a running gateway (the compiled file when SLUICE_BINARY names it): visits
// by an admin or a stranger, and what is done on many pages.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import axe from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { KeyWithSecret } from '../../../src/admin-api/schema.ts'
import { chromiumPath, launchBrowser, MISSING } from '../browser.ts'
import { type Started, startDashboard } from '../support.ts'

if (chromiumPath === undefined) console.warn(MISSING)

export const ADMIN = { name: 'Sophea', password: 'lock-gates-open-at-dawn' }

/** The tests of a part of the page, with a gateway and a browser of their own. */
export const describePage = (
  part: string,
  tests: (browsing: Browsing) => void,
  /** `empty`: without a vendor, and before it is set up. `file`: what sluice.yaml says. */
  options: { empty?: boolean; file?: () => string } = {},
): void =>
  describe.skipIf(chromiumPath === undefined)(`the page: ${part}`, () => {
    setDefaultTimeout(120_000)
    const { troubles, ...browsing } = startBrowsing(options)
    tests(browsing)
    test('nothing was refused by the policy, thrown uncaught, or asked of another host', () => {
      expect(troubles).toEqual([])
    })
  })

type Browsing = Omit<ReturnType<typeof startBrowsing>, 'troubles'>

const startBrowsing = ({ empty = false, file }: { empty?: boolean; file?: () => string }) => {
  let started: Started
  let browser: Browser
  let signedIn: Awaited<ReturnType<BrowserContext['storageState']>>
  /** What went wrong in any page, in the browser's own words: a refused script, an error nobody caught. */
  const troubles: string[] = []
  const gateway = {
    get url() {
      return started.url
    },
    get setupLink() {
      return started.setupLink
    },
  }

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
      // What answers in the gateway's place may be amid an answer.
      for (const each of context.pages()) await each.unrouteAll({ behavior: 'ignoreErrors' })
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
    const secret = await create(page)
    // The focus comes back to the button a moment after the dialog is gone, and would leave what was given it before.
    await page.locator('main :focus:not(dialog *)').waitFor()
    return secret
  }

  const adminCookies = () => signedIn.cookies
  const newContext = (): Promise<BrowserContext> => browser.newContext()

  beforeAll(async () => {
    started = await startDashboard({ empty, file: file?.() })
    browser = await launchBrowser()
    if (empty) return
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
    await started?.stop()
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

  const issue = async (label = 'page test', more: object = {}): Promise<{ id: string; secret: string }> => {
    const made = await asAdmin<KeyWithSecret>('POST', '/keys', { label, tokens_total: 1_000_000, ...more })
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

  return {
    ...{ troubles, gateway, adminCookies, newContext, visit, admin, asAdmin, signIn, accept, joined },
    ...{ newKey, create, makeKey, issue, say, hang },
  }
}

export const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

/** Has a tab shown or hidden. */
export const look = (page: Page, hidden: boolean) =>
  page.evaluate(
    `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`,
  )

/** Keeps requests to an address from being answered until the function it gives is called. */
export const hold = async (page: Page, address: string): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

/** Serious and critical findings of axe, each with where it was found. */
export const faults = async (page: Page): Promise<string[]> => {
  // Through the tools' own door: the page's policy lets no foreign script in.
  await page.evaluate(axe.source)
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as axe.AxeResults
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')} ${failureSummary}`),
    )
}
