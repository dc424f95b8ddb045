// What of a refusal is no name of what it refuses: what it repeats of the request, and lists of all that its server knows. Both
// are told by what was sent, in whatever words they stand.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { endOf } from './literals.ts'

/** Of the body that was sent. */
type Parts = {
  /** All names of members. */
  names: ReadonlySet<string>
  /** The members of each object, as `shapeOf` writes them. */
  shapes: ReadonlySet<string>
  /** Of each text that is short enough for a name, the members that hold it. */
  holders: ReadonlyMap<string, ReadonlySet<string>>
}

const parts = new WeakMap<JsonObject, Parts>()

const partsOf = (sent: JsonObject): Parts => {
  const known = parts.get(sent)
  if (known !== undefined) return known
  const names = new Set<string>()
  const shapes = new Set<string>()
  const holders = new Map<string, Set<string>>()
  const collect = (value: Json | undefined, holder: string): void => {
    if (typeof value === 'string') {
      if (value.length > 0 && value.length <= MOST_VALUE)
        holders.set(value, (holders.get(value) ?? new Set()).add(holder))
    } else if (Array.isArray(value)) {
      for (const one of value) collect(one, holder)
    } else if (isObject(value)) {
      shapes.add(shapeOf(Object.keys(value)))
      for (const [name, inner] of Object.entries(value)) {
        names.add(name)
        collect(inner, name)
      }
    }
  }
  collect(sent, '')
  const found = { names, shapes, holders }
  parts.set(sent, found)
  return found
}

/** Longer ones are no word of a refusal's. */
const MOST_VALUE = 64

const shapeOf = (names: readonly string[]): string => [...names].sort().join('\n')

/** What no request can be without: where it is listed, the list is of what is known. */
const ESSENTIAL: ReadonlySet<string> = new Set(['model', 'messages', 'input', 'prompt'])

export const blank = (text: string): string => text.replace(/[^\n]/g, ' ')

export const blankWithin = (text: string, from: number, to: number): string =>
  `${text.slice(0, from)}${blank(text.slice(from, to))}${text.slice(to)}`

/** The text, of the same length, without what JSON or a language writes as an object of the request, or as the whole. */
export const withoutObjects = (text: string, sent: JsonObject): string => {
  const found = partsOf(sent)
  let rest = text
  let tries = 0
  for (let at = rest.indexOf('{'); at !== -1 && tries < MOST_TRIES; at = rest.indexOf('{', at + 1)) {
    tries++
    const { names, end } = literalAt(rest, at)
    if (!isEcho(names, found)) continue
    rest = blankWithin(rest, at, end)
    at = end - 1
  }
  return rest
}

const isEcho = (names: readonly string[], { shapes }: Parts): boolean =>
  names.length > 0 && (shapes.has(shapeOf(names)) || names.includes('model'))

/** Of an object that is written at that place of a text: its members, and where it ends. */
const literalAt = (text: string, from: number): { names: string[]; end: number } => {
  const names: string[] = []
  const end = endOf(text.slice(0, from + MOST_LITERAL), from, (string, depth, after) => {
    if (depth === 1 && /^\s*:/.test(text.slice(after, after + 4))) names.push(string.slice(1, -1))
  })
  return { names, end }
}

const MOST_LITERAL = 4_000
const MOST_TRIES = 64

/** A row of names, all in quotes or all without. */
const NAMED = '\\1[A-Za-z_][\\w.-]{0,63}\\1(?=[^\\w:]|$)(?!\\s?:)'
const ROW = new RegExp(
  `(["'\`*]{0,2})[A-Za-z_][\\w.-]{0,63}\\1(?:[,|、，]\\s?(?:(?:or|and) )?${NAMED})+(?: (?:or|and) ${NAMED})?`,
  'g',
)

/** The same without lists of what is known: they name what no request could leave out, or what is not in this one. */
export const withoutKnown = (text: string, sent: JsonObject): string => {
  const { names, holders } = partsOf(sent)
  return text.replace(ROW, (row, quotes: string) => {
    const all = row.match(/[A-Za-z_][\w.-]*/g) ?? []
    const isOther = (one: string): boolean =>
      !names.has(one) && !holders.has(one) && (quotes !== '' || /_|[a-z][A-Z]/.test(one))
    return all.length > 1 && all.some((one) => ESSENTIAL.has(one) || isOther(one)) ? blank(row) : row
  })
}

/**
 * Whether a word is a value that the request holds: it stands beside the name of the member that holds it, or beside another of
 * that member's values. One that is a path is no name: no member is called so. `line`: of its text, without the word itself.
 */
export const isValue = (word: string, line: string, sent: JsonObject): boolean => {
  const { holders } = partsOf(sent)
  const members = holders.get(word)
  if (members === undefined) return false
  if (word.includes('.')) return true
  const words = new Set(line.toLowerCase().match(/[a-z_]\w*/g))
  return [...members].some(
    (member) =>
      (member !== word && (words.has(member) || words.has(`${member}s`))) ||
      [...words].some(
        (other) => other !== word && (holders.get(other)?.has(member) || (member === 'role' && ROLES.has(other))),
      ),
  )
}

/** All that may speak on any wire. */
const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'developer', 'tool', 'function'])
