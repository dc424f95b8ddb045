// Draws the house: which folder of `src/` imports which, as Mermaid into docs/architecture.md. Made from the files' own
// imports, so that the picture cannot say anything else.

import { dirname, join, relative } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '..')
export const DOCUMENT = join(ROOT, 'docs/architecture.md')

/** Every source file, by its path within `src/`, with what it imports: paths within `src/` or above it, and packages. */
export type Imports = ReadonlyMap<string, { ours: string[]; packages: string[] }>

const NAMES = /^(?:import|export)[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm

export const readImports = async (): Promise<Imports> => {
  const imports = new Map<string, { ours: string[]; packages: string[] }>()
  const files = Array.from(new Glob('**/*.{ts,tsx}').scanSync(join(ROOT, 'src')))
  for (const file of files.filter((one) => !one.includes('/dist/')).sort()) {
    const text = await Bun.file(join(ROOT, 'src', file)).text()
    const names = Array.from(text.matchAll(NAMES)).map((found) => found[1] ?? found[2] ?? found[3] ?? '')
    imports.set(file, {
      ours: names
        .filter((name) => name.startsWith('.'))
        .map((name) => relative(join(ROOT, 'src'), join(ROOT, 'src', dirname(file), name))),
      packages: names.filter((name) => !name.startsWith('.')),
    })
  }
  return imports
}

/** The folder of `src/` that a file is in, or the file itself where it stands at the root. */
export const layerOf = (path: string): string => path.split('/')[0]?.replace(/\.tsx?$/, '') ?? ''

/** Whoever stands at the root, or is imported by nearly all, would only hide the others. */
const UNDRAWN = new Set(['lib', 'errors', 'version', 'main', 'dashboard'])

/** The room that a file is drawn in: its folder; the store's port apart from what implements it, as rooms below it use it. */
const roomOf = (path: string): string | undefined => {
  const layer = path.startsWith('..') ? '' : path.startsWith('store/sqlite/') ? 'store/sqlite' : layerOf(path)
  return layer === '' || UNDRAWN.has(layer) ? undefined : layer
}

type Rooms = Map<string, Set<string>>

const roomsOf = (imports: Imports): Rooms => {
  const rooms: Rooms = new Map()
  for (const [file, { ours }] of imports) {
    const from = roomOf(file)
    if (from === undefined) continue
    const seen = rooms.get(from) ?? new Set()
    rooms.set(from, seen)
    for (const to of ours.map(roomOf)) if (to !== undefined && to !== from) seen.add(to)
  }
  return rooms
}

/** Whether a room reaches another, `past` some that are not entered. */
const reaches = (rooms: Rooms, from: string, to: string, past: string[]): boolean => {
  const seen = new Set(past)
  const ahead = [from]
  for (let room = ahead.pop(); room !== undefined; room = ahead.pop()) {
    if (room === to) return true
    if (seen.has(room)) continue
    seen.add(room)
    ahead.push(...(rooms.get(room) ?? []))
  }
  return false
}

/** By way of a third room. Two that import each other, as the ledger and the store's port, imply nothing. */
const isImplied = (rooms: Rooms, from: string, to: string): boolean =>
  !reaches(rooms, to, from, []) &&
  [...(rooms.get(from) ?? [])].some((by) => by !== to && reaches(rooms, by, to, [from]))

/** An arrow for each import that no other arrows imply already. */
export const drawing = (imports: Imports): string => {
  const rooms = roomsOf(imports)
  const arrows = [...rooms]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([from, tos]) => [...tos].sort().map((to) => [from, to] as const))
    .filter(([from, to]) => !isImplied(rooms, from, to))
  const id = (room: string) => room.replace(/[^a-z]/g, '_')
  return [
    '```mermaid',
    'flowchart TD',
    ...[...rooms.keys()].sort().map((room) => `  ${id(room)}["${room}"]`),
    ...arrows.map(([from, to]) => `  ${id(from)} --> ${id(to)}`),
    '```',
  ].join('\n')
}

const DRAWN = /(?<=<!-- drawn by scripts\/house\.ts -->\n)[\s\S]*?(?=\n<!-- end -->)/

export const withDrawing = (text: string, drawn: string): string => text.replace(DRAWN, `\n${drawn}\n`)

if (import.meta.main) {
  const text = await Bun.file(DOCUMENT).text()
  await Bun.write(DOCUMENT, withDrawing(text, drawing(await readImports())))
}
