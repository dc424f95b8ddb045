// Recognises a prompt that is too long by the error's message, for servers without a code for it: by token counts, or by
// phrases that mean nothing else.

import type { Json, JsonObject } from '../../ir/json.ts'
import { isEnglish } from './language.ts'

/**
 * Token counts. `prompt` and `answer` (the output cap): given where only the two together exceed the maximum. `atLeast`: the
 * server has counted the prompt only until it was too long.
 */
export type Overlong = { tokens?: number; maximum?: number; prompt?: number; answer?: number; atLeast?: true }

/** The counts in an error's message or members; `{}` for a prompt that is too long by unknown counts; else undefined. */
export const overlong = (message: string, members: JsonObject): Overlong | undefined => {
  const maximum = figure(MAXIMUM.exec(message), members.n_ctx)
  const sent = TOKENS.exec(message)
  // Some servers count characters where a prompt is far too long: those are no tokens.
  if (maximum !== undefined && sent !== null && CHARACTERS.test(message.slice(sent.index + sent[0].length))) return {}
  const tokens = figure(sent, members.n_prompt_tokens)
  if (maximum !== undefined && tokens !== undefined) return { tokens, maximum, ...partsIn(message, maximum) }
  return WORDS.test(message) ? {} : byFigures(message)
}

/**
 * Without a phrase for either: by what a line is about, and its figures. In other languages by what they share, the words for a
 * context and for tokens.
 */
const byFigures = (message: string): Overlong | undefined => {
  for (const line of message.split('\n', 20).map((one) => one.slice(0, 1_000))) {
    if (OF_OTHERS.test(line)) continue
    const isOurs = isEnglish(line)
    if (isOurs && !(ABOUT.test(line) && SAID.test(line))) continue
    const figures = Array.from(line.matchAll(isOurs ? ANY_FIGURE : COUNTED), ([, digits = '']) =>
      Number(digits.replace(/[.,]/g, '')),
    )
    const [tokens, maximum] = [Math.max(...figures), Math.min(...figures)]
    if (figures.length > 1 && maximum < tokens) return { tokens, maximum }
    if (figures.length > 0 && !isOurs && CONTEXT.test(line)) return {}
  }
  return undefined
}

const ABOUT = /\b(?:prompt|inputs?|messages|context)\b.*\btokens\b|\btokens\b.*\b(?:prompt|inputs?|messages|context)\b/i
const SAID =
  /\bexceed|\btoo (?:long|many|large)\b|\b(?:less|fewer|more|greater|longer) than\b|\bat most\b|\bup to\b|\bcontext (?:of|window|size|length)\b|\blimit\b/i
/** What a cap, or a rate, may be. */
const OF_OTHERS = /max_\w{0,20}tokens|\bper\b|\bimages?\b/i
const ANY_FIGURE = /(?<![\w.,-])(\d{1,3}(?:,\d{3}){1,4}|\d{3,15})(?![\w]|[.,]\d)/g
const COUNTED =
  /(?<![\d.,])(\d{1,3}(?:[.,]\d{3}){1,4}|\d{3,15})\s?(?:个)?(?:tokens?|jetons?|токен|トークン|토큰|令牌)/giu
const CONTEXT = /контекст|[ck]onte[xks]t|上下文|コンテキスト|컨텍스트/iu

const CHARACTERS = /^ (?:\w{1,10} )?characters/

/** A number of up to 15 digits: of a longer one no part is a figure. */
const FIGURE = '(\\d[\\d,]{0,14})(?![\\d,])'

const any = (...parts: RegExp[]): string => parts.map(({ source }) => source).join('|')

/** The phrases before the maximum. */
const MAXIMUM = new RegExp(
  `(?:${any(
    /context length is (?:only )?/,
    /context length of (?:only )?/,
    /context length \(/,
    /context length: /,
    /context size is /,
    /context size \(/,
    /context window limit \(/,
    /(?:prompt|model) length (?:is|of) /,
    /input length of /,
    /max(?:imum)?(?: allowed)? length (?:of |is |\()?/,
    /for model with /,
    /token limit: /,
    /tokens allowed \(/,
    /max_seq_len \(/,
    /configured limit of /,
    /[Cc]urrent length is \d{1,15} while limit is /,
    /max_new_tokens. must be <= /,
    /token count of \d{1,15} exceeds the limit of /,
  )})${FIGURE}`,
)

/** The phrases before the number of tokens that were sent. */
const TOKENS = new RegExp(
  `(?:${any(
    /resulted in /,
    /requested (?:about |a total of )?(?!\d{1,15} output tokens and your prompt)/,
    /for a total of (?:at least )?/,
    /requested: /,
    /request (?:has|contains) (?:at least )?/,
    /request \((?=\d+ tokens\))/,
    /[Pp]rompt (?:has|contains) (?:at least )?/,
    /[Pp]rompt \(length /,
    /[Ii]nput \(/,
    /[Ii]nput length \(?/,
    /passed (?=\d+ input tokens)/,
    /token count (?:of |\()/,
    /output tokens \(/,
    /(?:prompt|max_total)_tokens \(/,
    /(?:messages|completion)\. [Cc]urrent length is /,
    /too long: /,
    /keep the first /,
    /Given: /,
  )})${FIGURE}`,
)

/** The shares of prompt and answer. */
const PARTS = [
  /exceed context limit: (?<prompt>\d{1,15}) \+ (?<answer>\d{1,15}) >/,
  /(?<prompt>\d{1,15}) in the messages, (?<answer>\d{1,15}) in the completion/,
  /(?<prompt>\d{1,15}) tokens from the input messages and (?<answer>\d{1,15}) tokens for the completion/,
  /(?<prompt>\d{1,15}) of text input, (?<answer>\d{1,15}) in the output/,
  /\((?<answer>\d{1,15}) > \d{1,15} - (?<prompt>\d{1,15})\)/,
  /requested (?<answer>\d{1,15}) output tokens and your prompt contains (?:at least )?(?<prompt>\d{1,15}) input tokens/,
  /Given: (?<prompt>\d{1,15}) `inputs` tokens and (?<answer>\d{1,15}) `max_new_tokens`/,
  /passed (?<prompt>\d{1,15}) input tokens and requested (?<answer>\d{1,15}) output tokens/,
]

const partsIn = (message: string, maximum: number): Overlong => {
  const found = PARTS.map((each) => each.exec(message)?.groups).find((groups) => groups !== undefined)
  const [prompt, answer] = [Number(found?.prompt), Number(found?.answer)]
  if (found === undefined || prompt >= maximum) return {}
  return { prompt, answer, ...(prompt + answer === maximum + 1 ? { atLeast: true } : {}) }
}

const WORDS = new RegExp(
  any(
    /(?:exceed(?:s|ed)?|(?:greater|longer) than) (?:(?:the|this|your|max(?:imum)?|available|allowed|model(?:'s)?) ){0,5}(?:context (?:length|size|window)|(?:input|prompt|model) length)/,
    /(?:request|prompt|input) exceed(?:s|ed)? (?:(?:the|this|max(?:imum)?|model(?:'s)?) ){0,4}token limit(?! per)/,
    /context window exceeds/,
    /context length (?:is|of) only/,
    /prompt (?:is )?too long/,
    /input is too long for/,
    /prompt exceeds max length/,
    /model max length exceeded/,
    /input token count exceeds/,
    // What the prompt left of the context: no client can ask for a negative number.
    /max_(?:completion_)?tokens must be at least 1, got -/,
    /tokens in request more than max tokens/,
    /range of input length/,
    /exceed max message tokens/,
    /mid-generation context overflow/,
    /reduce the length of the messages/,
  ),
  'i',
)

const figure = (found: RegExpExecArray | null, member: Json | undefined): number | undefined => {
  const digits = found?.[1]
  if (digits !== undefined) return Number(digits.replaceAll(',', ''))
  return typeof member === 'number' ? member : undefined
}
