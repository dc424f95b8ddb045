// Builds the sources once more, installed anew in another folder, and compares: the same sources make the same bytes
// anywhere. bun scripts/reproducible.ts [FILE]; FILE is the build to compare with, made first where none is named.

import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { bun, ROOT } from './run.ts'

/** What no clone brings along. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'data'])

const must = async (code: Promise<number>): Promise<void> => {
  const failed = await code
  if (failed !== 0) process.exit(failed)
}

const digest = async (file: string): Promise<string> =>
  new Bun.CryptoHasher('sha256').update(await Bun.file(file).arrayBuffer()).digest('hex')

const scratch = mkdtempSync(join(tmpdir(), 'sluice-built-again-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const here = process.argv[2] ?? join(scratch, 'sluice')
if (process.argv[2] === undefined) await must(bun(['scripts/build.ts', '--out', here]))

// Deeper than any checkout is likely to lie: a path of another length moves what stands behind it.
const clone = join(scratch, 'another', 'folder', 'of-a-longer-name')
cpSync(ROOT, clone, { recursive: true, filter: (path) => path === ROOT || !LEFT_OUT.has(basename(path)) })
await must(bun(['install', '--frozen-lockfile', '--production', '--ignore-scripts'], {}, clone))
await must(bun(['scripts/build.ts'], {}, clone))

const [built, again] = await Promise.all([digest(here), digest(join(clone, 'dist/sluice'))])
console.log(`${built}  as built\n${again}  built again in another folder`)
if (built !== again) {
  console.error('The two differ: something of the folder, the time or the order of files is in the build.')
  process.exit(1)
}
