// Words of their own in every text of a value, to see which of them arrive.

import { isObject, type Json, type JsonObject } from '../../src/ir/json.ts'

/** Of eight characters, so that it is base64, too. */
const BLANK = 'mark0000'

/** What a string may have to be beside its word, by the member it stands in. */
const FORMS: { [member: string]: string | undefined } = {
  url: `https://vendor.test/${BLANK}.png`,
  file_url: `https://vendor.test/${BLANK}.pdf`,
  image_url: `https://vendor.test/${BLANK}.png`,
  file_data: `data:application/pdf;base64,${BLANK}`,
  arguments: `{"a":"${BLANK}"}`,
}

/** For `schemaWalk`. */
export const blank = (member: string): string => FORMS[member] ?? BLANK

/** `kind`: the place in every value of its kind: items by their types. */
export type Mark = { word: string; path: string; kind: string }

/** The value with a word in place of each blank, and where they stand. */
export const marked = <T extends Json>(value: T): { value: T; marks: Mark[] } => {
  const marks: Mark[] = []
  const visit = (one: Json, path: string, kind: string): Json => {
    if (typeof one === 'string')
      return one.replaceAll(BLANK, () => {
        const word = `mark${String(marks.length + 1).padStart(4, '0')}`
        marks.push({ word, path, kind })
        return word
      })
    if (Array.isArray(one)) return one.map((item, at) => visit(item, `${path}.${at}`, `${kind}.*${nameOf(item)}`))
    if (!isObject(one)) return one
    const dot = path === '' ? '' : '.'
    return Object.fromEntries(
      Object.entries(one).map(([name, member = null]): [string, Json] => [
        name,
        visit(member, `${path}${dot}${name}`, `${kind}${dot}${name}${nameOf(member)}`),
      ]),
    )
  }
  return { value: visit(value, '', '') as T, marks }
}

const nameOf = (value: Json): string => {
  const { type, role } = isObject(value) ? value : {}
  const names = [type, role].filter((one) => typeof one === 'string' && !one.includes(BLANK))
  return names.length === 0 ? '' : `(${names.join(' ')})`
}

/** Those whose word is nowhere in the text, and that none of the paths leads to. */
export const vanished = (marks: readonly Mark[], text: string, listed: readonly string[]): Mark[] =>
  marks.filter(
    ({ word, path }) => !text.includes(word) && !listed.some((one) => path === one || path.startsWith(`${one}.`)),
  )

/** Every object of the value with one more member, one at a time: as a member that nobody knows. */
export function* strangers(value: Json): Generator<Json> {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries())
      for (const changed of strangers(item)) yield value.map((one, index) => (index === at ? changed : one))
  } else if (isObject(value)) {
    yield { ...value, x_new: BLANK } satisfies JsonObject
    for (const [name, member] of Object.entries(value))
      for (const changed of strangers(member ?? null)) yield { ...value, [name]: changed }
  }
}
