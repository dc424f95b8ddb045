// Structured output for servers that have none: a tool the model must call, whose arguments are the answer.

import type { JsonObject } from '../../ir/json.ts'
import type { OutputFormat } from '../../ir/request.ts'

/** Adds the tool to the encoded body and returns its name. Other tools stay callable where the client brought some. */
export const forcedTool = (output: OutputFormat, body: JsonObject): string => {
  const others = Array.isArray(body.tools) ? body.tools : []
  const taken = JSON.stringify(others)
  let name = 'json'
  while (taken.includes(`"name":"${name}"`)) name = `${name}_output`
  const schema: JsonObject = output.type === 'json-schema' ? output.schema : {}
  const description = output.type === 'json-schema' ? output.description : undefined
  const parameters = { ...schema, type: 'object', properties: schema.properties ?? {} }
  const tool = {
    type: 'function',
    function: { name, description: description ?? 'Gives the answer as JSON.', parameters },
  }
  const callable = others.length > 0 && body.tool_choice !== 'none'
  body.tools = [...others, tool]
  if (typeof body.tool_choice !== 'object') {
    body.tool_choice = callable ? 'required' : { type: 'function', function: { name } }
  }
  return name
}
