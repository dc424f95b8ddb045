// A request's body that is a form, as clients send files: its texts are what decisions are made by, its files are left as
// bytes, and it is passed on as it came but for the texts that are set anew.

import { GatewayError, invalidRequest } from '../errors.ts'
import type { Json, JsonObject } from '../ir/json.ts'
import { asBuffer } from '../lib/as-buffer.ts'
import type { Edit } from '../lib/json-splice.ts'
import { editMultipart, type Form, MultipartFault, type Part, type PartEdit, readMultipart } from '../lib/multipart.ts'
import { DECISIVE } from '../wire/decisive.ts'
import type { FormFile } from '../wire/form.ts'
import { bodyText } from './body-json.ts'
import type { ClientBody } from './client-body.ts'
import { IMAGE_TOKENS, tokensIn } from './estimate.ts'

/** How much of a file is looked at: enough for the header of a sound. */
const OPENING_BYTES = 64

/** Throws `invalid_request`. A file counts as a picture does until its wire knows better. */
export const openForm = (bytes: Uint8Array<ArrayBuffer>, contentType: string): ClientBody => {
  const form = faultless(() => readMultipart(bytes, contentType))
  const members = new Map<string, Json>()
  let textBytes = 0
  let files = 0
  for (const part of form.parts) {
    requireDecided(part, members)
    if (part.isFile) files++
    else textBytes += part.end - part.start
    const value = part.isFile ? fileOf(bytes, part) : textOf(bytes, part)
    const before = members.get(part.name)
    members.set(part.name, before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value])
  }
  const outline: JsonObject = Object.fromEntries(members)
  return {
    size: bytes.byteLength,
    contentType,
    outline,
    inputEstimate: tokensIn(textBytes) + files * IMAGE_TOKENS,
    mayShow: false,
    leastInput: 0,
    member: (name) => outline[name],
    elements: () => undefined,
    whole: () => ({ text: '', body: outline, plain: true }),
    edited: (edits) =>
      faultless(() =>
        editMultipart(
          bytes,
          form,
          edits.flatMap((edit) => partEdits(form, edit)),
        ),
      ),
  }
}

const faultless = <T>(read: () => T): T => {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof MultipartFault)) throw error
    throw new GatewayError('invalid_request', `The form ${error.message}. Send it as multipart/form-data.`, {
      cause: error,
    })
  }
}

/** What decides is a text that is there once, whichever of two a provider would read, and lists of it are none of its names. */
const requireDecided = ({ name, isFile }: Part, before: ReadonlyMap<string, Json>): void => {
  const [plain = name] = name.split('[')
  if (!DECISIVE.has(plain)) return
  if (plain !== name) throw invalidRequest(`${name}: is written '${plain}'.`, name)
  if (isFile) throw invalidRequest(`${name}: expected a text, not a file.`, name)
  if (before.has(name)) throw invalidRequest(`${name}: is there twice. Send it once.`, name)
}

const textOf = (bytes: Uint8Array<ArrayBuffer>, { name, start, end }: Part): Json => {
  const text = bodyText(bytes.subarray(start, end))
  return READ_AS.get(name)?.(text) ?? text
}

/** Texts that mean something else, in the ways that servers read them; any other stays, and is refused as a text. */
const READ_AS = new Map<string, (text: string) => Json | undefined>([
  ['n', (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined)],
  ['stream', (text) => BOOLEANS.get(text.toLowerCase())],
])
const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

const fileOf = (bytes: Uint8Array<ArrayBuffer>, { start, end }: Part): FormFile => ({
  bytes: end - start,
  opening: asBuffer(bytes).toString('latin1', start, Math.min(end, start + OPENING_BYTES)),
})

/** A member that is there several times is a list. One that is not there cannot be set. */
const partEdits = ({ parts }: Form, { path: [name], value }: Edit): PartEdit[] => {
  const parsed: unknown = value === undefined ? undefined : JSON.parse(value)
  const values = Array.isArray(parsed) ? parsed : [parsed]
  return parts
    .filter((part) => part.name === name)
    .map((part, at) => ({ part, value: value === undefined ? undefined : String(values[at] ?? values[0]) }))
}
