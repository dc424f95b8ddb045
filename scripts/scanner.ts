// Compiles what reads large JSON from AssemblyScript: bun run scanner. The same source makes the same bytes anywhere.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './run.ts'

const FOLDER = join(ROOT, 'src/lib/json-scanner')
const MADE = join(FOLDER, 'scanner-wasm.ts')
const COMPILER = join(ROOT, 'node_modules/assemblyscript/bin/asc.js')
const FLAGS = [
  '-O3',
  '--runtime',
  'stub',
  '--enable',
  'simd',
  '--enable',
  'bulk-memory',
  '--noAssert',
  '--importMemory',
]

/** The text of scanner-wasm.ts; undefined where the compiler is not installed. Throws what the compiler has to say. */
export const compiledScanner = async (): Promise<string | undefined> => {
  if (!(await Bun.file(COMPILER).exists())) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'sluice-scanner-'))
  try {
    const out = join(folder, 'scanner.wasm')
    const asc = Bun.spawn([process.execPath, COMPILER, 'scanner.ts', '--outFile', out, ...FLAGS], {
      cwd: FOLDER,
      stderr: 'pipe',
    })
    if ((await asc.exited) !== 0) throw new Error(await asc.stderr.text())
    const binary = Buffer.from(await Bun.file(out).bytes()).toString('base64')
    return `// scanner.ts, compiled: \`bun run scanner\` writes this file.\n\nexport const SCANNER =\n  '${binary}'\n`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (import.meta.main) {
  const made = await compiledScanner()
  if (made === undefined) throw new Error('The compiler is not installed: run bun install.')
  await Bun.write(MADE, made)
}
