// A client's files on disk: written in one go, with what was there kept, and put back byte for byte.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Client, Edit, Format, Home, Setup } from './client.ts'
import { edited, Unreadable } from './edit.ts'
import { reverted } from './revert.ts'

/** What is kept of a file, so that it can be put back. */
type Kept = {
  path: string
  format: Format
  /** The name of the copy beside this record; absent where there was no file. */
  copy?: string
  mode?: number
  /** Of the bytes that were written. */
  sha256: string
  edits: Edit[]
  /** The uppermost folder that was made for it. */
  made?: string
}

/** One file as it is and as it shall be. */
export type Plan = {
  path: string
  shown: string
  before: string | undefined
  after: string
  secret: boolean
  file: Kept
}

/** What stands in the way, in one sentence that names the file. */
class Refused extends Error {
  override name = 'Refused'
}

/** Where what was there before is kept. */
const keptIn = ({ home, env, platform }: Home, { name }: Client): string => {
  const local = platform === 'win32' ? env.LOCALAPPDATA : env.XDG_STATE_HOME
  const base = local || join(home, ...(platform === 'win32' ? ['AppData', 'Local'] : ['.local', 'state']))
  return join(base, 'sluice', 'connect', name)
}

/** Reads all of the client's files and changes none. Throws a Refused. */
export const planned = (client: Client, setup: Setup, home: Home): Plan[] => {
  const known = recordIn(keptIn(home, client))
  return client.files.map(({ shown, path: pathOf, format, secret, edits: editsOf }) => {
    const path = real(pathOf(home))
    const before = textAt(path)
    const edits = editsOf(setup)
    // What an earlier time has set and this one does not goes with it.
    const earlier = known.find((kept) => kept.path === path)
    const stale = earlier?.edits.filter(({ at }) => !edits.some((edit) => Bun.deepEquals(edit.at, at))) ?? []
    const after = refusing(path, () => {
      const clean = stale.length === 0 ? (before ?? '') : reverted(format, before ?? '', '', stale)
      return edited(format, clean, edits)
    })
    return { path, shown, before, after, secret, file: { path, format, sha256: hashOf(after), edits } }
  })
}

/** Writes what was planned; the bytes that were there are kept first. Throws a Refused. */
export const write = (client: Client, plans: readonly Plan[], home: Home): void => {
  const folder = keptIn(home, client)
  const known = recordIn(folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const record = plans.map(({ path, before, file }, index): Kept => {
    const earlier = known.find((kept) => kept.path === path)
    const made = earlier?.made ?? firstMissing(dirname(path))
    const keep = { ...file, ...(made === undefined ? {} : { made }) }
    const untouched = earlier !== undefined && before !== undefined && hashOf(before) === earlier.sha256
    // What its owner has changed since then belongs to what was there before.
    const original = untouched
      ? originalOf(folder, earlier)
      : earlier === undefined || before === undefined
        ? before
        : emptyAsNone(
            refusing(path, () => reverted(file.format, before, originalOf(folder, earlier) ?? '', earlier.edits)),
          )
    if (original === undefined) return keep
    const copy = `${index}-${basename(path)}`
    replace(join(folder, copy), original, 0o600)
    return { ...keep, copy, mode: earlier?.mode ?? statSync(path).mode & 0o777 }
  })
  replace(join(folder, RECORD), JSON.stringify(record), 0o600)
  for (const [index, plan] of plans.entries()) {
    try {
      put(plan)
    } catch (error) {
      // Of what was not written nothing is to be undone.
      if (index === 0 && known.length > 0) replace(join(folder, RECORD), JSON.stringify(known), 0o600)
      else if (index === 0) rmSync(folder, { recursive: true, force: true })
      const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
      throw new Refused(`${plan.path} cannot be written${code}: let this user write it and its folder.`)
    }
  }
}

const put = ({ path, before, after, secret }: Plan): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const mode = before === undefined ? 0o600 : statSync(path).mode & 0o777
  if (before !== after) replace(path, after, secret ? 0o600 : mode)
  else if (secret) chmodSync(path, 0o600)
}

/** `back`: what was there is there again, byte for byte; `gone`: nothing was; `changed`: its owner's later changes stay. */
type Undone = { path: string; how: 'back' | 'gone' | 'changed' }

/** Puts back what was there. Undefined where nothing is kept. Throws a Refused. */
export const undo = (client: Client, home: Home): Undone[] | undefined => {
  const folder = keptIn(home, client)
  const record = recordIn(folder)
  if (record.length === 0) return undefined
  const ready = record.map((kept) => {
    const now = textAt(kept.path)
    const original = originalOf(folder, kept)
    const whole = now === undefined || hashOf(now) === kept.sha256
    const text = whole ? original : refusing(kept.path, () => reverted(kept.format, now, original ?? '', kept.edits))
    return { kept, whole, text }
  })
  for (const { kept, text } of ready) {
    if (text === undefined) rmSync(kept.path, { force: true })
    else {
      mkdirSync(dirname(kept.path), { recursive: true, mode: 0o700 })
      replace(kept.path, text, kept.mode ?? 0o600)
    }
    if (kept.made !== undefined) removeEmpty(dirname(kept.path), kept.made)
  }
  rmSync(folder, { recursive: true, force: true })
  return ready.map(({ kept: { path }, whole, text }) => ({
    path,
    how: whole ? (text === undefined ? 'gone' : 'back') : 'changed',
  }))
}

const RECORD = 'record.json'

const recordIn = (folder: string): Kept[] => {
  const text = textAt(join(folder, RECORD))
  if (text === undefined) return []
  try {
    return JSON.parse(text) as Kept[]
  } catch {
    throw new Refused(`${join(folder, RECORD)} is damaged; what was there before lies beside it.`)
  }
}

const originalOf = (folder: string, { copy }: Kept): string | undefined =>
  copy === undefined ? undefined : textAt(join(folder, copy))

/** A link is followed: what it leads to is the file, which may not be there yet, and the link stays where it is. */
const real = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    const link = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined
    return link === undefined ? path : resolve(dirname(path), link)
  }
}

/** Undefined where there is no file. Bytes that are no UTF-8 would not come back as they were: they are refused. */
const textAt = (path: string): string | undefined => {
  if (!existsSync(path)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
  } catch (error) {
    if (error instanceof TypeError) throw new Refused(`${path} is left as it is: it is no text.`)
    throw error
  }
}

const refusing = <T>(path: string, make: () => T): T => {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    throw new Refused(`${path} is left as it is: ${error.message}. Mend it, or set it up by hand with --print.`)
  }
}

/** In one go: who reads it meanwhile sees the old or the new. The file stays its owner's, also where root writes it. */
const replace = (path: string, text: string, mode: number): void => {
  const owner = statSync(existsSync(path) ? path : dirname(path))
  const beside = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(beside, text, { mode, flush: true })
    chmodSync(beside, mode)
    if (process.getuid?.() === 0) chownSync(beside, owner.uid, owner.gid)
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const emptyAsNone = (text: string): string | undefined =>
  text.trim() === '' || text.trim() === '{}' ? undefined : text

const firstMissing = (folder: string): string | undefined => {
  if (existsSync(folder)) return undefined
  return firstMissing(dirname(folder)) ?? folder
}

const removeEmpty = (folder: string, last: string): void => {
  try {
    rmdirSync(folder)
  } catch {
    return
  }
  if (folder !== last) removeEmpty(dirname(folder), last)
}
