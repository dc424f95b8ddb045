// vendor_b's images: pictures it draws itself, as JSON or as a stream with partial pictures.

import { asText, type JsonObject } from '../../ir/json.ts'
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

const usageOf = (order: Order): JsonObject => {
  const text = countTokens(order.prompt)
  const scale = (order.width * order.height) / (1024 * 1024)
  const image = Math.ceil((QUALITY_TOKENS[order.quality] ?? 0) * scale) * order.count
  return {
    input_tokens: text,
    input_tokens_details: { image_tokens: 0, text_tokens: text },
    output_tokens: image,
    output_tokens_details: { image_tokens: image, text_tokens: 0 },
    total_tokens: text + image,
  }
}

const draw = (order: Order, salt: string): string =>
  Buffer.from(drawPng(order.width, order.height, `${order.prompt} ${salt}`)).toString('base64')

export type Pictures = { body: JsonObject; play: () => Iterable<string> }

/** Throws `VendorError`. */
export const composeImages = ({ body: asked, now, origin }: DemoRequest, withUsage: boolean): Pictures => {
  const order = readOrder(asked)
  const size = `${order.width}x${order.height}`
  const look = { background: order.background, output_format: 'png', quality: order.quality, size }
  const usage = withUsage ? { usage: usageOf(order) } : {}
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
      yield frame({ type: 'image_generation.partial_image', b64_json, partial_image_index, created_at: now, ...look })
    }
    yield frame({ type: 'image_generation.completed', b64_json: draw(order, '0'), created_at: now, ...look, ...usage })
  }
  return { body: { created: now, ...look, data, ...usage }, play }
}

const frame = (event: JsonObject & { type: string }): string =>
  writeFrame({ event: event.type, data: JSON.stringify(event) })
