// Compiles the one file to dist/sluice, the page within it. A target such as bun-linux-arm64 may be named; this platform
// is the default.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { bundlePage } from '../src/dashboard/bundle.ts'
import { bun, ROOT } from './run.ts'

const [target] = process.argv.slice(2)
mkdirSync(join(ROOT, 'dist'), { recursive: true })
await Bun.write(join(ROOT, 'src/dashboard/dist/page.bundle'), JSON.stringify(await bundlePage()))
const outfile = target === undefined ? 'dist/sluice' : `dist/sluice-${target.replace(/^bun-/, '')}`
const code = await bun([
  'build',
  '--compile',
  '--minify-syntax',
  '--minify-whitespace',
  '--sourcemap=none',
  // From source this is unset, and the page is bundled at the first request.
  '--define=process.env.SLUICE_EMBEDDED_PAGE="yes"',
  ...(target === undefined ? [] : [`--target=${target}`]),
  'src/main.ts',
  // Threads are entry points of their own.
  'src/relay/tokenizer-thread.ts',
  'src/store/sqlite/checkpoint-thread.ts',
  '--outfile',
  outfile,
])
process.exit(code)
