// Structured output: the provider's own where it takes the schema, else a tool that the model must answer with, or an
// instruction where the client gave no schema or the model cannot be forced to call a tool.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { ChatRequest, OutputFormat } from '../../ir/request.ts'
import { objectRoot } from '../schema/object.ts'
import { withDefinitions } from '../schema/references.ts'
import { isFormless, JSON_ONLY, jsonBySchema } from '../settings/json-mode.ts'
import { forcesCall } from '../tools/choice.ts'
import { withAcceptedNames } from './argument-names.ts'
import type { Dropped } from './dropped.ts'
import type { Names } from './names.ts'
import { type StrictRoom, strictSchema } from './output-schema.ts'

type Output = { format?: JsonObject; jsonTool?: { name: string; tool: JsonObject }; instruction?: string }

export const encodeOutput = (
  request: ChatRequest,
  { structuredOutputByTool: byTool, noForcedTools }: Quirks,
  { names, room, dropped }: { names: Names; room: StrictRoom; dropped: Dropped },
): Output => {
  const { output } = request
  if (output === undefined) return {}
  const own = request.origin === 'messages'
  if (output.type === 'json-object' || (!own && isFormless(output))) {
    // Listed: an instruction asks the model for JSON, but does not force it.
    dropped.member('output_config.format')
    return { instruction: JSON_ONLY }
  }
  if (own && !byTool) return { format: { type: 'json_schema', schema: output.schema } }
  const { type } = output.schema
  if (type !== undefined && type !== 'object') {
    const path = dropped.nameOf('output_config.format')
    throw invalidRequest(`'${path}': the schema must describe an object.`, path)
  }
  const described = withDescription(output)
  const schema = byTool ? undefined : strictSchema(rooted(described), room)
  if (schema !== undefined) return { format: { type: 'json_schema', schema } }
  if (noForcedTools) {
    dropped.member('output_config.format')
    return { instruction: jsonBySchema(described) }
  }
  if (forcesCall(request.toolChoice)) return {}
  const path = dropped.nameOf('output_config.format')
  const root = objectRoot(output.schema, (member) => dropped.path(`${path}.${member}`))
  return jsonTool(names, root, output.description ?? 'Give your whole answer in the form of the schema.')
}

/** The schema with a reference at its root resolved, and definitions for others. Alternatives at the root may stay. */
const rooted = (schema: JsonObject): JsonObject =>
  schema.$ref === undefined ? withDefinitions(schema) : objectRoot(schema, () => {})

/** The provider has no other place for the client's description of the format. */
const withDescription = ({ schema, description }: Extract<OutputFormat, { type: 'json-schema' }>): JsonObject => {
  if (description === undefined || description === '' || description === schema.description) return schema
  const own = typeof schema.description === 'string' && schema.description !== '' ? `\n\n${schema.description}` : ''
  return { ...schema, description: description + own }
}

const jsonTool = (names: Names, schema: JsonObject, description: string): Output => {
  const name = names.claim('json')
  const inputSchema = withAcceptedNames(schema, name, names.replacedArguments)
  return { jsonTool: { name, tool: { name, description, input_schema: inputSchema } } }
}
