// A value that follows a JSON schema, made from what the user said: arguments of tool calls and structured output.

import { asList, asObject, asText, type Json, type JsonObject } from '../ir/json.ts'
import { asNumber } from './vendor.ts'

const MAX_DEPTH = 12

/** The quoted phrases and proper names of a text: material for string members. */
const phrases = (said: string): string[] => {
  const quoted = Array.from(said.matchAll(/["“'‘`]([^"”'’`]{1,80})["”'’`]/g), ([, phrase = '']) => phrase)
  const names = Array.from(said.matchAll(/(?<=[\p{Ll},;:]\s+)\p{Lu}[\p{L}]+(?:\s+\p{Lu}[\p{L}]+)*/gu), ([name]) => name)
  return [...quoted, ...names]
}

/**
 * Strings take the user's phrases in turn, `skip` of them left out, then the member's own name. Required members are
 * always filled, the others near the top.
 */
export const synthesize = (schema: JsonObject, said: string, skip = 0): Json => {
  const material = phrases(said).slice(skip)
  const numbers = Array.from(said.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?/g), ([digits]) => Number(digits))

  const resolve = (part: JsonObject): JsonObject => {
    const path = asText(part.$ref)
    if (!path.startsWith('#')) return part
    let found: JsonObject = schema
    for (const step of path.slice(1).split('/').filter(Boolean)) {
      found = asObject(found[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')])
    }
    return found
  }

  const text = (part: JsonObject, name: string): string => {
    const format = asText(part.format)
    if (format === 'date') return '2026-01-31'
    if (format === 'date-time') return '2026-01-31T12:00:00Z'
    if (format === 'time') return '12:00:00Z'
    if (format === 'email') return 'demo@example.com'
    if (format === 'uri' || format === 'url') return 'https://example.com/'
    if (format === 'uuid') return '00000000-0000-4000-8000-000000000000'
    const least = asNumber(part.minLength) ?? 0
    const most = asNumber(part.maxLength) ?? Number.POSITIVE_INFINITY
    return (material.shift() ?? `demo ${name || 'text'}`).padEnd(least, '.').slice(0, most)
  }

  const number = (part: JsonObject, whole: boolean): number => {
    const above = asNumber(part.exclusiveMinimum)
    const below = asNumber(part.exclusiveMaximum)
    const least = asNumber(part.minimum) ?? above ?? Number.NEGATIVE_INFINITY
    const most = asNumber(part.maximum) ?? below ?? Number.POSITIVE_INFINITY
    const step = asNumber(part.multipleOf) ?? (whole ? 1 : undefined)
    const wished = Math.min(most, Math.max(least, numbers.shift() ?? 42))
    const value = step === undefined ? wished : Math.floor(wished / step) * step
    if (value < least || value === above) return value + (step ?? Math.min(1, (most - least) / 2))
    return value === below ? value - (step ?? Math.min(1, (most - least) / 2)) : value
  }

  const make = (source: JsonObject, name: string, depth: number): Json => {
    const part = resolve(source)
    if (part.const !== undefined) return part.const
    const choices = asList(part.enum)
    if (choices[0] !== undefined) return choices[0]
    if (part.default !== undefined && part.default !== null) return part.default
    const some = [...asList(part.anyOf), ...asList(part.oneOf)].map(asObject)
    const first = some.find((option) => option.type !== 'null') ?? some[0]
    if (first !== undefined) return make(first, name, depth + 1)
    const all = asList(part.allOf).map(asObject)
    if (all.length > 0 && part.type === undefined) {
      const parts = all.map((option) => resolve(option))
      return make(
        {
          type: 'object',
          properties: Object.assign({}, ...parts.map((option) => asObject(option.properties))),
          required: parts.flatMap((option) => asList(option.required)),
        },
        name,
        depth + 1,
      )
    }
    const types = Array.isArray(part.type)
      ? part.type
      : [part.type ?? (part.properties ? 'object' : part.items ? 'array' : 'string')]
    const type = types.find((option) => option !== 'null') ?? 'null'
    switch (type) {
      case 'object': {
        const required = asList(part.required)
        const members = Object.entries(asObject(part.properties)).filter(
          ([member]) => depth < MAX_DEPTH / 4 || required.includes(member),
        )
        if (depth > MAX_DEPTH) return {}
        return Object.fromEntries(members.map(([member, inner]) => [member, make(asObject(inner), member, depth + 1)]))
      }
      case 'array': {
        const fixed = asList(part.prefixItems).map((inner) => make(asObject(inner), name, depth + 1))
        const least = Math.max(asNumber(part.minItems) ?? 0, fixed.length > 0 || depth > MAX_DEPTH / 4 ? 0 : 1)
        const most = asNumber(part.maxItems) ?? Number.POSITIVE_INFINITY
        while (fixed.length < Math.min(least, most)) fixed.push(make(asObject(part.items), name, depth + 1))
        return fixed
      }
      case 'integer':
        return number(part, true)
      case 'number':
        return number(part, false)
      case 'boolean':
        return true
      case 'null':
        return null
      default:
        return text(part, name)
    }
  }
  return make(schema, '', 0)
}
