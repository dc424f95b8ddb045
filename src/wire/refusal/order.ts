// Whether a refusal is about the order of speakers, and how a conversation is put in the order that is wanted.

import type { Remedy } from '../../errors.ts'
import { asObject, type Json, type JsonObject } from '../../ir/json.ts'
import { type Asking, at, type Lacking } from './lacking.ts'
import { NOT_HAD } from './language.ts'
import { type Place, placesOf, valueAt } from './member-path.ts'
import { type Disorder, disordersIn } from './oddities.ts'
import { NO_SYSTEM_TURN } from './wishes.ts'

const PREFILL = 'This model does not support assistant message prefill. The conversation must end with a user message.'

/** Two speakers, as the wires call them: in a sentence of any language. */
const BOTH = /\b(?:user|assistant|system)\b[^\n]*\b(?:user|assistant|system|tool)\b/i
/** Not one that lets an account do something. */
const ROLE =
  /(?<!\b(?:iam|your|assumed?|lacks?|service)[ -])\broles?\b(?!\/| (?:roles?\/|assumption|arn|is not allowed to|does not permit|in (?:your|the|this) (?:organi[sz]ation|project|account|workspace)))/
export const OF_SPEAKERS = new RegExp(
  `${BOTH.source}|${ROLE.source}|\\balternat|\\bturns?\\b|\\bconversations?\\b|\\bend(?:s|ing)? with\\b|\\bsuccessive\\b|\\b(?:last|first|system|user|assistant) (?:messages?|query)\\b|\\bprefill\\b|\\b(?:tool|function)[ _]?(?:calls?|use|results?|outputs?|responses?)(?:_?ids?)?\\b|\\btool ids?\\b`,
  'i',
)

const TOOLS = /\b(?:tool|function)/i
/** That there are none at all, or how large one may be: that is of their order only where it says so. */
const OF_ALL = new RegExp(`${NOT_HAD.source}|\\b(?:exceed\\w*|limit)\\b`, 'i')
const IN_ORDER = /\b(?:after|before|follow|preced|between|next|order)/i

/** The disorders that a sentence may be about, the likeliest first. */
const ABOUT: [RegExp, readonly Disorder[]][] = [
  [/\blast\b|\bfinal\b|\btrailing\b|\bprefill\b|\bend(?:s|ing)? with\b|\bat the end\b/i, ['ends']],
  [/\b(?:system|developer)\b.{0,40}\b(?:after|beginning|first|start|role)\b|\bgot system\b/i, ['system']],
  [/\balternat|\bsuccessive\b|\bconsecutive\b|\bin a row\b/i, ['again', 'after-tool', 'system', 'opens']],
  [TOOLS, ['stray', 'open', 'after-tool', 'begins']],
  [/\bfirst\b|\bstart\b|\bbegin|\bquery\b/i, ['begins', 'ends']],
  [/\buser\b|\bquery\b/i, ['unasked']],
  [new RegExp(`${ROLE.source}|${BOTH.source}`, 'i'), ['system', 'again', 'after-tool', 'opens']],
]

const ORDER: Partial<Record<Disorder, Remedy>> = {
  system: 'no-mid-system',
  'after-tool': 'reply-to-tools',
  again: 'alternating-roles',
  opens: 'no-system',
  stray: 'anew',
  open: 'anew',
}
/** Where the system may speak between, and one speaker twice. */
const PAIRED = new Set<Disorder>(['stray', 'open'])

/** On the responses wire whoever sets the rules has one of two roles. */
const ROLES = new Map<Json | undefined, Remedy>([
  ['system', 'developer-role'],
  ['developer', 'system-role'],
])
export const roleFor = (sent: JsonObject, place: Place = []): Remedy | undefined =>
  place[0] === 'input' ? ROLES.get(asObject(valueAt(sent, place)).role) : undefined

/** On the messages wire. */
export const NO_SYSTEM_WITHIN = { remedy: 'no-mid-system', advice: NO_SYSTEM_TURN } as const

export const disorder = ({ wire, sent, said }: Asking): Lacking | undefined => {
  const found = disordersIn(wire, sent)
  const isOfAll = OF_ALL.test(said) && !IN_ORDER.test(said)
  const kinds = ABOUT.filter(([about]) => about.test(said) && !(isOfAll && about === TOOLS)).flatMap(
    ([, kinds]) => kinds,
  )
  const kind = kinds.find((one) => found.has(one))
  if (kind === undefined) return at(roleIn(sent, said), { advice: 'The model has no turns of this role.' })
  if (kind === 'ends') return at(found.get(kind), { advice: PREFILL })
  if (kind === 'system' && wire === 'messages') return at(found.get(kind), NO_SYSTEM_WITHIN)
  const isOrder = wire === 'chat-completions' || PAIRED.has(kind)
  const remedy = isOrder ? ORDER[kind] : roleFor(sent, found.get(kind))
  return at(found.get(kind), {
    ...(remedy && { remedy }),
    advice: 'Let the speakers take turns, and answer each call.',
  })
}

/** The first turn of a role that a sentence names as one. */
const roleIn = (sent: JsonObject, said: string): Place | undefined => {
  const [, role] = /\broles?\b.{0,20}['"`](tool|function|assistant)['"`]/i.exec(said) ?? []
  return role === undefined
    ? undefined
    : placesOf(sent, 'messages.*.role').find((place) => valueAt(sent, place) === role.toLowerCase())
}
