// A whole answer as the events of the stream that it would have been, and the other way round.

import { asObjects, isObject, type Json, type JsonObject, parseObject } from '../../ir/json.ts'
import type { Frame } from '../../lib/sse.ts'
import { usageObject } from './usage.ts'

/** What is asked for, as its events begin. */
export type Asked = 'image_generation' | 'image_edit'

const COMPLETED = /^image_(?:generation|edit)\.completed$/

export const isCompleted = (type: unknown): boolean => typeof type === 'string' && COMPLETED.test(type)

/** What the answer says of all its images, or an image of itself, and each event of its own. */
const COMMON = ['background', 'output_format', 'quality', 'size'] as const

/** One event for each image, `most` at most; the usage, which is of all of them, is told with the last. */
export const framesOf = (body: JsonObject, most: number, asked: Asked): Frame[] => {
  const images = asObjects(body.data).slice(0, most)
  const common: JsonObject = { created_at: body.created }
  for (const name of COMMON) common[name] = body[name]
  return images.map((image, at) => {
    const usage = at === images.length - 1 ? usageObject(body) : undefined
    const type = `${asked}.completed`
    return { event: type, data: JSON.stringify({ ...common, ...image, type, usage }) }
  })
}

/** The answer with the images of a stream's events; its usage is of all of them. */
export const answerOf = (frames: readonly Frame[]): JsonObject => {
  const events = frames.flatMap(({ event, data }) => {
    const body = parseObject(data)
    return body !== undefined && isCompleted(body.type ?? event) ? [body] : []
  })
  const answer: JsonObject = { created: events[0]?.created_at }
  for (const name of COMMON) answer[name] = events[0]?.[name]
  const usages = events.flatMap(({ usage }) => (isObject(usage) ? [usage] : []))
  if (usages.length > 0) answer.usage = added(usages)
  return { ...answer, data: events.map(imageIn) }
}

/** What an event has that is not the answer's. */
const imageIn = (event: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(event).filter(([name]) => !NOT_ITS_OWN.has(name)))

const NOT_ITS_OWN = new Set<string>(['type', 'created_at', 'model', 'usage', ...COMMON])

/** Objects of numbers, added up member by member. */
const added = (usages: readonly JsonObject[]): JsonObject => {
  const sum: JsonObject = {}
  for (const [name, value] of usages.flatMap(Object.entries<Json | undefined>)) {
    const before = sum[name]
    if (isObject(value)) sum[name] = added(isObject(before) ? [before, value] : [value])
    else sum[name] = typeof value === 'number' && typeof before === 'number' ? before + value : value
  }
  return sum
}
