// Whether a refusal is about the pictures of a request: none are taken, or one is not as it must be.

import type { Remedy } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import { aroundIn, type Name, saidIn } from './names.ts'
import { hasMislabelled, picturesAmong } from './oddities.ts'
import { isQuotedFrom, promptIn } from './quoted.ts'
import { PICTURES } from './wishes.ts'

/**
 * Where a refusal names nothing else and speaks of pictures, it is about one that was sent: whatever it says of it, without it
 * the request may be answered.
 */
export const picturesIn = (
  sent: JsonObject,
  error: unknown,
): { pictures: 'none' | 'wrong'; mostPictures?: number; remedy?: Remedy } | undefined => {
  const shown = [sent.messages ?? null, sent.input ?? null]
  const count = picturesAmong(shown)
  if (count === 0) return undefined
  const { text } = saidIn(error, sent)
  const prompt = promptIn(sent)
  const most = Number(MOST.exec(text)?.[1] ?? 0)
  for (const { 0: word, index } of text.matchAll(PICTURE_WORDS)) {
    const around = aroundIn(text, index, word.length)
    if (isQuotedFrom(prompt, around)) continue
    const isWritten = word.toLowerCase() === WRITTEN
    if (isWritten && OTHERS.test(around.line)) continue
    const isWrong = isWritten || WRONG_PICTURE.test(around.line) || BROKEN_PICTURE.test(around.line)
    // How many there may be is also said beside what is wrong with one.
    if (most > 0 && (count > most || !isWrong)) return { pictures: 'wrong', mostPictures: most }
    const isLabelledSo = isWrong && hasMislabelled(shown)
    return { pictures: isWrong ? 'wrong' : 'none', ...(isLabelledSo && { remedy: 'anew' }) }
  }
  return undefined
}

/** Whether a line says that the model takes no pictures, by a name of theirs or by a word; what is wrong with one it may also say. */
export const isSightless = (text: string, names: readonly Name[]): boolean => {
  const isNamed = names.some(({ steps }) => steps.some((step) => PICTURES.has(step)))
  return text.split('\n').some((line) => saysBlind(line, isNamed) && !WRONG_PICTURE.test(line))
}

const saysBlind = (line: string, isNamed: boolean): boolean =>
  TEXT_ALONE.test(line) || (NOT_TAKEN.test(line) && (isNamed || PICTURE.test(line)))

/** That text is all that is taken, in quotes or not. */
const TEXT_ALONE =
  /\bonly\W{1,2}(?:(?:supports?|takes|accepts)\W{1,2})?text\b|text[- ]only|other than\W{1,2}text|\bnon-text\b/i
const NOT_TAKEN =
  /n[o’']t support|not (?:supported|enabled|available)|unsupported|only support|unknown variant|\bnot a\b|\bno vision\b|cannot see|\bno endpoints\b|\bnone of\b|\bmissing data\b|only supported|\bat most 0\b/i
const PICTURE = /\bimages?(?:_url)?\b|\bvision\b|\bmulti-?modal\b|\bpictures?\b|cannot see/i
/** As what pictures are written, and others are, too. */
const WRITTEN = 'base64'
const OTHERS = /audio|sound|speech|video|file|document|pdf/i
/** What languages call them. */
const PICTURE_WORDS = new RegExp(
  `${PICTURE.source}|\\b(?:visual|${WRITTEN}|photos?|bild(?:er|ern)?|im[aá]gen(?:es)?|imagens?|immagin[ie])\\b|изображени|画像|图[片像]|圖[片像]|이미지`,
  'gi',
)
const WRONG_PICTURE = /format|mime|media type|size|large|small|base64|\burl\b|download|pixels/i
/** How many there may be, before what they are called. */
const MOST =
  /\b(?:max(?:imum)?|at most|up to|only|limit(?:ed)?|exceed\w*|more than)\b[^.\n\d]{0,40}(\d{1,4}) (?:images?|pictures?|photos?)\b/i
const BROKEN_PICTURE = /\b(?:broken|corrupt\w*|damaged|truncated|decod\w+|read|empty|animated|invalid)\b/i
