// Tries the release in dist/release, or one for this platform that is built first: bun run test:release. What it has for musl
// too, where the libraries for that can be had: SLUICE_MUSL_LIBRARIES names a folder that has them, or is to.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { amongMusl, fetchMuslLibraries, hasViews, LOADER } from './release/musl.ts'
import { bun, ROOT } from './run.ts'

const release = process.env.SLUICE_RELEASE ?? join(ROOT, 'dist', 'release')
const here = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
if (!existsSync(join(release, 'SHA256SUMS'))) {
  const only = here === 'linux-x64' ? `${here},linux-x64-musl` : here
  const code = await bun(['scripts/release.ts', '--quick', '--only', only, '--out', release])
  if (code !== 0) process.exit(code)
}
const musl = join(release, 'npm', 'linux-x64-musl', 'sluice')
const named = process.env.SLUICE_MUSL_LIBRARIES
const folder = named === undefined ? mkdtempSync(join(tmpdir(), 'sluice-musl-')) : resolve(named)

/** Undefined where they are not to be had, which is said. */
const muslLibraries = (): string | undefined => {
  if (here !== 'linux-x64' || !existsSync(musl)) return undefined
  try {
    mkdirSync(folder, { recursive: true })
    if (!existsSync(join(folder, LOADER))) fetchMuslLibraries(folder)
    return folder
  } catch (error) {
    console.warn(`The binary for musl is not run: ${error instanceof Error ? error.message : error}.`)
    return undefined
  }
}

const tried = async (): Promise<number> => {
  const libraries = muslLibraries()
  const env = { SLUICE_RELEASE: release, ...(libraries === undefined ? {} : { SLUICE_MUSL_LIBRARIES: libraries }) }
  const code = await bun(['run', 'test', 'test/release'], env)
  if (code !== 0 || libraries === undefined) return code
  if (!hasViews(libraries)) {
    console.warn('The tests of the binary are not run for musl: root and overlay mounts are needed.')
    return 0
  }
  const tests = amongMusl(libraries, [process.execPath, 'test', '--timeout', '120000', 'test/binary'])
  return Bun.spawn(tests, {
    cwd: ROOT,
    env: { ...process.env, SLUICE_BINARY: musl },
    stdio: ['inherit', 'inherit', 'inherit'],
  }).exited
}

const code = await tried()
if (named === undefined) rmSync(folder, { recursive: true, force: true })
process.exit(code)
