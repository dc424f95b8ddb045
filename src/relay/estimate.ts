// How many tokens a request or an answer has, where no provider has said so: a quick guess for admission, the
// tokenizer's count for what is billed.

import { isObject } from '../ir/json.ts'
import { tokenize } from './tokenizer.ts'

const CHARS_PER_TOKEN = 4
/** What vendors bill for a picture of common size. */
const IMAGE_TOKENS = 1_500
/** A page of a PDF is about this many base64 characters and about as many tokens as a picture. */
const DOCUMENT_CHARS_PER_PAGE = 60_000
/** Below this a string is never taken for a file. */
const FILE_CHARS = 1_000

/**
 * A quick guess of the prompt's tokens: characters by four, files by what vendors bill for them. At least 1. `more`:
 * characters that the body stands for and does not hold.
 */
export const estimateInput = (body: unknown, more = 0): number =>
  Math.max(1, Math.ceil((count(body) + more) / CHARS_PER_TOKEN))

const count = (value: unknown): number => {
  if (typeof value === 'string') return countText(value)
  if (typeof value === 'number' || typeof value === 'boolean') return 2
  let chars = 0
  if (Array.isArray(value)) {
    for (const item of value) chars += count(item)
  } else if (isObject(value)) {
    for (const name in value) chars += name.length + 1 + count(value[name])
  }
  return chars
}

/** What a text counts for: its characters, or of a file those of what vendors bill for it. */
export const countText = (text: string): number => {
  if (text.length < FILE_CHARS || !looksLikeFile(text)) return text.length
  const pages = text.startsWith('data:image') ? 1 : Math.ceil(text.length / DOCUMENT_CHARS_PER_PAGE)
  return Math.min(text.length, pages * IMAGE_TOKENS * CHARS_PER_TOKEN)
}

// Base64 has no spaces: prose of this length always has one near its beginning.
const looksLikeFile = (text: string): boolean => text.startsWith('data:') || !text.slice(0, FILE_CHARS).includes(' ')

/** The tokenizer's count of a text that was cut at a bound: the rest counts in proportion. */
export const countTokens = async (text: string, chars = text.length): Promise<number> =>
  text === '' ? 0 : Math.ceil((await tokenize(text)) * (chars / text.length))

/** The tokenizer's count of all that a prompt says, files by what vendors bill for them. At least 1. */
export const countBody = async (body: unknown): Promise<number> => {
  const texts: string[] = []
  let fileChars = 0
  const left: unknown[] = [body]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'string') {
      const chars = countText(value)
      if (chars === value.length) texts.push(value)
      else fileChars += chars
    } else if (typeof value === 'number' || typeof value === 'boolean') texts.push(String(value))
    else if (Array.isArray(value)) for (const item of value) left.push(item)
    else if (isObject(value)) for (const name in value) left.push(name, value[name])
  }
  return Math.max(1, (await countTokens(texts.join(' '))) + Math.ceil(fileChars / CHARS_PER_TOKEN))
}
