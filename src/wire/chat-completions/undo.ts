// Undoes in a whole answer what the encoding of its request did to tools: names, kinds, and the tool for structured output.

import type { TextPart, ToolCallPart } from '../../ir/part.ts'
import type { Undo } from '../codec.ts'
import { toolHeard } from '../tools/heard.ts'
import { freeTextOf } from '../tools/undo.ts'

/** A call as the client knows it; a call of the tool for structured output becomes text. */
export const undoCall = (call: ToolCallPart, undo: Undo): ToolCallPart | TextPart => {
  const sent = toolHeard(call, undo)
  if (sent === 'answer') return { type: 'text', text: call.input || '{}' }
  if (sent === undefined) return call
  const { namespace: _, ...rest } = call
  return { ...rest, ...sent, input: isWrapped(call, undo) ? freeTextOf(call.input).text : call.input }
}

/** Whether the free text in a function's argument is cut off. */
export const isTextCut = (call: ToolCallPart, undo: Undo): boolean =>
  isWrapped(call, undo) && freeTextOf(call.input).cut

const isWrapped = (call: ToolCallPart, undo: Undo): boolean => {
  const sent = call.kind === 'function' ? toolHeard(call, undo) : undefined
  return sent !== undefined && sent !== 'answer' && sent.kind === 'custom'
}
