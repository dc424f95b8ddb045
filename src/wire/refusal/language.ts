// In which language a sentence is: that of the names, in which a word may be one or stand for itself, or another.

/** Words that stand for nothing but the grammar: a sentence of this language is hardly without. */
const FUNCTION_WORDS =
  'the|is|are|was|were|been|be|does|did|has|have|had|not|this|that|these|those|which|of|for|with|your|you|it|its|must|should|cannot|can|will|would|to|by|and|or|nor|from|on|in|at|as|but|than|when|while|if|so|here|there|now'
const ANY = new RegExp(`\\b(?:${FUNCTION_WORDS})\\b`, 'i')
const FIRST = new RegExp(`^ (?:${FUNCTION_WORDS})\\b`, 'i')

export const isEnglish = (line: string): boolean => ANY.test(line)

/** Whether what follows a word ends what the word stands for. */
export const standsBefore = (after: string): boolean => FIRST.test(after)
