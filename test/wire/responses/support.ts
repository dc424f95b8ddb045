// The published schemas of the wire, where they are at hand.

import { existsSync, readFileSync } from 'node:fs'
import Ajv from 'ajv'

/** Recorded traffic and schemas, beside the repository. */
export const corpus = new URL('../../../../shared/corpus/', import.meta.url).pathname

export const hasSchemas = existsSync(`${corpus}schemas`)

type Validate = (value: unknown) => string[]

const compiled = new Map<string, Validate>()

/** What is wrong with a value by a published schema; nothing where the schemas are absent. */
export const validator = (name: string): Validate => {
  const known = compiled.get(name)
  if (known !== undefined) return known
  if (!hasSchemas) return () => []
  const schema = JSON.parse(readFileSync(`${corpus}schemas/${name}.schema.json`, 'utf8'))
  const validate = new Ajv({ strict: false, allErrors: false }).compile(schema)
  const made: Validate = (value) =>
    validate(value)
      ? []
      : (validate.errors ?? []).map(
          ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
        )
  compiled.set(name, made)
  return made
}

/** Items a provider made, replayed as they came: the request types are stricter about them than the provider is. */
const REPLAYED = /^(reasoning|program|program_output|.*_call|.*_call_output|mcp_.*|compaction|tool_search_output)$/

/** What is wrong with a request to the provider: strict but for replayed items, which the open schema judges. */
export const strictErrors = (body: { [name: string]: unknown }): string[] => {
  const strict = validator('OpenAIResponseCreateParams.strict')(body)
  if (strict.length === 0) return []
  const open = validator('OpenAIResponseCreateParams')(body)
  const input = Array.isArray(body.input)
    ? body.input.filter((item) => !(typeof item.type === 'string' && REPLAYED.test(item.type)))
    : body.input
  return [...open, ...validator('OpenAIResponseCreateParams.strict')({ ...body, input })]
}
