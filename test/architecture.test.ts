// Who may import whom: the table of docs/architecture.md, held against every file.

import { describe, expect, test } from 'bun:test'
import { DOCUMENT, drawing, layerOf, readImports, withDrawing } from '../scripts/house.ts'

const MAY_IMPORT: Record<string, string[]> = {
  lib: [],
  errors: [],
  ir: ['errors', 'lib'],
  'admin-api': [],
  clients: [],
  alerts: ['lib', 'keys'],
  wire: ['ir', 'errors', 'lib'],
  provider: ['ir'],
  catalogue: ['ir'],
  keys: ['errors', 'lib'],
  members: ['errors', 'lib', 'keys'],
  ledger: ['ir', 'errors', 'keys', 'catalogue', 'store', 'lib'],
  relay: ['wire', 'provider', 'catalogue', 'ir', 'errors', 'lib', 'keys', 'ledger'],
  entries: ['config', 'provider', 'keys', 'store', 'errors', 'lib'],
  store: ['alerts', 'keys', 'ledger', 'members', 'ir', 'errors', 'lib', 'drizzle'],
  config: ['alerts', 'catalogue', 'provider', 'keys', 'members', 'admin-api', 'ir', 'lib'],
  demo: ['ir', 'lib'],
  observe: [
    'admin-api',
    'relay',
    'ledger',
    'store',
    'keys',
    'members',
    'catalogue',
    'config',
    'ir',
    'errors',
    'lib',
    'version',
  ],
}

/** Folders whose files are not held to a list, and what they must stay away from all the same. */
const MUST_NOT: Record<string, RegExp> = {
  http: /^(cli\/|store\/(sqlite|postgres|redis)\/)/,
  cli: /^http\//,
}

/** Rooms of the wires that all of them share; the other folders of `wire` are wires, and none knows another. */
const WIRE_WINGS = ['schema', 'refusal', 'settings', 'tools', 'turns']

/** The wire that a file is of. */
const wireOf = (path: string): string | undefined => {
  const [layer, folder = '', ...rest] = path.split('/')
  return layer === 'wire' && rest.length > 0 && !WIRE_WINGS.includes(folder) ? folder : undefined
}

const imports = await readImports()

describe('every file keeps to its layer', () => {
  test.each([...imports])('%s', (from, { ours, packages }) => {
    const layer = layerOf(from)
    const allowed = MAY_IMPORT[layer]
    for (const to of ours) {
      const target = to.startsWith('..') ? (to.split('/')[1] ?? '') : layerOf(to)
      if (allowed) expect([layer, ...allowed]).toContain(target)
      expect(to).not.toMatch(MUST_NOT[layer] ?? /^$/)
      if (layer === 'wire' && wireOf(to) !== undefined && from.split('/').length > 2)
        expect(wireOf(to)).toBe(wireOf(from))
    }
    for (const name of packages) {
      if (name.startsWith('drizzle-orm')) expect(from).toMatch(/^store\/(sqlite|postgres)\//)
      if (name === 'elysia' || name.startsWith('@elysiajs/')) expect(from).toMatch(/^(http\/|app\.ts)/)
      if (name === 'bun:sqlite') expect(from).toStartWith('store/sqlite/')
    }
  })
})

/** The first circle that is found among files that import each other; a type counts as anything else. */
const circleIn = (graph: ReadonlyMap<string, string[]>): string[] | undefined => {
  const done = new Set<string>()
  const walk = (file: string, above: string[]): string[] | undefined => {
    if (above.includes(file)) return [...above.slice(above.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const next of graph.get(file) ?? []) {
      const circle = walk(next, [...above, file])
      if (circle !== undefined) return circle
    }
    done.add(file)
    return undefined
  }
  for (const file of graph.keys()) {
    const circle = walk(file, [])
    if (circle !== undefined) return circle
  }
  return undefined
}

describe('files that import each other in a circle', () => {
  test('are not there, types included', () => {
    expect(circleIn(new Map([...imports].map(([file, { ours }]) => [file, ours])))).toBeUndefined()
  })

  test('would be found', () => {
    expect(
      circleIn(
        new Map([
          ['a', ['b', 'c']],
          ['b', []],
          ['c', ['d']],
          ['d', ['b', 'c']],
        ]),
      ),
    ).toEqual(['c', 'd', 'c'])
  })
})

describe('one request in order', () => {
  const named = async (): Promise<string[]> => {
    const [, section = ''] = (await Bun.file(DOCUMENT).text()).split('## One request in order\n')
    const [walk = ''] = section.trim().split('\n\n')
    return Array.from(walk.matchAll(/`(app|(?:http|relay)\/[a-z-]+)`/g), ([, name]) => `${name}.ts`)
  }
  /** All that a file imports, and what that does. */
  const reachedFrom = (file: string, seen = new Set<string>()): Set<string> => {
    for (const next of imports.get(file)?.ours ?? []) {
      if (seen.has(next)) continue
      seen.add(next)
      reachedFrom(next, seen)
    }
    return seen
  }

  test('names files that are there, each of which one before it leads to', async () => {
    const walk = await named()
    expect(walk.length).toBeGreaterThan(12)
    expect(walk.filter((file) => !imports.has(file))).toEqual([])
    const ahead = walk.slice(1)
    expect(ahead.filter((file, at) => !walk.slice(0, at + 1).some((one) => reachedFrom(one).has(file)))).toEqual([])
    // Of two that follow each other, the later leads back to none of the first steps.
    const first = new Set(walk.slice(0, 3))
    expect(walk.slice(3).filter((file) => [...reachedFrom(file)].some((one) => first.has(one)))).toEqual([])
  })
})

test('the picture of the house in the document is the one that the imports draw', async () => {
  const text = await Bun.file(DOCUMENT).text()
  expect(withDrawing(text, drawing(imports))).toBe(text)
})
