// Usage of the images wire: input and output tokens, the output being image tokens.

import { asObject, asObjects, isObject, type JsonObject } from '../../ir/json.ts'
import { count, disjoint, inCharge, inKinds, sum, type Usage } from '../../ir/usage.ts'

/** An answer's usage object, with that of the model that wrote an SVG image: it is reported and billed separately. */
export const usageObject = ({ usage, svg_usage: svgUsage }: JsonObject): JsonObject | undefined => {
  if (!isObject(usage)) return undefined
  return isObject(svgUsage) ? { ...usage, svg_usage: svgUsage } : usage
}

/**
 * Prompt tokens include cached ones, where the vendor reports those. Some servers use the names of chat-completions. The vendor's
 * images API does not tell of what the output is: all that is not told to be text is pictures. `images`: the reports of a stream's
 * pictures, as they are kept.
 */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  if (Array.isArray(raw.images))
    return asObjects(raw.images).reduce<Usage | undefined>((all, each) => sum(all, decodeUsage(each)), undefined)
  const classes = inCharge(classesOf(raw), raw)
  const inOutput = asObject(raw.output_tokens_details)
  const drawn = count(inOutput.image_tokens) ?? (classes.output ?? 0) - (count(inOutput.text_tokens) ?? 0)
  const usage = inKinds(classes, asObject(raw.input_tokens_details), { ...inOutput, image_tokens: drawn })
  // An image without output tokens is billed at its configured count: the SVG model's must not take their place.
  if (usage.output !== undefined) return sum(usage, isObject(raw.svg_usage) ? classesOf(raw.svg_usage) : undefined)
  return Object.keys(usage).length > 0 ? usage : undefined
}

const classesOf = (raw: JsonObject): Usage => {
  const prompt = count(raw.input_tokens ?? raw.prompt_tokens)
  // An image has output tokens: servers that do not count them report 0.
  const output = count(raw.output_tokens ?? raw.completion_tokens) || undefined
  const total = count(raw.total_tokens)
  const isTotalAlone = prompt === undefined && output === undefined && Boolean(total)
  return disjoint({
    prompt: isTotalAlone ? 0 : prompt,
    cacheRead: count(asObject(raw.input_tokens_details).cached_tokens),
    cacheWrite: undefined,
    // An image's prompt is next to nothing beside it.
    output: isTotalAlone ? total : output,
    reasoning: count(raw.reasoning_tokens),
    total,
  })
}
