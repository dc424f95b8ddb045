// Free text of a custom tool that was sent as a function of one argument, read out of that argument.

import { isObject, parseJson } from '../../ir/json.ts'

export type FreeText = {
  /** The free text in the next piece of the arguments. */
  push(piece: string): string
  /** The rest of the text, and whether it breaks off. */
  end(): { rest: string; cut: boolean }
}

/**
 * Reads the free text out of a custom tool's arguments, `{"input":"…"}`, as they are streamed. Once they have ended, a text
 * alone, one that is the only argument, whatever its name, and no argument at all are read too; arguments of any other form
 * are the text itself.
 */
export const freeText = (): FreeText => {
  let state: 'head' | 'text' | 'tail' = 'head'
  /** Received, but not decided yet. */
  let buffer = ''

  const readText = (): string => {
    let at = 0
    while (at < buffer.length && buffer[at] !== '"') {
      const size = buffer[at] === '\\' ? escapeSize(buffer, at) : 1
      if (size === 0) break
      at += size
    }
    const text = buffer.slice(0, at)
    if (buffer[at] === '"') state = 'tail'
    buffer = buffer.slice(state === 'tail' ? at + 1 : at)
    return unescaped(text)
  }

  return {
    push: (piece) => {
      const headMayEnd = buffer.length < LONGEST_HEAD
      buffer += piece
      if (state === 'head') {
        const head = headMayEnd ? HEAD.exec(buffer) : null
        if (head === null) return ''
        state = 'text'
        buffer = buffer.slice(head[0].length)
      }
      return state === 'text' ? readText() : ''
    },
    end: () => {
      if (state !== 'head') return { rest: '', cut: state === 'text' || !buffer.includes('}') }
      const value = parseJson(buffer)
      if (value !== undefined) return { rest: textIn(value) ?? buffer, cut: false }
      const start = buffer.replace(/\s/g, '')
      return { rest: buffer, cut: start !== '' && (start.startsWith(OPEN) || OPEN.startsWith(start)) }
    },
  }
}

const textIn = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  if (!isObject(value)) return undefined
  const { input, ...others } = value
  if (typeof input === 'string') return input
  const [only = '', ...more] = Object.values(others)
  if (input !== undefined || more.length > 0) return undefined
  return typeof only === 'string' ? only : argumentIn(only)
}

/** Of a command line, as models write it that take the tool for a program: its one argument is told by its lines. */
const argumentIn = (line: unknown): string | undefined => {
  const [name, text, ...more] = Array.isArray(line) ? line : []
  const isLine = more.length === 0 && typeof name === 'string' && /^\S+$/.test(name)
  return isLine && typeof text === 'string' && text.includes('\n') ? text : undefined
}

/** The same for complete arguments. */
export const freeTextOf = (input: string): { text: string; cut: boolean } => {
  const reader = freeText()
  const text = reader.push(input)
  const { rest, cut } = reader.end()
  return { text: text + rest, cut }
}

/** In characters, white space included. A longer head is recognised only when the arguments have ended. */
const LONGEST_HEAD = 200
const HEAD = /^\s*\{\s*"input"\s*:\s*"/
const OPEN = '{"input":'

/** The length of the escape that begins here, a surrogate pair counting as one; 0 while it is incomplete. */
const escapeSize = (text: string, at: number): number => {
  if (text[at + 1] !== 'u') return at + 2 <= text.length ? 2 : 0
  if (at + 6 > text.length) return 0
  if (!/^d[89ab]/i.test(text.slice(at + 2, at + 4))) return 6
  const next = text.slice(at + 6, at + 8)
  if (next === '' || next === '\\') return 0
  if (next !== '\\u') return 6
  return at + 12 <= text.length ? 12 : 0
}

/** Lenient: models write line breaks unescaped, and invalid escapes, which stay as they are. */
const unescaped = (text: string): string => {
  if (!text.includes('\\')) return text
  const value = parseJson(`"${text.replace(CONTROL, (char) => JSON.stringify(char).slice(1, -1))}"`)
  return typeof value === 'string' ? value : text
}

const CONTROL = /\p{Cc}/gu
