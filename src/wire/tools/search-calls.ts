// Calls of the web search that a vendor has run, as the other vendor's wire shows them. What is sealed for its vendor is
// never shown elsewhere, and what is made here never goes to the vendor that would look for its seal.

import { asObject, asObjects, asText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { AssistantPart, OpaquePart, Seal } from '../../ir/part.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { ChatRequest, Turn } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'
import { SEARCH } from './web-search.ts'

const USE = 'srvtoolu_'
/** Ids of calls that the messages wire's own vendor makes never begin so. */
const MADE = `${USE}ws_`

const isSearchItem = ({ type }: JsonObject): boolean => type === 'web_search_call'

/** A call item as the two blocks of the messages wire: the call, and the pages that it found. None for any other item. */
export const searchBlocks = (item: JsonObject): JsonObject[] => {
  if (!isSearchItem(item)) return []
  const id = `${MADE}${asText(item.id)
    .replace(/^ws_/, '')
    .replace(/[^a-zA-Z0-9_]/g, '_')}`
  const action = asObject(item.action)
  return [
    { type: 'server_tool_use', id, name: SEARCH, input: { query: queryOf(action) }, caller: { type: 'direct' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: id,
      content:
        item.status === 'failed'
          ? { type: 'web_search_tool_result_error', error_code: 'unavailable' }
          : urlsOf(action).map((url) => ({
              type: 'web_search_result',
              url,
              title: url,
              encrypted_content: '',
              page_age: null,
            })),
      caller: { type: 'direct' },
    },
  ]
}

/** Pages are opened and looked through by calls of the same tool. */
const queryOf = ({ query, queries, pattern, url }: JsonObject): string =>
  [query, Array.isArray(queries) ? queries[0] : undefined, pattern, url].find(
    (text): text is string => typeof text === 'string' && text !== '',
  ) ?? ''

const urlsOf = ({ sources, url }: JsonObject): string[] => {
  const found = asObjects(sources).flatMap((source) => (typeof source.url === 'string' ? [source.url] : []))
  const opened = typeof url === 'string' && url !== '' ? [url] : []
  return [...new Set([...found, ...opened])]
}

/** Whether a block was made of another wire's call: its own vendor would look for what is sealed in it. */
export const isMadeSearch = ({ type, id, tool_use_id: of }: JsonObject): boolean =>
  (type === 'server_tool_use' && asText(id).startsWith(MADE)) ||
  (type === 'web_search_tool_result' && asText(of).startsWith(MADE))

/** Whether a block of the messages wire is a call of the search. */
export const isSearchUse = ({ type, name }: JsonObject): boolean => type === 'server_tool_use' && name === SEARCH

/** The id of a call item that a block of the messages wire is shown as. */
export const searchId = ({ id }: JsonObject): string =>
  `ws_${asText(id)
    .replace(/[^a-zA-Z0-9_]/g, '_')
    .slice(0, 60)}`

/** A search of the messages wire with its result, sealed for its vendor; undefined for one that found nothing sealed. */
export const searchSeal = (use: JsonObject, result: JsonObject): Seal | undefined =>
  asObjects(result.content).some(({ encrypted_content: sealed }) => asText(sealed) !== '')
    ? { origin: 'messages', value: { search: [use, result] } }
    : undefined

/** The blocks of a sealed search; undefined for any other part. */
const sealedBlocks = (part: AssistantPart): JsonObject[] | undefined => {
  const { search } = part.type === 'reasoning' && part.seal?.origin === 'messages' ? part.seal.value : {}
  const blocks = asObjects(search)
  return blocks.length === 2 &&
    blocks.every(({ type }) => type === 'server_tool_use' || type === 'web_search_tool_result')
    ? blocks
    : undefined
}

/** The request with sealed searches as the blocks that they were, for the vendor that reads them, in place of their call items. */
const withSealedSearches = (request: ChatRequest): ChatRequest => {
  const turns = request.turns.map((turn): Turn => {
    if (turn.role !== 'assistant') return turn
    const shown = new Set(turn.parts.flatMap((part) => sealedBlocks(part)?.slice(0, 1).map(searchId) ?? []))
    if (shown.size === 0) return turn
    const parts = turn.parts.flatMap((part): AssistantPart[] => {
      if (part.type === 'opaque' && isSearchItem(part.value) && shown.has(asText(part.value.id))) return []
      const blocks = sealedBlocks(part)
      if (blocks === undefined) return [part]
      return blocks.map((value) => placed({ type: 'opaque', origin: 'messages', value }, placeOf(part, 'input')))
    })
    return placed({ ...turn, parts }, placeOf(turn, 'input'))
  })
  return { ...request, turns }
}

/** What a call of the messages wire looked for, as the action of a call item. */
export const searchAction = ({ input }: JsonObject): JsonObject => {
  const query = asText(asObject(input).query)
  return { type: 'search', query, queries: [query] }
}

/** The pages of a result block; undefined for a search that failed, and for any other block. */
export const foundSources = ({ type, content }: JsonObject): JsonObject[] | undefined =>
  type === 'web_search_tool_result' && Array.isArray(content)
    ? urlsOf({ sources: content }).map((url) => ({ type: 'url', url }))
    : undefined

/**
 * The request with a history's searches as their own vendor made them: the call items that blocks were made of, or the blocks
 * that went sealed with call items.
 */
export const withOwnSearches = (request: ChatRequest, wire: ChatWire): ChatRequest => {
  if (request.origin === 'responses' && wire === 'messages') return withSealedSearches(request)
  if (request.origin !== 'messages' || wire !== 'responses') return request
  const turns = request.turns.map((turn): Turn => {
    if (turn.role !== 'assistant' || !turn.parts.some(isMade)) return turn
    const parts = turn.parts.flatMap((part): AssistantPart[] => (isMade(part) ? restored(part, turn.parts) : [part]))
    return placed({ ...turn, parts }, placeOf(turn, 'messages'))
  })
  return { ...request, turns }
}

const isMade = (part: AssistantPart): part is OpaquePart =>
  part.type === 'opaque' && part.origin === 'messages' && isMadeSearch(part.value)

const restored = (part: OpaquePart, parts: readonly AssistantPart[]): OpaquePart[] => {
  if (!isSearchUse(part.value)) return []
  const id = asText(part.value.id)
  const result = parts.find((one): one is OpaquePart => isMade(one) && one.value.tool_use_id === id)
  const sources = foundSources(result?.value ?? {})
  const value: JsonObject = {
    type: 'web_search_call',
    id: id.slice(USE.length),
    status: failedIn(result?.value.content) ? 'failed' : 'completed',
    action: { ...searchAction(part.value), ...(sources === undefined ? {} : { sources }) },
  }
  return [placed<OpaquePart>({ type: 'opaque', origin: 'responses', value }, placeOf(part, 'messages'))]
}

const failedIn = (content: Json | undefined): boolean =>
  isObject(content) && content.type === 'web_search_tool_result_error'
