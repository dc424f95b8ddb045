// Edits of a responses body that passes to a provider of the same wire.

import { asList, asObjects, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Edit } from '../../lib/json-splice.ts'
import { mayBeCut } from '../../lib/json-survey.ts'
import type { PassCodec } from '../codec.ts'
import { isForeign, modelEdit, refusedMembers, withoutRefused } from '../pass.ts'
import { given } from '../read.ts'
import { summaryIn } from './compaction.ts'
import { hasRefusedId, isMessage } from './names.ts'

export const outputCap = (body: JsonObject): number | undefined =>
  typeof body.max_output_tokens === 'number' ? body.max_output_tokens : undefined

/** The lowest output cap that the provider accepts, in tokens. */
export const LEAST_OUTPUT = 16

export const passEdits: PassCodec['passEdits'] = (outline, options, whole = () => outline) => {
  const edits: Edit[] = [modelEdit(options)]
  if (options.outputCap !== undefined) {
    edits.push({ path: ['max_output_tokens'], value: String(Math.max(LEAST_OUTPUT, options.outputCap)) })
  }
  const isLong =
    options.quirks.longMessages === true &&
    (typeof outline.input === 'string' || shortIn(asList(outline.input)).length > 0)
  const body = isLong || mayHoldCutId(outline) ? whole() : outline
  const input = asList(body.input)
  if (!options.quirks.readsTags) edits.push(...foreignEdits(input))
  edits.push(...idEdits(input))
  if (options.quirks.noDeveloperRole) edits.push(...roleEdits(input, 'developer', 'system'))
  else if (options.quirks.noSystemRole) edits.push(...roleEdits(input, 'system', 'developer'))
  if (isLong) edits.push(...(typeof body.input === 'string' ? listEdits(body.input) : typeEdits(input)))
  return withoutRefused(edits, refusedMembers(outline, options.quirks), options.quirks, outline)
}

/** Whether there may be an id that is too long: of one in a large body only the beginning is read. */
const mayHoldCutId = ({ input }: JsonObject): boolean =>
  asObjects(input).some(({ id }) => typeof id === 'string' && mayBeCut(id))

/**
 * A compaction item of the gateway becomes its summary as a message. A foreign thought is removed, as this provider could
 * not read it.
 */
const foreignEdits = (input: Json[]): Edit[] =>
  input.flatMap((item, at) => {
    if (!isObject(item) || !isForeign(item.encrypted_content)) return []
    const summary = summaryIn(item)
    const message = summary === undefined ? undefined : { type: 'message', role: 'user', content: summary }
    return [{ path: ['input', at], value: message === undefined ? undefined : JSON.stringify(message) }]
  })

/** Removes ids that the provider would refuse, as other servers and some clients make them: a message's that stands before, too. */
const idEdits = (input: Json[]): Edit[] => {
  const seen = new Set<Json>()
  return input.flatMap((item, at) => {
    if (!isObject(item) || typeof item.id !== 'string' || isForeign(item.encrypted_content)) return []
    const isRefused = hasRefusedId(item) || (seen.has(item.id) && isMessage(item))
    seen.add(item.id)
    return isRefused ? [{ path: ['input', at, 'id'], value: undefined }] : []
  })
}

/** For a provider without one of the two roles. */
const roleEdits = (input: Json[], unknown: string, role: string): Edit[] =>
  input.flatMap((item, at) =>
    isObject(item) && item.role === unknown ? [{ path: ['input', at, 'role'], value: JSON.stringify(role) }] : [],
  )

/** Messages in their short form: without a type, and the model's without parts. */
const shortIn = (input: Json[]): { message: JsonObject; at: number }[] =>
  input.flatMap((message, at) => (isObject(message) && isMessage(message) && isShort(message) ? [{ message, at }] : []))

const isShort = ({ type, role, content }: JsonObject): boolean =>
  !given(type) || (role === 'assistant' && typeof content === 'string')

/** A text alone is the user's message. */
const listEdits = (text: string): Edit[] => [
  {
    path: ['input'],
    value: JSON.stringify([{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }]),
  },
]

/** For a provider that knows no short form. */
const typeEdits = (input: Json[]): Edit[] =>
  shortIn(input).flatMap(({ message: { type, role, content }, at }) => {
    const parts = [{ type: 'output_text', text: content, annotations: [] }]
    return [
      ...(given(type) ? [] : [{ path: ['input', at, 'type'], value: '"message"' }]),
      ...(role === 'assistant' && typeof content === 'string'
        ? [{ path: ['input', at, 'content'], value: JSON.stringify(parts) }]
        : []),
    ]
  })
