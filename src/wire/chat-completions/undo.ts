// Undoing in an answer what its request's encoding did to tools: names, kinds, and the tool that stood in for JSON.

import { isObject } from '../../ir/json.ts'
import type { TextPart, ToolCallPart } from '../../ir/part.ts'
import type { SentTool, Undo } from '../codec.ts'

/** What the client calls a tool that was sent under `name`; undefined where nothing was changed. */
export const undoName = (name: string, { tools }: Undo): SentTool | undefined =>
  tools !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined

/** A whole call as the client knows it; a call of the JSON tool is the answer's text. */
export const undoCall = (call: ToolCallPart, undo: Undo): ToolCallPart | TextPart => {
  if (undo.jsonTool !== undefined && call.name === undo.jsonTool) return { type: 'text', text: call.input || '{}' }
  const sent = undoName(call.name, undo)
  if (sent === undefined) return call
  const { namespace: _, ...rest } = call
  const wrapped = sent.kind === 'custom' && call.kind === 'function'
  return { ...rest, ...sent, input: wrapped ? unwrapInput(call.input) : call.input }
}

/** Whether the arguments that hold free text break off within it. */
export const isCutInput = (text: string): boolean => {
  if (!CUT.test(text)) return false
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

const CUT = /^\s*\{\s*"input"\s*:/

/** The free text out of the arguments of a custom tool that was sent as a function. */
export const unwrapInput = (text: string): string => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && typeof value.input === 'string' ? value.input : text
  } catch {
    return text
  }
}
