// A client's pictures and files: in this wire's form, in those that other gateways document for it, and in those of the
// other wires.

import { invalidRequest } from '../../errors.ts'
import { filledText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { DocumentPart, ImagePart, Source } from '../../ir/part.ts'
import { placed } from '../../ir/place.ts'
import { given, optionalString, readObject, readString } from '../read.ts'
import { parseDataUrl, sniffMediaType } from '../turns/data-url.ts'

/** `file`: the members of a `file`, or of an `input_file` of the responses wire, at `path`. */
export const decodeFile = (file: JsonObject, path: string): DocumentPart | ImagePart => {
  const name = optionalString(given(file.filename) ? file.filename : file.file_name, `${path}.filename`)
  const source = placed(fileSource(file, name, path), path)
  // Clients send images as files, too.
  if (source.kind === 'base64' && source.mediaType.startsWith('image/')) return { type: 'image', source }
  return { type: 'document', source, ...(name === undefined ? {} : { name }) }
}

/** Long enough to tell what is in it. */
const BEGINNING = 400

/** Whether a file that `decodeFile` reads is a picture. */
export const holdsPicture = (file: JsonObject, path: string): boolean => {
  const { file_data: data } = file
  return typeof data === 'string' && decodeFile({ ...file, file_data: data.slice(0, BEGINNING) }, path).type === 'image'
}

const fileSource = (file: JsonObject, name: string | undefined, path: string): Source => {
  // Its content every provider can read.
  const isHere = filledText(file.file_data) !== undefined
  const id = isHere ? undefined : optionalString(file.file_id, `${path}.file_id`)
  // Some gateways take an address in place of the id.
  if (id !== undefined && !ADDRESS.test(id)) return { kind: 'file', id, origin: 'chat-completions' }
  const declared = optionalString(given(file.mime_type) ? file.mime_type : file.format, `${path}.mime_type`)
  const mediaType = declared ?? mediaTypeOf(name)
  const address = isHere ? undefined : (id ?? optionalString(file.file_url, `${path}.file_url`))
  if (address !== undefined) return urlSource(address, mediaType, `${path}.file_url`)
  const data = readString(file.file_data, `${path}.file_data`)
  return data.includes(':')
    ? urlSource(data, mediaType, `${path}.file_data`)
    : { kind: 'base64', mediaType: sniffMediaType(data) ?? mediaType, data }
}

const ADDRESS = /^(https?|data):/i

export const urlSource = (url: string, fallback: string, path: string): Source => {
  const held = parseDataUrl(url, fallback)
  if (held !== undefined) return { kind: 'base64', ...held }
  if (url.startsWith('data:')) throw invalidRequest(`'${path}' is not a valid data URL.`, path)
  return { kind: 'url', url }
}

const MEDIA_TYPES: Record<string, string> = {
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
}
const mediaTypeOf = (name: string | undefined): string =>
  MEDIA_TYPES[name?.slice(name.lastIndexOf('.') + 1).toLowerCase() ?? ''] ?? 'application/pdf'

/** A part in the form of Mistral's servers. */
export const decodeDocument = ({ document_url: at, document_name: title }: JsonObject, path: string): DocumentPart => {
  const from = urlSource(readString(at, `${path}.document_url`), 'application/pdf', `${path}.document_url`)
  const name = optionalString(title, `${path}.document_name`)
  return { type: 'document', source: placed(from, `${path}.document_url`), ...(name === undefined ? {} : { name }) }
}

/** Whether a part is a picture or a document in the form of the messages wire, of one source. */
export const isBlock = ({ type, source }: JsonObject): boolean =>
  (type === 'image' || type === 'document') && isObject(source) && source.type !== 'content'

/** A part for which `isBlock` holds. */
export const decodeBlock = (part: JsonObject, path: string): DocumentPart | ImagePart => {
  const source = placed(blockSource(part.source, `${path}.source`), `${path}.source`)
  if (part.type === 'image') return { type: 'image', source }
  const name = optionalString(part.title, `${path}.title`)
  const context = optionalString(part.context, `${path}.context`)
  return {
    type: 'document',
    source,
    ...(name === undefined ? {} : { name }),
    ...(context === undefined ? {} : { context }),
  }
}

const blockSource = (value: Json | undefined, path: string): Source => {
  const { type, url, media_type: mediaType, data, file_id: id } = readObject(value, path)
  switch (type) {
    case 'url':
      return { kind: 'url', url: readString(url, `${path}.url`) }
    case 'text':
      return { kind: 'text', text: readString(data, `${path}.data`) }
    case 'file':
      return { kind: 'file', id: readString(id, `${path}.file_id`), origin: 'messages' }
    default:
      return {
        kind: 'base64',
        mediaType: readString(mediaType, `${path}.media_type`),
        data: readString(data, `${path}.data`),
      }
  }
}
