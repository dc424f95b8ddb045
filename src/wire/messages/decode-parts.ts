// The content blocks of a client's turns as parts of the IR.

import { invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type {
  AssistantPart,
  CacheMark,
  Citation,
  DocumentPart,
  ImagePart,
  OpaquePart,
  ReasoningPart,
  Source,
  SystemPart,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../ir/part.ts'
import { placed } from '../../ir/place.ts'
import { taggedThought } from '../seal.ts'
import { aName, anArray, anObject, aString, optional } from './expect.ts'
import type { Collected } from './extras.ts'

/** Reads the content of a turn of the role. A string is one text; an empty one is nothing. */
export const decodeContent = <P extends object>(
  content: unknown,
  path: string,
  decode: (block: JsonObject, type: string, path: string) => P,
): (P | TextPart)[] => {
  if (typeof content === 'string') return content === '' ? [] : [placed({ type: 'text', text: content }, path)]
  if (!Array.isArray(content)) throw invalidRequest(`${path}: expected a string or an array of blocks`, path)
  return content.map((raw, at) => {
    const block = anObject(raw, `${path}.${at}`)
    return placed(decode(block, aString(block.type, `${path}.${at}.type`), `${path}.${at}`), `${path}.${at}`)
  })
}

export const systemPart =
  (extras: Collected) =>
  (block: JsonObject, type: string, path: string): SystemPart => {
    if (type !== 'text') return toolChangeOr(shown, block, path, extras)
    return FOR_ACCOUNTS.test(String(block.text)) ? opaque(block) : decodeText(block, path, extras)
  }

/** What agents tell their vendor's accounts ahead of all: it is new with every request, and ends any cached prompt. */
const FOR_ACCOUNTS = /^x-[a-z0-9-]*billing-header:[^\n]*\n?$/

export const userPart =
  (extras: Collected) =>
  (block: JsonObject, type: string, path: string): UserPart => {
    switch (type) {
      case 'tool_result':
        return decodeToolResult(block, path, extras)
      case 'text':
      case 'image':
      case 'document':
      case 'search_result':
        return decodeReadable(block, type, path, extras)
      case 'compaction':
        return decodeCompaction(block, path, extras)
      default:
        return FROM_MODEL.test(type) ? opaque(block) : toolChangeOr(shown, block, path, extras)
    }
  }

export const assistantPart =
  (extras: Collected) =>
  (block: JsonObject, type: string, path: string): AssistantPart => {
    switch (type) {
      case 'text':
        return decodeText(block, path, extras)
      case 'tool_use': {
        // A call the model made itself says nothing by it.
        extras.rest(
          isObject(block.caller) && block.caller.type === 'direct' ? { ...block, caller: null } : block,
          TOOL_USE,
          path,
        )
        return {
          type: 'tool-call',
          id: aName(block.id, `${path}.id`),
          name: aName(block.name, `${path}.name`),
          kind: 'function',
          input: JSON.stringify(block.input ?? {}),
          ...cacheOf(block, path),
        }
      }
      case 'thinking':
        return decodeThought(
          optional(block.thinking, `${path}.thinking`, aString) ?? '',
          'signature',
          optional(block.signature, `${path}.signature`, aString) ?? '',
        )
      case 'redacted_thinking':
        return decodeThought('', 'data', aString(block.data, `${path}.data`))
      case 'compaction':
        return decodeCompaction(block, path, extras)
      default:
        return toolChangeOr(opaque, block, path, extras)
    }
  }

const TEXT = new Set(['type', 'text', 'citations', 'cache_control'])
const IMAGE = new Set(['type', 'source', 'cache_control'])
const DOCUMENT = new Set(['type', 'source', 'title', 'context', 'cache_control'])
const TOOL_USE = new Set(['type', 'id', 'name', 'input', 'cache_control'])
const TOOL_RESULT = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control'])

const opaque = (value: JsonObject): OpaquePart => ({ type: 'opaque', origin: 'messages', value })

/** Blocks of the model's, and of its provider's tools: the conversation can go on without them. */
const FROM_MODEL = /^(tool_use|server_tool_use|mcp_.*|thinking|redacted_thinking|fallback|.+_tool_result)$/

/** What a model was told or shown in a form that only this wire has cannot be left out. */
const shown = (value: JsonObject, path: string, extras: Collected, advice?: string): OpaquePart => {
  extras.add(path, value, { essential: true, ...(advice === undefined ? {} : { advice }) })
  return opaque(value)
}

export const isToolChange = ({ type }: JsonObject): boolean => type === 'tool_addition' || type === 'tool_removal'

/** Changes of the list of tools are made in the list: see tool-changes.ts. */
const toolChangeOr = (
  otherwise: (block: JsonObject, path: string, extras: Collected) => OpaquePart,
  block: JsonObject,
  path: string,
  extras: Collected,
): OpaquePart => (isToolChange(block) ? { ...opaque(block), met: true } : otherwise(block, path, extras))

const SEALED = 'Only the provider that made it can read it: go on with one of its models, or begin a new conversation.'

const SUMMARY = 'The conversation up to here, as a summary of what was said and done:\n\n'

/** What stands for all that was said before it: readable anywhere as text, but where it is sealed. */
const decodeCompaction = (block: JsonObject, path: string, extras: Collected): TextPart | OpaquePart => {
  const content = optional(block.content, `${path}.content`, aString)
  if (content !== undefined && content !== '') {
    extras.add(path, block, { met: true })
    return { type: 'text', text: SUMMARY + content, ...cacheOf(block, path) }
  }
  const sealed = optional(block.encrypted_content, `${path}.encrypted_content`, aString)
  return sealed === undefined ? { ...opaque(block), met: true } : shown(block, path, extras, SEALED)
}

/** A thought as it came back in its slot: tagged, of this wire's own, or plain. */
export const decodeThought = (text: string, slot: 'signature' | 'data', content: string): ReasoningPart => {
  const tagged = taggedThought(content, text)
  if (tagged !== undefined) return tagged
  if (content === '') return { type: 'reasoning', text }
  return { type: 'reasoning', text, seal: { origin: 'messages', value: { [slot]: content } } }
}

const decodeText = (block: JsonObject, path: string, extras: Collected): TextPart => {
  extras.rest(block, TEXT, path)
  const part: TextPart = { type: 'text', text: aString(block.text, `${path}.text`), ...cacheOf(block, path) }
  const citations = optional(block.citations, `${path}.citations`, anArray)
  if (citations === undefined || citations.length === 0) return part
  return { ...part, citations: citations.flatMap((raw) => (isObject(raw) ? [decodeSentCitation(raw)] : [])) }
}

/** In a conversation a citation returns to its provider, so it stays whole; one of our own making is a plain link. */
const decodeSentCitation = (raw: JsonObject): Citation =>
  raw.type === 'web_search_result_location' && raw.encrypted_index === ''
    ? decodeCitation(raw)
    : { kind: 'opaque', origin: 'messages', value: raw }

/** In an answer a citation of a page is a link any wire can show. */
export const decodeCitation = (raw: JsonObject): Citation => {
  const { url, title, cited_text: citedText } = raw
  if (raw.type !== 'web_search_result_location' || typeof url !== 'string') {
    return { kind: 'opaque', origin: 'messages', value: raw }
  }
  return {
    kind: 'url',
    url,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof citedText === 'string' && citedText !== '' ? { citedText } : {}),
  }
}

const decodeReadable = (
  block: JsonObject,
  type: 'text' | 'image' | 'document' | 'search_result',
  path: string,
  extras: Collected,
): TextPart | ImagePart | DocumentPart => {
  switch (type) {
    case 'text':
      return decodeText(block, path, extras)
    case 'image':
      extras.rest(block, IMAGE, path)
      return { type: 'image', source: decodeSource(block.source, `${path}.source`), ...cacheOf(block, path) }
    case 'document':
      return decodeDocument(block, path, extras)
    case 'search_result':
      // Readable elsewhere as a text document; here it stays what it is.
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

const decodeDocument = (block: JsonObject, path: string, extras: Collected): DocumentPart => {
  extras.rest(block, DOCUMENT, path)
  const title = optional(block.title, `${path}.title`, aString)
  const context = optional(block.context, `${path}.context`, aString)
  const raw = anObject(block.source, `${path}.source`)
  let source: Source
  if (raw.type === 'content') {
    // Its texts are readable anywhere; its pictures are not in them.
    const pictured = Array.isArray(raw.content) && raw.content.some((inner) => isObject(inner) && inner.type !== 'text')
    extras.add(`${path}.source`, raw, { essential: pictured })
    source = { kind: 'text', text: textOf(raw.content) }
  } else {
    source = decodeSource(raw, `${path}.source`)
  }
  return {
    type: 'document',
    source,
    ...(title === undefined ? {} : { name: title }),
    ...(context === undefined ? {} : { context }),
    ...cacheOf(block, path),
  }
}

const decodeSource = (value: unknown, path: string): Source => {
  const raw = anObject(value, path)
  switch (raw.type) {
    case 'base64':
      return {
        kind: 'base64',
        mediaType: aString(raw.media_type, `${path}.media_type`),
        data: aString(raw.data, `${path}.data`),
      }
    case 'url':
      return { kind: 'url', url: aString(raw.url, `${path}.url`) }
    case 'text':
      return { kind: 'text', text: aString(raw.data, `${path}.data`) }
    case 'file':
      return { kind: 'file', id: aName(raw.file_id, `${path}.file_id`), origin: 'messages' }
    default:
      throw invalidRequest(`${path}.type: expected base64, url, text or file`, `${path}.type`)
  }
}

const decodeToolResult = (block: JsonObject, path: string, extras: Collected): ToolResultPart => {
  extras.rest(block, TOOL_RESULT, path)
  const isError = block.is_error
  return {
    type: 'tool-result',
    callId: aName(block.tool_use_id, `${path}.tool_use_id`),
    kind: 'function',
    parts: decodeContent(block.content ?? '', `${path}.content`, (inner, type, at) =>
      resultPart(inner, type, at, extras),
    ),
    ...(typeof isError === 'boolean' ? { isError } : {}),
    ...cacheOf(block, path),
  }
}

const resultPart = (
  block: JsonObject,
  type: string,
  path: string,
  extras: Collected,
): ToolResultPart['parts'][number] => {
  switch (type) {
    case 'text':
    case 'image':
    case 'document':
    case 'search_result':
      return decodeReadable(block, type, path, extras)
    case 'tool_reference':
      // The model elsewhere must still learn that its search has found the tool.
      extras.add(path, block)
      return { type: 'text', text: `Tool found: ${aString(block.tool_name, `${path}.tool_name`)}` }
    default:
      return shown(block, path, extras)
  }
}

/** The text of a string or of the text blocks in an array. */
const textOf = (content: Json | undefined): string => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap((raw) => (isObject(raw) && typeof raw.text === 'string' ? [raw.text] : [])).join('\n')
}

export const cacheOf = (block: JsonObject, path: string): { cache?: CacheMark } => {
  const mark = optional(block.cache_control, `${path}.cache_control`, anObject)
  if (mark === undefined) return {}
  const ttl = mark.ttl
  return { cache: ttl === '5m' || ttl === '1h' ? { ttl } : {} }
}
