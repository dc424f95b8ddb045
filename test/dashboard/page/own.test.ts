// What people do for themselves: sessions, proving who they are, the password.

import { expect, test } from 'bun:test'
import { Secret, TOTP } from 'otpauth'
import { deviceOf } from '../../../src/lib/device.ts'
import { ADMIN, describePage, faults, heading } from './browsing.ts'

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'

test.each([
  [PHONE, 'Safari on iOS'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0',
    'Edge on Windows',
  ],
  ['Mozilla/5.0 (Linux; Android 15; K) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36', 'Chrome on Android'],
  ['curl/8.5.0', 'curl'],
  ['', 'Unknown browser'],
  [null, 'Unknown browser'],
])('%j is called %s', (agent, name) => expect(deviceOf(agent)).toBe(name))

const codeOf = (secret: string): string => new TOTP({ secret: Secret.fromBase32(secret) }).generate()

/** As the gateway answers whoever has not just proven who they are. */
const UNPROVEN = {
  message: 'Enter your password again to do this.',
  ...{ type: 'permission_error', code: 'permission_denied', param: 'password' },
}

describePage('one’s own affairs', ({ gateway, visit, signIn, joined, asAdmin }) => {
  test('a session elsewhere is shown with its browser and ended; this one is marked and stays', () =>
    visit('/dashboard/settings', async (page) => {
      await signIn(page)
      await heading(page, 'Settings').waitFor()
      await visit(
        '/dashboard/models',
        async (other) => {
          await signIn(other)
          await heading(other, 'Models').waitFor()
          await page.reload()
          await page.getByRole('row', { name: /this one/ }).waitFor()
          await page.getByRole('button', { name: 'Sign out Safari on iOS' }).click()
          expect(await faults(page)).toEqual([])
          await page.getByRole('dialog').getByRole('button', { name: 'Sign out there' }).click()
          await page.getByRole('row', { name: /Safari on iOS/ }).waitFor({ state: 'detached' })
          await other.reload()
          await heading(other, 'Sign in').waitFor()
        },
        { userAgent: PHONE },
      )
      await page.reload()
      await heading(page, 'Settings').waitFor()
    }))

  test('what lets others in asks for the password, and goes on where it was', () =>
    visit('/dashboard/settings', async (page) => {
      await signIn(page)
      let asked = 0
      await page.route('**/admin/api/tokens', async (route) => {
        if (route.request().method() !== 'POST' || ++asked > 2) await route.continue()
        else await route.fulfill({ status: 403, json: { error: UNPROVEN } })
      })
      await page.getByRole('button', { name: 'Create token' }).click()
      const form = page.getByRole('dialog', { name: 'New admin token' })
      await form.getByLabel('Label').fill('proven')
      await form.getByRole('button', { name: 'Create token' }).click()
      const proof = page.getByRole('dialog', { name: 'Enter your password again' })
      await proof.getByRole('button', { name: 'Cancel' }).click()
      await form.getByText('Nothing was done: it needs your password.').waitFor()
      await form.getByRole('button', { name: 'Create token' }).click()
      await proof.getByLabel('Your password').fill('not the password at all')
      await page.keyboard.press('Enter')
      await proof.getByRole('alert').waitFor()
      expect(await faults(page)).toEqual([])
      await proof.getByLabel('Your password').fill(ADMIN.password)
      await page.keyboard.press('Enter')
      await page.getByText('Copy the token now').waitFor()
    }))

  test('a new password leaves who set it signed in', async () => {
    const cookies = await joined('Chan')
    await visit('/dashboard/models', async (page) => {
      await page.context().addCookies(cookies)
      await page.goto(`${gateway.url}/dashboard/settings`)
      await page.getByLabel('Current password').fill('a boat waits below')
      await page.getByLabel('New password', { exact: true }).fill('chan chan chan')
      await page.getByLabel('New password again').fill('chan chan chan')
      await page.getByRole('button', { name: 'Change password' }).click()
      await page.getByText('among the first that are tried').waitFor()
      await page.getByLabel('New password', { exact: true }).fill('nine slow barges at noon')
      await page.getByLabel('New password again').fill('nine slow barges at noon')
      await page.getByRole('button', { name: 'Change password' }).click()
      await page.getByText('The password is changed').waitFor()
      await page.reload()
      await page.getByRole('row', { name: /this one/ }).waitFor()
    })
  })

  test('a second factor is set up by its code, asked for at the next sign-in, and recovered by its codes', async () => {
    const cookies = await joined('Kosal')
    const codes = await visit('/dashboard/models', async (page) => {
      await page.context().addCookies(cookies)
      await page.goto(`${gateway.url}/dashboard/settings`)
      await page.getByRole('button', { name: 'Set up' }).click()
      const dialog = page.getByRole('dialog', { name: 'Set up a second factor' })
      await dialog.getByRole('img').waitFor()
      expect(await faults(page)).toEqual([])
      await page.locator('input[autocomplete="one-time-code"]:focus').waitFor()
      const secret = (await dialog.locator('.secret code').textContent()) ?? ''
      await dialog.getByRole('textbox', { name: 'Code' }).fill('12345')
      await dialog.getByRole('button', { name: 'Turn on' }).click()
      await dialog.getByText('The code is not right').waitFor()
      await dialog.getByRole('textbox', { name: 'Code' }).fill(codeOf(secret))
      await dialog.getByRole('button', { name: 'Turn on' }).click()
      await page.getByText('They are shown only now').waitFor()
      expect(await faults(page)).toEqual([])
      const shown = ((await page.locator('.snippet pre').textContent()) ?? '').split('\n')
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByText('10 recovery codes left').waitFor()
      return shown
    })
    await visit('/dashboard/settings', async (page) => {
      await page.getByLabel('Name').fill('Kosal')
      await page.getByLabel('Password').fill('a boat waits below')
      await page.keyboard.press('Enter')
      await page.locator('input[autocomplete="one-time-code"]:focus').waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
      expect(await faults(page)).toEqual([])
      await page.keyboard.type('000000000000')
      await page.keyboard.press('Enter')
      await page.getByText('The code is not right').waitFor()
      await page.getByRole('textbox', { name: 'Code' }).fill(codes[0] ?? '')
      await page.keyboard.press('Enter')
      await page.getByText('9 recovery codes left').waitFor()
      await page.getByRole('button', { name: 'Remove', exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('button', { name: 'Set up' }).waitFor()
    })
  })

  // The last: it ends the admin's other sessions.
  test('an admin who lacks the second factor that is asked for sets one up and is in', async () => {
    await visit('/dashboard/settings', async (page) => {
      await signIn(page)
      await page.getByLabel('Ask a second factor of every admin').check()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Set up a second factor of your own first').waitFor()
    })
    const due = await asAdmin<{ member: object }>('GET', '/session')
    await visit(
      '/dashboard/models',
      async (page) => {
        await signIn(page)
        await heading(page, 'Models').waitFor()
        let isDue = true
        await page.route('**/admin/api/session', async (route) =>
          route.request().method() === 'GET' && isDue
            ? route.fulfill({ json: { ...due, second_factor_due: true } })
            : route.continue(),
        )
        await page.reload()
        await heading(page, 'Set up a second factor').waitFor()
        expect(await page.getByRole('navigation').count()).toBe(0)
        await page.getByRole('img', { name: 'The secret' }).waitFor()
        expect(await faults(page)).toEqual([])
        const secret = (await page.locator('.secret code').textContent()) ?? ''
        await page.getByRole('textbox', { name: 'Code' }).fill(codeOf(secret))
        await page.keyboard.press('Enter')
        await heading(page, 'Recovery codes').waitFor()
        isDue = false
        await page.getByRole('button', { name: 'Done' }).click()
        await heading(page, 'Models').waitFor()
        await page.goto(`${gateway.url}/dashboard/settings`)
        await page.getByRole('button', { name: 'Remove', exact: true }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
        await page.getByRole('button', { name: 'Set up' }).waitFor()
      },
      { viewport: { width: 360, height: 740 } },
    )
  })
})
