// A whole answer as the events of the stream that it would have been.

import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Frame } from '../../lib/sse.ts'
import { usageObject } from './usage.ts'

const COMPLETED = 'image_generation.completed'

/** What the answer says of all its images, or an image of itself, and each event of its own. */
const COMMON = ['background', 'output_format', 'quality', 'size'] as const

/** One event for each image, `most` at most; the usage, which is of all of them, is told with the last. */
export const framesOf = (body: JsonObject, most: number): Frame[] => {
  const images = Array.isArray(body.data) ? body.data.filter(isObject).slice(0, most) : []
  const common: JsonObject = { created_at: body.created }
  for (const name of COMMON) common[name] = body[name]
  return images.map((image, at) => {
    const usage = at === images.length - 1 ? usageObject(body) : undefined
    return { event: COMPLETED, data: JSON.stringify({ ...common, ...image, type: COMPLETED, usage }) }
  })
}
