// Texts, images and documents as parts of the IR.

import { invalidRequest } from '../../errors.ts'
import { asObjects, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { CacheMark, Citation, DocumentPart, ImagePart, Source, TextPart } from '../../ir/part.ts'
import { placed } from '../../ir/place.ts'
import { optionalArray, optionalObject, optionalString, readName, readObject, readString } from '../read.ts'
import type { Collected } from './extras.ts'

const TEXT = new Set(['type', 'text', 'citations', 'cache_control'])
const IMAGE = new Set(['type', 'source', 'cache_control'])
const DOCUMENT = new Set(['type', 'source', 'title', 'context', 'cache_control'])
const SOURCE = new Set(['type', 'media_type', 'data', 'url', 'file_id'])
const OF_BLOCKS = new Set(['type', 'content'])
/** Of the texts that a document is made of, which become one. */
const PLAIN = new Set(['type', 'text'])

export const decodeText = (block: JsonObject, path: string, extras: Collected): TextPart => {
  extras.rest(block, TEXT, path)
  const part: TextPart = { type: 'text', text: readString(block.text, `${path}.text`), ...cacheOf(block, path) }
  const citations = optionalArray(block.citations, `${path}.citations`)
  if (citations === undefined || citations.length === 0) return part
  return { ...part, citations: citations.flatMap((raw) => (isObject(raw) ? [decodeSentCitation(raw)] : [])) }
}

/** A client sends citations back to their provider, so they stay whole; one that the gateway made is a plain link. */
const decodeSentCitation = (raw: JsonObject): Citation =>
  isMadeLink(raw) ? decodeCitation(raw) : { kind: 'opaque', origin: 'messages', value: raw }

/** Whether a citation is a link of another wire's answer: see `encodeCitation`. */
export const isMadeLink = (raw: Json): boolean =>
  isObject(raw) && raw.type === 'web_search_result_location' && raw.encrypted_index === ''

/** In an answer, a citation of a web page is a link that every wire can show; this one's provider wants it back whole. */
export const decodeCitation = (raw: JsonObject): Citation => {
  const { title, cited_text: citedText } = raw
  const url = pageOf(raw)
  if (url === undefined) return { kind: 'opaque', origin: 'messages', value: raw }
  return {
    kind: 'url',
    url,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof citedText === 'string' && citedText !== '' ? { citedText } : {}),
    ...(isMadeLink(raw) ? {} : { native: { origin: 'messages', value: raw } }),
  }
}

/** The source of a search result that the client gave is its own word for it, an address or not. */
const pageOf = ({ type, url, source }: JsonObject): string | undefined => {
  if (type === 'web_search_result_location') return typeof url === 'string' ? url : undefined
  const isPage = type === 'search_result_location' && typeof source === 'string' && /^https?:\/\/\S+$/i.test(source)
  return isPage ? source : undefined
}

/** Content that every wire can show, of a turn or of a tool's result. */
export const decodeReadable = (
  block: JsonObject,
  type: 'text' | 'image' | 'document' | 'search_result',
  path: string,
  extras: Collected,
): TextPart | ImagePart | DocumentPart => {
  switch (type) {
    case 'text':
      return decodeText(block, path, extras)
    case 'image':
      return decodeImage(block, path, extras)
    case 'document':
      return decodeDocument(block, path, extras)
    case 'search_result':
      // A text document for other wires; this wire gets the block back as it was.
      extras.add(path, block)
      return {
        type: 'document',
        source: { kind: 'text', text: textOf(block.content) },
        ...(typeof block.title === 'string' ? { name: block.title } : {}),
        ...(typeof block.source === 'string' ? { context: block.source } : {}),
        ...cacheOf(block, path),
      }
  }
}

const decodeImage = (block: JsonObject, path: string, extras: Collected): ImagePart => {
  extras.rest(block, IMAGE, path)
  return { type: 'image', source: decodeSource(block.source, `${path}.source`, extras), ...cacheOf(block, path) }
}

const decodeDocument = (block: JsonObject, path: string, extras: Collected): DocumentPart => {
  extras.rest(block, DOCUMENT, path)
  const title = optionalString(block.title, `${path}.title`)
  const context = optionalString(block.context, `${path}.context`)
  const raw = readObject(block.source, `${path}.source`)
  let source: Source
  let blocks: DocumentPart['blocks']
  if (raw.type === 'content') {
    const content = `${path}.source.content`
    blocks = blocksOf(raw.content, content, extras)
    if (blocks === undefined)
      for (const [at, block] of asObjects(raw.content).entries()) extras.rest(block, PLAIN, `${content}.${at}`)
    extras.rest(raw, OF_BLOCKS, `${path}.source`)
    extras.add(`${path}.source`, raw, { met: true })
    source = { kind: 'text', text: textOf(raw.content) }
  } else {
    source = decodeSource(raw, `${path}.source`, extras)
  }
  return {
    type: 'document',
    source,
    ...(title === undefined ? {} : { name: title }),
    ...(context === undefined ? {} : { context }),
    ...(blocks === undefined ? {} : { blocks }),
    ...cacheOf(block, path),
  }
}

/** The texts and pictures of a document; undefined where it holds texts alone. Anything else is this wire's only. */
const blocksOf = (content: Json | undefined, path: string, extras: Collected): DocumentPart['blocks'] => {
  const inner = asObjects(content)
  if (inner.every(({ type }) => type === 'text')) return undefined
  return inner.flatMap((block, at): (TextPart | ImagePart)[] => {
    const place = `${path}.${at}`
    if (block.type === 'text') return [placed(decodeText(block, place, extras), place)]
    if (block.type === 'image') return [placed(decodeImage(block, place, extras), place)]
    extras.add(place, block, { essential: true })
    return []
  })
}

const decodeSource = (value: Json | undefined, path: string, extras: Collected): Source => {
  const raw = readObject(value, path)
  extras.rest(raw, SOURCE, path)
  switch (raw.type) {
    case 'base64':
      return {
        kind: 'base64',
        mediaType: readString(raw.media_type, `${path}.media_type`),
        data: readString(raw.data, `${path}.data`),
      }
    case 'url':
      return { kind: 'url', url: readString(raw.url, `${path}.url`) }
    case 'text':
      return { kind: 'text', text: readString(raw.data, `${path}.data`) }
    case 'file':
      return { kind: 'file', id: readName(raw.file_id, `${path}.file_id`), origin: 'messages' }
    default:
      throw invalidRequest(`'${path}.type' must be base64, url, text or file.`, `${path}.type`)
  }
}

/** The text of a string or of the text blocks in an array. */
const textOf = (content: Json | undefined): string => {
  if (typeof content === 'string') return content
  return asObjects(content)
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n')
}

export const cacheOf = (block: JsonObject, path: string): { cache?: CacheMark } => {
  const mark = optionalObject(block.cache_control, `${path}.cache_control`)
  if (mark === undefined) return {}
  const ttl = mark.ttl
  return { cache: ttl === '5m' || ttl === '1h' ? { ttl } : {} }
}
