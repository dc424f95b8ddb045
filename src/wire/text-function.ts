// A tool of free text as a function, for wires that have only those: the text is its one argument, which `freeText` of
// undo.ts reads.

import { isObject, type JsonObject } from '../ir/json.ts'
import type { CustomTool } from '../ir/request.ts'

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
