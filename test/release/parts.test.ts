// What a release is made of: archives that depend on their content alone, a manual and a bill of materials that are whole.

import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import manifest from '../../package.json' with { type: 'json' }
import { tooOld } from '../../scripts/enough.ts'
import { libraryOf } from '../../scripts/packed.ts'
import { type Entry, tar, zip } from '../../scripts/release/archive.ts'
import { formula } from '../../scripts/release/formula.ts'
import { manual } from '../../scripts/release/man.ts'
import { PACKAGE, writeMainPackage, writePlatformPackage } from '../../scripts/release/npm.ts'
import { billOfMaterials } from '../../scripts/release/sbom.ts'
import { TARGETS } from '../../scripts/release/targets.ts'
import { commandsIn } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/run.ts'

const WANTED = manifest.packageManager.replace('bun@', '')

test.each([['1.2.20'], ['1.4.4'], ['0.9.9']])('an older Bun, %s, is told what to run instead', (version) => {
  expect(tooOld(version, 'run demo')).toBe(
    `Bun ${version} is older than the ${WANTED} that this needs: npx -y bun@${WANTED} run demo, or "bun upgrade".`,
  )
})

test.each([['1.4.5'], ['1.10.0'], ['2.0.0']])('a Bun like %s is new enough', (version) => {
  expect(tooOld(version)).toBeUndefined()
})

const ROOT = join(import.meta.dir, '..', '..')
const entries: Entry[] = [
  { path: 'a/tool', bytes: new TextEncoder().encode('#!/bin/sh\necho run\n'), mode: 0o755 },
  { path: 'a/text', bytes: new Uint8Array(70_000).fill(97), mode: 0o644 },
]

test.skipIf(Bun.which('tar') === null)(
  'a tar holds what was given, with modes, and is the same each time',
  async () => {
    const packed = await tar(entries)
    expect(Buffer.from(packed).equals(Buffer.from(await tar(entries)))).toBe(true)
    const folder = mkdtempSync(join(tmpdir(), 'sluice-release-'))
    await Bun.write(join(folder, 'a.tar'), packed)
    const child = Bun.spawn(['tar', '-xf', join(folder, 'a.tar'), '-C', folder])
    expect(await child.exited).toBe(0)
    const run = Bun.spawn([join(folder, 'a/tool')], { stdout: 'pipe' })
    expect(await new Response(run.stdout).text()).toBe('run\n')
    expect(await Bun.file(join(folder, 'a/text')).bytes()).toEqual(new Uint8Array(70_000).fill(97))
    rmSync(folder, { recursive: true })
  },
)

test('a zip is the same each time, in every time zone', () => {
  const zone = process.env.TZ
  const made = ['UTC', 'Asia/Phnom_Penh', 'America/Los_Angeles'].map((each) => {
    process.env.TZ = each
    return Bun.hash(zip(entries, 'quick'))
  })
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
  expect(new Set(made).size).toBe(1)
})

test('a zip holds what was given, with modes', () => {
  const made = zip(entries, 'whole')
  for (const { path, bytes } of entries) expect(Buffer.from(unzipSync(made)[path] ?? [])).toEqual(Buffer.from(bytes))
  // What follows the mark of the first entry of the directory at its end: permissions are in the upper half of four bytes.
  const directory = Buffer.from(made).indexOf('PK\x01\x02')
  expect(Buffer.from(made).readUInt32LE(directory + 38) >>> 16).toBe(0o755)
})

test('beside a library that lies in the binary as a file there is none that could be taken for it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-packed-'))
  expect(await libraryOf('jsonc-parser', folder)).toContain(`${folder}/jsonc-parser.js`)
  expect(readdirSync(folder)).toEqual(['jsonc-parser.js'])
  rmSync(folder, { recursive: true })
})

test('the manual has every command and every flag', () => {
  const page = manual('1.2.3')
  for (const { path, command } of commandsIn(COMMANDS)) {
    const [, section] = page.split(`\n.SS sluice ${path.replaceAll('-', '\\-')}\n`)
    expect([path, section]).toEqual([path, expect.any(String)])
    for (const [flag, { type }] of Object.entries(command.args)) {
      const word = type === 'positional' ? flag.toUpperCase() : `\\-\\-${flag.replaceAll('-', '\\-')}`
      expect(section?.split('\n.SS ')[0]).toContain(`.B ${word}`)
    }
  }
  expect(page.split('\n').filter((line) => /^['.](?!TH|SH|SS|TP|B |I |PP|nf|fi)/.test(line))).toEqual([])
})

test('the bill of materials names what is shipped, and nothing of when or where it was made', () => {
  const text = billOfMaterials()
  const bom = JSON.parse(text)
  expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' })
  const names = bom.components.map(({ group, name }: { group?: string; name: string }) =>
    group === undefined ? name : `${group}/${name}`,
  )
  expect(names).toEqual(expect.arrayContaining(['bun', ...Object.keys(manifest.dependencies)]))
  for (const name of Object.keys(manifest.devDependencies)) expect(names).not.toContain(name)
  for (const part of bom.components) expect([part.name, part.licenses?.length]).toEqual([part.name, 1])
  expect(text).not.toContain(ROOT)
  expect(text).not.toMatch(/timestamp|serialNumber/)
  expect(billOfMaterials()).toBe(text)
})

test('npm is told each platform, and the package that brings them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-release-'))
  await writeMainPackage(join(folder, 'main'))
  const main = await Bun.file(join(folder, 'main', 'package.json')).json()
  for (const target of TARGETS) {
    if (target.npm === undefined) continue
    writePlatformPackage(join(folder, target.name), target, new Uint8Array(1))
    const made = await Bun.file(join(folder, target.name, 'package.json')).json()
    expect(made).toMatchObject({ name: `${PACKAGE}-${target.name}`, os: [target.npm.os], cpu: [target.npm.cpu] })
    expect(main.optionalDependencies[made.name]).toBe(manifest.version)
  }
  rmSync(folder, { recursive: true })
})

test('the formula has an address and a sum for each system', () => {
  const sums = new Map(TARGETS.map(({ name }) => [name, name.padEnd(64, '0')]))
  const text = formula('https://releases.example/v1', sums)
  for (const name of ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']) {
    expect(text).toContain(`url "https://releases.example/v1/sluice-${manifest.version}-${name}.tar.xz"`)
    expect(text).toContain(`sha256 "${name.padEnd(64, '0')}"`)
  }
})

test('the unit that is packed is the one that the manual of operations shows', async () => {
  const shown = await Bun.file(join(ROOT, 'docs', 'operations.md')).text()
  expect(shown).toContain(await Bun.file(join(ROOT, 'packaging', 'sluice.service')).text())
})
