// Parts of the IR as content blocks of a request, in forms that the provider accepts.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import type {
  AssistantPart,
  CacheMark,
  ContentPart,
  DocumentPart,
  ImagePart,
  OpaquePart,
  Source,
  TextPart,
  ToolResultPart,
} from '../../ir/part.ts'
import { placeOf } from '../../ir/place.ts'
import { foreignFile, textForImage } from '../refusal/refusals.ts'
import { INVALID_IMAGE } from '../refusal/unreadable.ts'
import { isMadeSearch } from '../tools/search-calls.ts'
import { decodeText, parseDataUrl, sniffMediaType } from '../turns/data-url.ts'
import type { Dropped } from './dropped.ts'
import type { Extras } from './extras.ts'
import type { Names } from './names.ts'

/** `own`: the client speaks this wire. */
export type PartContext = { extras: Extras; dropped: Dropped; names: Names; noReasoning: boolean; own: boolean }

/** The provider refuses text blocks of white space alone. */
export const isBlank = (text: string): boolean => text.trim() === ''

export const encodeText = (part: TextPart, path: string, { extras, dropped, own }: PartContext): JsonObject[] => {
  if (isBlank(part.text)) return []
  const block: JsonObject = { type: 'text', text: part.text, ...mark(part.cache) }
  if (part.citations !== undefined) {
    const citations = part.citations.flatMap((citation) =>
      citation.kind === 'opaque' && citation.origin === 'messages' ? [citation.value] : [],
    )
    if (!own && citations.length < part.citations.length) dropped.path(`${path}.annotations`)
    if (citations.length > 0) block.citations = citations
  }
  return [extras.restore(path, block)]
}

const encodeImage = (part: ImagePart, path: string, { extras, dropped }: PartContext): JsonObject[] => {
  if (part.detail !== undefined && part.detail !== 'auto') dropped.path(`${placeOf(part.source, path)}.detail`)
  const source = inlined(part.source)
  switch (source.kind) {
    case 'url':
      return [extras.restore(path, { type: 'image', source: { type: 'url', url: source.url }, ...mark(part.cache) })]
    case 'base64': {
      const mediaType = IMAGE_TYPES.get(sniffMediaType(source.data) ?? source.mediaType.toLowerCase())
      if (mediaType === undefined) {
        const message = `'${path}': images of type ${source.mediaType} cannot be read by this model. ${INVALID_IMAGE}`
        throw invalidRequest(message, path)
      }
      const encoded = { type: 'base64', media_type: mediaType, data: source.data }
      return [extras.restore(path, { type: 'image', source: encoded, ...mark(part.cache) })]
    }
    case 'file':
      return [extras.restore(path, { type: 'image', source: ownFile(source, path), ...mark(part.cache) })]
    case 'text':
      throw textForImage(path)
  }
}

const IMAGE_TYPES = new Map([
  ['image/jpeg', 'image/jpeg'],
  ['image/jpg', 'image/jpeg'],
  ['image/png', 'image/png'],
  ['image/gif', 'image/gif'],
  ['image/webp', 'image/webp'],
])

const encodeDocument = (part: DocumentPart, path: string, { extras }: PartContext): JsonObject[] => {
  const source = documentSource(inlined(part.source), path)
  if (source === undefined) return []
  const block: JsonObject = { type: 'document', source }
  if (part.name !== undefined && part.name !== '') block.title = part.name
  if (part.context !== undefined && part.context !== '') block.context = part.context
  return [extras.restore(path, { ...block, ...mark(part.cache) })]
}

const documentSource = (source: Source, path: string): JsonObject | undefined => {
  switch (source.kind) {
    case 'url':
      return { type: 'url', url: source.url }
    case 'file':
      return ownFile(source, path)
    case 'text':
      return isBlank(source.text) ? undefined : { type: 'text', media_type: 'text/plain', data: source.text }
    case 'base64': {
      const mediaType = source.mediaType.toLowerCase().split(';', 1)[0]?.trim() ?? ''
      if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data: source.data }
      const text = decodeText({ mediaType, data: source.data })
      if (text === undefined) {
        throw invalidRequest(`'${path}': documents of type ${source.mediaType} cannot be read by this model.`, path)
      }
      return isBlank(text) ? undefined : { type: 'text', media_type: 'text/plain', data: text }
    }
  }
}

const ownFile = (source: Extract<Source, { kind: 'file' }>, path: string): JsonObject => {
  if (source.origin === 'messages') return { type: 'file', file_id: source.id }
  throw foreignFile(path)
}

/** A `data:` URL as base64: the provider fetches URLs and does not decode them. */
const inlined = (source: Source): Source => {
  const held = source.kind === 'url' ? parseDataUrl(source.url, '') : undefined
  return held === undefined ? source : { kind: 'base64', ...held }
}

/** `id`: the id that its call was sent with. */
export const encodeToolResult = (part: ToolResultPart, id: string, path: string, context: PartContext): JsonObject => {
  const content = part.parts.flatMap((inner, at) =>
    encodeContentPart(inner, placeOf(inner, `${path}.content.${at}`), context),
  )
  const block: JsonObject = { type: 'tool_result', tool_use_id: id }
  // With `is_error`, the provider refuses content that is empty or not text.
  const isError = part.isError === true && content.every((inner) => inner.type === 'text')
  if (part.isError === true && !isError) context.dropped.path(`${path}.is_error`)
  if (content.length > 0) block.content = shortened(content)
  else if (isError) block.content = 'The tool failed without a message.'
  if (isError) block.is_error = true
  else if (part.isError === false) block.is_error = false
  return context.extras.restore(path, { ...block, ...mark(part.cache) })
}

/** Content of a user's message or of a tool's result. */
export const encodeContentPart = (part: ContentPart, path: string, context: PartContext): JsonObject[] => {
  switch (part.type) {
    case 'text':
      return encodeText(part, path, context)
    case 'image':
      return encodeImage(part, path, context)
    case 'document':
      return encodeDocument(part, path, context)
    case 'opaque':
      return encodeOpaque(part, path, context)
  }
}

/** Calls are encoded in conversation.ts, which knows the ids they are sent with. */
export const encodeAssistantPart = (
  part: Exclude<AssistantPart, { type: 'tool-call' }>,
  path: string,
  context: PartContext,
): JsonObject[] => {
  switch (part.type) {
    case 'text':
      return encodeText(part, path, context)
    case 'refusal':
      return isBlank(part.text) ? [] : [{ type: 'text', text: part.text }]
    case 'reasoning': {
      if (part.seal === undefined) {
        if (part.text !== '') context.dropped.path(path)
        return []
      }
      if (part.seal.origin !== 'messages' || context.noReasoning) return []
      const { signature, data } = part.seal.value
      if (typeof data === 'string') return [{ type: 'redacted_thinking', data }]
      return typeof signature === 'string' ? [{ type: 'thinking', thinking: part.text, signature }] : []
    }
    case 'opaque':
      return encodeOpaque(part, path, context)
  }
}

/** This wire's own value as it was; any other is left out, and listed unless other means express it (`met`). */
export const encodeOpaque = (part: OpaquePart, path: string, { dropped }: PartContext): JsonObject[] => {
  if (part.origin === 'messages') return isMadeSearch(part.value) ? [] : [part.value]
  if (!part.met) dropped.path(path)
  return []
}

/** Content as a string where it is one plain text. */
export const shortened = (blocks: JsonObject[]): string | JsonObject[] => {
  const [only] = blocks
  if (blocks.length !== 1 || only === undefined || only.type !== 'text' || Object.keys(only).length !== 2) return blocks
  const text = only.text
  return typeof text === 'string' ? text : blocks
}

export const mark = (cache: CacheMark | undefined): JsonObject =>
  cache === undefined
    ? {}
    : { cache_control: cache.ttl === undefined ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: cache.ttl } }
