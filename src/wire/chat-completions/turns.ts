// A client's messages as turns.

import { invalidRequest } from '../../errors.ts'
import { isFilled, type Json, type JsonObject } from '../../ir/json.ts'
import type { ContentPart, SystemPart, ToolCallPart, ToolResultPart, UserPart } from '../../ir/part.ts'
import { placed } from '../../ir/place.ts'
import type { Turn } from '../../ir/request.ts'
import { flatInSteps, type Steps } from '../../lib/steps.ts'
import { given, optionalString, readArray, readObject, readString } from '../read.ts'
import { decodeBreakpoint } from '../turns/breakpoint.ts'
import { shownTurn } from '../turns/shown-turn.ts'
import { decodeAssistant } from './assistant.ts'
import { decodeContent } from './parts.ts'

export function* decodeTurns(messages: Json | undefined): Steps<Turn[]> {
  const list = readArray(messages, 'messages')
  if (list.length === 0) throw invalidRequest("'messages' must hold at least one message.", 'messages')
  const calls = new Map<string, ToolCallPart>()
  return yield* flatInSteps(list, (message, at) => {
    const path = `messages.${at}`
    const raw = readObject(message, path)
    const shown: ContentPart[] = []
    const turn = placed(marked(decodeTurn(raw, at, calls, shown), raw, path), path)
    return shown.length === 0 ? [turn] : [turn, placed(shownTurn(shown), path)]
  })
}

/** Clients of several vendors also set the messages wire's marker on the message: it applies to the last part. */
const marked = (turn: Turn, message: JsonObject, path: string): Turn => {
  const last = turn.parts.at(-1)
  if (last !== undefined && (last.type === 'text' || last.type === 'tool-call' || last.type === 'tool-result'))
    Object.assign(last, decodeBreakpoint(message, path), last.cache === undefined ? {} : { cache: last.cache })
  return turn
}

/**
 * `calls` collects the calls seen so far, by id and, for the legacy form that has no ids, by name; `shown` the pictures and
 * files of an assistant message.
 */
const decodeTurn = (message: JsonObject, at: number, calls: Map<string, ToolCallPart>, shown: ContentPart[]): Turn => {
  const path = `messages.${at}`
  const role = readString(message.role, `${path}.role`)
  const name = optionalString(message.name, `${path}.name`)
  const named = name === undefined ? {} : { name }
  switch (role) {
    case 'system':
    case 'developer': {
      requireContent(message, path)
      const parts = decodeContent(message.content, `${path}.content`).map((part, index) =>
        toSystemPart(part, `${path}.content.${index}.type`),
      )
      return { role: 'system', parts, ...(role === 'developer' ? { developer: true } : {}), ...named }
    }
    case 'user':
      requireContent(message, path)
      return { role: 'user', parts: userParts(message.content, `${path}.content`, calls), ...named }
    case 'assistant': {
      const parts = decodeAssistant(message, path, () => '', shown)
      // Some servers give the pictures of an answer beside its content.
      if (Array.isArray(message.images)) shown.push(...decodeContent(message.images, `${path}.images`))
      for (const part of parts) {
        if (part.type !== 'tool-call') continue
        calls.set(part.id, part)
        if (isFilled(message.function_call)) calls.set(`function ${part.name}`, part)
      }
      return { role: 'assistant', parts, ...named }
    }
    case 'tool': {
      // Of calls that have been made it answers the next, as one with an empty id does.
      const id = readString(message.tool_call_id ?? (calls.size > 0 ? '' : undefined), `${path}.tool_call_id`)
      const known = id === '' ? name : calls.get(id)?.name
      return { ...decodeResult(message, id, path, calls), ...(name === known ? {} : named) }
    }
    case 'function': {
      const called = readString(message.name, `${path}.name`)
      return decodeResult(message, calls.get(`function ${called}`)?.id ?? called, path, calls)
    }
    default:
      throw invalidRequest(
        `'${path}.role' must be system, developer, user, assistant, tool or function.`,
        `${path}.role`,
      )
  }
}

/** Content, and results of calls among it in the form of the messages wire. */
const userParts = (content: Json | undefined, path: string, calls: Map<string, ToolCallPart>): UserPart[] =>
  decodeContent(content, path).map((part, at) => {
    if (part.type !== 'opaque' || part.value.type !== 'tool_result') return part
    const { tool_use_id: id, content, is_error: failed } = part.value
    const callId = readString(id, `${path}.${at}.tool_use_id`)
    const result: ToolResultPart = {
      type: 'tool-result',
      callId,
      kind: calls.get(callId)?.kind ?? 'function',
      parts: decodeContent(content, `${path}.${at}.content`),
      ...(failed === true ? { isError: true } : {}),
      ...decodeBreakpoint(part.value, `${path}.${at}`),
    }
    return placed(result, `${path}.${at}`)
  })

const requireContent = (message: JsonObject, path: string): void => {
  if (!given(message.content)) throw invalidRequest(`'${path}.content' is required.`, `${path}.content`)
}

const toSystemPart = (part: ContentPart, path: string): SystemPart => {
  if (part.type === 'text' || part.type === 'opaque') return part
  throw invalidRequest(`'${path}': system and developer messages hold text only.`, path)
}

const decodeResult = (message: JsonObject, callId: string, path: string, calls: Map<string, ToolCallPart>): Turn => {
  const parts = decodeContent(message.content, `${path}.content`)
  const kind = calls.get(callId)?.kind ?? 'function'
  return { role: 'user', parts: [placed({ type: 'tool-result', callId, kind, parts }, path)] }
}
