// An answer in JSON of no given form, asked for in words: a forced tool without a form invites an empty object.

import { isObject, type JsonObject } from '../ir/json.ts'
import type { OutputFormat } from '../ir/request.ts'

export const JSON_ONLY =
  'Give your whole answer as one JSON object and nothing else: no words before or after it and no code fence around it.'

/** Whether the format asks for JSON and says nothing of what is in it. */
export const isFormless = (output: OutputFormat): boolean =>
  output.type === 'json-object' || !Object.keys(output.schema).some((name) => SAYS[name]?.(output.schema) ?? false)

const given = (name: string) => (schema: JsonObject) => schema[name] !== undefined
const filled = (name: string) => (schema: JsonObject) => isObject(schema[name]) && Object.keys(schema[name]).length > 0

const SAYS: { [name: string]: ((schema: JsonObject) => boolean) | undefined } = {
  type: ({ type }) => type !== 'object',
  properties: filled('properties'),
  patternProperties: filled('patternProperties'),
  additionalProperties: filled('additionalProperties'),
  $ref: given('$ref'),
  anyOf: given('anyOf'),
  oneOf: given('oneOf'),
  allOf: given('allOf'),
  enum: given('enum'),
  const: given('const'),
}
