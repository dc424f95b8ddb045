// What a model or server cannot do, by what it was asked for: a sentence that says no to a capability is about the member that
// asked for it, in whatever words. Each row is one capability: how people call it, where a request asks for it, and how it is
// asked otherwise. No row is a server's sentence.

import { asList, asObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ChatWire } from '../../ir/wire.ts'
import { holdsLimits } from '../schema/limits.ts'
import { FORMS, fileIn, listIn, rootAlternativesIn, schemasIn, shapelessIn, thoughtlessIn } from './holders.ts'
import type { Span } from './kinds.ts'
import { type Asking, at, type Lacking } from './lacking.ts'
import { isEnglish, NOT_HAD, saysNo } from './language.ts'
import { type Place, placesOf, valueAt } from './member-path.ts'
import { blankIn, callIdIn, cutCallIn, disordersIn, repeatedIdIn } from './oddities.ts'
import { disorder, NO_SYSTEM_WITHIN, OF_SPEAKERS, roleFor } from './order.ts'
import { settingsCalled, settingsIn } from './settings.ts'
import { isForcedChoice, isLongId } from './wishes.ts'

/** What it lacks of what was sent, and the words that say so; undefined where none says no to anything that was. */
export const lackingIn = (wire: ChatWire, sent: JsonObject, text: string): (Lacking & { span: Span }) | undefined => {
  for (const { 0: said, index } of text.matchAll(SENTENCE)) {
    if (said.length > MOST_CHARS) continue
    for (const { called, unless, asked } of CAPABILITIES) {
      const found = called.exec(said)
      if (found === null || !(unless === undefined ? saysNo(said) : unless.test(said))) continue
      const lacking = asked({ wire, sent, said })
      if (lacking === undefined) continue
      const { at, length } = lacking.span ?? { at: found.index, length: found[0].length }
      return { ...lacking, span: { at: index + at, length } }
    }
  }
  return undefined
}

/** To its mark, or the end of its line. */
const SENTENCE = /[^\n]+?(?:[.!?;](?=\s)|$|(?=\n))/g

/** Of a sentence. Longer ones quote something. */
const MOST_CHARS = 1_000

/** Where what is called is odd in itself. */
const ANY = /(?:)/

/** `called`: in a sentence. `unless`: what a sentence must say besides, by default that it is not taken. */
type Capability = { called: RegExp; unless?: RegExp; asked(asking: Asking): (Lacking & { span?: Span }) | undefined }

const first = (sent: JsonObject, ...paths: string[]): Place | undefined =>
  paths.flatMap((path) => placesOf(sent, path).filter((place) => valueAt(sent, place) !== null))[0]

/** A member that is told where it stands, or left out with those like it where no answer depends on them. */
const member = (called: RegExp, ...paths: string[]): Capability => ({
  called,
  asked: ({ sent }) => at(first(sent, ...paths)),
})
const leftOut = (sent: JsonObject, paths: readonly string[]): Lacking | undefined =>
  at(first(sent, ...paths), { remedy: 'without-members', named: paths })

const formIn = (sent: JsonObject): Place | undefined => {
  const place = first(sent, ...FORMS)
  return place !== undefined && asObject(valueAt(sent, place)).type !== 'text' ? place : undefined
}
const toolsIn = (sent: JsonObject): Place | undefined =>
  ['tools', 'functions'].filter((name) => asList(sent[name]).length > 0).map((name) => [name])[0]

const MENTIONS_TOOLS = /\btools?\b(?!_)|\bfunction(?:s|[- ]call\w*)?\b|\btool[- ](?:use|call\w*)\b/i
const MENTIONS_FORM =
  /\bjson[ _](?:mode|schema|object)\b|\bstructured[ -]outputs?\b|\bresponse[ _-]?format\b|\boutput[ _]format\b|\bmime[ _]?type\b|\bgrammar\b/i
const MENTIONS_SCHEMA = /\bgrammar\b|\bschemas?\b|\bxgrammar\b|\bsamplers\b|\bproperties\b/i
/** Of a schema that is refused, no model is at fault. */
export const SCHEMA_AT_FAULT = /invalid (?:json )?schema|schema (?:is )?(?:invalid|must|cannot)|\bin context=/i

export const NO_TEXT = 'Leave out what holds no text.'
export const SHAPELESS = 'Give each tool its parameters.'
/** Whether a form of the answer is refused beside tools. */
export const isBesideTools = (sent: JsonObject, said: string): boolean =>
  formIn(sent) !== undefined && toolsIn(sent) !== undefined && MENTIONS_TOOLS.test(said)

/** Of what a server wants to be a text. */
export const WANTS_TEXT =
  /\bmust be an? ?str(?:ing)?\b|\b(?:valid|expected(?: an?)?|should be|has to be|needs? to be)\W{1,3}(?:an? )?str(?:ing)?\b|\bstr(?:ing)?\b.{0,60}\b(?:array|list|sequence)\b|\b(?:array|list|sequence)\b.{0,60}\bstr(?:ing)?\b/i

/** What every server takes. */
const PLAIN_ID = /^[a-zA-Z0-9_-]{1,40}$/

/** More answers than one, or how many. */
const SEVERAL =
  /\bcandidates\b|\bn value\b|'n'|\bn [=>]|\b(?:multiple|several|one|single|number of) (?:completion )?(?:choices?|completions?)\b/i

/** What languages call what is not there. */
const NOTHING = /\bnull\b|\bNULL\b|\bnil\b|\bNone(?:Type)?\b/

/** What people call all that is asked for beside the conversation. */
const OF_SETTINGS =
  /\b(?:param(?:eter)?s|arguments|settings|options)\b|\b(?:an?|the|API|request|invalid|illegal|wrong) param(?:eter)?(?=[.,;]|$| (?:is|specified)\b)|参数/i

const NO_STREAM = new RegExp(`${NOT_HAD.source}|\\b(?:disabled|must)\\b|\\bonly (?:when|with|if|for)\\b`, 'i')
/** A sentence of another language, which has no word for a stream that broke. */
const isOfAnother = (said: string): boolean =>
  !isEnglish(said) &&
  !/\b(?:error|reset|closed|aborted|failed|broken|interrupted|ended|lost|terminated|stopped|stalled|timed? ?out|disconnect\w*|cancel\w*|crash\w*|unexpected\w*)\b/i.test(
    said,
  )
const ONLY_STREAM = /\b(?:only|must|requires?d?|mandatory|please)\b|\bnon-?stream|\bstream\W{1,3}false\b/i
/** What languages call one. */
const STREAMS = /\b(?:non-?)?stream(?:s|ing|ed)?\b|流式|串流|ストリーム|ストリーミング|스트리밍/i

/** What a server has sealed of its thoughts, or signed, as a turn of the conversation holds it. */
const SEALED = ['reasoning_details', 'thinking_blocks', 'thinking'].map((name) => `messages.*.${name}`)

/** The same as text. */
const KEPT = ['reasoning_content', 'reasoning'].map((name) => `messages.*.${name}`)

/** As servers call what asks for thought, apart from the thought itself. */
const NAMES_THINKING =
  /\b(?:enable_thinking|thinking[_.](?!blocks?\b)\w+|reasoning[_.](?!content\b|details\b|text\b)\w+)/i

/** That whoever was asked cannot, or that it takes another. */
const NOT_ABLE = new RegExp(
  `${NOT_HAD.source}|\\b(?:requires?|needs?) an? (?:[\\w-]+ ){0,3}(?:model|provider|server|backend)\\b`,
  'i',
)

const CAPABILITIES: Capability[] = [
  {
    called: /\b(?:signatures?|encrypted|sealed|thoughts?)\b/i,
    unless: ANY,
    asked: ({ wire, sent }) =>
      wire === 'messages'
        ? undefined
        : at(first(sent, ...SEALED, 'input.*.encrypted_content'), { remedy: 'no-reasoning' }),
  },
  {
    // Models that think want a thought in each of their turns, or in those with calls; what is not known is told by a code.
    called: /\breasoning_content\b/,
    unless: ANY,
    asked: ({ wire, sent }) =>
      wire === 'chat-completions' ? at(thoughtlessIn(sent), { remedy: 'all-reasoning' }) : undefined,
  },
  {
    // Of one that stands in a turn, and not of how the model is to think.
    called: /\bthinking\b/i,
    unless: /\b(?:messages?|turns?|history)\b/i,
    asked: ({ wire, sent, said }) =>
      wire === 'chat-completions' && saysNo(said) ? at(first(sent, ...KEPT), { remedy: 'no-reasoning' }) : undefined,
  },
  {
    called: /\bwords?\b.*\bjson\b/i,
    asked: ({ sent }) =>
      at(formIn(sent), {
        remedy: 'json-word',
        advice: 'Ask for JSON in an instruction, too, by that word.',
      }),
  },
  {
    // Where a text is wanted; the message of the model that only calls is the one that may have none.
    called: /\bcontents?\b|\bmessages?\b|\btext\b|\bstr(?:ing)?\b/i,
    unless: NOTHING,
    asked: ({ wire, sent }) =>
      wire === 'chat-completions'
        ? at(
            placesOf(sent, 'messages.*.content').find((place) => valueAt(sent, place) === null),
            { remedy: 'no-null-content' },
          )
        : undefined,
  },
  {
    called: /\bcontents?\b|^\W*expected\b/i,
    unless: WANTS_TEXT,
    asked: ({ wire, sent }) =>
      at(listIn(sent), {
        ...(wire === 'chat-completions' && { remedy: 'anew' }),
        advice: 'Send its text as a string.',
      }),
  },
  {
    called: /\bJSON\b|\bargument|\bUnterminated string\b|\bdelimiter\b|\bunexpected end\b|\bpars(?:e|ing)\b|\bdecod/i,
    unless: ANY,
    asked: ({ wire, sent }) =>
      at(cutCallIn(wire, sent), {
        remedy: 'anew',
        advice: 'The arguments of this call are no JSON. Leave it out, or complete it.',
      }),
  },
  {
    called:
      /(?<!\b(?:model|deployment|project|account|user|request|response|session)[ _-]?)\bids?\b|\b(?:tool|function|call|use)(?:[ _](?:call|use))?[ _]?ids?\b/i,
    unless: /\blength\b|\blong\b|\bpattern\b|\balphanumeric\b|\bcharacters\b|\ba-z\b|\bformat\b/i,
    asked: ({ wire, sent }) =>
      wire === 'chat-completions'
        ? at(callIdIn(wire, sent, isLongId), { remedy: 'short-call-ids' })
        : at(
            callIdIn(wire, sent, (id) => !PLAIN_ID.test(id)),
            { remedy: 'anew' },
          ),
  },
  {
    called: /\b(?:tool|function)[ _]?(?:call|use)?[ _]?ids?\b|\btool_(?:use|call)s?\b/i,
    unless: /\bunique\b|\bduplicate|\btwice\b|\brepeated\b|\bmultiple\b/i,
    asked: ({ wire, sent }) => at(repeatedIdIn(wire, sent), { remedy: 'anew' }),
  },
  {
    // Of a conversation in which the model has made several at once.
    called:
      /\b(?:single|one|multiple|several|parallel) (?:tool|function)[- _]?calls?\b|\b(?:tool|function)[- _]?calls? (?:at (?:once|a time)|in parallel)\b/i,
    asked: ({ wire, sent }) =>
      wire === 'chat-completions'
        ? at(
            placesOf(sent, 'messages.*.tool_calls').find((place) => asList(valueAt(sent, place)).length > 1),
            { remedy: 'calls-in-turn' },
          )
        : undefined,
  },
  {
    called:
      /\bempty\b|\bblank\b|\bnon-?whitespace\b|\btext parameter\b|\bcontent or tool_calls\b|\bat least (?:1|one) (?:\w+ )?(?:token|character|element|part|block)/i,
    unless: ANY,
    asked: ({ wire, sent }) => at(blankIn(wire, sent), { remedy: 'anew', advice: NO_TEXT }),
  },
  {
    called: OF_SPEAKERS,
    asked: disorder,
  },
  {
    // The word alone is any system, such as the server's own, which fails; beside words of another language it is the role.
    called:
      /\b(?:system|developer)[ _-]?(?:prompt|role|message|instruction|turn)|['"`]system['"`]|\brole\W{1,4}system\b|\bsystem\W{1,4}(?:user|assistant|tool)\b|\bsystem\W?(?=[^\0-\x7f])|(?<=[^\0-\x7f]\W?)system\b/i,
    asked: ({ wire, sent }) => {
      const found = disordersIn(wire, sent)
      const place = found.get('system') ?? found.get('opens')
      if (found.has('system') && wire === 'messages') return at(place, NO_SYSTEM_WITHIN)
      const inOrder = found.has('system') ? 'no-mid-system' : 'no-system'
      const remedy = wire === 'chat-completions' ? inOrder : roleFor(sent, place)
      return at(place, remedy && { remedy })
    },
  },
  {
    // Of a tool that takes none, whose arguments need not be told.
    called: /\bparameters\b|\b(?:input_?)?schema\b/i,
    unless: /\bmissing\b|\brequired?\b|\bempty\b|\bmust\b|\bneeds?\b/i,
    asked: ({ sent }) => at(shapelessIn(sent), { remedy: 'anew', advice: SHAPELESS }),
  },
  {
    // By whom none was asked for.
    called: /\bthink(?:s|ing)?\b|\breasoning\b/i,
    unless:
      /\b(?:mandatory|required|only|always)\b|\b(?:cannot|can[’']t|not) be (?:disabled|(?:turned|switched) off)\b|\bmust be enabled\b/i,
    asked: ({ wire, sent }) =>
      at(
        ['reasoning_effort', 'reasoning.effort', 'thinking.type', 'enable_thinking']
          .map((path) => path.split('.'))
          .find((place) => OFF.has(valueAt(sent, place))),
        wire === 'messages' ? { remedy: 'always-thinking' } : { remedy: 'other-effort', named: THINKING },
      ),
  },
  {
    called: /\bthink(?:s|ing)?\b|\breasoning\b/i,
    unless: NOT_ABLE,
    asked: ({ sent }) => at(first(sent, ...THOUGHTS), { remedy: 'no-thinking' }),
  },
  {
    called: MENTIONS_FORM,
    asked: ({ sent, said }) => {
      const form = formIn(sent)
      return isBesideTools(sent, said) ? at(form, { remedy: 'output-or-tools' }) : undefined
    },
  },
  {
    called: /\b(?:one|any|all)Of\b/,
    asked: ({ wire, sent }) => (wire === 'messages' ? at(rootAlternativesIn(sent), { remedy: 'anew' }) : undefined),
  },
  {
    called: MENTIONS_SCHEMA,
    unless: ANY,
    asked: ({ sent, said }) => {
      if (!(saysNo(said) || UNCOMPILED.test(said))) return undefined
      const form = formIn(sent)
      if (schemasIn(sent).some(holdsLimits)) return at(toolsIn(sent) ?? form, { remedy: 'no-schema-limits' })
      return SCHEMA_AT_FAULT.test(said) ? undefined : at(form, { remedy: 'output-by-tool' })
    },
  },
  {
    called: MENTIONS_FORM,
    asked: ({ sent, said }) =>
      SCHEMA_AT_FAULT.test(said) ? undefined : at(formIn(sent), { remedy: 'output-by-tool' }),
  },
  {
    called: /\btool[ _]?choice\b/i,
    asked: ({ sent }) => {
      if (toolsIn(sent) === undefined)
        return at(first(sent, 'tool_choice'), { advice: 'Define tools, or leave it out.' })
      return isForcedChoice(sent.tool_choice) ? at(['tool_choice'], { remedy: 'no-forced-tools' }) : undefined
    },
  },
  {
    // Before the tools that are not to be had in a stream: what is broken in one is no fault of its request.
    called: STREAMS,
    unless: ANY,
    asked: ({ sent, said }) => {
      const isStreamed = sent.stream === true
      const isOfIt = (isStreamed ? NO_STREAM : ONLY_STREAM).test(said) || isOfAnother(said)
      return isOfIt ? at(['stream'], { remedy: isStreamed ? 'not-streamed' : 'streamed' }) : undefined
    },
  },
  {
    // By a name that the request has not, as a setting of its own has become the server's.
    called: NAMES_THINKING,
    unless: ANY,
    asked: ({ sent }) => at(first(sent, ...THOUGHTS), { remedy: 'no-thinking' }),
  },
  // How closely a call follows its schema is a wish, of so many tools at most.
  {
    called: /\bstrict\b/i,
    unless: ANY,
    asked: ({ sent }) =>
      leftOut(
        sent,
        ['tools.*.function.strict', 'tools.*.strict'].filter((path) => placesOf(sent, path).length > 0),
      ),
  },
  {
    called: new RegExp(`${MENTIONS_TOOLS.source}|\\btool_?(?:config|choice|calls?)\\b|\\bschemas?\\b`, 'i'),
    asked: ({ wire, sent }) => {
      const tools = toolsIn(sent)
      if (tools !== undefined) return at(tools)
      const call = callIdIn(wire, sent, () => true)?.slice(0, -1)
      return at(call, { advice: 'The conversation holds calls: define their tools, too, or leave the calls out.' })
    },
  },
  {
    // A figure of what a list holds, beside the most that it may.
    called: /\b\d{1,9} (?:of (?:the |your )?)?(?:\w{1,20} )?(?:messages|turns|tools|functions)\b/i,
    unless: /\bexceed|\b(?:more|over|above|at most|maximum|max|limit|too many|only|up to)\b/i,
    asked: ({ sent, said }) =>
      at(MENTIONS_TOOLS.test(said) ? toolsIn(sent) : first(sent, 'messages', 'input'), { advice: 'Send fewer.' }),
  },
  member(/\blog[- ]?probs?\b|\bprobabilit/i, 'logprobs', 'include', 'top_logprobs'),
  member(SEVERAL, 'n'),
  member(/\baudio\b/i, 'audio', 'modalities'),
  {
    called: /\b(?:pdf|file|document)s?\b/i,
    asked: ({ sent }) => at(fileIn(sent), { advice: 'Send its text, or use a model that reads files.' }),
  },
  {
    // By the words of a name that it has on any wire.
    called: ANY,
    asked: ({ wire, sent, said }) => {
      const { paths, span } = settingsCalled(wire, sent, said)
      const lacking = leftOut(sent, paths)
      return lacking && { ...lacking, ...(span && { span }) }
    },
  },
  {
    called: OF_SETTINGS,
    unless: ANY,
    asked: ({ wire, sent, said }) => {
      const settings = saysNo(said) ? settingsIn(wire, sent, true) : undefined
      return settings && { ...settings, ofSettings: true }
    },
  },
]

const OFF = new Set<Json | undefined>(['none', 'disabled', false])
/** Where a request asks for thought. */
const THOUGHTS = ['reasoning_effort', 'reasoning', 'thinking', 'output_config.effort', 'think']
/** Which every model has that thinks. */
const THINKING = ['low', 'medium', 'high'] as const

/** A grammar that could not be made may be told of without a word that says no. */
const UNCOMPILED = /\bgrammar\b|\bunimplemented\b|\btoo (?:many|complex|large|deep)/i
