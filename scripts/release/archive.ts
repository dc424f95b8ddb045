// Archives whose bytes depend on nothing but what is in them: files in the order given, one time, no owner.

import { Zip, ZipPassThrough } from 'fflate'
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

/** By libdeflate, which the runtime brings: files of a zip are some 4 % smaller than zlib's best. */
class Deflated extends ZipPassThrough {
  override compression = 8
  level: 1 | 12 = 12

  protected override process(whole: Uint8Array<ArrayBuffer>, final: boolean): void {
    this.ondata(null, Bun.deflateSync(whole, { library: 'libdeflate', level: this.level }), final)
  }
}

export const zip = (entries: readonly Entry[], effort: Effort): Uint8Array => {
  const pieces: Uint8Array[] = []
  const packed = new Zip((error, piece) => {
    if (error !== null) throw error
    pieces.push(piece)
  })
  for (const { path, bytes, mode } of entries) {
    const level = effort === 'whole' ? 12 : 1
    const file = Object.assign(new Deflated(path), { level, mtime: time(), os: UNIX, attrs: mode << 16 })
    packed.add(file)
    file.push(bytes, true)
  }
  packed.end()
  return Buffer.concat(pieces)
}

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
