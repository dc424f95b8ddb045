// Moderation results of prompt and answer, which both of vendor_b's text wires have, each in its own form.

import type { Moderation } from '../ir/event.ts'
import { asObject, asText, isObject, type Json, type JsonObject } from '../ir/json.ts'

/** The `moderation` of an answer in either form; no member where it has none. */
export const decodeModeration = (raw: Json | undefined): { moderation?: Moderation } =>
  isObject(raw) ? { moderation: { input: verdictsIn(raw.input), output: verdictsIn(raw.output) } } : {}

const verdictsIn = (side: Json | undefined): JsonObject[] => {
  if (!isObject(side)) return []
  return (Array.isArray(side.results) ? side.results : [side]).flatMap(verdict)
}

/** Malformed results are left out: clients read these members without checking. */
const verdict = (raw: Json): JsonObject[] => {
  if (!isObject(raw) || typeof raw.flagged !== 'boolean') return []
  const { flagged, model, categories, category_scores: scores, category_applied_input_types: types } = raw
  return [
    {
      type: 'moderation_result',
      model: asText(model),
      flagged,
      categories: those(categories, (value) => typeof value === 'boolean'),
      category_scores: those(scores, (value) => typeof value === 'number'),
      category_applied_input_types: those(types, (value) => Array.isArray(value) && value.every(isInput)),
    },
  ]
}

const those = (members: Json | undefined, holds: (value: Json | undefined) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(asObject(members)).filter(([, value]) => holds(value)))

const isInput = (value: Json): boolean => value === 'text' || value === 'image'

/** `encode`: writes the results of one side in the wire's form. */
export const encodeModeration = (
  moderation: Moderation | undefined,
  encode: (first: JsonObject, all: JsonObject[]) => JsonObject,
): { moderation?: JsonObject } => {
  if (moderation === undefined) return {}
  const side = (verdicts: JsonObject[]): JsonObject => {
    const [first] = verdicts
    return first === undefined ? NONE : encode(first, verdicts)
  }
  return { moderation: { input: side(moderation.input), output: side(moderation.output) } }
}

const NONE = { type: 'error', code: 'upstream_error', message: 'The moderation gave no result.' }
