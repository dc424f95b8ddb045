// Undoing in a whole answer what its request's encoding did to tools: names, kinds, and the tool that stood in for JSON.

import type { TextPart, ToolCallPart } from '../../ir/part.ts'
import type { Undo } from '../codec.ts'
import { freeTextOf, sentAs } from '../undo.ts'

/** A whole call as the client knows it; a call of the JSON tool is the answer's text. */
export const undoCall = (call: ToolCallPart, undo: Undo): ToolCallPart | TextPart => {
  if (undo.jsonTool !== undefined && call.name === undo.jsonTool) return { type: 'text', text: call.input || '{}' }
  const sent = sentAs(call.name, undo)
  if (sent === undefined) return call
  const { namespace: _, ...rest } = call
  return { ...rest, ...sent, input: isWrapped(call, undo) ? freeTextOf(call.input).text : call.input }
}

/** Whether free text that was sent as a function's argument breaks off. */
export const isTextCut = (call: ToolCallPart, undo: Undo): boolean =>
  isWrapped(call, undo) && freeTextOf(call.input).cut

const isWrapped = ({ name, kind }: ToolCallPart, undo: Undo): boolean =>
  kind === 'function' && sentAs(name, undo)?.kind === 'custom'
