// Budgets of the gateway, of teams and of members, and whom alerts tell, end to end: set, changed and taken away by hand.

import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { Member, OwnedBudget } from '../../../src/admin-api/schema.ts'
import { describePage, faults } from './browsing.ts'

type Looks = { name: string; options: { colorScheme?: 'dark'; viewport?: { width: number; height: number } } }

const LOOKS: Looks[] = [
  { name: 'as it is', options: {} },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'on a phone', options: { viewport: { width: 360, height: 740 } } },
]

/** Kept where somebody wants to look at them: SLUICE_SHOTS names a folder. */
const shot = async (page: Page, name: string): Promise<void> => {
  const folder = process.env.SLUICE_SHOTS
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

const within = (page: Page, title: string) => page.locator('section.card').filter({ hasText: title })
const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')

describePage('budgets', ({ gateway, admin, asAdmin, issue, say }) => {
  const ofGateway = async (): Promise<OwnedBudget | undefined> =>
    (await asAdmin<{ items: OwnedBudget[] }>('GET', '/budgets')).items.find(({ kind }) => kind === 'gateway')

  test('the gateway’s is set, changed and removed', () =>
    admin('/dashboard/settings', async (page) => {
      const card = within(page, 'Budget of the whole gateway')
      const save = async (amount: string) => {
        await card.getByLabel('Budget', { exact: true }).fill(amount)
        await card.getByRole('button', { name: 'Set the budget' }).click()
        await card.getByText('Set and in force').waitFor()
      }
      await save('250')
      await card.getByText('$250.00 left of $250.00 a month').waitFor()
      expect(await ofGateway()).toMatchObject({ managed: 'store', budget: { usd: 250, renews: 'month' } })
      await card.getByLabel('In', { exact: true }).selectOption('tokens')
      await card.getByLabel('Begins again').selectOption('day')
      await card.getByLabel('Tell at').fill('50, 90')
      await save('5M')
      expect((await ofGateway())?.budget).toMatchObject({ tokens: 5_000_000, renews: 'day', warn_at: [50, 90] })
      await save('')
      expect(await ofGateway()).toBeUndefined()
      await card.getByText(/left of/).waitFor({ state: 'detached' })
    }))

  test('one that a last request has gone past is shown with what it was', () =>
    admin('/dashboard', async (page) => {
      const { secret } = await issue()
      await asAdmin('PUT', '/budgets/gateway', { budget: { tokens: 200_000, renews: 'month' } })
      await say(secret, 'Say hello [[usage:123456,7]]')
      await asAdmin('PUT', '/budgets/gateway', { budget: { tokens: 50_000, renews: 'month' } })
      await page.reload()
      const card = within(page, 'Spending')
      await card.getByText('123.5K of 50K tokens a month').waitFor()
      const [, share] =
        /([\d.]+)% of the budget used/.exec((await card.getByRole('img').getAttribute('aria-label')) ?? '') ?? []
      expect(Number(share)).toBeGreaterThan(200)
      await asAdmin('PUT', '/budgets/gateway', { budget: null })
    }))

  test('what is no budget is said in words, beside the form', () =>
    admin('/dashboard/settings', async (page) => {
      const card = within(page, 'Budget of the whole gateway')
      await card.getByLabel('Budget', { exact: true }).fill('plenty')
      await card.getByRole('button', { name: 'Set the budget' }).click()
      await card.getByRole('alert').getByText('write an amount of USD').waitFor()
      expect(await ofGateway()).toBeUndefined()
    }))

  test('a team’s and a member’s are set where they are made and edited', () =>
    admin('/dashboard/members', async (page) => {
      await page.getByRole('button', { name: 'New team' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name', { exact: true }).fill('Blue')
      await dialog.getByLabel('Budget', { exact: true }).fill('200')
      await dialog.getByRole('button', { name: 'Make the team' }).click()
      await page.getByRole('button', { name: 'Edit the team Blue' }).waitFor()
      await page.getByText('$200.00 a month').waitFor()
      await page.getByRole('button', { name: 'Invite' }).click()
      await dialog.getByLabel('Name', { exact: true }).fill('Rith')
      await dialog.getByLabel('Team').selectOption({ label: 'Blue' })
      await dialog.getByLabel('Budget', { exact: true }).fill('20')
      await dialog.getByLabel('Begins again').selectOption('week')
      await dialog.getByRole('button', { name: 'Make the link' }).click()
      await dialog.getByRole('button', { name: 'Done' }).click()
      await page.getByText('$20.00 a week').waitFor()
      const { items } = await asAdmin<{ items: Member[] }>('GET', '/members')
      expect(items.find(({ name }) => name === 'Rith')).toMatchObject({ team: { name: 'Blue' }, budget: { usd: 20 } })
      await page.getByRole('button', { name: 'Edit the team Blue' }).click()
      await dialog.getByLabel('Budget', { exact: true }).fill('')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByText('$200.00 a month').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Remove the team Blue' }).click()
      await dialog.getByRole('button', { name: 'Remove' }).click()
      await page.getByText('No teams').waitFor()
    }))

  test.each(LOOKS)('can be used with assistive tools and fit, $name', ({ name, options }) =>
    admin(
      '/dashboard/settings',
      async (page) => {
        await asAdmin('PUT', '/budgets/gateway', { budget: { usd: 250, renews: 'month' } })
        await page.reload()
        await within(page, 'Budget of the whole gateway').getByText('left of').waitFor()
        expect(await faults(page)).toEqual([])
        expect(await isTooWide(page)).toBe(false)
        await shot(page, `settings ${name}`)
        await page.goto(`${gateway.url}/dashboard/members`)
        await page.getByRole('button', { name: 'New team' }).click()
        await page.getByRole('dialog').getByLabel('Budget', { exact: true }).fill('200')
        expect(await faults(page)).toEqual([])
        await shot(page, `team ${name}`)
      },
      options,
    ),
  )
})

const told: unknown[] = []
const hook = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => {
    told.push(await request.json())
    return new Response()
  },
})
afterAll(() => hook.stop(true))

const FILE = `budget: { usd: 40, renews: day }
alerts:
  webhooks:
    team: { url: "http://127.0.0.1:${hook.port}/t", format: slack }
    gone: { url: "http://127.0.0.1:9/t", format: discord, only: [budget] }
`

describePage(
  'what the file says of money and alerts',
  ({ admin }) => {
    test('the gateway’s budget is shown as the file’s, without a form', () =>
      admin('/dashboard/settings', async (page) => {
        const card = within(page, 'Budget of the whole gateway')
        await card.getByText('from sluice.yaml').waitFor()
        await card.getByText('$40.00 left of $40.00 a day').waitFor()
        expect(await card.getByRole('button').count()).toBe(0)
      }))

    test('receivers of alerts are listed and tested', () =>
      admin('/dashboard/settings', async (page) => {
        const card = within(page, 'Receiver')
        await card.getByRole('button', { name: 'Test team' }).click()
        await card.getByText('it took the test').waitFor()
        // It is told of the new admin, too.
        expect(told.filter((each) => /test/i.test(JSON.stringify(each)))).toHaveLength(1)
        await card.getByRole('button', { name: 'Test gone' }).click()
        await card.getByText('wrong').waitFor()
      }))

    test.each(LOOKS)('can be used with assistive tools and fit, $name', ({ name, options }) =>
      admin(
        '/dashboard/settings',
        async (page) => {
          await page.getByText('from sluice.yaml').first().waitFor()
          await page.getByRole('button', { name: 'Test team' }).waitFor()
          expect(await faults(page)).toEqual([])
          expect(await isTooWide(page)).toBe(false)
          await shot(page, `alerts ${name}`)
        },
        options,
      ),
    )
  },
  { file: () => FILE },
)
