// The tokens that an answer tells its client, whatever its wire and its form.

import { asObject, asText, type JsonObject, parseObject } from '../../../src/ir/json.ts'

/** Undefined for an answer that is not whole, or tells none. */
export const tokensTold = (text: string, isStream: boolean): number | undefined => {
  if (!isStream) return totalOf(usageIn(parseObject(text) ?? {}))
  const frames = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []))
  const events = frames.map((frame) => parseObject(frame) ?? {})
  if (frames.at(-1) !== '[DONE]' && !LAST.has(asText(events.at(-1)?.type))) return undefined
  // Of several the later stand: the messages wire tells its prompt first and its answer last.
  return totalOf(Object.assign({}, ...events.map(usageIn)))
}

const LAST = new Set(['message_stop', 'response.completed', 'response.incomplete'])

const usageIn = ({ usage, message, response }: JsonObject): JsonObject =>
  asObject(usage ?? asObject(message).usage ?? asObject(response).usage)

const CLASSES = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens']

const totalOf = (usage: JsonObject): number | undefined => {
  if (typeof usage.total_tokens === 'number') return usage.total_tokens
  const counts = CLASSES.map((name) => usage[name])
  if (!counts.some((count) => typeof count === 'number')) return undefined
  return counts.reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0)
}
