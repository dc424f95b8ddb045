// The tools of a request in every place where a wire may list them, and what a vendor does of its own accord: tools that it
// runs, servers that it calls. By a client's body as it stands, on any wire.

import { asList, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { serverToolName } from '../../ir/server-tools.ts'

export type Path = readonly (string | number)[]
export type ToolWithin = { path: Path; tool: JsonObject }

/** A tool that runs at the vendor, by the name that keys and configurations have for it. */
export type HostedTool = { path: Path; name: string }

/** The list of the request. */
export const toolsListed = ({ tools }: JsonObject): ToolWithin[] => {
  const found: ToolWithin[] = []
  addListed(tools, ['tools'], found)
  return found
}

/** What the conversation adds to it. Of long conversations hardly any block adds a tool. */
export const toolsBrought = (body: JsonObject): ToolWithin[] => {
  const found: ToolWithin[] = []
  const messages = asList(body.messages)
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]
    if (isObject(message)) addBrought(message.content, at, found)
  }
  asList(body.input).forEach((item, at) => {
    if (isObject(item) && item.tools !== undefined) addListed(item.tools, ['input', at, 'tools'], found)
  })
  return found
}

/** Tools of a list, those of the namespaces in it included. */
const addListed = (list: Json | undefined, path: Path, found: ToolWithin[]): void => {
  asList(list).forEach((tool, at) => {
    if (!isObject(tool)) return
    const here = [...path, at]
    found.push({ path: here, tool })
    if (tool.tools !== undefined) addListed(tool.tools, [...here, 'tools'], found)
  })
}

const INNER = ['tool_changes', 'content'] as const

/** Tools that blocks of a message add, or those within them: of a summary, of instructions. */
const addBrought = (blocks: Json | undefined, message: number, found: ToolWithin[]): void => {
  if (!Array.isArray(blocks)) return
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at]
    if (!isObject(block)) continue
    if (block.tool !== undefined) addDefined(block, ['messages', message, 'content', at], found)
    for (const name of INNER) {
      const inner = block[name]
      if (!Array.isArray(inner)) continue
      for (let within = 0; within < inner.length; within++) {
        const one = inner[within]
        if (isObject(one) && one.tool !== undefined)
          addDefined(one, ['messages', message, 'content', at, name, within], found)
      }
    }
  }
}

const addDefined = ({ tool }: JsonObject, path: Path, found: ToolWithin[]): void => {
  if (isObject(tool) && isObject(tool.definition))
    found.push({ path: [...path, 'tool', 'definition'], tool: tool.definition })
}

/** Tools that the vendor defines and the client runs, without their versions; and those that only find others. */
const AT_CLIENT = new Set([
  'function',
  'custom',
  'namespace',
  'apply_patch',
  'local_shell',
  'bash',
  'text_editor',
  'memory',
  'computer',
  'computer_use',
  'tool_search',
])

/** Whether the vendor runs it. A type that nobody here knows is the vendor's. */
export const isHosted = (tool: JsonObject): boolean => hostedName(tool) !== undefined

/** Some servers read a member whatever the case of its letters. */
const hostedName = (tool: JsonObject): string | undefined => {
  for (const member in tool) {
    const type = tool[member]
    if (typeof type !== 'string' || member.length !== 4 || member.toLowerCase() !== 'type' || AT_CLIENT.has(type))
      continue
    const name = serverToolName(type)
    if (name === SHELL ? isContained(tool) : !AT_CLIENT.has(name)) return name
  }
  return undefined
}

const SHELL = 'shell'

/** A shell is the client's, unless it asks for one of the vendor's containers. */
const isContained = ({ environment }: JsonObject): boolean =>
  isObject(environment) && environment.type !== undefined && environment.type !== 'local'

/** Of the members beside the tools, those by which a vendor does the same. */
const BESIDE: readonly { name: RegExp; tool: string; asks?: (value: Json) => boolean }[] = [
  { name: /^mcp_servers?$/, tool: 'mcp' },
  { name: /^(?!disable_|no_)(?:[a-z_]+_)?search(?:_options|_parameters)?$/, tool: 'web_search' },
  {
    name: /^container$/,
    tool: 'code_execution',
    asks: (value) => isObject(value) && Array.isArray(value.skills) && value.skills.length > 0,
  },
  // What is kept at the vendor under an id may bring tools that nobody here has seen.
  { name: /^prompt$/, tool: 'stored_prompt', asks: (value) => isObject(value) },
]

/** Whether a member of that name may ask for such a tool. */
export const asksBeside = (name: string): boolean => BESIDE.some((beside) => beside.name.test(name.toLowerCase()))

/** All that runs at the vendor, in the order of the body's lists. */
export const hostedWithin = (body: JsonObject, tools: readonly ToolWithin[]): HostedTool[] => {
  const found: HostedTool[] = []
  for (const { path, tool } of tools) {
    const name = hostedName(tool)
    if (name !== undefined) found.push({ path, name: name === SHELL ? 'code_execution' : name })
  }
  for (const name in body) {
    const value = body[name]
    if (!asksFor(value)) continue
    const lower = name.toLowerCase()
    if (lower === 'plugins')
      for (const [at, plugin] of asList(value).entries())
        if (isObject(plugin) && typeof plugin.id === 'string')
          found.push({ path: [name, at], name: serverToolName(plugin.id) })
    for (const beside of BESIDE)
      if (beside.name.test(lower) && (beside.asks?.(value) ?? true)) found.push({ path: [name], name: beside.tool })
  }
  return found
}

/** An empty object asks with every default; an empty list, as one that is off, for nothing. */
const asksFor = (value: Json | undefined): value is Json => (Array.isArray(value) ? value.length > 0 : Boolean(value))
