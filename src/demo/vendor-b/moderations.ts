// vendor_b's moderation: what it finds in a text, by words; it bills nothing and tells no figures.

import { asObject, asText, type Json, type JsonObject } from '../../ir/json.ts'
import { randomId } from '../id.ts'
import { invalid } from './error.ts'

const CATEGORIES: Record<string, RegExp> = {
  harassment: /\binsult\b/i,
  hate: /\bhate\b/i,
  'self-harm': /\bself-harm\b/i,
  sexual: /\bsexual\b/i,
  violence: /\bviolen(?:t|ce)\b/i,
}

/** Each text by itself; the parts of one input together. */
export const inputsOf = (input: Json | undefined): string[] => {
  if (typeof input === 'string') return [input]
  const list = Array.isArray(input) ? input : []
  if (list.every((each) => typeof each === 'string')) return list
  return [list.map((part) => asText(asObject(part).text)).join('\n')]
}

/** Throws `VendorError`. */
export const composeModeration = (asked: JsonObject): JsonObject => {
  const inputs = inputsOf(asked.input)
  if (inputs.length === 0) throw invalid("Missing required parameter: 'input'.", 'input', 'missing_required_parameter')
  const results = inputs.map((text) => {
    const found = Object.entries(CATEGORIES).map(([name, words]) => [name, words.test(text)] as const)
    return {
      flagged: found.some(([, is]) => is),
      categories: Object.fromEntries(found),
      category_scores: Object.fromEntries(found.map(([name, is]) => [name, is ? 0.98 : 0.0001])),
      category_applied_input_types: Object.fromEntries(found.map(([name, is]) => [name, is ? ['text'] : []])),
    }
  })
  return { id: randomId('modr-', 12), model: asText(asked.model) || 'omni-moderation-latest', results }
}
