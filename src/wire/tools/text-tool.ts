// Tools of free text: their grammar, and the function that one becomes on a wire that has only those. The text is its one
// argument, which `freeText` of undo.ts reads.

import { isObject, type JsonObject } from '../../ir/json.ts'
import type { CustomTool } from '../../ir/request.ts'

/** A grammar's members are flat in the IR, as on the responses wire; some clients nest them like chat-completions. */
export const flatFormat = (format: JsonObject): JsonObject =>
  isObject(format.grammar) ? { ...format.grammar, type: 'grammar' } : format

/** The grammar becomes a part of the description; no member where there is nothing to say. */
export const textDescription = ({ description, format }: CustomTool): { description?: string } => {
  const lines = description === undefined || description === '' ? [] : [description]
  if (isObject(format) && format.type === 'grammar') {
    const { syntax, definition } = format
    lines.push(`The input is text of this grammar (${syntax ?? 'lark'}):\n${definition ?? ''}`)
  }
  return lines.length === 0 ? {} : { description: lines.join('\n\n') }
}

export const TEXT_SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
}
