// How many tokens a request or an answer has, where no provider has reported it: a quick estimate for admission, the
// tokenizer's count for billing.

import { asList, asText, isObject, type Json, type JsonObject } from '../ir/json.ts'
import { COLON } from '../lib/json-codes.ts'
import { OutputText } from '../lib/output-text.ts'
import { sniffMediaType } from '../wire/turns/data-url.ts'
import { tokenize } from './tokenizer.ts'

const BYTES_PER_TOKEN = 4
/** What vendors bill for a picture of common size. */
export const IMAGE_TOKENS = 1_500
/** A page of a PDF is about this many base64 characters and about as many tokens as a picture. */
const DOCUMENT_BYTES_PER_PAGE = 60_000
/** Below this a string is never taken for a file, and its beginning of so many bytes tells whether it is one. */
export const FILE_BYTES = 1_000

/** A quick estimate of a prompt's tokens by what it weighs: a quarter of its bytes. At least 1. */
export const tokensIn = (bytes: number): number => Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN))

/**
 * `bytes` that a body counts for, files by what vendors bill for them; `textFile`: whether it holds a document that is no file but text; `mayShow`: whether it
 * may hold a picture. `said`: bytes of what is said in it, which no vendor leaves out; `thoughts`: whether there are also
 * thoughts, which some do.
 */
export type Weight = { bytes: number; textFile: boolean; mayShow: boolean; said: number; thoughts: boolean }

/** `ascii`: whether all of it is known to be, so that a string has as many bytes as characters. `known`: of a part that it lacks. */
export const weigh = (body: unknown, ascii = false, known: Weight = NOTHING): Weight => {
  const weight = { ...known }
  weight.bytes += count(body, '', weight, ascii ? charsOf : utf8BytesOf)
  return weight
}

const NOTHING: Weight = { bytes: 0, textFile: false, mayShow: false, said: 0, thoughts: false }

type BytesOf = (text: string) => number
const charsOf: BytesOf = (text) => text.length
const utf8BytesOf: BytesOf = (text) => Buffer.byteLength(text)

/** The members that hold what is said. */
export const isSaid = (name: string): boolean => SAID.has(name)
const SAID = new Set(['text', 'content', 'instructions', 'system', 'input'])
/** Parts of a conversation that a vendor may leave out of the prompt. */
const THOUGHTS = new Set<Json | undefined>(['reasoning', 'reasoning_text', 'summary_text', 'thinking'])

/** Far more than a token of any text has: words have four, and runs of spaces in code do not make it twelve. */
const MOST_BYTES_PER_TOKEN = 16
/** The smallest context that a vendor would cut a conversation down to. */
const LEAST_CONTEXT = 4_096

/**
 * The fewest tokens that a prompt can come to, of which so many bytes are said. Where its vendor may make a summary of it, or
 * forget parts, nobody knows.
 */
export const leastInput = (body: JsonObject, said: number): number => {
  const least = Math.floor(said / MOST_BYTES_PER_TOKEN)
  // A prediction is no part of the prompt, and as long as an answer.
  if (body.context_management !== undefined || body.prediction !== undefined) return 0
  if (asList(body.input).some(isCompaction)) return 0
  return body.truncation === 'auto' ? Math.min(least, LEAST_CONTEXT) : least
}

const isCompaction = (item: Json): boolean => isObject(item) && asText(item.type).startsWith('compaction')

/** A quick estimate of an answer so far: its bytes divided by four, with as many bytes to a character as its opening has. */
export const estimateOutput = ({ chars, opening }: OutputText): number =>
  opening === '' ? 0 : Math.ceil((chars * (Buffer.byteLength(opening) / opening.length)) / BYTES_PER_TOKEN)

/** Bytes; `found` is told what was seen. */
const count = (value: unknown, name: string, found: Weight, bytesOf: BytesOf): number => {
  if (typeof value === 'string') {
    const bytes = bytesOf(value)
    if (SAID.has(name)) found.said += bytes
    return bytes < FILE_BYTES ? bytes : countText(value, bytes, () => name)
  }
  if (typeof value === 'number' || typeof value === 'boolean') return 2
  let bytes = 0
  if (Array.isArray(value)) {
    for (const item of value) bytes += count(item, '', found, bytesOf)
  } else if (isObject(value)) {
    const { type } = value
    const isText = isTextFile(value)
    if (isText) found.textFile = true
    else if (typeof type === 'string' && SHOWING.has(type)) found.mayShow = true
    if (THOUGHTS.has(type)) {
      found.thoughts = true
      const { said } = found
      for (const member in value) bytes += member.length + 1 + count(value[member], member, found, bytesOf)
      found.said = said
      return bytes
    }
    let mayAddress = false
    for (const member in value) {
      bytes += member.length + 1 + count(value[member], isText ? '' : member, found, bytesOf)
      if (member === 'url' || member === 'image_url') mayAddress = true
    }
    // To look for what an object does not have takes longer than to walk through what it has.
    if (mayAddress && isAddressOfImage(name, value)) bytes += IMAGE_TOKENS * BYTES_PER_TOKEN
  }
  return bytes
}

/** The types of what any wire's clients send pictures in. */
const SHOWING = new Set(['image', 'image_url', 'input_image', 'file', 'input_file'])

/** A document of the messages wire that is no file but text. */
const isTextFile = ({ type, data }: JsonObject): boolean => type === 'text' && typeof data === 'string'

/** Whether an object is, or holds, an image that its provider is to fetch. `name`: of the member it is. */
const isAddressOfImage = (name: string, { type, url, image_url: image }: JsonObject): boolean => {
  const address = name === 'image_url' || (name === 'source' && type === 'url') ? url : image
  return typeof address === 'string' && address.startsWith('http')
}

/** The members of requests that hold files, or what a provider has sealed. Whatever stands elsewhere is text, and billed so. */
const FILES = new Set([
  ...['data', 'file_data', 'image', 'image_url', 'document_url', 'video_url', 'audio_url', 'url', 'result', 'b64_json'],
  ...['encrypted_content', 'signature', 'thought_signature'],
])

/**
 * The bytes a text counts for: its own, or for a file as many as its billed tokens stand for. Its beginning is enough. `name` tells
 * the member that it is.
 */
export const countText = (text: string, bytes: number, name: () => string): number => {
  if (bytes < FILE_BYTES || !looksLikeFile(text) || !FILES.has(name())) return bytes
  const pages = isImage(text) ? 1 : Math.ceil(bytes / DOCUMENT_BYTES_PER_PAGE)
  return Math.min(bytes, pages * IMAGE_TOKENS * BYTES_PER_TOKEN)
}

// Some wires send an image as base64 alone. In raw JSON there may be a backslash before a slash.
const isImage = (text: string): boolean =>
  text.startsWith('data:image') || sniffMediaType(text.slice(0, 40).replaceAll('\\', ''))?.startsWith('image/') === true

// Prose of this length has a space or punctuation near its beginning; base64 has only its alphabet and, in raw JSON,
// escaped line breaks.
const looksLikeFile = (text: string): boolean => text.startsWith('data:') || BASE64.test(text.slice(0, FILE_BYTES))

const BASE64 = /^[\w+/=\\\r\n-]*$/

/** So much of what is no file is seldom without one. */
const OPENING = 48

/** Whether a long string may be one, by its first bytes in raw JSON. */
export const mayBeFile = (bytes: Buffer, start: number): boolean => {
  const end = Math.min(start + OPENING, bytes.length)
  let at = start
  while (at < end && IN_BASE64[bytes[at] as number] === true) at++
  if (at < end && bytes[at] !== COLON) return false
  return at === end || bytes.toString('latin1', start, start + DATA.length) === DATA
}

const DATA = 'data:'
/** By byte, whether base64 may have it. */
const IN_BASE64 = Array.from({ length: 256 }, (_, byte) => BASE64.test(String.fromCharCode(byte)))

/** The tokenizer's count. `chars`: the length before the text was cut at a bound; the rest counts in proportion. */
export const countTokens = async (text: string, chars = text.length): Promise<number> =>
  text === '' ? 0 : Math.ceil((await tokenize(text)) * (chars / text.length))

/** The tokenizer's count of a whole prompt, files by what vendors bill for them. At least 1. */
export const countBody = async (body: unknown): Promise<number> => {
  const texts = new OutputText()
  const say = (text: string): void => {
    texts.add(text)
    texts.add(' ')
  }
  let fileBytes = 0
  const left: { name: string; value: unknown }[] = [{ name: '', value: body }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { name, value } = next
    if (typeof value === 'string') {
      const bytes = Buffer.byteLength(value)
      const counted = countText(value, bytes, () => name)
      if (counted === bytes) say(value)
      else fileBytes += counted
    } else if (typeof value === 'number' || typeof value === 'boolean') say(String(value))
    else if (Array.isArray(value)) for (const item of value) left.push({ name: '', value: item })
    else if (isObject(value)) {
      const isText = isTextFile(value)
      if (isAddressOfImage(name, value)) fileBytes += IMAGE_TOKENS * BYTES_PER_TOKEN
      for (const member in value) {
        say(member)
        left.push({ name: isText ? '' : member, value: value[member] })
      }
    }
  }
  return Math.max(1, (await countTokens(texts.text, texts.chars)) + Math.ceil(fileBytes / BYTES_PER_TOKEN))
}
