// A headless Chromium for tests of the page and for its screenshots; absent, tests are skipped with a word on how to
// get it.

import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PLACES = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Where Chromium is on this machine. */
export const chromiumPath = PLACES.find((place) => place !== undefined && place !== '' && existsSync(place))

export const MISSING = 'no Chromium here: the page is not tested end to end (apt-get install chromium)'

const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const launchBrowser = (): Promise<Browser> => {
  if (chromiumPath === undefined) throw new Error(MISSING)
  return chromium.launch({ executablePath: chromiumPath, args: QUIET })
}
