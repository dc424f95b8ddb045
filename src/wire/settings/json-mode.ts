// JSON answers without a schema, asked for by an instruction: a forced tool without a schema would invite `{}`.

import { isObject, type JsonObject } from '../../ir/json.ts'
import type { OutputFormat } from '../../ir/request.ts'

export const JSON_ONLY =
  'Give your whole answer as one JSON object and nothing else: no words before or after it and no code fence around it.'

/** The instruction for a schema that the provider cannot hold the model to. */
export const jsonBySchema = (schema: JsonObject): string =>
  `${JSON_ONLY} It must be valid by this JSON schema:\n${JSON.stringify(schema)}`

/** Whether the format asks for JSON without constraining its content. */
export const isFormless = (output: OutputFormat): boolean =>
  output.type === 'json-object' || !CONSTRAINTS.some((isIn) => isIn(output.schema))

const given = (name: string) => (schema: JsonObject) => schema[name] !== undefined
const filled = (name: string) => (schema: JsonObject) => isObject(schema[name]) && Object.keys(schema[name]).length > 0

const CONSTRAINTS = [
  ({ type }: JsonObject) => type !== undefined && type !== 'object',
  ...['properties', 'patternProperties', 'additionalProperties'].map(filled),
  ...['$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'].map(given),
]
