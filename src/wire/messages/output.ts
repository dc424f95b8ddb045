// Structured output: the provider's own where it can say the schema, else a tool the model must answer with; where the
// client gave no form, words.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import type { ChatRequest, OutputFormat } from '../../ir/request.ts'
import { isFormless, JSON_ONLY } from '../json-mode.ts'
import { objectRoot } from '../object-schema.ts'
import type { Dropped } from './dropped.ts'
import type { Names } from './names.ts'
import { type StrictRoom, strictSchema } from './output-schema.ts'

/** `words`: an instruction to be put to the model. */
type Output = { format?: JsonObject; jsonTool?: { name: string; tool: JsonObject }; words?: string }

export const encodeOutput = (
  request: ChatRequest,
  byTool: boolean,
  names: Names,
  room: StrictRoom,
  dropped: Dropped,
): Output => {
  const { output } = request
  if (output === undefined) return {}
  const own = request.origin === 'messages'
  if (output.type === 'json-object' || (!own && isFormless(output))) {
    // Asked for, but not held to.
    dropped.member('output')
    return { words: JSON_ONLY }
  }
  if (own && !byTool) return { format: { type: 'json_schema', schema: output.schema } }
  const { type } = output.schema
  if (type !== undefined && type !== 'object') {
    const path = dropped.nameOf('output')
    throw invalidRequest(`'${path}': the schema must describe an object.`, path)
  }
  const described = withDescription(output)
  const schema = byTool ? undefined : strictSchema(rooted(described), room)
  if (schema !== undefined) return { format: { type: 'json_schema', schema } }
  const path = dropped.nameOf('output')
  const root = objectRoot(output.schema, (member) => dropped.path(`${path}.${member}`))
  return jsonTool(names, root, output.description ?? 'Give your whole answer in the form of the schema.')
}

/** A root that refers to its own definitions, followed; one of alternatives stays as it is. */
const rooted = (schema: JsonObject): JsonObject => (schema.$ref === undefined ? schema : objectRoot(schema, () => {}))

/** The provider has no other place for what the client says of the form. */
const withDescription = ({ schema, description }: Extract<OutputFormat, { type: 'json-schema' }>): JsonObject =>
  description === undefined || description === '' || schema.description !== undefined
    ? schema
    : { ...schema, description }

const jsonTool = (names: Names, schema: JsonObject, description: string): Output => {
  const name = names.claim('json')
  return { jsonTool: { name, tool: { name, description, input_schema: schema } } }
}
