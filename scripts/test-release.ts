// Tries the release in dist/release, or one for this platform that is built first: bun run test:release.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bun, ROOT } from './run.ts'

const release = process.env.SLUICE_RELEASE ?? join(ROOT, 'dist', 'release')
if (!existsSync(join(release, 'SHA256SUMS'))) {
  const here = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const only = here === 'linux-x64' ? `${here},linux-x64-musl` : here
  const code = await bun(['scripts/release.ts', '--quick', '--only', only, '--out', release])
  if (code !== 0) process.exit(code)
}
process.exit(await bun(['run', 'test', 'test/release'], { SLUICE_RELEASE: release }))
