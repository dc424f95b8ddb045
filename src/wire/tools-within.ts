// The tools of a request in every place where a wire may list them, and what a vendor does of its own accord: tools that it
// runs, servers that it calls. By a client's body as it stands, on any wire.

import { asList, isObject, type Json, type JsonObject } from '../ir/json.ts'
import { serverToolName } from '../ir/server-tools.ts'

export type Path = readonly (string | number)[]
export type ToolWithin = { path: Path; tool: JsonObject }

/** A tool that runs at the vendor, by the name that keys and configurations have for it. */
export type HostedTool = { path: Path; name: string }

/** The list of the request, and what the conversation adds to it. */
export const toolsWithin = (body: JsonObject): ToolWithin[] => [
  ...listed(body.tools, ['tools']),
  ...asList(body.messages).flatMap((message, at) =>
    isObject(message) ? brought(message.content, ['messages', at, 'content']) : [],
  ),
  ...asList(body.input).flatMap((item, at) => (isObject(item) ? listed(item.tools, ['input', at, 'tools']) : [])),
]

/** Tools of a list, those of the namespaces in it included. */
const listed = (list: Json | undefined, path: Path): ToolWithin[] =>
  asList(list).flatMap((tool, at) => {
    if (!isObject(tool)) return []
    const here = [...path, at]
    return [{ path: here, tool }, ...listed(tool.tools, [...here, 'tools'])]
  })

/** Tools that blocks of a message add, or those within them: of a summary, of instructions. */
const brought = (blocks: Json | undefined, path: Path, isOuter = true): ToolWithin[] =>
  asList(blocks).flatMap((block, at) => {
    if (!isObject(block)) return []
    const here = [...path, at]
    const added = isObject(block.tool) && isObject(block.tool.definition) ? block.tool.definition : undefined
    const own = added === undefined ? [] : [{ path: [...here, 'tool', 'definition'], tool: added }]
    if (!isOuter) return own
    const inner = ['tool_changes', 'content'].flatMap((name) => brought(block[name], [...here, name], false))
    return inner.length === 0 ? own : [...own, ...inner]
  })

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

const hostedName = (tool: JsonObject): string | undefined => {
  const names = typesOf(tool).map(serverToolName)
  return names.find((name) => (name === SHELL ? isContained(tool) : !AT_CLIENT.has(name)))
}

const SHELL = 'shell'

/** A shell is the client's, unless it asks for one of the vendor's containers. */
const isContained = ({ environment }: JsonObject): boolean =>
  isObject(environment) && environment.type !== undefined && environment.type !== 'local'

/** Some servers read a member whatever the case of its letters. */
const typesOf = (tool: JsonObject): string[] =>
  Object.entries(tool).flatMap(([name, value]) =>
    typeof value === 'string' && name.toLowerCase() === 'type' ? [value] : [],
  )

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
