// In which language a sentence is: that of the names, in which a word may be one or stand for itself, or another; and whether it
// says no.

/** Words that stand for nothing but the grammar: a sentence of this language is hardly without. */
const FUNCTION_WORDS =
  'the|is|are|was|were|been|be|does|did|has|have|had|not|this|that|these|those|which|of|for|with|your|you|it|its|must|should|cannot|can|will|would|to|by|and|or|nor|from|on|in|at|as|but|than|when|while|if|so|here|there|now'
const ANY = new RegExp(`\\b(?:${FUNCTION_WORDS})\\b`, 'i')
const FIRST = new RegExp(`^ (?:${FUNCTION_WORDS})\\b`, 'i')

export const isEnglish = (line: string): boolean => ANY.test(line)

/** Whether what follows a word ends what the word stands for. */
export const standsBefore = (after: string): boolean => FIRST.test(after)

/** The ways to say no: what is not, what alone is, what would have to be, and what has been done with it. */
const NO =
  /\b(?:not?|nothing|cannot|without|only|lacks?)\b|n[o’']t\b|\bun(?:supported|available|known|recogni[sz]ed|implemented)\b|\b(?:un)?expect|\b(?:must|should|requires?|needs?|please)\b|\b(?:invalid|incorrect|wrong|incompatible|missing|off|error|fail(?:ed|s)?)\b|\b(?:disabled|dis?allowed|rejected|refused|denied|declined|forbidden|prohibited|restricted|removed|withheld|exceed(?:s|ed)?)\b/i

/** That something is not to be had. */
export const NOT_HAD =
  /n[o’']t (?:\w{1,12}ly )?(?:support|allow|permit|enable|available|be\b)\w*|\b(?:not?|never) (?:\w+ ){0,2}?(?:support|allowed|permitted|enabled|available|implemented|able\b)|\bunsupported\b/i

/** Whether a sentence of a refusal says no to what it speaks of. One of another language is taken to, as it speaks of little else. */
export const saysNo = (sentence: string): boolean => NO.test(sentence) || isForeign(sentence)

const isForeign = (sentence: string): boolean =>
  !isEnglish(sentence) &&
  (/[^\p{ASCII}\p{P}\p{S}\s]/u.test(sentence) || (sentence.match(/\p{L}+/gu)?.length ?? 0) >= FEWEST)

/** Words of a sentence: fewer may be a code, or a title. */
const FEWEST = 5
