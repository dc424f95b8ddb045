// How the model should think and in what form it should answer: `reasoning`, `text`, labels and limits, both ways.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import type { ChatRequest, Effort, OpaqueMember, OutputFormat, Reasoning } from '../../ir/request.ts'
import { isClosed } from '../object-schema.ts'
import type { Outgoing } from './outgoing.ts'
import { given, optionalBoolean, optionalObject, optionalString, readObject, readString } from './read.ts'
import { encodeSchema } from './tools.ts'

const EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const SUMMARIES = ['auto', 'concise', 'detailed'] as const
const TIERS = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'])

export const isTier = (tier: unknown): tier is string => typeof tier === 'string' && TIERS.has(tier)

export const decodeThinking = (value: JsonObject, opaque: OpaqueMember[]): Reasoning | undefined => {
  const reasoning: Reasoning = {}
  const effort = optionalString(value.effort, 'reasoning.effort')
  const known = EFFORTS.find((name) => name === effort)
  if (known === 'none') reasoning.mode = 'off'
  else if (known !== undefined) reasoning.effort = known
  else if (effort !== undefined) opaque.push({ name: 'reasoning.effort', value: effort, essential: false })
  const asked = given(value.summary) ? value.summary : value.generate_summary
  const summary = SUMMARIES.find((name) => name === asked)
  if (summary !== undefined) reasoning.summary = summary
  for (const [member, other] of Object.entries(value)) {
    if (['effort', 'summary', 'generate_summary'].includes(member) || !given(other)) continue
    opaque.push({ name: `reasoning.${member}`, value: other, essential: false })
  }
  return Object.keys(reasoning).length === 0 ? undefined : reasoning
}

export const encodeThinking = (reasoning: Reasoning, out: Outgoing): JsonObject | undefined => {
  if (out.quirks.noReasoning === true) {
    if (reasoning.mode !== 'off') out.drop(REASONING_MEMBER[out.origin])
    return undefined
  }
  const effort = encodeEffort(reasoning, out)
  // A messages client that lets the model think reads its thoughts unless it says otherwise.
  const thinking = out.origin === 'messages' && (reasoning.mode === 'budget' || reasoning.mode === 'adaptive')
  const asked = reasoning.summary ?? (thinking ? 'auto' : 'omitted')
  const summary = asked === 'omitted' ? {} : { summary: asked }
  const encoded = { ...(effort === undefined ? {} : { effort }), ...summary }
  return Object.keys(encoded).length === 0 ? undefined : encoded
}

const REASONING_MEMBER = {
  'chat-completions': 'reasoning_effort',
  responses: 'reasoning',
  messages: 'thinking',
} as const

const encodeEffort = ({ mode, effort, budgetTokens }: Reasoning, out: Outgoing): Effort | undefined => {
  if (mode === 'off') {
    if (effort !== undefined) out.drop('output_config.effort')
    return 'none'
  }
  // The messages wire's highest level has no counterpart that all models here know.
  if (effort === 'max' && out.origin === 'messages') return 'xhigh'
  if (effort !== undefined) return effort
  if (mode !== 'budget' || budgetTokens === undefined) return undefined
  if (budgetTokens <= 4_096) return 'low'
  return budgetTokens <= 16_384 ? 'medium' : 'high'
}

const decodeFormat = (value: JsonObject, opaque: OpaqueMember[]): OutputFormat | undefined => {
  const type = readString(value.type, 'text.format.type')
  switch (type) {
    case 'text':
      return undefined
    case 'json_object':
      return { type: 'json-object' }
    case 'json_schema': {
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

const FORMAT_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** `held`: the client's own wire holds the model to every schema. */
export const encodeFormat = (output: OutputFormat, held: boolean): JsonObject => {
  if (output.type === 'json-object') return { type: 'json_object' }
  const name = output.name ?? 'response'
  return {
    type: 'json_schema',
    name: FORMAT_NAME.test(name) ? name : name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'response',
    ...(output.description === undefined ? {} : { description: output.description }),
    schema: output.schema,
    ...(output.strict === undefined ? {} : { strict: output.strict }),
    ...(output.strict === undefined && held && isClosed(output.schema) ? { strict: true } : {}),
  }
}

const JSON_TOOL = 'json_output'

/** Structured output for a model that has none: a tool it must call, whose arguments are the answer. */
export const jsonTool = (output: OutputFormat, request: ChatRequest): JsonObject => {
  const taken = new Set(request.tools.flatMap((tool) => (tool.type === 'opaque' ? [] : [tool.name])))
  let name = JSON_TOOL
  while (taken.has(name)) name = `${name}_`
  return {
    type: 'function',
    name,
    description: 'Gives the final answer. Call it once, with the whole answer as its arguments.',
    parameters: encodeSchema(
      output.type === 'json-schema' ? output.schema : { type: 'object', additionalProperties: true },
    ),
    strict: output.type === 'json-schema' && output.strict === true,
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

/** What of the client's labels the wire has room for; the rest is listed. */
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
  return { ...(output === undefined ? {} : { output }), ...(verbosity === undefined ? {} : { verbosity }) }
}
