// Cache marks of a request: the provider's limits on them, and whether to add one for a client of another wire.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ChatRequest } from '../../ir/request.ts'
import { mark } from './encode-parts.ts'

/** The most cache marks the provider takes in one request. */
const MAX_MARKS = 4

/** The blocks with no more marks than the provider takes. The earliest go first, for later marks cover longer prefixes. */
export const withinMarks = (lists: JsonObject[][]): JsonObject[][] => {
  let excess = -MAX_MARKS
  for (const list of lists) for (const block of list) excess += marksIn(block)
  const strip = (block: JsonObject): JsonObject => {
    if (excess <= 0 || marksIn(block) === 0) return block
    const { content, cache_control: cache, ...rest } = block
    const inner = Array.isArray(content) ? content.map((item) => (isObject(item) ? strip(item) : item)) : content
    const out: JsonObject = content === undefined ? rest : { ...rest, content: inner }
    if (!isMark(cache)) return out
    if (excess > 0) excess--
    else out.cache_control = cache
    return out
  }
  return excess <= 0 ? lists : lists.map((list) => list.map(strip))
}

/** Every mark before one of an hour is raised to an hour: the provider refuses a long mark behind a shorter one. */
export const longFirst = (lists: JsonObject[][]): JsonObject[][] => {
  if (!lists.some((list) => list.some((block) => marksIn(block, isHour) > 0))) return lists
  let isLong = false
  const raise = (block: JsonObject): JsonObject => {
    const { content, cache_control: cache } = block
    const mark = isObject(cache) ? cache : undefined
    if (mark?.ttl === '1h') isLong = true
    const own = mark !== undefined && isLong ? { cache_control: { ...mark, ttl: '1h' } } : {}
    if (!Array.isArray(content)) return { ...block, ...own }
    return {
      ...block,
      content: content
        .toReversed()
        .map((item) => (isObject(item) ? raise(item) : item))
        .reverse(),
      ...own,
    }
  }
  return lists
    .toReversed()
    .map((list) => list.toReversed().map(raise).reverse())
    .reverse()
}

/**
 * Whether to ask the provider to cache the prompt for a client of another wire, which cannot. Without it every later turn
 * costs ten times as much. A conversation that has an answer or a cache key is worth it; for a single question the write
 * costs more than it saves.
 */
export const wantsCache = (request: ChatRequest, lists: JsonObject[][]): boolean =>
  request.origin !== 'messages' &&
  !lists.some((list) => list.some((block) => marksIn(block) > 0)) &&
  (request.cacheKey !== undefined || request.turns.some(({ role }) => role === 'assistant'))

/**
 * The contents with marks where the two requests before this one ended, which is before the model's last messages. A mark
 * at the end of all is not enough. From there the provider looks back only 20 blocks for what it has cached, and a turn
 * of many calls holds more; and some clients end each request with a reminder that the next one is without.
 */
export const withEarlierEnds = (
  contents: readonly JsonObject[][],
  messages: readonly { role: string }[],
): JsonObject[][] => {
  const ends = messages.flatMap(({ role }, at) => (role === 'assistant' ? [at - 1] : [])).slice(-2)
  return contents.map((blocks, at) => {
    const last = blocks.at(-1)
    return last === undefined || !ends.includes(at) ? blocks : [...blocks.slice(0, -1), { ...last, ...mark({}) }]
  })
}

const isMark = (value: Json | undefined): boolean => value !== undefined && value !== null

/** How many marks are on the block and, in a result, on its content. */
const marksIn = ({ cache_control: own, content }: JsonObject, counts = isMark): number => {
  let marks = counts(own) ? 1 : 0
  if (Array.isArray(content)) for (const item of content) if (isObject(item)) marks += marksIn(item, counts)
  return marks
}

const isHour = (mark: Json | undefined): boolean => isObject(mark) && mark.ttl === '1h'
