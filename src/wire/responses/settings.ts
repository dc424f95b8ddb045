// Decodes and encodes `reasoning`, `text` (the form of the answer) and the labels of a request.

import { invalidRequest } from '../../errors.ts'
import { asObject, asObjects, type Json, type JsonObject } from '../../ir/json.ts'
import type { Effort, OpaqueMember, OutputFormat, Reasoning } from '../../ir/request.ts'
import { given, optionalBoolean, optionalObject, optionalString, readObject, readString } from '../read.ts'
import { encodeSchemaForm } from '../schema/form.ts'
import { objectRoot } from '../schema/object.ts'
import { withReadablePatterns } from '../schema/pattern.ts'
import { effortOf, knownEffort, leastThought, SUMMARIES } from '../settings/effort.ts'
import { keepRest } from './opaque.ts'
import type { Outgoing } from './outgoing.ts'
import { encodeSchema } from './tools.ts'

const THINKING_MEMBERS = new Set(['effort', 'summary', 'generate_summary'])
const TEXT_MEMBERS = new Set(['format', 'verbosity'])
const SCHEMA_MEMBERS = new Set(['type', 'name', 'description', 'schema', 'strict'])
const TIERS = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'])

export const isTier = (tier: unknown): tier is string => typeof tier === 'string' && TIERS.has(tier)

/** The effort that the last of the conversation's updates to set one has set. */
export const updatedEffort = (input: Json | undefined): Effort | undefined =>
  asObjects(input)
    .filter(({ type }) => type === 'configuration_update')
    .map(({ reasoning }) => knownEffort(asObject(reasoning).effort))
    .findLast((effort) => effort !== undefined)

export const decodeThinking = (value: JsonObject, opaque: OpaqueMember[]): Reasoning | undefined => {
  const reasoning: Reasoning = {}
  const effort = optionalString(value.effort, 'reasoning.effort')
  const known = knownEffort(effort)
  if (known === 'none') reasoning.mode = 'off'
  else if (known !== undefined) reasoning.effort = known
  else if (effort !== undefined) opaque.push({ name: 'reasoning.effort', value: effort, essential: false })
  const requested = given(value.summary) ? value.summary : value.generate_summary
  const summary = SUMMARIES.find((name) => name === requested)
  if (summary !== undefined) reasoning.summary = summary
  else if (given(requested)) opaque.push({ name: 'reasoning.summary', value: requested, essential: false })
  keepRest(value, THINKING_MEMBERS, 'reasoning', opaque)
  return Object.keys(reasoning).length === 0 ? undefined : reasoning
}

export const encodeThinking = (wish: Reasoning, out: Outgoing): JsonObject | undefined => {
  const drop = (setting: 'reasoning' | 'effort'): void =>
    out.drop(out.nameOf(setting === 'effort' ? 'reasoning.effort' : 'reasoning'))
  const reasoning = leastThought(wish, out.quirks, drop)
  if (out.quirks.noReasoning === true) {
    if (reasoning.mode !== 'off' && reasoning.effort !== 'none') drop('reasoning')
    return undefined
  }
  const effort = effortOf(reasoning, out.quirks, out.origin, drop)
  // Clients of the messages wire get thoughts by default when they turn thinking on.
  const thinking = out.origin === 'messages' && (reasoning.mode === 'budget' || reasoning.mode === 'adaptive')
  const requested = reasoning.summary ?? (thinking ? 'auto' : 'omitted')
  const isHidden = requested === 'omitted' || out.quirks.noSummary === true
  if (isHidden && (reasoning.summary ?? 'omitted') !== 'omitted') out.drop(out.nameOf('reasoning.summary'))
  const summary = isHidden ? {} : { summary: requested }
  const encoded = { ...(effort === undefined ? {} : { effort }), ...summary }
  return Object.keys(encoded).length === 0 ? undefined : encoded
}

const decodeFormat = (value: JsonObject, opaque: OpaqueMember[]): OutputFormat | undefined => {
  const type = readString(value.type, 'text.format.type')
  switch (type) {
    case 'text':
      return undefined
    case 'json_object':
      return { type: 'json-object' }
    case 'json_schema': {
      keepRest(value, SCHEMA_MEMBERS, 'text.format', opaque)
      const name = optionalString(value.name, 'text.format.name')
      const description = optionalString(value.description, 'text.format.description')
      const strict = optionalBoolean(value.strict, 'text.format.strict')
      return {
        type: 'json-schema',
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
        schema: readObject(value.schema, 'text.format.schema'),
        ...(strict === undefined ? {} : { strict }),
      }
    }
    default:
      opaque.push({ name: 'text.format', value, essential: true })
      return undefined
  }
}

export const encodeFormat = (output: OutputFormat, { origin, drop, nameOf }: Outgoing): JsonObject => {
  if (output.type === 'json-object') return { type: 'json_object' }
  const dropped = (member: string): void => drop(`${nameOf('text.format')}.schema.${member}`)
  return { type: 'json_schema', ...encodeSchemaForm(output, origin, dropped) }
}

const ANSWER = 'Gives the final answer. Call it once, with the whole answer as its arguments.'

/** For models without structured output: a tool whose arguments are the answer. `others`: the tools sent beside it. */
export const jsonTool = (
  output: OutputFormat,
  others: readonly JsonObject[],
  out: Outgoing,
): JsonObject & { name: string } => {
  const taken = new Set(others.map((tool) => tool.name))
  let name = 'json_output'
  while (taken.has(name)) name = `${name}_`
  const { schema = {}, strict = false, description = ANSWER } = output.type === 'json-schema' ? output : {}
  return {
    type: 'function',
    name,
    description,
    parameters: encodeSchema(withReadablePatterns(objectRoot(schema, () => out.drop(out.nameOf('text.format'))))),
    strict,
  }
}

const MAX_METADATA = { members: 16, name: 64, value: 512 }

export const decodeMetadata = (value: JsonObject): { [name: string]: string } | undefined => {
  const metadata: { [name: string]: string } = {}
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') throw invalidRequest(`'metadata.${name}' must be a string.`, `metadata.${name}`)
    metadata[name] = text
  }
  return Object.keys(metadata).length === 0 ? undefined : metadata
}

/** The metadata within the wire's limits; the rest is dropped. */
export const encodeMetadata = (metadata: { [name: string]: string }, out: Outgoing): JsonObject => {
  const kept: JsonObject = {}
  for (const [name, text] of Object.entries(metadata)) {
    const fits = name.length <= MAX_METADATA.name && text.length <= MAX_METADATA.value
    if (fits && Object.keys(kept).length < MAX_METADATA.members) kept[name] = text
    else out.drop(`metadata.${name}`)
  }
  return kept
}

export const decodeText = (
  value: JsonObject,
  opaque: OpaqueMember[],
): { output?: OutputFormat; verbosity?: string } => {
  const format = optionalObject(value.format, 'text.format')
  const output = format === undefined ? undefined : decodeFormat(format, opaque)
  const verbosity = optionalString(value.verbosity, 'text.verbosity')
  keepRest(value, TEXT_MEMBERS, 'text', opaque)
  return { ...(output === undefined ? {} : { output }), ...(verbosity === undefined ? {} : { verbosity }) }
}
