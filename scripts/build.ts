// Compiles the one file, the page within it: bun scripts/build.ts [TARGET] [--out FILE]. A target such as
// bun-linux-arm64 may be named; this platform is the default, dist/sluice where it goes. The same sources make the same
// bytes in any folder; scripts/reproducible.ts shows it.

import { mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bundlePage } from '../src/dashboard/bundle.ts'
import { bun, ROOT } from './run.ts'

const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true })
const [target] = positionals
const name = target === undefined ? 'sluice' : `sluice-${target.replace(/^bun-/, '')}`
const outfile = values.out === undefined ? join(ROOT, 'dist', name) : resolve(values.out)
mkdirSync(dirname(outfile), { recursive: true })
await Bun.write(join(ROOT, 'src/dashboard/dist/page.bundle'), JSON.stringify(await bundlePage()))
const code = await bun([
  'build',
  '--compile',
  // A command loads its own modules only, and none is parsed again at every start.
  ...['--splitting', '--bytecode', '--format=esm'],
  // The folder a command is run in is not asked: what lies there would be run, and say where a token is sent.
  ...['--no-compile-autoload-bunfig', '--no-compile-autoload-dotenv'],
  '--minify-syntax',
  '--minify-whitespace',
  '--sourcemap=none',
  // From source this is unset, and the page is bundled at the first request.
  '--define=process.env.SLUICE_EMBEDDED_PAGE="yes"',
  // The bundler would write the folder of this checkout in their place. Libraries use them to find files for threads of
  // theirs, which no compiled file has; ours use import.meta.
  ...['--define=__dirname="/"', '--define=__filename="/sluice"'],
  ...(target === undefined ? [] : [`--target=${target}`]),
  'src/main.ts',
  // Threads are entry points of their own.
  'src/members/guessable-thread.ts',
  'src/relay/tokenizer-thread.ts',
  'src/store/sqlite/checkpoint-thread.ts',
  'src/store/sqlite/insight-thread.ts',
  '--outfile',
  outfile,
])
process.exit(code)
