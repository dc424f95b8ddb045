// docs/providers.md says what the presets say.

import { expect, test } from 'bun:test'
import { providersPage } from '../../scripts/providers.ts'

test('docs/providers.md is made of the presets as they are: "bun run providers" makes it anew', async () => {
  const page = await Bun.file(new URL('../../docs/providers.md', import.meta.url)).text()
  expect(page).toBe(providersPage())
})
