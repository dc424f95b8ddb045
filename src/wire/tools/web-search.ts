// The web search that a vendor runs, as the other vendor's: the tool of a request, and the choice of it.

import { asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { ChatRequest, Tool } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'
import { given } from '../read.ts'

/** What calls of it are named where they have names. */
export const SEARCH = 'web_search'
/** The chat-completions wire has a member in its place. */
export const SEARCH_MEMBER = 'web_search_options'

/** `lost`: members of the client's tool that the other vendor's lacks, as paths within it. `most`: the most calls. */
export type Search = { tool: JsonObject; most: number | undefined; lost: string[] }

const TYPES: { [wire in ChatWire]: RegExp } = {
  messages: /^web_search_\d{8}$/,
  responses: /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/,
  // Tools of such types are those of other servers.
  'chat-completions': /^web_search_options$/,
}

/** Whether a tool's type is that of a vendor's web search. */
export const isSearchType = (origin: ChatWire, type: Json | undefined): boolean =>
  typeof type === 'string' && TYPES[origin].test(type)

/**
 * The search of a provider of `wire` in the place of another vendor's; undefined for any other tool, and where the provider
 * has none. On the chat-completions wire only some models search, and those always.
 */
export const searchFor = (wire: ChatWire, tool: Tool, { noWebSearch }: Quirks): Search | undefined => {
  if (tool.type !== 'opaque' || tool.origin === wire || wire === 'chat-completions' || noWebSearch === true)
    return undefined
  return isSearchType(tool.origin, tool.value.type) ? WRITERS[wire](readSearch(tool.value)) : undefined
}

/** How many calls of vendors' tools a client of the responses wire allows: of those only the search crosses. */
export const mostCalls = ({ opaque }: ChatRequest): number | undefined => {
  const value = opaque.find(({ name }) => name === MOST_CALLS)?.value
  return typeof value === 'number' && value >= 1 ? Math.floor(value) : undefined
}

export const MOST_CALLS = 'max_tool_calls'

/** `rest`: what is left of the client's members once those that both vendors have are taken, as paths. */
type Wanted = {
  allowed: Json[]
  blocked: Json[]
  blockedPath: string
  location: JsonObject | undefined
  most: number | undefined
  rest: string[]
}

/** Values that ask for what happens anyway. */
const USUAL: { [member: string]: readonly Json[] } = {
  search_context_size: ['medium'],
  external_web_access: [true],
  return_token_budget: ['default'],
  search_content_types: [['text']],
  allowed_callers: [['direct']],
  defer_loading: [false],
}

const isUsual = (name: string, value: Json): boolean =>
  (USUAL[name] ?? []).some((usual) => JSON.stringify(usual) === JSON.stringify(value))

const READ = new Set(['type', 'name', 'allowed_domains', 'blocked_domains', 'filters', 'user_location', 'max_uses'])
const IN_FILTERS = new Set(['allowed_domains', 'blocked_domains'])

const readSearch = (value: JsonObject): Wanted => {
  const filters = asObject(value.filters)
  const rest = unread(value, READ)
  for (const name of unread(filters, IN_FILTERS)) rest.push(`filters.${name}`)
  const { max_uses: most } = value
  return {
    allowed: [...domains(value.allowed_domains), ...domains(filters.allowed_domains)],
    blocked: [...domains(value.blocked_domains), ...domains(filters.blocked_domains)],
    blockedPath: given(filters.blocked_domains) ? 'filters.blocked_domains' : 'blocked_domains',
    location: readLocation(value.user_location),
    most: typeof most === 'number' && most >= 1 ? Math.floor(most) : undefined,
    rest,
  }
}

const unread = (value: JsonObject, read: ReadonlySet<string>): string[] =>
  Object.entries(value).flatMap(([name, member]) =>
    read.has(name) || !given(member) || isUsual(name, member) ? [] : [name],
  )

const domains = (value: Json | undefined): Json[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []

const PLACE = ['city', 'region', 'country', 'timezone'] as const

/** What is known of it; the chat-completions wire has it one level deeper. */
const readLocation = (value: Json | undefined): JsonObject | undefined => {
  if (!isObject(value)) return undefined
  const place = isObject(value.approximate) ? value.approximate : value
  const known = PLACE.flatMap((name) => {
    const member = place[name]
    return typeof member === 'string' && member !== '' ? [[name, member] as const] : []
  })
  return known.length === 0 ? undefined : { type: 'approximate', ...Object.fromEntries(known) }
}

const placeIn = ({ location }: Wanted): JsonObject => (location === undefined ? {} : { user_location: location })

/** Of the version that every model has. Its vendor takes domains of one kind only. */
const toMessages = (wanted: Wanted): Search => {
  const { allowed, blocked, blockedPath, most, rest } = wanted
  const both = allowed.length > 0 && blocked.length > 0
  return {
    tool: {
      type: 'web_search_20250305',
      name: SEARCH,
      ...(most === undefined ? {} : { max_uses: most }),
      ...(allowed.length > 0 ? { allowed_domains: allowed } : {}),
      ...(blocked.length > 0 && !both ? { blocked_domains: blocked } : {}),
      ...placeIn(wanted),
    },
    most,
    lost: both ? [...rest, blockedPath] : rest,
  }
}

const toResponses = (wanted: Wanted): Search => {
  const { allowed, blocked, most, rest } = wanted
  const filters: JsonObject = {
    ...(allowed.length > 0 ? { allowed_domains: allowed } : {}),
    ...(blocked.length > 0 ? { blocked_domains: blocked } : {}),
  }
  return {
    tool: { type: SEARCH, ...(Object.keys(filters).length > 0 ? { filters } : {}), ...placeIn(wanted) },
    most,
    lost: rest,
  }
}

const WRITERS = { messages: toMessages, responses: toResponses }
