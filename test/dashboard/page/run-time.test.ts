// Accounts and models at run time: from an empty folder to a connected client, and what admins change later.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type RealVendors, startRealVendors, VENDOR_KEYS } from '../../support/provider/real-vendors.ts'
import { ADMIN, describePage, faults, heading } from './browsing.ts'

/** The vendor is a stand-in on this machine: the page asks for the vendor itself. */
const standIn = async (page: Page, vendors: RealVendors): Promise<void> => {
  await page.route('**/admin/api/accounts{,/try}', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    const asked = route.request().postDataJSON() as { preset: string }
    const base_url = (asked.preset === 'anthropic' ? vendors.a : vendors.b).replace('127.0.0.1', 'localhost')
    return route.continue({ postData: JSON.stringify({ base_url, ...asked }) })
  })
}

describePage(
  'the first minute',
  ({ visit, gateway }) => {
    test('from an empty folder to a client that is answered', async () => {
      const vendors = await startRealVendors()
      try {
        await visit(gateway.setupLink, async (page) => {
          await standIn(page, vendors)
          await page.getByLabel('Your name').fill(ADMIN.name)
          await page.getByLabel('Password', { exact: true }).fill(ADMIN.password)
          await page.getByLabel('Password again').fill(ADMIN.password)
          await page.getByRole('button', { name: 'Create administrator' }).click()
          await heading(page, 'Get started').waitFor()
          expect(await faults(page)).toEqual([])
          await page.getByLabel('Vendor key').fill('sk-proj-of-another-place')
          expect(await page.getByLabel('Vendor', { exact: true }).inputValue()).toBe('openai')
          await page.getByRole('button', { name: 'Test and add' }).click()
          await page
            .getByRole('alert')
            .getByText(/localhost:\d+ refuses the credential/)
            .waitFor()
          await page.getByText('Nothing is kept yet.').waitFor()
          expect(await faults(page)).toEqual([])
          await page.getByLabel('Vendor key').fill(` ${VENDOR_KEYS.b}\n`)
          await page.getByLabel('Vendor key').press('Enter')
          await page.getByText('vendor_b / main').waitFor()
          await page.getByRole('button', { name: 'Make the key' }).click()
          await page.getByText('Copy the key now').waitFor()
          const secret = (await page.locator('.secret code').textContent()) ?? ''
          expect(await page.locator('.snippet pre').first().textContent()).toBe(
            `sluice connect claude-code --server ${gateway.url}`,
          )
          expect(await faults(page)).toEqual([])
          // Only vendor_b is there: auto leads to it.
          const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'auto', messages: [{ role: 'user', content: 'Hi' }] }),
          })
          expect(answer.status).toBe(200)
        })
      } finally {
        await vendors.stop()
      }
    })
  },
  { empty: true },
)

describePage('accounts and models at run time', ({ admin, asAdmin }) => {
  test('an account is added by its key, changed, tested and removed; those of the environment are told as such', async () => {
    const vendors = await startRealVendors()
    try {
      await admin('/dashboard/accounts', async (page) => {
        await standIn(page, vendors)
        await page.getByText('from the environment').first().waitFor()
        expect(await page.getByText('another needs a restart').first().isVisible()).toBe(true)
        await page.getByRole('button', { name: 'Add account' }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByLabel('Vendor key').fill(VENDOR_KEYS.a)
        expect(await dialog.getByLabel('Vendor', { exact: true }).inputValue()).toBe('anthropic')
        await dialog.getByLabel('Name').fill('spare')
        expect(await faults(page)).toEqual([])
        await dialog.getByRole('button', { name: 'Test and add' }).click()
        const row = page.getByRole('row').filter({ hasText: 'spare' })
        await row.getByText('set here').waitFor()
        await row.getByRole('button', { name: /^Change/ }).click()
        await page.getByRole('dialog').getByLabel('Weight').fill('0,5')
        await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
        await page.getByRole('dialog').waitFor({ state: 'detached' })
        const { items } = await asAdmin<{ items: { name: string; weight: number }[] }>('GET', '/accounts')
        expect(items.find(({ name }) => name === 'spare')?.weight).toBe(0.5)
        expect(await faults(page)).toEqual([])
        await row.getByRole('button', { name: /^Remove/ }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Remove account' }).click()
        await row.waitFor({ state: 'detached' })
      })
    } finally {
      await vendors.stop()
    }
  })

  test('a model gets another price, a name and a stand-in, and has them taken back', () =>
    admin('/dashboard/models', async (page) => {
      await page.getByRole('button', { name: 'Edit vendorB-5.4-mini' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Input', { exact: true }).fill('0,9')
      await dialog.getByLabel('Also called').fill('quick, little')
      await dialog.getByLabel('Falls back to').fill('vendorA-haiku-4-5')
      expect(await faults(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      const row = page.getByRole('row').filter({ hasText: 'vendorB-5.4-mini' }).first()
      await row.getByText('$0.90').waitFor()
      await row.getByText('also quick, little').waitFor()
      await row.getByText('falls back to vendorA-haiku-4-5').waitFor()
      await row.getByText('set here').waitFor()
      await page.getByRole('button', { name: 'Edit vendorB-5.4-mini' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Take back what is set' }).click()
      await row.getByRole('cell', { name: '$0.75', exact: true }).waitFor()
    }))

  test('a model is added, and a wrong one is told what is wrong with it', () =>
    admin('/dashboard/models', async (page) => {
      await page.getByRole('button', { name: 'Add model' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Id', { exact: true }).fill('canal-1')
      await dialog.getByLabel('Provider').selectOption('vendor_b')
      await dialog.getByLabel('Context').fill('8k')
      await dialog.getByLabel('Most output').fill('32k')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByText('a whole number up to the context').waitFor()
      await dialog.getByLabel('Most output').fill('4k')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('row').filter({ hasText: 'canal-1' }).waitFor()
    }))

  test('a key’s page shows how its client is connected, without the secret', async () => {
    const { key, secret } = await asAdmin<{ key: { id: string }; secret: string }>('POST', '/keys', { label: 'agent' })
    await admin(`/dashboard/keys/${key.id}`, async (page) => {
      await page.getByRole('heading', { name: 'Connect' }).waitFor()
      const shown = (await page.locator('.snippet pre').textContent()) ?? ''
      expect(shown).toContain('YOUR_KEY')
      expect(await page.content()).not.toContain(secret)
      await page.getByText(`sk-sl-…${secret.slice(-4)}`).waitFor()
      expect(await faults(page)).toEqual([])
    })
  })
})
