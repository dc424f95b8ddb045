// Tools that blocks of the conversation add or remove. Other wires have only one list: the tools at the end of the
// conversation.

import { asList, asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { Tool } from '../../ir/request.ts'
import { isToolChange } from './decode-parts.ts'
import type { Collected } from './extras.ts'
import { isInstructions } from './instructions.ts'
import { decodeTool } from './tools.ts'

/** The list with the tools that the conversation adds, marked `within`; those that it removes are marked `gone`. */
export const changedTools = (list: Tool[], messages: Json[], extras: Collected): Tool[] => {
  const tools = [...list]
  // The last tool of each name.
  const last = new Map(tools.map((tool, at) => [nameOf(tool), at]))
  const mark = (name: string | undefined, gone: boolean): void => {
    const at = name === undefined ? undefined : last.get(name)
    const known = at === undefined ? undefined : tools[at]
    if (at === undefined || known === undefined) return
    const { gone: _, ...rest } = known
    tools[at] = placed(gone ? { ...rest, gone } : rest, placeOf(known, `tools.${at}`))
  }
  const change = ({ type, tool }: JsonObject, path: string): void => {
    if (!isObject(tool)) return
    if (tool.type === 'tool_definition') {
      const at = `${path}.tool.definition`
      const added = decodeTool(tool.definition, at, extras)
      mark(nameOf(added), true)
      last.set(nameOf(added), tools.push(placed({ ...added, within: true }, at)) - 1)
    } else if (tool.type === 'tool_reference' && typeof tool.name === 'string') {
      mark(tool.name, type === 'tool_removal')
    }
  }
  for (const [at, message] of messages.entries()) {
    const content = asList(asObject(message).content)
    for (const [number, block] of content.entries()) {
      if (!isObject(block)) continue
      const path = `messages.${at}.content.${number}`
      if (isToolChange(block)) change(block, path)
      const held = block.type === 'compaction' ? 'tool_changes' : isInstructions(block) ? 'content' : undefined
      if (held === undefined) continue
      for (const [index, kept] of asList(block[held]).entries())
        if (isObject(kept)) change(kept, `${path}.${held}.${index}`)
    }
  }
  return tools
}

const nameOf = (tool: Tool): string | undefined => {
  if (tool.type !== 'opaque') return tool.name
  return typeof tool.value.name === 'string' ? tool.value.name : undefined
}
