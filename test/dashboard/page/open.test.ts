// What is open to everyone: the key-holder's page and the documentation.

import { expect, test } from 'bun:test'
import type { Route } from 'playwright-core'
import { describePage, heading, hold } from './browsing.ts'

describePage('pages without signing in', ({ gateway, visit, issue, say }) => {
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
})
