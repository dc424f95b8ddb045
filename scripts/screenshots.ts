// Writes every page of the dashboard to docs/screenshots: light, dark, and as a phone shows it.
// bun scripts/screenshots.ts [--out DIR] [page …]

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchBrowser } from '../test/dashboard/browser.ts'
import { ROOT } from './run.ts'
import { startShowcase } from './showcase.ts'

const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true })
const OUT = values.out ?? join(ROOT, 'docs/screenshots')
mkdirSync(OUT, { recursive: true })
const ADMIN = { name: 'Sophea', password: 'lock-gates-open-at-dawn' }

const LOOKS = {
  light: { viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light', deviceScaleFactor: 2 },
} as const

/** Long lists are cut here. */
const TALLEST = 1600

type Shot = { name: string; path: string; act?: (page: Page) => Promise<unknown> }

const wanted = new Set(positionals)
const showcase = await startShowcase()
const browser = await launchBrowser()

const fieldsOf = (page: Page, fields: Record<string, string>): Promise<unknown> =>
  Object.entries(fields).reduce<Promise<unknown>>(
    (before, [label, value]) => before.then(() => page.getByLabel(label, { exact: true }).fill(value)),
    Promise.resolve(),
  )

const setUp = async (context: BrowserContext): Promise<void> => {
  const page = await context.newPage()
  await page.goto(`${showcase.url}/dashboard/setup#${showcase.setupToken}`)
  await fieldsOf(page, { 'Your name': ADMIN.name, Password: ADMIN.password, 'Password again': ADMIN.password })
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.goto(`${showcase.url}/dashboard/members`)
  for (const name of ['Dara', 'Sokha']) {
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('button', { name: 'Make the link' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
  }
  await page.goto(`${showcase.url}/dashboard/settings`)
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByLabel('Label').fill('terraform')
  await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click()
  await page.getByRole('button', { name: 'Close' }).click()
  await page.close()
}

const play = async (page: Page): Promise<void> => {
  await page.getByLabel('Key', { exact: true }).fill(showcase.secret)
  await page.getByLabel('Wire').selectOption('messages')
  await page.getByLabel('Offer a tool').check()
  await page.getByLabel('Prompt', { exact: true }).fill('Use the tool get_weather for Phnom Penh.')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('Done', { exact: true }).waitFor()
}

const openRow = (name: RegExp) => async (page: Page) => {
  await page.getByRole('row', { name }).first().getByRole('link').first().click()
  await page.getByRole('link', { name: /^‹/ }).waitFor()
}

const SHOTS: Shot[] = [
  { name: 'overview', path: '/dashboard?range=30d' },
  { name: 'keys', path: '/dashboard/keys' },
  {
    name: 'key-new',
    path: '/dashboard/keys',
    act: (page) => page.getByRole('button', { name: 'Create key' }).click(),
  },
  {
    name: 'key-secret',
    path: '/dashboard/keys',
    act: async (page) => {
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByLabel('Label').fill('crm-assistant')
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      await page.getByText('Copy the secret now').waitFor()
    },
  },
  { name: 'key', path: '/dashboard/keys', act: openRow(/claude-code/) },
  { name: 'exchanges', path: '/dashboard/exchanges' },
  { name: 'exchange', path: '/dashboard/exchanges?model=vendorA-opus-4-8', act: openRow(/vendorA/) },
  { name: 'exchange-failed', path: '/dashboard/exchanges?outcome=failed', act: openRow(/vendor/) },
  { name: 'playground', path: '/dashboard/playground', act: play },
  {
    name: 'playground-frames',
    path: '/dashboard/playground',
    act: async (page) => {
      await play(page)
      await page.getByRole('button', { name: 'Raw frames' }).click()
    },
  },
  { name: 'models', path: '/dashboard/models' },
  { name: 'accounts', path: '/dashboard/accounts' },
  { name: 'members', path: '/dashboard/members' },
  { name: 'audit', path: '/dashboard/audit' },
  { name: 'settings', path: '/dashboard/settings' },
  { name: 'docs', path: '/docs', act: (page) => page.getByText('Chat completions', { exact: true }).click() },
  { name: 'guide', path: '/docs/guides/claude-code' },
  {
    name: 'usage',
    path: '/usage',
    act: async (page) => {
      await page.getByLabel('Key', { exact: true }).fill(showcase.secret)
      await page.getByRole('button', { name: 'Show usage' }).click()
      await page.getByRole('heading', { name: 'By model' }).waitFor()
    },
  },
]

const shoot = async (context: BrowserContext, look: string, { name, path, act }: Shot): Promise<void> => {
  const page = await context.newPage()
  page.on('console', (message) => message.type() === 'error' && console.error(`${name}: ${message.text()}`))
  page.on('pageerror', (error) => console.error(`${name}: ${error.message}`))
  await page.goto(showcase.url + path)
  await page.locator('h1').first().waitFor()
  await page.waitForTimeout(350)
  if (act !== undefined) await act(page)
  // Charts and the entrance of fresh rows come to rest.
  await page.waitForTimeout(650)
  await page.evaluate('scrollTo(0, 0)')
  const { width, height: least } = page.viewportSize() ?? LOOKS.light.viewport
  const whole = Number(await page.evaluate('document.documentElement.scrollHeight'))
  const height = Math.max(least, Math.min(whole, TALLEST))
  await page.screenshot({
    path: join(OUT, `${name}-${look}.png`),
    fullPage: true,
    clip: { x: 0, y: 0, width, height },
  })
  await page.close()
}

const entry = async (from: Browser): Promise<void> => {
  for (const [look, options] of Object.entries(LOOKS)) {
    const context = await from.newContext(options)
    await shoot(context, look, { name: 'setup', path: `/dashboard/setup#${showcase.setupToken}` })
    await context.close()
  }
}

try {
  if (wanted.size === 0 || wanted.has('setup')) await entry(browser)
  const first = await browser.newContext(LOOKS.light)
  await setUp(first)
  await showcase.traffic(12)
  const state = await first.storageState()
  await first.close()
  for (const [look, options] of Object.entries(LOOKS)) {
    const context = await browser.newContext({ ...options, storageState: state })
    for (const shot of SHOTS) if (wanted.size === 0 || wanted.has(shot.name)) await shoot(context, look, shot)
    await context.close()
    const stranger = await browser.newContext(options)
    if (wanted.size === 0 || wanted.has('sign-in')) {
      await shoot(stranger, look, { name: 'sign-in', path: '/dashboard' })
    }
    await stranger.close()
  }
} finally {
  await browser.close()
  await showcase.stop()
}
