// Content parts of system, user and tool messages, both ways.

import { invalidRequest } from '../../errors.ts'
import { asList, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ContentPart, DocumentPart, Source } from '../../ir/part.ts'
import { placed } from '../../ir/place.ts'
import { given, optionalString, readObject, readString } from '../read.ts'
import { foreignFile } from '../refusal/refusals.ts'
import { decodeBreakpoint, encodeBreakpoint } from '../turns/breakpoint.ts'
import { decodeText } from '../turns/data-url.ts'
import { decodeBlock, decodeDocument, decodeFile, isBlock, urlSource } from './files.ts'
import type { Outgoing } from './outgoing.ts'

/** A message's `content` as parts: none for absent, null or ''. */
export const decodeContent = (content: Json | undefined, path: string): ContentPart[] => {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [placed({ type: 'text', text: content }, path)]
  if (!Array.isArray(content)) throw invalidRequest(`'${path}' must be a string or an array of parts.`, path)
  return content.map((part, at) => placed(decodePart(part, `${path}.${at}`), `${path}.${at}`))
}

const decodePart = (raw: Json, path: string): ContentPart => {
  if (typeof raw === 'string') return { type: 'text', text: raw }
  const part = readObject(raw, path)
  const type = readString(part.type, `${path}.type`)
  const cache = decodeBreakpoint(part, path)
  switch (type) {
    case 'text':
    // In the words of the responses wire.
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: readString(part.text, `${path}.text`), ...cache }
    case 'input_image':
    case 'image_url': {
      // Stored at its provider.
      if (type === 'input_image' && !given(part.image_url))
        return { type: 'opaque', origin: 'chat-completions', value: part }
      const image = typeof part.image_url === 'string' ? { url: part.image_url } : part.image_url
      const { url, detail = part.detail } = readObject(image, `${path}.image_url`)
      const from = urlSource(readString(url, `${path}.image_url.url`), 'image/png', `${path}.image_url.url`)
      const source = placed(from, `${path}.image_url`)
      const kind = optionalString(detail, `${path}.image_url.detail`)
      // Clients of several vendors send documents this way, too.
      if (source.kind === 'base64' && (source.mediaType === 'application/pdf' || isText(source.mediaType)))
        return { type: 'document', source, ...cache }
      return { type: 'image', source, ...(kind === undefined ? {} : { detail: kind }), ...cache }
    }
    case 'image':
    case 'document':
      return isBlock(part)
        ? { ...decodeBlock(part, path), ...cache }
        : { type: 'opaque', origin: 'chat-completions', value: part }
    case 'document_url':
      return { ...decodeDocument(part, path), ...cache }
    case 'file':
      return { ...decodeFile(readObject(part.file, `${path}.file`), `${path}.file`), ...cache }
    case 'input_file':
      return { ...decodeFile(part, path), ...cache }
    default:
      return { type: 'opaque', origin: 'chat-completions', value: part }
  }
}

/** Plain text as one string, which every server takes. Several texts of this wire's own client stay separate. */
export const encodeContent = (parts: JsonObject[], { verbatim }: Outgoing): Json => {
  const [first] = parts
  if (first === undefined) return ''
  const plain = parts.every(({ type, prompt_cache_breakpoint: mark }) => type === 'text' && mark === undefined)
  if (!plain || (parts.length > 1 && verbatim)) return parts
  // Many servers take lists of texts in some messages only, or not at all.
  return parts.map(({ text }) => text ?? '').join('\n\n')
}

/** Empty for a part that must be left out, which is then listed. `path`: the client's. */
export const encodePart = (part: ContentPart, path: string, out: Outgoing): JsonObject[] => {
  switch (part.type) {
    case 'text':
      // On this wire, citations are not in content parts.
      if (part.citations !== undefined) out.drop(`${path}.${out.origin === 'messages' ? 'citations' : 'annotations'}`)
      return [{ type: 'text', text: part.text, ...encodeBreakpoint(part.cache, path, out) }]
    case 'image': {
      const detail = part.detail === undefined || !DETAILS.includes(part.detail) ? {} : { detail: part.detail }
      return [
        {
          type: 'image_url',
          image_url: { url: imageUrl(part.source, path), ...detail },
          ...encodeBreakpoint(part.cache, path, out),
        },
      ]
    }
    case 'document':
      return encodeDocument(part, path, out)
    case 'opaque':
      if (part.origin === 'chat-completions') return [part.value]
      if (!part.met) out.drop(path)
      return []
  }
}

const DETAILS = ['auto', 'low', 'high', 'original']

const imageUrl = (source: Source, path: string): string => {
  if (source.kind === 'url') return source.url
  if (source.kind === 'base64') return `data:${source.mediaType};base64,${source.data}`
  throw invalidRequest(`'${path}': this model takes images by URL or as base64 only.`, path)
}

const encodeDocument = (part: DocumentPart, path: string, out: Outgoing): JsonObject[] => {
  const { source, name } = part
  const mark = encodeBreakpoint(part.cache, path, out)
  const own = out.origin === 'chat-completions'
  const textParts = (text: string): JsonObject[] => {
    const head = [name, part.context].filter((line) => line !== undefined && line !== '')
    return [{ type: 'text', text: [...head, text].join('\n\n'), ...mark }]
  }
  const context: JsonObject[] = part.context ? [{ type: 'text', text: part.context }] : []
  switch (source.kind) {
    case 'text':
      return textParts(source.text)
    case 'base64': {
      // The vendor takes only PDFs as files: text is sent as text.
      const text = own || source.mediaType === 'application/pdf' ? undefined : decodeText(source)
      if (text !== undefined) return textParts(text)
      return [
        ...context,
        {
          type: 'file',
          file: {
            filename: name ?? (own ? 'document' : 'document.pdf'),
            file_data: `data:${source.mediaType};base64,${source.data}`,
          },
          ...mark,
        },
      ]
    }
    case 'file':
      if (source.origin !== 'chat-completions') throw foreignFile(path)
      return [
        ...context,
        { type: 'file', file: { file_id: source.id, ...(name === undefined ? {} : { filename: name }) }, ...mark },
      ]
    case 'url':
      if (own) {
        return [
          { type: 'file', file: { file_data: source.url, ...(name === undefined ? {} : { filename: name }) }, ...mark },
        ]
      }
      throw invalidRequest(`'${path}': this model takes documents as base64 or text only, not by URL.`, path)
  }
}

const isText = (mediaType: string): boolean => mediaType.startsWith('text/') || mediaType === 'application/json'

/** The content of several messages as one. */
export const joinedContent = (messages: readonly Json[]): Json => {
  const contents = messages.map((message) => (isObject(message) ? message.content : undefined))
  if (contents.every((content) => typeof content === 'string')) return contents.join('\n\n')
  const parts = contents.flatMap((content) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content),
  )
  return parts.length === 0 ? '' : parts
}
