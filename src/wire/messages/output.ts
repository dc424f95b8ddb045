// Structured output: the provider's own where it can say the schema, else a tool the model must answer with.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import type { ChatRequest } from '../../ir/request.ts'
import type { Dropped } from './dropped.ts'
import type { Names } from './names.ts'
import { strictSchema } from './output-schema.ts'

export type Output = { format?: JsonObject; jsonTool?: { name: string; tool: JsonObject } }

export const encodeOutput = (request: ChatRequest, byTool: boolean, names: Names, dropped: Dropped): Output => {
  const { output } = request
  if (output === undefined) return {}
  if (output.type === 'json-object')
    return jsonTool(names, { type: 'object' }, 'Give your whole answer as one JSON object.')
  const own = request.origin === 'messages'
  if (!byTool) {
    const schema = own ? output.schema : strictSchema(output.schema)
    if (schema !== undefined) return { format: { type: 'json_schema', schema } }
  }
  if (output.schema.type !== undefined && output.schema.type !== 'object') {
    const path = dropped.nameOf('output')
    throw invalidRequest(`${path}: the schema must describe an object`, path)
  }
  return jsonTool(
    names,
    { ...output.schema, type: 'object' },
    output.description ?? 'Give your whole answer in the form of the schema.',
  )
}

const jsonTool = (names: Names, schema: JsonObject, description: string): Output => {
  const name = names.claim('json')
  const { anyOf: _, oneOf: __, allOf: ___, ...root } = schema
  return { jsonTool: { name, tool: { name, description, input_schema: root } } }
}
