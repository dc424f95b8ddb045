// Texts that people give to things, as others will see them.

/** Characters that control, reorder or hide what stands beside them, part lines, or show nothing (the last: braille's blank). */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]/u
/** Without joiners and what chooses a variant some scripts and emoji cannot be written. */
const UNSEEN_BUT_JOINERS = new RegExp(`(?![\\u200b-\\u200d\\p{Variation_Selector}])${UNSEEN.source}`, 'u')
const JOINERS = /[\u200b-\u200d\s]/g

/** Whether a name can be told from every other by looking: no character of it is invisible. */
export const isPlainName = (text: string): boolean => text.trim() !== '' && !UNSEEN.test(text)

export const isBlank = (text: string): boolean => text.replace(JOINERS, '') === ''

/** Whether a label shows as it is written; it need not be told from others. */
export const isPlainLabel = (text: string): boolean => !isBlank(text) && !UNSEEN_BUT_JOINERS.test(text)
