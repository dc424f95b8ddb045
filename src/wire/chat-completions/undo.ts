// Undoes in a whole answer what the encoding of its request did to tools: names, kinds, and the tool for structured output.

import type { TextPart, ToolCallPart } from '../../ir/part.ts'
import type { Undo } from '../codec.ts'
import { freeTextOf, originalTool } from '../undo.ts'

/** A call as the client knows it; a call of the tool for structured output becomes text. */
export const undoCall = (call: ToolCallPart, undo: Undo): ToolCallPart | TextPart => {
  if (undo.jsonTool !== undefined && call.name === undo.jsonTool) return { type: 'text', text: call.input || '{}' }
  const sent = originalTool(call.name, undo)
  if (sent === undefined) return call
  const { namespace: _, ...rest } = call
  return { ...rest, ...sent, input: isWrapped(call, undo) ? freeTextOf(call.input).text : call.input }
}

/** Whether the free text in a function's argument is cut off. */
export const isTextCut = (call: ToolCallPart, undo: Undo): boolean =>
  isWrapped(call, undo) && freeTextOf(call.input).cut

const isWrapped = ({ name, kind }: ToolCallPart, undo: Undo): boolean =>
  kind === 'function' && originalTool(name, undo)?.kind === 'custom'
