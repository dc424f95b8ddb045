// Members, the audit and the gateway's settings.

import { expect, test } from 'bun:test'
import type { KeyWithSecret, Member, Settings } from '../../../src/admin-api/schema.ts'
import { ADMIN, describePage, heading, hold } from './browsing.ts'

describePage('people and settings', ({ gateway, visit, admin, asAdmin, accept, newKey, create, makeKey, issue }) => {
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
    const label = 'שלום, ci'
    const limits = { rpm: 11, tpm: 12, concurrency: 13, renews: 'week' }
    const { key } = await asAdmin<KeyWithSecret>('POST', '/keys', { label, ...limits })
    await admin(`/dashboard/audit?target=${key.id}`, async (page) => {
      const names = page.locator('tbody tr td:last-child .change .muted')
      await names.first().waitFor()
      const told = (await names.allTextContents()).filter((name) => name !== 'renews at' && name !== 'owner').toSorted()
      const all = [
        'label',
        'last four',
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
})
