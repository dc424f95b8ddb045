// Names of the tools that run at a vendor: one for each kind of tool, whatever the vendors and their versions call it.

/** How often each was called. */
export type ServerToolCalls = { [tool: string]: number }

/** What the same tool is called elsewhere. */
const ALIKE: Readonly<Record<string, string>> = {
  code_interpreter: 'code_execution',
  python: 'code_execution',
  bash_code_execution: 'code_execution',
  text_editor_code_execution: 'code_execution',
  web: 'web_search',
  web_search_premium: 'web_search',
  browser_search: 'web_search',
  web_browser: 'web_fetch',
  url_context: 'web_fetch',
  mcp_toolset: 'mcp',
  mcp_tool: 'mcp',
  image_gen: 'image_generation',
  collections_search: 'file_search',
  tool_search_tool_bm25: 'tool_search',
  tool_search_tool_regex: 'tool_search',
}

/** A version behind a tool's type, and the name of a relay before it. */
const VERSION = /(?:_preview)?(?:_\d{8}|_\d{4}_\d{2}_\d{2})?$/
const RELAY = /^[a-z]+:/

/** By the type of a tool in a request, of a call in an answer, or a name that somebody wrote. */
export const serverToolName = (type: string): string => {
  const plain = type.trim().toLowerCase().replaceAll('-', '_').replace(RELAY, '').replace(VERSION, '')
  return Object.hasOwn(ALIKE, plain) ? (ALIKE[plain] ?? plain) : plain
}

/** Those that are common, for the words of help. */
export const SERVER_TOOLS = [
  'web_search',
  'web_fetch',
  'code_execution',
  'mcp',
  'image_generation',
  'file_search',
  'advisor',
] as const

/** A name as people write it. */
export const SERVER_TOOL_PATTERN = '^ *[A-Za-z][A-Za-z0-9_:-]{0,63} *$'

type Setting = 'all' | 'none' | string[]

/** What people wrote, in the names that requests are held to. */
export const namedServerTools = (written: Setting): Setting =>
  typeof written === 'string' ? written : [...new Set(written.map(serverToolName))]
