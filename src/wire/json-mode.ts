// JSON answers that a forced tool gives, and those that an instruction asks for: without a schema the tool would invite `{}`.

import { isObject, type JsonObject } from '../ir/json.ts'
import type { ChatRequest, OutputFormat } from '../ir/request.ts'

export const JSON_ONLY =
  'Give your whole answer as one JSON object and nothing else: no words before or after it and no code fence around it.'

/** The instruction for a schema that the provider cannot hold the model to. */
export const jsonBySchema = (schema: JsonObject): string =>
  `${JSON_ONLY} It must be valid by this JSON schema:\n${JSON.stringify(schema)}`

/** Whether the format asks for JSON without constraining its content. */
export const isFormless = (output: OutputFormat): boolean =>
  output.type === 'json-object' || !CONSTRAINTS.some((isIn) => isIn(output.schema))

/** Whether the answer has to be a call of the client's tools: it then has no form, and needs no tool for one. */
export const mustCall = ({ toolChoice: choice }: ChatRequest): boolean =>
  choice?.type === 'tool' || choice?.type === 'required' || (choice?.type === 'allowed' && choice.required)

const given = (name: string) => (schema: JsonObject) => schema[name] !== undefined
const filled = (name: string) => (schema: JsonObject) => isObject(schema[name]) && Object.keys(schema[name]).length > 0

const CONSTRAINTS = [
  ({ type }: JsonObject) => type !== undefined && type !== 'object',
  ...['properties', 'patternProperties', 'additionalProperties'].map(filled),
  ...['$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'].map(given),
]
