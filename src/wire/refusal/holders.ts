// Where a request holds what a server may lack: files, turns without a thought, schemas of tools and answers.

import { asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { type Place, placesOf, valueAt } from './member-path.ts'

export const FORMS = ['response_format', 'text.format', 'output_config.format', 'output_format']

/** The first content that is a list, and of nothing but texts. */
export const listIn = (sent: JsonObject): Place | undefined =>
  placesOf(sent, 'messages.*.content').find((place) => {
    const content = valueAt(sent, place)
    return Array.isArray(content) && content.every((part) => asObject(part).type === 'text')
  })

export const thoughtlessIn = (sent: JsonObject): Place | undefined =>
  placesOf(sent, 'messages.*').find((place) => {
    const { role, reasoning_content: thought } = asObject(valueAt(sent, place))
    return role === 'assistant' && (thought === undefined || thought === null || thought === '')
  })

/** Of a part that holds one, on any wire. */
const FILES = new Set<Json | undefined>(['file', 'input_file', 'document'])
export const fileIn = (sent: JsonObject): Place | undefined =>
  ['messages.*.content.*', 'input.*.content.*']
    .flatMap((path) => placesOf(sent, path))
    .find((place) => FILES.has(asObject(valueAt(sent, place)).type))

const SCHEMAS = [
  ...['tools.*.function.parameters', 'tools.*.parameters', 'tools.*.input_schema', 'functions.*.parameters'],
  ...['response_format.json_schema.schema', ...FORMS.map((path) => `${path}.schema`)],
]
/** The first tool whose arguments are one of several objects. */
export const rootAlternativesIn = (sent: JsonObject): Place | undefined =>
  placesOf(sent, 'tools.*.input_schema').find((place) =>
    ['oneOf', 'anyOf', 'allOf'].some((name) => asObject(valueAt(sent, place))[name] !== undefined),
  )
/** The first tool whose arguments are not told. */
export const shapelessIn = (sent: JsonObject): Place | undefined =>
  ['tools.*', 'tools.*.function']
    .flatMap((path) => placesOf(sent, path))
    .find((place) => isShapelessTool(valueAt(sent, place)))

export const isShapelessTool = (tool: Json | undefined): boolean => {
  const { type = 'function', name, input_schema: other, parameters } = asObject(tool)
  const isOne = type === 'function' && name !== undefined && other === undefined
  return isOne && Object.keys(asObject(parameters)).length === 0
}

export const schemasIn = (sent: JsonObject): JsonObject[] =>
  SCHEMAS.flatMap((path) => placesOf(sent, path).map((place) => valueAt(sent, place))).filter(isObject)
