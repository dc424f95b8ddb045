// The output cap that a refusal tells: by its figures, beside what was asked for.

import type { Remedy } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import type { Place } from './member-path.ts'
import { CAPS } from './wishes.ts'

type OtherCap = { remedy: Remedy; named: readonly string[]; place: Place }

/** The cap that the refusal says is the most, where a higher one was sent, or the least, where a lower one was. */
export const otherCap = (text: string, sent: JsonObject): OtherCap | undefined => {
  const name = [...CAPS].find((cap) => typeof sent[cap] === 'number')
  const asked = name === undefined ? undefined : sent[name]
  if (name === undefined || typeof asked !== 'number') return undefined
  const figures = Array.from(text.matchAll(FIGURE), ([digits]) => Number(digits.replaceAll(',', '')))
  if (!RANGE.test(text) && !PAIR.test(text) && !figures.includes(asked)) return undefined
  const least = Math.min(...figures.filter((figure) => figure > asked))
  if (LEAST.test(text) && least <= MOST_LEAST) return { remedy: 'higher-cap', named: [`${least}`], place: [name] }
  const most = Math.max(...figures.filter((figure) => figure < asked))
  return most >= 1 ? { remedy: 'lower-cap', named: [`${most}`], place: [name] } : undefined
}

/** What it is called in words. */
export const CAP_IN_WORDS = /\bmax(?:imum)? (?:\w{1,12} )?tokens\b/i
const FIGURE = /(?<![\w.-])(?:\d{1,3}(?:,\d{3}){1,4}(?!\d)|\d{1,15})(?![\w.]\w)/g
/** A range in any language. */
const PAIR = /[[(（]\s*\d{1,15}\s*[,，~–-]\s*\d{1,15}\s*[\])）]/
const LEAST = /minimum|at least|>=|greater than or equal|below|too (?:low|small)|under /i
/** More than a server wants at least, and more than a quota may be exceeded by. */
const MOST_LEAST = 64

/** That a value is out of what may be. */
export const RANGE =
  /between|at (?:most|least)|(?:less|greater|lower|higher|more) than|\brange\b|\b(?:max|min)imum\b|exceed|[<>]=?\s?\d|\d to \d|\d\.\.\d|too (?:large|high|small|low)|below|above|\blimit|up to/i
