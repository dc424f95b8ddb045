// Recognises a prompt that is too long by the error's message, for servers without a code for it: a sentence about the prompt or
// the context says too much of it. Which of its figures is what, the words beside each tell, and what they add up to.

import type { JsonObject } from '../../ir/json.ts'
import { isEnglish } from './language.ts'

/**
 * Token counts. `prompt` and `answer` (the output cap): given where only the two together exceed the maximum. `atLeast`: the
 * server has counted the prompt only until it was too long.
 */
export type Overlong = { tokens?: number; maximum?: number; prompt?: number; answer?: number; atLeast?: true }

/** The counts in an error's message or members; `{}` for a prompt that is too long by unknown counts; else undefined. */
export const overlong = (message: string, members: JsonObject): Overlong | undefined => {
  const { n_prompt_tokens: tokens, n_ctx: maximum } = members
  if (typeof tokens === 'number' && typeof maximum === 'number') return { tokens, maximum }
  for (const line of message.split('\n', MOST_LINES)) {
    const found = inLine(line.slice(0, MOST_CHARS))
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Whether it is one beside the status of a server's own fault, in whose words a fault of its memory may be told, too: nothing but a
 * prompt has both figures.
 */
export const isSure = (length: Overlong | undefined, status: number): boolean =>
  status === 500 && length?.tokens !== undefined && length.maximum !== undefined

/**
 * Whether a machine code says that a prompt is too long, whichever words it is made of. Beside a status that tells to wait only one
 * of the context does: of tokens and messages there are so many in a time, too.
 */
export const isLengthCode = (code: string, status?: number): boolean => {
  const words = code.replace(/([a-z])([A-Z])|[-.]/g, '$1_$2').toLowerCase()
  const isOfPrompt = (status !== undefined && WAITS.has(status) ? OF_THE_CONTEXT : OF_A_PROMPT).test(words)
  return isOfPrompt && TOO_LONG.test(words) && !OF_ELSE.test(words)
}

const WAITS = new Set([429, 503, 529])
const OF_THE_CONTEXT = /(?:^|_)contexts?(?:_|$)/
const OF_A_PROMPT = /(?:^|_)(?:contexts?|prompts?|inputs?|messages|tokens)(?:_|$)/
const TOO_LONG = /exceed|too_(?:long|large|many)|overflow/
const OF_ELSE =
  /image|file|audio|media|document|rate|quota|budget|max_tokens|output|completion|daily|monthly|usage|tool|deadline|per_|queue|cache|array|list|moderation/

const MOST_LINES = 20
const MOST_CHARS = 1_000

const inLine = (line: string): Overlong | undefined => {
  if (OF_OTHERS.test(line)) return undefined
  if (OTHER_UNITS.test(line)) return CONTEXT.test(line) ? {} : undefined
  const counts = isAbout(line) ? countsOf(figuresIn(line)) : undefined
  if (counts !== undefined) return counts
  if (line.split(SENTENCE_END).some(saysTooMuch) || LESS_THAN_NONE.test(line)) return {}
  return isEnglish(line) ? undefined : inOtherWords(line)
}

const SENTENCE_END = /[.!?;](?=\s)/

/** What is counted over a time, is waited for, or has been paid for. */
const OF_OTHERS =
  /\bper\b(?! (?:request|prompt|call|query)\b)|\b(?:rate|daily|monthly|minutes?|seconds?|quota|budget|deadline|timed?[ -]?out|took|queued?)\b/i
/** What is no token; some servers count characters where a prompt is far too long. */
const OTHER_UNITS = /\b(?:characters|string|array)\b/i

/** A model's, and not that of a fault. */
const CONTEXT = /(?<!\bin (?:this )?)\bcontext\b(?!=)|\bmax_seq_len\b|\bn_ctx\b|\bmodel (?:max )?length\b/i
/** By itself, and not a member within it. */
const ASKED = /\b(?:prompts?|prompt_tokens|total tokens|inputs?|messages?|request)\b(?!["'`]?[[.:_]\w)/i
const SIZE = /\btokens?\b|\blength\b|\blong(?:er)?\b/i
const isAbout = (text: string): boolean =>
  CONTEXT.test(text) || (ASKED.test(text) && SIZE.test(text) && (TOKENS.test(text) || !PART.test(text)))

const TOO_MUCH =
  /\bexceed|\boverflow|\btoo (?:long|large|many tokens)\b|\bout of room\b|(?<!\b(?:must|should) (?!not\b)[\w ]{0,20})\b(?:more|greater|longer) than\b|\b(?:prompt|input|context|request)\b[\w ]{0,24}\blarger than\b|\breduce the length\b|\bmaximum (?:input|prompt) length is\b|\brange of\b/i
/** What may be too long, or too many, in a prompt: also a member, by its name. */
const PART =
  /\b(?:tools?|functions?|images?|audio|video|pdfs?|documents?|pixels?|stop|lists?|items?|schemas?|names?|keys?|metadata|n|ttl|tags?|titles?|(?!\w*(?:len|length|tokens)\b)[a-z]+_\w+)\b/i
const saysTooMuch = (sentence: string): boolean => {
  if (!TOO_MUCH.test(sentence)) return false
  if (CONTEXT.test(sentence)) return !RECURSION.test(sentence)
  // Of a request that is about its answer alone.
  return isAbout(sentence) && (PROMPT.test(sentence) || !ANSWER.test(sentence))
}
const TOKENS = /\btokens\b/i
const RECURSION = /\b(?:recursion|nesting|depth)\b/i
/** What the prompt left of the context: no client can ask for a negative number. */
const LESS_THAN_NONE = /max_(?:completion_)?tokens must be at least 1, got -/i

type Role = 'maximum' | 'prompt' | 'answer' | 'all'
type Figure = { count: number; role: Role }

/** Of more digits no part is a figure, nor is what something is exceeded by. */
const FIGURE = /(?<![\w.,-]|\bby )(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?!\w|[.,]\d)/g

const figuresIn = (line: string): Figure[] => {
  let from = 0
  return Array.from(line.matchAll(FIGURE), ({ 0: digits, index }) => {
    const end = index + digits.length
    const after = line.slice(end)
    const behind = BEHIND.exec(after)
    const before = line.slice(from, index).split(SENTENCE_END).at(-1) ?? ''
    from = end + (behind?.[0].length ?? 0)
    return { count: Number(digits.replaceAll(',', '')), role: roleOf(before, after, behind?.[1] ?? '') }
  })
}

/** What is said of a figure behind it. */
const BEHIND =
  /^[\s`'"]*((?:(?:tokens?|of|in|from|for|the|your|text)[\s`'"]+){0,4}(?!exceed)[\w']+(?:[\s`'"]+(?:tokens?|messages)\b)?)/i

const MAXIMUM =
  /\bmax(?:imum)?\b|\bmax_seq_len\b|\bn_ctx\b|\bbatch size\b|\blimit\b|\bcontext\b|\ballowed\b|\bat most\b|\bup to\b|\bthan\b|\bexceed/i
const PROMPT = /\b(?:prompt|prompt_tokens|inputs?|messages?)\b/i
const ANSWER = /\b(?:output|completion|draft|max_(?:new_|output_|completion_)?tokens)\b/i
/** A word for the maximum behind the last for the answer. */
const LIMITED = new RegExp(`(?:${MAXIMUM.source})(?!.*${ANSWER.source})`, 'is')

const roleOf = (before: string, after: string, behind: string): Role => {
  // In a formula.
  if (/(?:^|\s)[<>]=?\s$/.test(before)) return 'maximum'
  if (/\+\s$/.test(before) || /^ > \d+ -/.test(after)) return 'answer'
  if (/^ \+/.test(after)) return 'prompt'
  if (/^(?: tokens)?\s?>/.test(after)) return 'all'
  if (LIMITED.test(before)) return 'maximum'
  if (ANSWER.test(behind)) return 'answer'
  if (PROMPT.test(behind)) return 'prompt'
  if (MAXIMUM.test(behind)) return 'maximum'
  if (ANSWER.test(before)) return PROMPT.test(before) ? 'all' : 'answer'
  return PROMPT.test(before) ? 'prompt' : 'all'
}

/** Undefined for figures that fit. */
const countsOf = (figures: readonly Figure[]): Overlong | undefined => {
  const first = (role: Role): number | undefined => figures.find((figure) => figure.role === role)?.count
  const [maximum, prompt, answer] = [first('maximum'), first('prompt'), first('answer')]
  if (maximum === undefined) return undefined
  if (prompt !== undefined && answer !== undefined && prompt < maximum && prompt + answer > maximum)
    return {
      ...{ tokens: prompt + answer, maximum, prompt, answer },
      ...(prompt + answer === maximum + 1 && { atLeast: true }),
    }
  const tokens = Math.max(...figures.map(({ count, role }) => (role === 'prompt' || role === 'all' ? count : 0)))
  return tokens > maximum ? { tokens, maximum } : undefined
}

/** In other languages: by what they share, the words for a context and for tokens. */
const inOtherWords = (line: string): Overlong | undefined => {
  const figures = Array.from(line.matchAll(COUNTED), ([, digits = '']) => Number(digits.replace(/[.,]/g, '')))
  const [tokens, maximum] = [Math.max(...figures), Math.min(...figures)]
  if (figures.length > 1 && maximum < tokens) return { tokens, maximum }
  return figures.length > 0 && FOREIGN_CONTEXT.test(line) ? {} : undefined
}

const COUNTED =
  /(?<![\d.,])(\d{1,3}(?:[.,]\d{3}){1,4}|\d{3,15})\s?(?:个)?(?:tokens?|jetons?|токен|トークン|토큰|令牌)/giu
const FOREIGN_CONTEXT = /контекст|[ck]onte[xks]t|上下文|コンテキスト|컨텍스트/iu
