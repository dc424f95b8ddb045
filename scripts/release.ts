// Builds a release: bun run release [--only linux-x64,…] [--out DIR] [--releases URL] [--quick]. For each platform an archive (binary,
// licence, unit, completions, manual), and SHA256SUMS, a bill of materials, installers, the formula, the container's files
// and npm packages. The same commit makes the same bytes in any folder.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { complete } from '../src/cli/complete.ts'
import { processIo } from '../src/cli/process.ts'
import { type Entry, tar, xz, zip } from './release/archive.ts'
import { formula } from './release/formula.ts'
import { manual } from './release/man.ts'
import { writeMainPackage, writePlatformPackage } from './release/npm.ts'
import { billOfMaterials } from './release/sbom.ts'
import { binaryOf, isWindows, TARGETS, type Target } from './release/targets.ts'
import { bun, ROOT } from './run.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    out: { type: 'string' },
    releases: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const { version } = manifest
const effort = values.quick ? 'quick' : 'whole'
const out = values.out === undefined ? join(ROOT, 'dist', 'release') : resolve(values.out)
/** Where installers find the archives. Without one they must be told: SLUICE_RELEASES. */
const releases = values.releases ?? 'https://releases.invalid'
const wanted = values.only?.split(',')
const unknown = wanted?.filter((name) => !TARGETS.some((target) => target.name === name)) ?? []
if (unknown.length > 0) {
  console.error(`--only takes ${TARGETS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
const targets = wanted === undefined ? TARGETS : TARGETS.filter(({ name }) => wanted.includes(name))

const utf8 = new TextEncoder()
const file = (name: string): Promise<Uint8Array> => Bun.file(join(ROOT, name)).bytes()
const text = (path: string, content: string): Entry => ({ path, bytes: utf8.encode(content), mode: 0o644 })
const digest = (bytes: Uint8Array): string => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
/** A file of packaging/ with what only a release knows. */
const stamped = async (name: string): Promise<string> =>
  (await Bun.file(join(ROOT, 'packaging', name)).text())
    .replaceAll('__VERSION__', version)
    .replaceAll('__RELEASES__', releases)
    .replaceAll('__BUN__', Bun.version)

const completionsFor = async (shell: string): Promise<string> => {
  const lines: string[] = []
  await complete(() => []).run([shell], { ...processIo(), out: (line) => lines.push(line) })
  return `${lines.join('\n')}\n`
}

/** What lies beside the binary in every archive. */
const companions: Entry[] = [
  { path: 'LICENSE', bytes: await file('LICENSE'), mode: 0o644 },
  { path: 'sluice.service', bytes: await file('packaging/sluice.service'), mode: 0o644 },
  text('sluice.1', manual(version)),
  text('completions/sluice.bash', await completionsFor('bash')),
  text('completions/_sluice', await completionsFor('zsh')),
  text('completions/sluice.fish', await completionsFor('fish')),
  text('completions/sluice.ps1', await completionsFor('powershell')),
]

const sums = new Map<string, string>()
const put = (name: string, content: Uint8Array | string): void => {
  const bytes = typeof content === 'string' ? utf8.encode(content) : content
  writeFileSync(join(out, name), bytes)
  sums.set(name, digest(bytes))
}

const build = async (target: Target): Promise<Uint8Array> => {
  const built = join(out, 'built', binaryOf(target))
  const code = await bun(['scripts/build.ts', target.compiler, '--out', built])
  if (code !== 0) throw new Error(`${target.name} cannot be built`)
  return Bun.file(built).bytes()
}

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const packed = new Map<string, string>()
for (const target of targets) {
  const binary = await build(target)
  const folder = `sluice-${version}-${target.name}`
  const entries = [{ path: binaryOf(target), bytes: binary, mode: 0o755 }, ...companions].map((entry) => ({
    ...entry,
    path: `${folder}/${entry.path}`,
  }))
  const name = `${folder}${isWindows(target) ? '.zip' : '.tar.xz'}`
  put(name, isWindows(target) ? zip(entries, effort) : await xz(await tar(entries), effort))
  packed.set(target.name, sums.get(name) ?? '')
  writePlatformPackage(join(out, 'npm', target.name), target, binary)
  console.log(`${name}  binary ${binary.length} bytes, archive ${Bun.file(join(out, name)).size}`)
}
rmSync(join(out, 'built'), { recursive: true, force: true })
await writeMainPackage(join(out, 'npm', 'main'), targets)
put(`sluice-${version}.cdx.json`, billOfMaterials())
for (const name of ['install.sh', 'install.ps1', 'compose.yaml']) put(name, await stamped(name))
put('Dockerfile', await file('packaging/Dockerfile'))
if (['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'].every((name) => packed.has(name))) {
  put('sluice.rb', formula(releases, packed))
}
const lines = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, sum]) => `${sum}  ${name}\n`)
writeFileSync(join(out, 'SHA256SUMS'), lines.join(''))
console.log(`${out}: SHA256SUMS of ${sums.size} files`)
