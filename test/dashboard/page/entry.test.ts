// Who comes in and how, who is in by now, and what is left of a form when that changes.

import { expect, test } from 'bun:test'
import { startDashboard } from '../support.ts'
import { ADMIN, describePage, faults, heading, look } from './browsing.ts'

describePage('coming in', ({ gateway, visit, admin, signIn, joined, newKey, makeKey, newContext, adminCookies }) => {
  test('a first boot without the link says where the link is, on the narrowest screen too', async () => {
    const fresh = await startDashboard()
    try {
      const context = await newContext()
      const page = await context.newPage()
      await page.goto(`${fresh.url}/dashboard`)
      await heading(page, 'Welcome to sluice').waitFor()
      expect(await page.getByRole('main').textContent()).toContain('setup link')
      await page.setViewportSize({ width: 320, height: 740 })
      const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      expect(await page.evaluate(wider)).toBe(0)
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
      await page.context().addCookies(adminCookies())
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

  test('an invitation without its secret says what is missing; what is not there is not asked for again', () =>
    admin('/dashboard/invite', async (page) => {
      await page.getByText('This link is not whole').waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
      await page.goto(`${gateway.url}/dashboard/keys/key_none`)
      await page.getByText('There is no such key').waitFor()
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    }))

  test('a link for a new password says that it is one, and what ends with the old one', async () => {
    const before = await joined('Bopha')
    const link = await admin('/dashboard/members', async (page) => {
      await page.getByRole('button', { name: 'New link for Bopha' }).click()
      return (await page.locator('.secret code').textContent()) ?? ''
    })
    await visit(link, async (page) => {
      await heading(page, 'Set a new password').waitFor()
      await page.getByText('Your sessions end with the old password').waitFor()
      expect(await faults(page)).toEqual([])
      await page.getByLabel('Password', { exact: true }).fill('the boat came back at noon')
      await page.getByLabel('Password again').fill('the boat came back at noon')
      await page.getByRole('button', { name: 'Set password' }).click()
      await heading(page, 'Overview').waitFor()
      await page.context().clearCookies()
      await page.context().addCookies(before)
      await page.goto(`${gateway.url}/dashboard`)
      await heading(page, 'Sign in').waitFor()
      await page.goto(link)
      await heading(page, 'One-time link').waitFor()
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
})
