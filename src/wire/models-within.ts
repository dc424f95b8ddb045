// Models that a body names beside its `model`: for a tool to call, to fall back to, for a relay to choose from. By a client's
// body as it stands, on any wire.

import { isObject, type Json, type JsonObject } from '../ir/json.ts'
import { asksBeside, isHosted, type Path, type ToolWithin } from './tools/within.ts'

/**
 * A member whose value names models: in a text, a list of texts, or something that holds such. `inTool`: a tool calls it, and
 * the answer is still the model's own.
 */
export type ModelsWithin = { path: Path; value: Json; inTool: boolean }

/** Members that hold what the client says, and schemas of its own: names in them are no settings. */
const CONTENT = new Set([
  'model',
  'messages',
  'system',
  'input',
  'instructions',
  'prompt',
  'tools',
  'functions',
  'prediction',
  'documents',
  'metadata',
  'user',
  'response_format',
  'text',
  'output_config',
  'output_format',
  'guided_json',
  'structured_outputs',
  // Names what checks the text, at no cost, and nothing that answers.
  'moderation',
])

const NAMES_MODELS = /(?:^|_)(?:models?|fallbacks?)(?:_(?:ids?|names?|list|dict))?$/

/** Tells most names apart at once. */
const MENTIONS = /model|fallback/i

/** Names are compared without regard to case, as some servers read them. */
const plain = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()

const namesModels = (name: string): boolean => MENTIONS.test(name) && NAMES_MODELS.test(plain(name))

/** By such a relay, or a server of several parts, is told of another to ask, or of another credential to ask with. */
const SAYS_WHERE = /(?:^|_)(?:api_(?:base|url)|base_url|endpoint(?:_url)?|host|(?:api|access|secret)_key(?:_id)?)$/

const MENTIONS_WHERE = /base|url|endpoint|host|key/i

const saysWhere = (name: string): boolean => MENTIONS_WHERE.test(name) && SAYS_WHERE.test(plain(name))

/**
 * Members whose own members are the client's: what a vendor is to read or call at its address, variables of a template, labels,
 * headers, schemas. No name in them is a setting's.
 */
const FREE =
  /^(?:data_sources|mcp_servers?|chat_template_kwargs|logit_bias|extra_headers|safety_settings|labels|attributes|(?:client_)?metadata|variables|grammar|format|guided_\w+|structured_outputs|response_format)$|(?:^|_)schema$/

/** Whether a member says where the model is, or holds what does. */
export const saysWhereWithin = (name: string, value: Json | undefined): boolean => {
  if (typeof value === 'string') return value !== '' && saysWhere(name)
  if (FREE.test(plain(name))) return false
  if (Array.isArray(value)) return value.some((one) => saysWhereWithin(typeof one === 'string' ? name : '', one))
  if (!isObject(value)) return false
  return Object.entries(value).some(([inner, held]) => saysWhereWithin(inner, held))
}

/** Whether an outermost member of that name decides on models, or on what a vendor runs, by a text alone. */
export const decidesWithin = (name: string): boolean =>
  namesModels(name) || saysWhere(name) || WISHES.has(name.toLowerCase()) || asksBeside(name)

const WISHES = new Set(['preset', 'route', 'plugins'])

/** Every member that names models, but for the request's own. */
export const modelsWithin = (body: JsonObject, tools: readonly ToolWithin[]): ModelsWithin[] => {
  const found: ModelsWithin[] = []
  const collect = (name: string, value: Json | undefined, path: Path, inTool: boolean): void => {
    if (value === undefined || value === null) return
    if (namesModels(name)) {
      if (namesAny(value)) found.push({ path, value, inTool })
    } else if (Array.isArray(value)) {
      for (const [at, one] of value.entries()) collect('', one, [...path, at], inTool)
    } else if (isObject(value)) {
      for (const inner in value) collect(inner, value[inner], [...path, inner], inTool)
    }
  }
  for (const name in body) if (!CONTENT.has(name.toLowerCase())) collect(name, body[name], [name], false)
  for (const { path, tool } of tools) {
    // What a client's own tool has is a schema; a model beside it is one all the same.
    const isOwn = !isHosted(tool)
    for (const name in tool) {
      if (name === 'tools' || (isOwn && !(typeof tool[name] === 'string' && namesModels(name)))) continue
      collect(name, tool[name], [...path, name], true)
    }
  }
  return found
}

/** A switch, such as `fallback: false`, names none. */
const namesAny = (value: Json | undefined): boolean =>
  typeof value === 'string' || (typeof value === 'object' && value !== null && Object.values(value).some(namesAny))

/**
 * The value with every name in it replaced. In an object those members that name models, where it has some: others are
 * settings of the models. Where it has none, all that it says are names, and so are its members' own where they hold lists.
 */
export const withNames = (value: Json, path: Path, replace: (name: string, path: Path) => string): Json => {
  if (typeof value === 'string') return replace(value, path)
  if (Array.isArray(value)) return value.map((one, at) => withNames(one, [...path, at], replace))
  if (!isObject(value)) return value
  const naming = Object.keys(value).filter((name) => namesModels(name) || name.toLowerCase() === 'id')
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const here = [...path, name]
      if (naming.length > 0)
        return [name, inner !== undefined && naming.includes(name) ? withNames(inner, here, replace) : inner]
      return [
        Array.isArray(inner) ? replace(name, here) : name,
        inner === undefined ? inner : withNames(inner, here, replace),
      ]
    }),
  )
}

/**
 * What is known of a relay's settings that choose a model without a name to check, or its place. Which provider serves the
 * model there is the client's wish.
 */
export type Wishes = {
  /** A kept configuration, which may name any model. */
  preset: Path | undefined
  /** Wishes that can be left out: the answer comes from the model asked for all the same. */
  left: Path[]
}

export const wishesWithin = (body: JsonObject, tools: readonly ToolWithin[]): Wishes => {
  const wishes: Wishes = { preset: undefined, left: [] }
  for (const name in body) {
    const value = body[name]
    if (value === undefined || value === null || value === '') continue
    switch (name.toLowerCase()) {
      case 'preset':
        wishes.preset = [name]
        break
      case 'route':
        wishes.left.push([name])
        break
      case 'plugins':
        if (Array.isArray(value))
          for (const [at, plugin] of value.entries())
            if (!isObject(plugin) || !PLUGINS.has(String(plugin.id))) wishes.left.push([name, at])
        break
      default:
        if (!CONTENT.has(name.toLowerCase()) && saysWhereWithin(name, value)) wishes.left.push([name])
    }
  }
  for (const { path, tool } of tools)
    if (isHosted(tool))
      for (const name in tool)
        if (typeof tool[name] === 'string' && saysWhereWithin(name, tool[name])) wishes.left.push([...path, name])
  return wishes
}

/** Plugins of a relay that choose no model. Source: OpenRouter's documents, 2026-11. */
const PLUGINS = new Set(['web', 'file-parser', 'response-healing', 'context-compression', 'moderation'])
