// The npm packages: one for each platform with its binary, and one that brings the right one.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { ROOT } from '../run.ts'
import { binaryOf, TARGETS, type Target } from './targets.ts'

export const PACKAGE = 'sluice-gateway'

const { version, license, description } = manifest

/** Writes the package of a target into a folder, which `npm publish` takes as it is. */
export const writePlatformPackage = (folder: string, target: Target, binary: Uint8Array): void => {
  if (target.npm === undefined) return
  const { os, cpu, libc } = target.npm
  write(folder, {
    name: `${PACKAGE}-${target.name}`,
    description: `The binary of ${PACKAGE} for ${target.name}.`,
    os: [os],
    cpu: [cpu],
    ...(libc === undefined ? {} : { libc: [libc] }),
    files: [binaryOf(target)],
  })
  writeFileSync(join(folder, binaryOf(target)), binary, { mode: 0o755 })
}

/** The package that people name, for the targets that were built. */
export const writeMainPackage = async (folder: string, targets: readonly Target[] = TARGETS): Promise<void> => {
  write(folder, {
    name: PACKAGE,
    description,
    bin: { sluice: 'bin.cjs', [PACKAGE]: 'bin.cjs' },
    files: ['bin.cjs', 'README.md'],
    engines: { node: '>=18' },
    optionalDependencies: Object.fromEntries(
      targets.flatMap(({ name, npm }) => (npm === undefined ? [] : [[`${PACKAGE}-${name}`, version]])),
    ),
  })
  for (const name of ['bin.cjs', 'README.md']) {
    await Bun.write(join(folder, name), Bun.file(join(ROOT, 'packaging', 'npm', name)))
  }
}

const write = (folder: string, members: { name: string } & Record<string, unknown>): void => {
  mkdirSync(folder, { recursive: true })
  const { name, description: what, ...rest } = members
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ name, version, description: what, license, ...rest }, null, 2)}\n`,
  )
}
