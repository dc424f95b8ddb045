// `response_format`, both ways, and what replaces it for servers without structured output.

import { invalidRequest } from '../../errors.ts'
import { asList, asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { OutputFormat } from '../../ir/request.ts'
import { given, optionalBoolean, optionalString, readObject, readString } from '../read.ts'
import { encodeSchemaForm } from '../schema/form.ts'
import { withinGrammar } from '../schema/limits.ts'
import { isFormless } from '../settings/json-mode.ts'
import type { Outgoing } from './outgoing.ts'
import { rooted } from './tools.ts'

export const decodeForm = (raw: Json | undefined): OutputFormat | undefined => {
  if (!given(raw)) return undefined
  const format = readObject(raw, 'response_format')
  switch (readString(format.type, 'response_format.type')) {
    case 'text':
      return undefined
    case 'json_object': {
      // Some servers take a schema here, and frameworks send it to all of them.
      const form: OutputFormat = { type: 'json-schema', schema: asObject(format.schema) }
      return isFormless(form) ? { type: 'json-object' } : form
    }
    case 'json_schema': {
      const path = 'response_format.json_schema'
      // Some servers take the schema without a name, or directly here.
      const isBare = !given(format.json_schema) && isObject(format.schema)
      const { name, description, schema, strict } = isBare ? format : readObject(format.json_schema, path)
      const output: OutputFormat = {
        type: 'json-schema',
        schema: given(schema) ? readObject(schema, `${path}.schema`) : {},
      }
      if (given(name) || !given(schema)) output.name = readString(name, `${path}.name`)
      const about = optionalString(description, `${path}.description`)
      if (about !== undefined) output.description = about
      const isStrict = optionalBoolean(strict, `${path}.strict`)
      if (isStrict !== undefined) output.strict = isStrict
      return output
    }
    default:
      throw invalidRequest("'response_format.type' must be text, json_object or json_schema.", 'response_format.type')
  }
}

export const encodeForm = (output: OutputFormat, { origin, drop, quirks, nameOf }: Outgoing): JsonObject => {
  if (output.type === 'json-object') return { type: 'json_object' }
  const dropped = (member: string): void => drop(`${nameOf('response_format')}.schema.${member}`)
  const { schema, ...form } = encodeSchemaForm(output, origin, dropped)
  return { type: 'json_schema', json_schema: { ...form, schema: withinGrammar(schema, quirks) } }
}

/**
 * Adds an instruction to answer in JSON, after the instructions that begin the conversation. The format is listed as
 * dropped, for an instruction does not force it.
 */
export const askForJson = (instruction: string, messages: JsonObject[], out: Outgoing): void => {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const at = first === -1 ? messages.length : first
  const opening = out.oneSystem ? messages[at - 1] : undefined
  if (typeof opening?.content === 'string') opening.content += `\n\n${instruction}`
  else if (Array.isArray(opening?.content)) opening.content.push({ type: 'text', text: instruction })
  else messages.splice(at, 0, { role: 'system', content: instruction })
  out.drop(out.nameOf('response_format'))
}

/**
 * Adds to the encoded body a tool the model must call, whose arguments are the answer, and returns its name. Other tools
 * stay callable where the client brought some.
 */
export const forceTool = (output: OutputFormat, body: JsonObject, out: Outgoing): string => {
  const others = asList(body.tools)
  const taken = new Set(others.map(toolName))
  let name = 'json'
  while (taken.has(name)) name = `${name}_output`
  const { schema = {}, description = 'Gives the answer as JSON.' } = output.type === 'json-schema' ? output : {}
  const root = rooted(schema, () => out.drop(out.nameOf('response_format')))
  const parameters = withinGrammar(root, out.quirks)
  body.tools = [...others, { type: 'function', function: { name, description, parameters } }]
  body.tool_choice = choiceWithForm(body.tool_choice, name, others.length > 0)
  return name
}

const choiceWithForm = (choice: Json | undefined, name: string, hasOthers: boolean): Json => {
  const form = { type: 'function', function: { name } }
  const { tools } = asObject(asObject(choice).allowed_tools)
  if (Array.isArray(tools))
    return { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [...tools, form] } }
  return hasOthers && choice !== 'none' ? 'required' : form
}

const toolName = (tool: Json): Json | undefined => {
  if (!isObject(tool)) return undefined
  const body = tool.function ?? tool.custom
  return isObject(body) ? body.name : tool.name
}
