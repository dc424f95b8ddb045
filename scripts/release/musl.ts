// What a binary for musl needs on a machine of another C library: the loader and two libraries, from the registries that this
// machine is set up for, pinned; and the folders where it looks for them.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { unzipSync } from 'fflate'

export const LOADER = 'ld-musl-x86_64.so.1'

/** Debian's loader, of a release whose musl this runtime starts under: 1.2.5 or newer. */
const MUSL = {
  suite: 'trixie',
  version: '1.2.5-3.1~deb13u1',
  sha256: 'fd4231e1c189c0ebe01182747f83817593fefa7f6b690c484410646288b60058',
}
/** A small package of Python's that was linked for musl, and so brings what C++ needs. */
const WHEEL = {
  name: 'pyzmq==27.3.0',
  sha256: 'd317685b83663fbd03ca8b5c34add7463e9bed094e3e1a69d2a895130b64ffaf',
}

/** Ends with a sentence where a program is not there, or fails. */
const done = (command: string[], cwd: string): string => {
  const [program = ''] = command
  if (Bun.which(program) === null) throw new Error(`${program} is not installed`)
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, timeout: 600_000 })
  if (exitCode !== 0)
    throw new Error(`${command.slice(0, 3).join(' ')} failed: ${stderr.toString().trim().slice(-500)}`)
  return stdout.toString()
}

/** Of another release of the system, by lists of its own: those of this machine stay as they are. */
const fetchMusl = (folder: string): string => {
  const format = '$(ORIGIN) $(LABEL) $(REPO_URI)'
  const sources = done(['apt-get', 'indextargets', '--format', format, 'Created-By: Packages'], folder)
  const uri = /^Debian Debian (\S+)$/m.exec(sources)?.[1]
  if (uri === undefined) throw new Error('apt has no source of Debian’s')
  mkdirSync(join(folder, 'lists/partial'), { recursive: true })
  mkdirSync(join(folder, 'cache/archives/partial'), { recursive: true })
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
  writeFileSync(join(folder, 'sources.list'), `deb [signed-by=${keyring}] ${uri} ${MUSL.suite} main\n`)
  const settings = {
    'Dir::Etc::SourceList': join(folder, 'sources.list'),
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::Lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'Acquire::Languages': 'none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    'APT::Sandbox::User': 'root',
  }
  const apt = ['apt-get', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])]
  done([...apt, 'update'], folder)
  done([...apt, 'download', `musl:amd64=${MUSL.version}`], folder)
  const name = readdirSync(folder).find((each) => each.endsWith('.deb')) ?? ''
  const sum = new Bun.CryptoHasher('sha256').update(readFileSync(join(folder, name))).digest('hex')
  if (sum !== MUSL.sha256) throw new Error(`the checksum of ${name} is not the one that is known`)
  done(['dpkg-deb', '-x', name, 'musl'], folder)
  return join(folder, 'musl/usr/lib/x86_64-linux-musl/libc.so')
}

/** Its checksum is pip's to verify. */
const fetchWheel = (folder: string): Uint8Array => {
  writeFileSync(join(folder, 'wheel.txt'), `${WHEEL.name} --hash=sha256:${WHEEL.sha256}\n`)
  const which = ['--only-binary=:all:', '--platform', 'musllinux_1_2_x86_64', '--python-version', '3.12']
  const pip = ['python3', '-m', 'pip', 'download', '--quiet', '--no-deps', ...which]
  done([...pip, '--require-hashes', '-r', 'wheel.txt', '-d', 'wheel'], folder)
  const [name = ''] = readdirSync(join(folder, 'wheel'))
  return readFileSync(join(folder, 'wheel', name))
}

/** Puts the three into `to`. Throws where a registry has one of them no more. */
export const fetchMuslLibraries = (to: string): void => {
  const folder = join(to, 'fetched')
  mkdirSync(folder, { recursive: true })
  try {
    const loader = fetchMusl(folder)
    const wheel = unzipSync(fetchWheel(folder), { filter: ({ name }) => /\.libs\/lib(stdc\+\+|gcc_s)-/.test(name) })
    for (const [path, bytes] of Object.entries(wheel)) {
      const name = basename(path)
      const known = name.startsWith('libgcc_s') ? 'libgcc_s.so.1' : 'libstdc++.so.6'
      writeFileSync(join(to, name), bytes)
      // The wheel's libraries know each other by names of its own.
      symlinkSync(name, join(to, known))
    }
    cpSync(loader, join(to, LOADER))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The command, in a view of its own of the system's files: the libraries are in their places. Only root has such views. */
export const amongMusl = (libraries: string, command: string[]): string[] => {
  const places = [
    'mount -t tmpfs none /mnt',
    'mkdir /mnt/upper /mnt/work',
    'mount -t overlay -o lowerdir=/usr/lib,upperdir=/mnt/upper,workdir=/mnt/work overlay /usr/lib',
    'cp -a "$0"/. /usr/lib/',
    'exec "$@"',
  ].join(' && ')
  return ['unshare', '--mount', 'sh', '-c', places, libraries, ...command]
}

/** Whether this machine shows one: this C library's own files lie in a folder of theirs there, and nothing is in the way. */
export const hasViews = (libraries: string): boolean =>
  Bun.which('unshare') !== null &&
  existsSync('/usr/lib/x86_64-linux-gnu') &&
  Bun.spawnSync(amongMusl(libraries, ['true']), { stderr: 'ignore' }).exitCode === 0
