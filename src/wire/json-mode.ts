// An answer in JSON of no given form, asked for in words: a forced tool without a form invites an empty object.

import { isObject, type JsonObject } from '../ir/json.ts'
import type { OutputFormat } from '../ir/request.ts'

export const JSON_ONLY =
  'Give your whole answer as one JSON object and nothing else: no words before or after it and no code fence around it.'

/** Whether the format asks for JSON and says nothing of what is in it. */
export const isFormless = (output: OutputFormat): boolean =>
  output.type === 'json-object' || !SAYS.some((says) => says(output.schema))

const given = (name: string) => (schema: JsonObject) => schema[name] !== undefined
const filled = (name: string) => (schema: JsonObject) => isObject(schema[name]) && Object.keys(schema[name]).length > 0

const SAYS = [
  ({ type }: JsonObject) => type !== undefined && type !== 'object',
  ...['properties', 'patternProperties', 'additionalProperties'].map(filled),
  ...['$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'].map(given),
]
