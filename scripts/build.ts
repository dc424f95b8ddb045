// Compiles the one file, the page within it: bun scripts/build.ts [TARGET] [--out FILE]. A target such as
// bun-linux-arm64 may be named; this platform is the default, dist/sluice where it goes. The same sources make the same
// bytes in any folder; scripts/reproducible.ts shows it.

import { mkdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bundlePage } from '../src/dashboard/bundle.ts'
import { PLACELESS, packed } from './packed.ts'
import { ROOT } from './run.ts'

const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true })
const [target] = positionals
const name = target === undefined ? 'sluice' : `sluice-${target.replace(/^bun-/, '')}`
const outfile = values.out === undefined ? join(ROOT, 'dist', name) : resolve(values.out)
mkdirSync(dirname(outfile), { recursive: true })
await Bun.write(join(ROOT, 'src/dashboard/dist/page.bundle'), JSON.stringify(await bundlePage()))
const { logs } = await Bun.build({
  entrypoints: [
    'src/main.ts',
    // Threads are entry points of their own.
    'src/members/guessable-thread.ts',
    'src/relay/tokenizer-thread.ts',
    'src/store/sqlite/checkpoint-thread.ts',
    'src/store/sqlite/insight-thread.ts',
  ].map((path) => join(ROOT, path)),
  root: join(ROOT, 'src'),
  target: 'bun',
  // A command loads its own modules only, and none is parsed again at every start.
  ...{ splitting: true, bytecode: true, format: 'esm' },
  // Names stay, for the traces of faults.
  minify: { syntax: true, whitespace: true },
  sourcemap: 'none',
  define: {
    // From source this is unset, and the page is bundled at the first request.
    'process.env.SLUICE_EMBEDDED_PAGE': '"yes"',
    ...PLACELESS,
  },
  // The folder a command is run in is not asked: what lies there would be run, and say where a token is sent.
  compile: {
    ...{ outfile, autoloadBunfig: false, autoloadDotenv: false },
    ...(target === undefined ? {} : { target: target as Bun.Build.CompileTarget }),
  },
  plugins: [await packed()],
})
for (const log of logs) console.error(log)
console.log(`${relative(process.cwd(), outfile)} is built`)
