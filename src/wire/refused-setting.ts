// Refusals of a setting, or of a member, that a model or its server does not take, in the words of several vendors and
// servers. Which they take differs within one vendor's models, and no client of another wire can know it by a model's name.

import type { Remedy } from '../errors.ts'
import { asText, type JsonObject } from '../ir/json.ts'
import type { Effort } from '../ir/request.ts'
import { EFFORTS } from './effort.ts'

/** `members`: of the error, among which `param` may name the refused member. */
type Refusal = { code?: string | undefined; message: string; members: JsonObject }
type Refused = { remedy: Remedy; named?: readonly string[] }

/** How to ask without what is refused; undefined for a refusal of anything else. */
export const refusedSetting = ({ code, message, members }: Refusal): Refused | undefined => {
  const param = asText(members.param)
  const isUnsupported = UNSUPPORTED_CODES.has(code)
  if ((isUnsupported && SAMPLING.includes(param)) || NO_SAMPLING.test(message)) return { remedy: 'no-sampling' }
  if ((isUnsupported && param === 'reasoning.summary') || NO_SUMMARY.test(`${param}: ${message}`))
    return { remedy: 'no-summary' }
  if ((code === 'unsupported_parameter' && THINKING.has(param)) || NO_THINKING.test(message))
    return { remedy: 'no-thinking' }
  const efforts = effortsTaken(message, param)
  if (efforts !== undefined) return { remedy: 'other-effort', named: efforts }
  const unknown = unknownMembers(message)
  if (UNKNOWN_CODES.has(code)) unknown.push(param)
  const wishes = [...new Set(unknown)].filter((name) => WISHES.has(name))
  return wishes.length === 0 ? undefined : { remedy: 'without-members', named: wishes }
}

const UNKNOWN_CODES = new Set<string | undefined>(['unknown_parameter', 'unsupported_parameter'])
const UNSUPPORTED_CODES = new Set<string | undefined>(['unsupported_value', 'unsupported_parameter'])

const SAMPLING = ['temperature', 'top_p', 'top_k', 'frequency_penalty', 'presence_penalty']
/** Of a model that takes only one value, which the words say; a range that was left is the client's affair. */
const NO_SAMPLING = new RegExp(
  [
    'invalid (?:NAME): only \\S{1,9} is allowed for this model',
    '\\b(?:NAME)\\b[\'"`]? (?:is deprecated for this model|is not supported|does not support \\S{1,20} with this model)',
  ]
    .join('|')
    .replaceAll('NAME', SAMPLING.join('|')),
)

/** Accounts without a proof of identity get none. */
const NO_SUMMARY =
  /must be verified to generate reasoning summaries|^reasoning\.summary: Unsupported value|Unsupported (?:parameter|value): 'reasoning\.summary'/

const THINKING = new Set(['reasoning', 'reasoning.effort', 'reasoning_effort'])
/** Sealed thoughts are asked for with every translated request. */
const NO_THINKING = /Unsupported parameter: 'reasoning|Encrypted content is not supported with this model/

/** The efforts that the model takes, `[]` where it takes none; undefined for an error about something else. */
const effortsTaken = (message: string, param: string): Effort[] | undefined => {
  if (param !== '' && !EFFORT.test(param)) return undefined
  for (const line of message.split('\n')) {
    if (!EFFORT.test(param) && !EFFORT.test(line)) continue
    const listed = LISTED.exec(line)?.[1]
    const taken = listed === undefined ? [] : EFFORTS.filter((effort) => NAMED[effort].test(listed))
    if (taken.length > 0) return taken
    const refused = REFUSED_EFFORT.exec(line)?.[1]
    if (refused !== undefined) return EFFORTS.filter((effort) => effort !== refused)
    if (UNKNOWN.test(line)) return []
  }
  return undefined
}

const EFFORT = /effort/i

const NAMED = Object.fromEntries(
  EFFORTS.map((effort) => [effort, new RegExp(`'${effort}'|(?<![\\w.])${effort}\\b`)]),
) as Record<Effort, RegExp>

/** The values in a row, quoted in any way: what follows them may be the one that was refused. */
const LISTED = new RegExp(
  `(?:supported (?:values|levels|efforts)(?: are)?:?|should be|expected one of|must be one of:?|allowed values(?: are)?:?)((?:[\\s,[(<>]|\\bor\\b|\\band\\b|\\w{1,40}\\.\\w{1,10}:|["'\`]?\\b(?:auto|default|${EFFORTS.join('|')})\\b["'\`]?)+)`,
  'i',
)

const REFUSED_EFFORT = new RegExp(`(?:Unsupported value: |does not support )'(${EFFORTS.join('|')})'`)

const UNKNOWN =
  /unsupported parameter|unrecogni[sz]ed|unknown (?:parameter|argument|name|field)|extra inputs|not support/i

/** Members of the body itself, in the words of many servers, of which some list several. */
const unknownMembers = (message: string): string[] =>
  [...message.matchAll(UNKNOWN_MEMBERS)].flatMap(([, ...names]) => names.filter(Boolean))

const BEFORE_MEMBER = [
  '(?:Unsupported|Unknown) parameter: ',
  'Unrecognized request argument supplied: ',
  'Unknown name ',
  'unknown field ',
  'property ',
  'does not support parameter ',
  'Argument not supported on this model: ',
].join('|')

const UNKNOWN_MEMBERS = new RegExp(
  [
    `(?:${BEFORE_MEMBER})['"\`]?(?:body\\.)?(\\w{1,64})(?![\\w.]{0,64}\\w)`,
    '(?:^|\\s)(?:body\\.|#/)?(\\w+): Extra inputs are not permitted',
    "'(verbosity)' does not support '",
  ].join('|'),
  'g',
)

/** Members without which an answer is still the one that was asked for: the cap has an older name, and the gateway can stop. */
const WISHES = new Set([
  ...['metadata', 'parallel_tool_calls', 'prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'seed'],
  ...['service_tier', 'store', 'stop', 'stream_options', 'user', 'verbosity', 'max_completion_tokens'],
])
