// That it fits every screen, moves and speaks as who looks wants it, and can be used with assistive tools.

import { expect, test } from 'bun:test'
import type { Usage } from '../../../src/admin-api/schema.ts'
import { describePage, faults, heading } from './browsing.ts'

/** The last cells shown of tables' rows that have less room at their right than others. */
const AT_THE_EDGE = `[...document.querySelectorAll('table:not(.members) tr')].flatMap((row) => {
  const last = [...row.children].filter((cell) => cell.offsetWidth > 0).at(-1)
  return last !== undefined && parseFloat(getComputedStyle(last).paddingRight) < 16 ? [last.textContent] : []
})`

describePage('screens, motion and assistive tools', ({ gateway, visit, admin, makeKey, issue, say }) => {
  test('nothing moves for those who asked for that', () =>
    admin(
      '/dashboard',
      async (page) => {
        await page.getByText(/^Live/).first().waitFor()
        expect(await page.evaluate('document.getAnimations().length')).toBe(0)
      },
      { reducedMotion: 'reduce' },
    ))

  test('what is chosen is told apart where all colours are the reader’s own', () =>
    admin(
      '/dashboard',
      async (page) => {
        await page.getByLabel('Totals').waitFor()
        const ground = (of: string) =>
          page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(of)})).backgroundColor`)
        for (const [chosen, other] of [
          ['nav a[aria-current="page"]', 'nav a:not([aria-current])'],
          ['.segments [aria-pressed="true"]', '.segments [aria-pressed="false"]'],
        ] as const)
          expect(await ground(chosen)).not.toBe(await ground(other))
      },
      { forcedColors: 'active' },
    ))

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

  test('no choice that is made in the playground is cut', () =>
    admin('/dashboard/playground', async (page) => {
      await page.getByLabel('Reasoning effort').waitFor()
      // As wide as a select that holds nothing but what is chosen.
      const cut = `[...document.querySelectorAll('select')].filter((each) => {
        const alone = each.cloneNode(false)
        alone.append(each.selectedOptions[0].cloneNode(true))
        alone.style.width = 'max-content'
        each.after(alone)
        const needed = alone.offsetWidth
        alone.remove()
        return needed > each.offsetWidth
      }).map((each) => each.selectedOptions[0].text)`
      for (const width of [320, 360, 390, 820, 1280]) {
        await page.setViewportSize({ width, height: 740 })
        expect([width, await page.evaluate(cut)]).toEqual([width, []])
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
        const atTheEdge = (await page.evaluate(AT_THE_EDGE)) as string[]
        expect({ path, atTheEdge }).toEqual({ path, atTheEdge: [] })
        expect(await faults(page)).toEqual([])
        await page.emulateMedia({ colorScheme: 'dark' })
        expect(await faults(page)).toEqual([])
        await page.setViewportSize({ width: 1280, height: 860 })
        expect(await faults(page)).toEqual([])
      },
      { viewport: { width: 360, height: 740 }, colorScheme: 'light', reducedMotion: 'reduce' },
    )
  })

  test('what a long form ends with is in sight from its beginning, and covers no field that has the focus', () =>
    admin('/dashboard/keys', async (page) => {
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 640 })
        await page.getByRole('button', { name: 'Create key', exact: true }).first().click()
        const dialog = page.getByRole('dialog')
        const action = dialog.getByRole('button', { name: 'Create key' })
        const { y: top, height } = await action.boundingBox().then((box) => box ?? { y: 0, height: 0 })
        expect(top + height).toBeLessThan(640)
        for (const field of await dialog.locator('input, select').all()) {
          await field.focus()
          const box = await field.boundingBox().then((found) => found ?? { y: 0, height: 0 })
          expect(box.y + box.height).toBeLessThan(top)
        }
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
      }
    }))

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
})
