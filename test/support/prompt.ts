// A request as its vendor's prompt cache sees it: what stands before the conversation, and the conversation item by item.

import { expect } from 'bun:test'
import { isObject, type Json, type JsonObject } from '../../src/ir/json.ts'

/** `settings`: all but the conversation. `items`: each message and each of its parts, by its place, as JSON. */
export type Prompt = { settings: string; items: string[] }

/** Marks of where the cache is to be written move from turn to turn: they are no part of the prompt. */
const MARKS = new Set(['cache_control', 'prompt_cache_breakpoint'])

const unmarked = (value: Json): string =>
  JSON.stringify(value, (name, member: Json) => (MARKS.has(name) ? undefined : member))

/** Text alone and as the only part are the same prompt. */
export const listed = (content: Json | undefined): Json[] =>
  Array.isArray(content) ? content : content === undefined || content === null ? [] : [{ type: 'text', text: content }]

export const promptOf = ({ messages, input, ...settings }: JsonObject): Prompt => {
  const items = listed(messages ?? input).flatMap((item, at) => {
    if (!isObject(item)) return [`${at} ${unmarked(item)}`]
    const { content, ...rest } = item
    return [rest, ...listed(content)].map((part) => `${at} ${unmarked(part)}`)
  })
  return { settings: unmarked(settings), items }
}

/** Each begins with the one before: what a vendor has cached is read again. */
export const expectPrefixes = (prompts: readonly Prompt[]): void => {
  for (const [at, { settings, items }] of prompts.entries()) {
    const before = prompts[at - 1]
    if (before === undefined) continue
    expect(settings).toBe(before.settings)
    expect(items.slice(0, before.items.length)).toEqual(before.items)
  }
}
