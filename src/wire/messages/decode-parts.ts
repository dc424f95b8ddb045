// The content blocks of a client's turns as parts of the IR.

import { invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type {
  AssistantPart,
  ContentPart,
  OpaquePart,
  ReasoningPart,
  SystemPart,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../ir/part.ts'
import { placed } from '../../ir/place.ts'
import { optionalString, readName, readObject, readString } from '../read.ts'
import { taggedThought } from '../seal.ts'
import { isEmptyInput } from '../tools/call-input.ts'
import { SEALED_ADVICE, summaryText } from '../turns/summary.ts'
import { cacheOf, decodeReadable, decodeText } from './decode-content.ts'
import type { Collected } from './extras.ts'

/** Reads a turn's content with `decode`. A string is one text, an empty one no part. */
export const decodeContent = <P extends object>(
  content: Json | undefined,
  path: string,
  decode: (block: JsonObject, type: string, path: string) => P,
): (P | TextPart)[] => {
  if (typeof content === 'string') return content === '' ? [] : [placed({ type: 'text', text: content }, path)]
  if (!Array.isArray(content)) throw invalidRequest(`'${path}' must be a string or an array of blocks.`, path)
  return content.map((raw, at) => {
    const place = `${path}.${at}`
    const block = readObject(raw, place)
    return placed(decode(block, readString(block.type, `${place}.type`), place), place)
  })
}

export const systemPart =
  (extras: Collected) =>
  (block: JsonObject, type: string, path: string): SystemPart => {
    if (type !== 'text') return toolChangeOr(shown, block, path, extras)
    return FOR_ACCOUNTS.test(String(block.text)) ? opaque(block) : decodeText(block, path, extras)
  }

/**
 * A first line that some agents send for their vendor's billing. It differs in every request: other providers must not get
 * it, or nothing behind it would be cached.
 */
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
        const input = JSON.stringify(block.input ?? {})
        // The default caller need not be kept.
        extras.rest(
          isObject(block.caller) && block.caller.type === 'direct' ? { ...block, caller: null } : block,
          TOOL_USE,
          path,
        )
        return {
          type: 'tool-call',
          id: readString(block.id, `${path}.id`),
          name: readName(block.name, `${path}.name`),
          kind: 'function',
          input: isEmptyInput(input) ? '{}' : input,
          ...cacheOf(block, path),
        }
      }
      case 'thinking':
        return decodeThought(
          optionalString(block.thinking, `${path}.thinking`) ?? '',
          'signature',
          optionalString(block.signature, `${path}.signature`) ?? '',
        )
      case 'redacted_thinking':
        return decodeThought('', 'data', readString(block.data, `${path}.data`))
      case 'compaction':
        return decodeCompaction(block, path, extras)
      default:
        return toolChangeOr(opaque, block, path, extras)
    }
  }

const TOOL_USE = new Set(['type', 'id', 'name', 'input', 'cache_control'])
const COMPACTION = new Set(['type', 'content', 'encrypted_content', 'signature', 'tool_changes', 'cache_control'])
const TOOL_RESULT = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control'])

const opaque = (value: JsonObject): OpaquePart => ({ type: 'opaque', origin: 'messages', value })

/** Blocks by the model or its provider's tools: other providers can continue the conversation without them. */
const FROM_MODEL = /^(tool_use|server_tool_use|mcp_.*|thinking|redacted_thinking|fallback|.+_tool_result)$/

/** Input for the model in a form that only this wire has: other wires must refuse it rather than leave it out. */
const shown = (value: JsonObject, path: string, extras: Collected, advice?: string): OpaquePart => {
  extras.add(path, value, { essential: true, ...(advice === undefined ? {} : { advice }) })
  return opaque(value)
}

export const isToolChange = ({ type }: JsonObject): boolean => type === 'tool_addition' || type === 'tool_removal'

/** Changes of the list of tools are read in tool-changes.ts. */
const toolChangeOr = (
  otherwise: (block: JsonObject, path: string, extras: Collected) => OpaquePart,
  block: JsonObject,
  path: string,
  extras: Collected,
): OpaquePart => (isToolChange(block) ? { ...opaque(block), met: true } : otherwise(block, path, extras))

/** A summary that replaces what came before it: text for other wires, unless it is encrypted. */
const decodeCompaction = (block: JsonObject, path: string, extras: Collected): TextPart | OpaquePart => {
  extras.rest(block, COMPACTION, path)
  const content = optionalString(block.content, `${path}.content`)
  if (content !== undefined && content !== '') {
    extras.add(path, block, { met: true })
    return { type: 'text', text: summaryText(content), ...cacheOf(block, path) }
  }
  const sealed = optionalString(block.encrypted_content, `${path}.encrypted_content`)
  return sealed === undefined ? { ...opaque(block), met: true } : shown(block, path, extras, SEALED_ADVICE)
}

/** A thought that the client sends back: another wire's as a tag, this wire's own, or one without a seal. */
export const decodeThought = (text: string, slot: 'signature' | 'data', content: string): ReasoningPart => {
  const tagged = taggedThought(content, text)
  if (tagged !== undefined) return tagged
  if (content === '') return { type: 'reasoning', text }
  return { type: 'reasoning', text, seal: { origin: 'messages', value: { [slot]: content } } }
}

const decodeToolResult = (block: JsonObject, path: string, extras: Collected): ToolResultPart => {
  extras.rest(block, TOOL_RESULT, path)
  const isError = block.is_error
  return {
    type: 'tool-result',
    callId: readString(block.tool_use_id, `${path}.tool_use_id`),
    kind: 'function',
    parts: decodeContent(block.content ?? '', `${path}.content`, (inner, type, at) =>
      resultPart(inner, type, at, extras),
    ),
    ...(typeof isError === 'boolean' ? { isError } : {}),
    ...cacheOf(block, path),
  }
}

const resultPart = (block: JsonObject, type: string, path: string, extras: Collected): ContentPart => {
  switch (type) {
    case 'text':
    case 'image':
    case 'document':
    case 'search_result':
      return decodeReadable(block, type, path, extras)
    case 'tool_reference':
      // Models of other wires must still learn that their search has found the tool.
      extras.add(path, block)
      return { type: 'text', text: `Tool found: ${readString(block.tool_name, `${path}.tool_name`)}` }
    default:
      return shown(block, path, extras)
  }
}
