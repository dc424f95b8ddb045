// Decodes and encodes the content of a message or of a tool's output.

import { invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ContentPart, DocumentPart, ImagePart, Source } from '../../ir/part.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { OpaqueMember } from '../../ir/request.ts'
import { given, optionalString, readObject, readString } from '../read.ts'
import { foreignFile, textForImage } from '../refusal/refusals.ts'
import { decodeBreakpoint, encodeBreakpoint } from '../turns/breakpoint.ts'
import { parseDataUrl, sniffMediaType } from '../turns/data-url.ts'
import type { Outgoing } from './outgoing.ts'
import { listUnread, SHOWN } from './unread.ts'

/**
 * A message's content or a tool's output: text, or a list of parts. Parts of unknown types stay whole and are listed in
 * `opaque` as essential, because what the user showed the model cannot be left out.
 */
export const decodeContent = (value: Json | undefined, path: string, opaque: OpaqueMember[]): ContentPart[] => {
  if (typeof value === 'string') return [placed({ type: 'text', text: value }, path)]
  if (!Array.isArray(value)) throw invalidRequest(`'${path}' must be a string or an array.`, path)
  return value.map((part, at) => placed(decodePart(part, `${path}.${at}`, opaque), `${path}.${at}`))
}

export const decodePart = (value: Json, path: string, opaque: OpaqueMember[]): ContentPart => {
  if (typeof value === 'string') return { type: 'text', text: value }
  const part = readObject(value, path)
  const type = readString(part.type, `${path}.type`)
  listUnread(part, SHOWN[type], path, opaque)
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: readString(part.text, `${path}.text`), ...decodeBreakpoint(part, path) }
    case 'input_image':
      return decodeImage(part, path)
    case 'input_file':
      if (given(part.detail)) opaque.push({ name: `${path}.detail`, value: part.detail, essential: false })
      return decodeFile(part, path, opaque)
    default:
      opaque.push({ name: path, value: part, essential: true })
      return { type: 'opaque', origin: 'responses', value: part }
  }
}

const decodeImage = (part: JsonObject, path: string): ImagePart | DocumentPart => {
  const link = isObject(part.image_url) ? part.image_url.url : part.image_url
  const detail = optionalString(part.detail, `${path}.detail`)
  const rest = { ...(detail === undefined || detail === 'auto' ? {} : { detail }), ...decodeBreakpoint(part, path) }
  if (given(link)) {
    const source = urlSource(readString(link, `${path}.image_url`), 'image/png')
    // Clients send documents in this form, too: the media type tells.
    return isDocument(source)
      ? { type: 'document', source, ...decodeBreakpoint(part, path) }
      : { type: 'image', source, ...rest }
  }
  if (given(part.file_id)) return { type: 'image', source: fileSource(part.file_id, `${path}.file_id`), ...rest }
  throw invalidRequest(`'${path}.image_url' is missing, and so is a file_id.`, `${path}.image_url`)
}

const isDocument = (source: Source): boolean =>
  source.kind === 'text' ||
  (source.kind === 'base64' && ['application/pdf', 'application/json'].includes(source.mediaType))

const decodeFile = (part: JsonObject, path: string, opaque: OpaqueMember[]): DocumentPart | ImagePart => {
  const name = optionalString(part.filename, `${path}.filename`)
  const rest = { ...(name === undefined ? {} : { name }), ...decodeBreakpoint(part, path) }
  if (given(part.file_data)) {
    const source = dataSource(readString(part.file_data, `${path}.file_data`))
    // Clients send images as files, too.
    const isPicture = source.kind === 'base64' && source.mediaType.startsWith('image/')
    if (!isPicture) return { type: 'document', source, ...rest }
    // No wire's pictures have names.
    if (name !== undefined) opaque.push({ name: `${path}.filename`, value: name, essential: false })
    return { type: 'image', source, ...decodeBreakpoint(part, path) }
  }
  if (given(part.file_url)) {
    return { type: 'document', source: urlSource(readString(part.file_url, `${path}.file_url`)), ...rest }
  }
  if (given(part.file_id)) return { type: 'document', source: fileSource(part.file_id, `${path}.file_id`), ...rest }
  throw invalidRequest(`'${path}.file_data' is missing, and so are a file_url and a file_id.`, `${path}.file_data`)
}

const fileSource = (value: Json, path: string): Source => ({
  kind: 'file',
  id: readString(value, path),
  origin: 'responses',
})

const urlSource = (url: string, fallback = 'text/plain'): Source => {
  const inline = parseDataUrl(url, fallback)
  if (inline === undefined) return { kind: 'url', url }
  if (!inline.mediaType.startsWith('text/')) return { kind: 'base64', ...inline }
  return { kind: 'text', text: Buffer.from(inline.data, 'base64').toString('utf8') }
}

/** A URL, or bare base64, which is a PDF on this wire unless its first bytes tell otherwise. */
const dataSource = (text: string): Source =>
  text.includes(':')
    ? urlSource(text)
    : { kind: 'base64', mediaType: sniffMediaType(text) ?? 'application/pdf', data: text }

/** Parts as input content. Foreign opaque parts are left out and listed. */
export const encodeContent = (parts: readonly ContentPart[], turn: number, out: Outgoing): JsonObject[] =>
  parts.flatMap((part, at) => encodePart(part, placeOf(part, out.pathOf(turn, at)), out))

/** Plain text where the content is one text part without further members. */
export const shortest = (content: JsonObject[]): Json => {
  const [only] = content
  if (content.length !== 1 || only?.type !== 'input_text' || only.prompt_cache_breakpoint !== undefined) return content
  return only.text ?? ''
}

const encodePart = (part: ContentPart, path: string, out: Outgoing): JsonObject[] => {
  switch (part.type) {
    case 'text':
      if (part.citations !== undefined && !out.own) out.drop(`${path}.citations`)
      return [{ type: 'input_text', text: part.text, ...encodeBreakpoint(part.cache, path, out) }]
    case 'image':
      return [
        {
          type: 'input_image',
          ...imageSource(part, path),
          detail: encodeDetail(part, path, out),
          ...encodeBreakpoint(part.cache, path, out),
        },
      ]
    case 'document':
      return [
        ...(part.context === undefined || part.context === '' ? [] : [{ type: 'input_text', text: part.context }]),
        { ...encodeDocument(part, path, out), ...encodeBreakpoint(part.cache, path, out) },
      ]
    case 'opaque':
      if (part.origin === 'responses') return [part.value]
      if (!part.met) out.drop(path)
      return []
  }
}

const encodeDetail = ({ detail, source }: ImagePart, path: string, out: Outgoing): string => {
  if (detail === undefined) return 'auto'
  if (['auto', 'low', 'high', 'original'].includes(detail)) return detail
  out.drop(`${placeOf(source, path)}.detail`)
  return 'auto'
}

const imageSource = ({ source }: ImagePart, path: string): JsonObject => {
  switch (source.kind) {
    case 'url':
      return { image_url: source.url }
    case 'base64':
      return { image_url: `data:${source.mediaType};base64,${source.data}` }
    case 'file':
      return { file_id: ownFile(source, path) }
    case 'text':
      throw textForImage(path)
  }
}

const encodeDocument = ({ source, name }: DocumentPart, path: string, out: Outgoing): JsonObject => {
  switch (source.kind) {
    case 'url':
    case 'file': {
      if (name !== undefined && !out.own) out.drop(nameAt(source, path))
      const at = source.kind === 'url' ? { file_url: source.url } : { file_id: ownFile(source, path) }
      return { type: 'input_file', ...at, ...(name !== undefined && out.own ? { filename: name } : {}) }
    }
    case 'base64':
      return fileData(source.mediaType, source.data, name, out)
    case 'text':
      // Every model reads text but only some read text files, so a file is sent only where the client sent one.
      if (!out.own) return { type: 'input_text', text: titled(source.text, name) }
      return fileData('text/plain', Buffer.from(source.text, 'utf8').toString('base64'), name, out)
  }
}

/** Where another wire's client has written a document's name. */
const nameAt = (source: Source, path: string): string => {
  const at = placeOf(source, `${path}.source`)
  const [, holder, member] = /^(.*)\.(source|document_url)$/.exec(at) ?? []
  return holder === undefined ? `${at}.filename` : `${holder}.${member === 'source' ? 'title' : 'document_name'}`
}

const fileData = (mediaType: string, data: string, name: string | undefined, out: Outgoing): JsonObject => ({
  type: 'input_file',
  ...(out.own && name === undefined ? {} : { filename: out.own ? (name ?? '') : fileName(name, mediaType) }),
  file_data: `data:${mediaType};base64,${data}`,
})

// The provider determines a file's type by its extension, in lower case.
const fileName = (name: string | undefined, mediaType: string): string => {
  if (mediaType === 'application/pdf' && name !== undefined && name !== '') return `${name.replace(/\.pdf$/i, '')}.pdf`
  if (name !== undefined && /\.[a-z0-9]{1,8}$/i.test(name)) return name
  const subtype = mediaType.split('/')[1] ?? ''
  const extension = mediaType === 'text/plain' || !/^[a-z0-9]{1,8}$/.test(subtype) ? 'txt' : subtype
  return name === undefined || name === '' ? `document.${extension}` : `${name}.${extension}`
}

const titled = (text: string, name: string | undefined): string =>
  name === undefined ? text : `<document title=${JSON.stringify(name)}>\n${text}\n</document>`

const ownFile = (source: Extract<Source, { kind: 'file' }>, path: string): string => {
  if (source.origin !== 'messages') return source.id
  throw foreignFile(path)
}
