// Multipart forms, edited in place: where each part's value stands, so that one can be set and every other byte stays.
// Parsers differ in what they make of a form that is not written to the letter; such a form is refused, so that whoever
// gets it reads the same parts.

import { asBuffer } from './as-buffer.ts'

export type Part = {
  name: string
  /** Whether it is a file, by having a name of one. */
  isFile: boolean
  /** Its value. */
  start: number
  end: number
  /** From its delimiter to the next. */
  from: number
  to: number
}

export type Form = { parts: Part[]; delimiter: Buffer }

/** The form is not written to the letter. `message`: what is wrong, as the end of a sentence about it. */
export class MultipartFault extends Error {}

const MOST_PARTS = 1_000
const MOST_HEADER_BYTES = 8 * 1024

/** Whether a body of that content type is a form. */
export const isMultipart = (contentType: string | null): contentType is string =>
  contentType !== null && /^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType)

/** Throws `MultipartFault`. */
export const readMultipart = (bytes: Uint8Array<ArrayBuffer>, contentType: string): Form => {
  const body = asBuffer(bytes)
  const delimiter = Buffer.from(`--${boundaryOf(contentType)}`, 'latin1')
  const parts: Part[] = []
  let at = body.indexOf(delimiter)
  if (at === -1) throw new MultipartFault('has none of the boundaries that its Content-Type names')
  if (at !== 0 && !(at === 2 && isCrlf(body, 0))) throw new MultipartFault('does not begin with its boundary')
  for (;;) {
    const after = at + delimiter.length
    const next = body.indexOf(delimiter, after)
    if (body[after] === DASH && body[after + 1] === DASH) {
      if (next !== -1) throw new MultipartFault('goes on after its last boundary')
      return { parts, delimiter }
    }
    if (next === -1) throw new MultipartFault('does not end with its boundary')
    if (parts.length === MOST_PARTS) throw new MultipartFault(`has more than ${MOST_PARTS} parts`)
    parts.push(partBetween(body, at, after, next))
    at = next
  }
}

const DASH = 0x2d
const CRLF = '\r\n'
const isCrlf = (body: Buffer, at: number): boolean => body[at] === 0x0d && body[at + 1] === 0x0a

const partBetween = (body: Buffer, from: number, after: number, next: number): Part => {
  let line = after
  while (body[line] === 0x20 || body[line] === 0x09) line++
  if (!isCrlf(body, line)) throw new MultipartFault('has its boundary within a part')
  const head = line + 2
  const blank = body.subarray(head, Math.min(next, head + MOST_HEADER_BYTES)).indexOf(CRLF + CRLF)
  if (blank === -1) throw new MultipartFault('has a part whose headers do not end')
  const start = head + blank + 4
  const end = next - 2
  if (end < start || !isCrlf(body, end)) throw new MultipartFault('has its boundary within a part')
  return { ...namedBy(body.toString('utf8', head, head + blank)), start, end, from, to: next }
}

/** Name and kind of a part, by its headers. */
const namedBy = (headers: string): Pick<Part, 'name' | 'isFile'> => {
  let disposition: string | undefined
  for (const line of headers.split(CRLF)) {
    const [, name = '', value = ''] = HEADER.exec(line) ?? []
    switch (name.toLowerCase()) {
      case '':
        throw new MultipartFault('has a part with a header that cannot be read')
      case 'content-disposition':
        if (disposition !== undefined) throw new MultipartFault('has a part with two names')
        disposition = value
        break
      case 'content-transfer-encoding':
        if (!/^(?:7bit|8bit|binary)\s*$/i.test(value)) throw new MultipartFault('has a part that is encoded')
        break
    }
  }
  const [type, parameters] = parametersOf(disposition ?? '')
  const name = parameters.get('name')
  if (type !== 'form-data' || name === undefined || parameters.has('name*') || /[\\%]/.test(name))
    throw new MultipartFault('has a part whose name cannot be read')
  const files = ['filename', 'filename*'].flatMap((each) => parameters.get(each) ?? [])
  // To a parser that does not heed quotes it would be the part's own name.
  if (files.some((file) => /name\s*\*?=/i.test(file))) throw new MultipartFault('has a file whose name cannot be read')
  return { name, isFile: files.length > 0 }
}

// Neither folded lines nor bare line ends: some parsers take them for the end of a header, and some do not.
const HEADER = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([^\r\n\0]*)$/

/** A boundary is chosen by the client: any text of these characters. */
const BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/

const boundaryOf = (contentType: string): string => {
  const [, parameters] = parametersOf(contentType)
  const boundary = parameters.get('boundary')
  if (
    boundary === undefined ||
    !BOUNDARY.test(boundary) ||
    [...parameters.keys()].some((name) => /^boundary\*/.test(name))
  )
    throw new MultipartFault('has a Content-Type without a boundary')
  return boundary
}

const PARAMETER = /[ \t]*;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*)))?/y

/** A header's value in small letters, and its parameters. Throws `MultipartFault` for one that is there twice. */
const parametersOf = (header: string): [string, Map<string, string>] => {
  const type = /^[^;]*/.exec(header)?.[0] ?? ''
  const parameters = new Map<string, string>()
  const pattern = new RegExp(PARAMETER)
  pattern.lastIndex = type.length
  while (pattern.lastIndex < header.length) {
    const at = pattern.lastIndex
    const found = pattern.exec(header)
    if (found === null) {
      if (header.slice(at).trim() === '') break
      throw new MultipartFault('has a header that cannot be read')
    }
    const [, name, quoted, plain = ''] = found
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (parameters.has(key)) throw new MultipartFault('has a header that says the same twice')
    parameters.set(key, quoted ?? plain)
  }
  return [type.trim().toLowerCase(), parameters]
}

/** What to do with a part: set its value, or remove it all. */
export type PartEdit = { part: Part; value: string | undefined }

/** The form with edits; the same bytes where nothing changes. Throws `MultipartFault` for a value that would end its part. */
export const editMultipart = (
  bytes: Uint8Array<ArrayBuffer>,
  { delimiter }: Pick<Form, 'delimiter'>,
  edits: readonly PartEdit[],
): Uint8Array<ArrayBuffer> => {
  const body = asBuffer(bytes)
  const pieces: Uint8Array[] = []
  let at = 0
  for (const { part, value } of edits.toSorted((a, b) => a.part.start - b.part.start)) {
    if (value === undefined) {
      pieces.push(body.subarray(at, part.from))
      at = part.to
      continue
    }
    const written = Buffer.from(value)
    if (written.equals(body.subarray(part.start, part.end))) continue
    if (written.includes(delimiter)) throw new MultipartFault('has a boundary that occurs in what it holds')
    pieces.push(body.subarray(at, part.start), written)
    at = part.end
  }
  return pieces.length === 0 ? bytes : Buffer.concat([...pieces, body.subarray(at)])
}
