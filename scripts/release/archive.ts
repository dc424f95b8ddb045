// Archives whose bytes depend on nothing but what is in them: files in the order given, one time, no owner.

import { zipSync } from 'fflate'
import { pack } from 'tar-stream'

/** `mode`: of the permissions, such as 0o755. */
export type Entry = { path: string; bytes: Uint8Array; mode: number }

/** Of every entry: the clock's of wherever this runs, for zip knows no time zone. */
const time = (): Date => new Date(2026, 0, 1)
const UNIX = 3

export const tar = async (entries: readonly Entry[]): Promise<Uint8Array> => {
  const packed = pack()
  const pieces = Array.fromAsync(packed as AsyncIterable<Uint8Array>)
  for (const { path, bytes, mode } of entries) {
    packed.entry({ name: path, mode, mtime: new Date(Date.UTC(2026, 0, 1)), uid: 0, gid: 0 }, Buffer.from(bytes))
  }
  packed.finalize()
  return Buffer.concat(await pieces)
}

/** How hard to compress: for a release, or to try it out. */
export type Effort = 'whole' | 'quick'

export const zip = (entries: readonly Entry[], effort: Effort): Uint8Array =>
  zipSync(
    Object.fromEntries(
      entries.map(({ path, bytes, mode }) => [path, [bytes, { mtime: time(), os: UNIX, attrs: mode << 16 }]]),
    ),
    { level: effort === 'whole' ? 9 : 1 },
  )

/** By the system's xz, in blocks, so that the number of its threads changes nothing. */
export const xz = async (bytes: Uint8Array, effort: Effort): Promise<Uint8Array> => {
  const child = Bun.spawn(['xz', effort === 'whole' ? '-6' : '-0', '-T+0', '--stdout'], {
    stdin: bytes,
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const packed = await new Response(child.stdout).bytes()
  if ((await child.exited) !== 0) throw new Error('xz failed; it is needed for archives (5.4 or newer)')
  return packed
}
