// vendor_b's images: pictures it draws itself, as JSON or as a stream with partial pictures.

import { asText, type Json, type JsonObject } from '../../ir/json.ts'
import { writeFrame } from '../../lib/sse.ts'
import { withoutDirectives } from '../directive.ts'
import { drawPng } from '../png.ts'
import { countTokens } from '../prompt.ts'
import { asNumber, type DemoRequest } from '../vendor.ts'
import { invalid } from './error.ts'

/** Tokens of a picture of 1024 × 1024 pixels, by quality. */
const QUALITY_TOKENS: Record<string, number> = { low: 272, medium: 1056, high: 4160 }

type Order = { prompt: string; width: number; height: number; quality: string; background: string; count: number }

/** Models of the older kind answer with addresses when asked to; today's know only base64. */
const knowsResponseFormat = (model: string): boolean => /dall-e|imagegen/i.test(model)

const readOrder = (body: JsonObject): Order => {
  const model = asText(body.model)
  if (model === '') throw invalid('you must provide a model parameter', null)
  if (asText(body.prompt) === '')
    throw invalid("Missing required parameter: 'prompt'.", 'prompt', 'missing_required_parameter')
  if (body.response_format !== undefined && !knowsResponseFormat(model)) {
    throw invalid("Unknown parameter: 'response_format'.", 'response_format', 'unknown_parameter')
  }
  const size = asText(body.size) || 'auto'
  const [, width, height] = /^(\d{1,4})x(\d{1,4})$/.exec(size === 'auto' ? '1024x1024' : size) ?? []
  const [w, h] = [Number(width), Number(height)]
  if (!(w >= 16 && h >= 16 && w <= 4096 && h <= 4096)) {
    throw invalid(
      `Invalid value: '${size}'. Supported values are: '1024x1024', '1024x1536', '1536x1024', and 'auto'.`,
      'size',
      'invalid_value',
    )
  }
  const count = asNumber(body.n) ?? 1
  if (count < 1 || count > 10) throw invalid("Invalid 'n': integer outside 1..10.", 'n', 'integer_above_max_value')
  const quality = asText(body.quality)
  return {
    prompt: withoutDirectives(asText(body.prompt)),
    width: w,
    height: h,
    quality: Object.hasOwn(QUALITY_TOKENS, quality) ? quality : 'medium',
    background: body.background === 'transparent' ? 'transparent' : 'opaque',
    count,
  }
}

const usageOf = (order: Order, read: number): JsonObject => {
  const text = countTokens(order.prompt)
  const scale = (order.width * order.height) / (1024 * 1024)
  const image = Math.ceil((QUALITY_TOKENS[order.quality] ?? 0) * scale) * order.count
  return {
    input_tokens: text + read,
    input_tokens_details: { image_tokens: read, text_tokens: text },
    output_tokens: image,
    output_tokens_details: { image_tokens: image, text_tokens: 0 },
    total_tokens: text + read + image,
  }
}

const draw = (order: Order, salt: string): string =>
  Buffer.from(drawPng(order.width, order.height, `${order.prompt} ${salt}`)).toString('base64')

export type Pictures = { body: JsonObject; play: () => Iterable<string> }

/** A form's members are texts. */
const asForm = (body: JsonObject): JsonObject => {
  const n = Number(body.n ?? 1)
  const partials = Number(body.partial_images ?? 0)
  return { ...body, n: Number.isInteger(n) ? n : 0, partial_images: partials }
}

const EDITED_TOKENS = 323

/** The pictures that an edit begins with. */
const givenIn = (body: JsonObject): Json[] =>
  [body.image, body['image[]']].flatMap((given) => (given === undefined ? [] : Array.isArray(given) ? given : [given]))

/** Throws `VendorError`. */
export const composeEdits = (request: DemoRequest, withUsage: boolean): Pictures => {
  const given = givenIn(request.body)
  if (given.length === 0 || given.some((each) => typeof each !== 'object'))
    throw invalid("Missing required parameter: 'image'.", 'image', 'missing_required_parameter')
  const asked = { ...request, body: asForm(request.body) }
  return composeImages(asked, withUsage, { event: 'image_edit', read: EDITED_TOKENS * given.length })
}

/** Throws `VendorError`. */
export const composeVariations = (request: DemoRequest): JsonObject => {
  const [given] = givenIn(request.body)
  if (typeof given !== 'object')
    throw invalid("Missing required parameter: 'image'.", 'image', 'missing_required_parameter')
  const asked = { ...request, body: { ...asForm(request.body), prompt: 'a variation' } }
  const { created = null, data = null } = composeImages(asked, false).body
  return { created, data }
}

/** `event`: what its events are called after; `read`: tokens of the pictures it begins with. Throws `VendorError`. */
export const composeImages = (
  { body: asked, now, origin }: DemoRequest,
  withUsage: boolean,
  { event, read } = { event: 'image_generation', read: 0 },
): Pictures => {
  const order = readOrder(asked)
  const size = `${order.width}x${order.height}`
  const look = { background: order.background, output_format: 'png', quality: order.quality, size }
  const usage = withUsage ? { usage: usageOf(order, read) } : {}
  const address = (at: number): string =>
    `${origin}/files/${order.width}x${order.height}/${encodeURIComponent(`${order.prompt} ${at}`)}.png`
  const data = Array.from({ length: order.count }, (_, at) =>
    asked.response_format === 'url'
      ? { url: address(at), revised_prompt: order.prompt }
      : { b64_json: draw(order, String(at)) },
  )
  const partials = Math.min(3, asNumber(asked.partial_images) ?? 0)
  function* play(): Generator<string> {
    for (let partial_image_index = 0; partial_image_index < partials; partial_image_index++) {
      const b64_json = draw(order, `partial ${partial_image_index}`)
      yield frame({ type: `${event}.partial_image`, b64_json, partial_image_index, created_at: now, ...look })
    }
    yield frame({ type: `${event}.completed`, b64_json: draw(order, '0'), created_at: now, ...look, ...usage })
  }
  return { body: { created: now, ...look, data, ...usage }, play }
}

const frame = (event: JsonObject & { type: string }): string =>
  writeFrame({ event: event.type, data: JSON.stringify(event) })
