// Tools of this wire's vendor that the client runs itself (shell, patches, the search for more tools), whose calls are items
// of their own. To other vendors' models they are functions: here are their names, descriptions and schemas.

import { distinct } from '../../ir/distinct.ts'
import { asList, asObject, asObjects, asText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { FunctionTool } from '../../ir/request.ts'
import { given } from '../read.ts'
import { hasEncrypted } from './encrypted.ts'

const CLIENT_TOOLS = ['local_shell', 'shell', 'apply_patch', 'tool_search'] as const
export type ClientTool = (typeof CLIENT_TOOLS)[number]

type Form = { description: string; schema: JsonObject }

const text = (description: string): JsonObject => ({ type: 'string', description })
const texts = (description: string): JsonObject => ({ type: 'array', items: { type: 'string' }, description })
const count = (description: string): JsonObject => ({ type: 'integer', description })

const TIMEOUT = count('After how many milliseconds to stop what still runs.')

/** Source: the vendor's tool documents and published types, 2026-11. */
const FORMS: Record<ClientTool, Form> = {
  local_shell: {
    description:
      'Runs one program on the user’s machine and gives back what it wrote. No shell reads the command: for pipes, variables or several commands in a row call one, as in ["bash", "-lc", "ls | wc -l"].',
    schema: {
      type: 'object',
      properties: {
        command: texts('The program and its arguments, each by itself.'),
        working_directory: text('The folder to run it in.'),
        env: { type: 'object', additionalProperties: { type: 'string' }, description: 'Variables to set for it.' },
        timeout_ms: TIMEOUT,
        user: text('The user to run it as.'),
      },
      required: ['command'],
    },
  },
  shell: {
    description:
      'Runs shell commands on the user’s machine and gives back, for each, its exit code and what it wrote to stdout and stderr. Commands of one call may run side by side, each in a shell of its own: join with && what must follow one another or share a folder or variables.',
    schema: {
      type: 'object',
      properties: {
        commands: texts('The commands, each a whole line for the shell.'),
        timeout_ms: TIMEOUT,
        max_output_length: count('How many characters of each command’s output are wanted at most.'),
      },
      required: ['commands'],
    },
  },
  apply_patch: {
    description: `Creates, changes or deletes one file by a patch.
create_file: diff is the whole file, a + in front of every line.
update_file: diff is one or more sections. Each begins with a line @@, or @@ and a space and a whole line of the file that stands above the change, such as the head of its function. Then come the lines themselves: a space in front of those that stay, - of those that go, + of those that come. Give three lines that stay before and after each change, to the letter. There are no line numbers and no file headers.
delete_file: needs no diff.`,
    schema: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: text('The path of the file.'),
        diff: text('The patch. Needed unless the file is deleted.'),
      },
      required: ['type', 'path'],
    },
  },
  tool_search: {
    description:
      'Loads more tools, by their names or those of their namespaces. What it finds can be called afterwards.',
    schema: { type: 'object', properties: { paths: texts('The names.') }, required: ['paths'] },
  },
}

/** The members of each tool that its function expresses. */
const SHELL_MEMBERS: ReadonlySet<string> = new Set(['type', 'environment'])
export const CLIENT_MEMBERS: Record<ClientTool, ReadonlySet<string>> = {
  local_shell: SHELL_MEMBERS,
  shell: SHELL_MEMBERS,
  apply_patch: SHELL_MEMBERS,
  tool_search: new Set(['type', 'execution', 'description', 'parameters']),
}

/** The kind of a tool that the client runs; undefined for any other, such as a shell in the provider's container. */
export const clientTool = (tool: JsonObject): ClientTool | undefined => {
  const { type, environment, execution, allowed_callers: callers } = tool
  const own = CLIENT_TOOLS.find((kind) => kind === type)
  const here =
    own === 'tool_search'
      ? execution === 'client'
      : !given(environment) || (isObject(environment) && environment.type === 'local')
  // A tool that only the provider's programs may call is useless to other models.
  const direct = !Array.isArray(callers) || callers.includes('direct')
  return here && direct ? own : undefined
}

/** The function that the tool becomes on other wires. What a search takes is the client's to say. */
export const toFunction = (kind: ClientTool, tool: JsonObject, name: string): FunctionTool => {
  const form = FORMS[kind]
  const own = kind === 'tool_search' ? tool : {}
  const description = typeof own.description === 'string' ? own.description : form.description
  const schema = isObject(own.parameters) ? own.parameters : form.schema
  return { type: 'function', name, description: [description, ...skillsOf(tool)].join('\n\n'), schema }
}

/** Lists the client's skills in the description: folders on its machine, which the model reads by shell commands. */
const skillsOf = ({ environment }: JsonObject): string[] => {
  const skills = asObjects(asObject(environment).skills)
  const lines = skills.map(
    ({ name, description, path }) => `- ${asText(name)}: ${asText(description)} (${asText(path)})`,
  )
  if (lines.length === 0) return []
  return [`Skills, each in its folder: before one is used, its SKILL.md is read.\n${lines.join('\n')}`]
}

/** Lists what waits for a search in its description, as the vendor tells its models of it: namespaces as wholes. */
const deferredIn = (tools: readonly Json[]): string[] => {
  const lines = tools
    .filter(isObject)
    .filter((tool) => isDeferred(tool) || asObjects(tool.tools).some(isDeferred))
    .map(({ name, description }) => `- ${[name, description].filter((text) => typeof text === 'string').join(': ')}`)
  return lines.length === 0 ? [] : [`It can find:\n${lines.join('\n')}`]
}

const isDeferred = ({ defer_loading: deferred }: JsonObject): boolean => deferred === true

/** The names of such tools as functions, none of which is the name of another tool. */
export type ClientTools = {
  nameOf(kind: ClientTool): string
  /** The offered tool of that function name, or of that type. */
  kindOf(name: string): ClientTool | undefined
  offered(type: Json | undefined): ClientTool | undefined
  /** Whether the client takes calls of this tool only after its search has found it. */
  defers(tool: JsonObject): boolean
  /** For the description of the search: all that wait for it. */
  deferred(): string[]
  /** Whether the client would have arguments of this function's calls encrypted. */
  encrypts(name: string, namespace: string | undefined): boolean
}

/** Derived from the client's body alone, so that encoding the request and decoding its answer use the same names. */
export const clientTools = (body: JsonObject): ClientTools => {
  const nameFor = distinct(MAX_NAME)
  const offered = new Set<ClientTool>()
  // Of the body nothing else is held: an answer's stream may run for long.
  const all = allTools(body)
  const unsearched = allTools(body, ['additional_tools'])
  for (const tool of all) {
    if (!isObject(tool)) continue
    if ((tool.type === 'function' || tool.type === 'custom') && typeof tool.name === 'string') nameFor(tool.name)
    const kind = clientTool(tool)
    if (kind !== undefined) offered.add(kind)
  }
  const names = new Map(CLIENT_TOOLS.map((kind) => [kind, nameFor(kind)]))
  return {
    nameOf: (kind) => names.get(kind) ?? kind,
    kindOf: (name) => [...offered].find((kind) => names.get(kind) === name),
    offered: (type) => [...offered].find((kind) => kind === type),
    defers: (tool) => offered.has('tool_search') && isDeferred(tool),
    deferred: () => deferredIn(unsearched),
    encrypts: (name, namespace) => functionsOf(all, namespace).some((tool) => tool.name === name && hasEncrypted(tool)),
  }
}

/** The functions of a namespace, or those without one. */
const functionsOf = (tools: readonly Json[], namespace: string | undefined): JsonObject[] => {
  const listed = tools.filter(isObject)
  const within =
    namespace === undefined ? listed : listed.flatMap((tool) => (tool.name === namespace ? asList(tool.tools) : []))
  return within.filter(isObject).filter(({ type }) => type === 'function')
}

const MAX_NAME = 64

/** The tools of the list, and those added in the conversation by items of these types. */
const allTools = ({ tools, input }: JsonObject, adding: readonly (Json | undefined)[] = ADDING): Json[] => {
  const later = asList(input).flatMap((item) =>
    isObject(item) && adding.includes(item.type) ? asList(item.tools) : [],
  )
  return [...asList(tools), ...later]
}

const ADDING = ['additional_tools', 'tool_search_output']
