// Texts that people give to things, as others will see them.

/** Characters that control, reorder or hide what stands beside them. */
const UNSEEN = /\p{C}/u
/** Without these three some scripts and emoji cannot be written. */
const UNSEEN_BUT_JOINERS = /(?![\u200b-\u200d])\p{C}/u
const JOINERS = /[\u200b-\u200d\s]/g

/** Whether a name can be told from every other by looking: no character of it is invisible. */
export const isPlainName = (text: string): boolean => text.trim() !== '' && !UNSEEN.test(text)

export const isBlank = (text: string): boolean => text.replace(JOINERS, '') === ''

/** Whether a label shows as it is written; it need not be told from others. */
export const isPlainLabel = (text: string): boolean => !isBlank(text) && !UNSEEN_BUT_JOINERS.test(text)
