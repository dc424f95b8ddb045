// Objects that a text holds, as JSON or Python writes them: relays put the error of the server behind them into a sentence of
// their own, and frameworks print the faults that they have found.

import { isObject, type JsonObject, parseJson } from '../../ir/json.ts'

/** Of one text. */
const MOST_OBJECTS = 8
const MOST_CHARS = 8_192

type Literal = { at: number; end: number; value: JsonObject }

/** The outermost objects of a text that can be read, in their order. */
export const objectsIn = (text: string): Literal[] => {
  const found: Literal[] = []
  const bounded = text.slice(0, MOST_CHARS)
  let tries = 0
  for (let at = bounded.indexOf('{'); at !== -1 && tries < MOST_OBJECTS; at = bounded.indexOf('{', at + 1)) {
    tries++
    const end = endOf(bounded, at)
    const literal = bounded.slice(at, end)
    const value = parseJson(literal) ?? parseJson(asJson(literal))
    if (!isObject(value)) continue
    found.push({ at, end, value })
    at = end - 1
  }
  return found
}

const QUOTED = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/.source
const STRING = new RegExp(QUOTED, 'y')

/** Where what opens at that place of a text closes again; its end for what does not. */
export const endOf = (
  text: string,
  from: number,
  each?: (string: string, depth: number, end: number) => void,
): number => {
  let depth = 0
  let unclosed = ''
  for (let at = from; at < text.length; at++) {
    const mark = text[at] ?? ''
    if (mark === '\n') unclosed = ''
    if ('{[('.includes(mark)) depth++
    if ('}])'.includes(mark) && --depth === 0) return at + 1
    if ((mark !== '"' && mark !== "'") || unclosed.includes(mark)) continue
    STRING.lastIndex = at
    const [string = mark] = STRING.exec(text) ?? []
    if (string === mark) unclosed += mark
    at += string.length - 1
    each?.(string, depth, at + 1)
  }
  return text.length
}

const TOKEN = new RegExp(
  `${QUOTED}|,\\s*(?=[)\\]}])|:\\s*(?=[,)\\]}])|\\b[A-Z]\\w{0,63}(?=\\()|[()]|\\b(?:None|True|False)\\b`,
  'g',
)
const IN_JSON: { [token: string]: string } = { '(': '[', ')': ']', None: 'null', True: 'true', False: 'false' }

/**
 * A literal of Python's as JSON has it, an object of a class as a list, and nothing where an echo was; whatever it is, JSON
 * decides whether that is any.
 */
const asJson = (literal: string): string =>
  literal.replace(TOKEN, (token) => {
    if (token.startsWith(',')) return ''
    if (token.startsWith(':')) return ':null'
    if (token.startsWith('"')) return token
    if (!token.startsWith("'")) return IN_JSON[token] ?? ''
    return JSON.stringify(token.slice(1, -1).replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char)))
  })
