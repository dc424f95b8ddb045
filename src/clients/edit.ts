// Changes to a file that is somebody else's: what is named changes, the rest stays as it was written, comments and order
// included. What comes out is read again and must say what was meant.

import * as toml from '@decimalturn/toml-patch'
import * as jsonc from 'jsonc-parser'
import * as yaml from 'yaml'
import type { Edit, Format, Json, JsonObject, ListChange, Path } from './client.ts'
import { copied, isObject, valueAt } from './values.ts'

/** A file that is not of its format, or that holds something else where a change belongs: one sentence. */
export class Unreadable extends Error {}

/** The text with the changes. Of an empty text it makes a whole file. Throws an Unreadable. */
export const edited = (format: Format, text: string, all: readonly Edit[]): string => {
  const { read, write } = EDITORS[format]
  const [mark, body] = text.startsWith('\uFEFF') ? ['\uFEFF', text.slice(1)] : ['', text]
  const before = read(body)
  const edits = all.filter((edit) => 'own' in edit || !edit.absent || valueAt(before, edit.at) === undefined)
  const meant = applied(before, edits)
  if (Bun.deepEquals(before, meant)) return text
  const after = inLinesOf(body, write(body, edits, meant))
  if (!Bun.deepEquals(read(after), meant)) throw new Unreadable('it is written in a way that could not be kept')
  return mark + after
}

/** What a text says. Throws an Unreadable. */
export const read = (format: Format, text: string): JsonObject => EDITORS[format].read(text.replace(/^\uFEFF/, ''))

/** What the changes make of a value. An undefined value takes the member away. Throws an Unreadable. */
export const applied = (before: JsonObject, edits: readonly Edit[]): JsonObject => {
  const after = copied(before)
  for (const edit of edits) {
    const parent = parentOf(after, edit)
    const name = edit.at.at(-1) ?? ''
    if (parent === undefined) continue
    if (edit.value === undefined) delete parent[name]
    else parent[name] = 'own' in edit ? merged(parent[name], edit) : copied<Json>(edit.value)
  }
  return after
}

type Editor = {
  read(text: string): JsonObject
  write(text: string, edits: readonly Edit[], meant: JsonObject): string
}

const INDENT = { insertSpaces: true, tabSize: 2, eol: '\n' }

const json: Editor = {
  read(text) {
    if (text.trim() === '') return {}
    const errors: jsonc.ParseError[] = []
    const value: unknown = jsonc.parse(text, errors, { allowTrailingComma: true })
    const [error] = errors
    if (error !== undefined) throw new Unreadable(`it is no JSON (line ${lineOf(text, error.offset)})`)
    return required(value)
  },
  write(text, edits) {
    let now = text.trim() === '' ? '{}\n' : text
    const formattingOptions = { ...INDENT, insertSpaces: !/^\t/m.test(text), tabSize: indentOf(text) }
    const change = (path: jsonc.JSONPath, value: Json | undefined, isArrayInsertion = false): void => {
      now = jsonc.applyEdits(now, jsonc.modify(now, path, value, { formattingOptions, isArrayInsertion }))
    }
    for (const edit of edits) {
      for (const group of givingWay(json.read(now), edit)) change([...group], {})
      const at = [...edit.at]
      const list = valueAt(json.read(now), at)
      if (!('own' in edit) || !Array.isArray(list)) {
        if (edit.value !== undefined || list !== undefined) change(at, edit.value)
        continue
      }
      for (const index of ownIn(list, edit).toReversed()) change([...at, index], undefined)
      const kept = list.length - ownIn(list, edit).length
      edit.value.forEach((entry, index) => {
        change([...at, kept + index], entry, true)
      })
    }
    return now
  },
}

/** What a whole file is called that is a list and no group. */
const LIST = 'entries'

const yamlEditor = (isList: boolean): Editor => ({
  read(text) {
    const value: unknown = documentOf(text, isList).toJS()
    if (!isList) return required(value ?? {})
    if (value === null || Array.isArray(value)) return value === null || value.length === 0 ? {} : { [LIST]: value }
    throw new Unreadable('it holds no list')
  },
  write(text, edits) {
    const document = documentOf(text, isList)
    for (const edit of edits) {
      const at = edit.at.slice(isList ? 1 : 0)
      if (!isList) for (const group of givingWay(document.toJS(), edit)) document.setIn(group, document.createNode({}))
      const list = at.length === 0 ? document.contents : document.getIn(at)
      if ('own' in edit && yaml.isSeq(list)) {
        const shown = list.toJS(document) as Json[]
        for (const index of ownIn(shown, edit).toReversed()) list.delete(index)
        for (const entry of edit.value) list.add(document.createNode(entry))
      } else if (at.length === 0) document.contents = document.createNode(edit.value ?? [])
      else if (edit.value === undefined) document.deleteIn(at)
      else setIn(document, at, edit.value)
    }
    return document.toString(styleOf(text))
  },
})

/** A single value changes within its place, so that the comment beside it stays. */
const setIn = (document: yaml.Document, at: string[], value: Json): void => {
  const known = document.getIn(at, true)
  if (yaml.isScalar(known) && (typeof value !== 'object' || value === null)) known.value = value
  else document.setIn(at, document.createNode(value))
}

/** The writer lays the whole file out anew: as near to its own layout as it can be told. */
const styleOf = (text: string): yaml.ToStringOptions => ({
  lineWidth: 0,
  indent: indentOf(text),
  indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*\n\1- /m.test(text),
  flowCollectionPadding: /\{ \S/.test(text),
})

const documentOf = (text: string, isList: boolean): yaml.Document => {
  const document = yaml.parseDocument(text)
  const [error] = document.errors
  if (error !== undefined) throw new Unreadable(`it is no YAML (line ${lineOf(text, error.pos[0])})`)
  if (document.contents !== null) return document
  const empty = new yaml.Document(isList ? [] : {})
  empty.commentBefore = [document.commentBefore, document.comment].filter(Boolean).join('\n') || null
  return empty
}

/** How deep tables have a heading of their own. */
const TABLES = 3

const tomlEditor: Editor = {
  read(text) {
    try {
      return required(toml.parse(text))
    } catch (error) {
      if (error instanceof Unreadable) throw error
      const line = error instanceof Error && 'line' in error ? ` (line ${error.line})` : ''
      throw new Unreadable(`it is no TOML${line}`)
    }
  },
  write: (text, _edits, meant) => {
    if (text.trim() === '') return toml.stringify(meant, { inlineTableStart: TABLES })
    const format = Object.assign(toml.TomlFormat.autoDetectFormat(text), { inlineTableStart: TABLES })
    const before = tomlEditor.read(text)
    const isNewList = ([name, value]: [string, Json]) => before[name] === undefined && isTables(value)
    const { true: lists = [], false: rest = [] } = Object.groupBy(Object.entries(meant), (each) => `${isNewList(each)}`)
    const patched = toml.patch(text, Object.fromEntries(rest), format)
    if (lists.length === 0) return patched
    // The library finds no place for the first table of a list: the end of the file is one, whatever stands before.
    const added = toml.stringify(Object.fromEntries(lists), { inlineTableStart: TABLES })
    return `${patched.trimEnd()}\n\n${added}`
  },
}

const isTables = (value: Json): boolean => Array.isArray(value) && value.length > 0 && value.every(isObject)

/** `NAME=value` and `export NAME=value`, one a line. */
const LINE = /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=(.*?)[ \t]*$/

// An own edit, bounded to lines of one form: whatever else a file of variables may hold is left alone and not understood.
const env: Editor = {
  read: (text) =>
    Object.fromEntries(
      text.split(/\r?\n/).flatMap((line) => {
        const [, name, value] = LINE.exec(line) ?? []
        return name === undefined || value === undefined ? [] : [[name, value.replace(/^(['"])(.*)\1$/, '$2')]]
      }),
    ),
  write(text, edits) {
    const lines = text.split(/\r?\n/)
    if (lines.at(-1) === '') lines.pop()
    for (const { at, value } of edits) {
      const [name = ''] = at
      const written = value === undefined ? [] : [`${name}=${value}`]
      const index = lines.findLastIndex((line) => LINE.exec(line)?.[1] === name)
      if (index === -1) lines.push(...written)
      else {
        const exported = /^[ \t]*export[ \t]+/.exec(lines[index] ?? '')?.[0] ?? ''
        lines.splice(index, 1, ...written.map((line) => exported + line))
      }
    }
    return lines.map((line) => `${line}\n`).join('')
  },
}

const EDITORS: Record<Format, Editor> = {
  json,
  yaml: yamlEditor(false),
  'yaml-list': yamlEditor(true),
  toml: tomlEditor,
  env,
}

/** The object that holds the last name of a path; undefined where there is none and none is to be made. */
const parentOf = (root: JsonObject, edit: Edit): JsonObject | undefined => {
  let at = root
  for (const name of edit.at.slice(0, -1)) {
    if (at[name] === undefined || givesWay(at[name], edit)) {
      if (edit.value === undefined) return undefined
      at[name] = {}
    }
    const next = at[name]
    if (!isObject(next)) throw new Unreadable(`"${name}" in it is no group of settings`)
    at = next
  }
  return at
}

/** Nothing, and a client's short form, make room for a group. */
const givesWay = (value: Json | undefined, edit: Edit): boolean =>
  value === null || (typeof value === 'string' && 'short' in edit)

/** The groups on the way to a change in whose places something stands that makes room; the outermost alone can. */
const givingWay = (root: JsonObject, edit: Edit): Path[] =>
  edit.value === undefined
    ? []
    : edit.at
        .slice(1)
        .map((_, index) => edit.at.slice(0, index + 1))
        .filter((group) => givesWay(valueAt(root, group), edit))

/** The list without the entries that are ours, and with those that shall be. */
const merged = (list: Json | undefined, edit: ListChange): Json[] => {
  const known = Array.isArray(list) ? list : []
  const own = new Set(ownIn(known, edit))
  return [...known.filter((_, index) => !own.has(index)), ...copied(edit.value)]
}

/** The places of the entries that are ours. */
export const ownIn = (list: readonly Json[], { own }: ListChange): number[] =>
  list.flatMap((entry, index) => {
    const name = isObject(entry) ? entry[own.member] : undefined
    return typeof name === 'string' && (name === own.name || name.startsWith(`${own.name}/`)) ? [index] : []
  })

const required = (value: unknown): JsonObject => {
  if (isObject(value)) return value
  throw new Unreadable('it holds no group of settings')
}

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length

const indentOf = (text: string): number => /^( +)\S/m.exec(text)?.[1]?.length ?? 2

const inLinesOf = (before: string, after: string): string =>
  before.includes('\r\n') ? after.replace(/\r?\n/g, '\r\n') : after
