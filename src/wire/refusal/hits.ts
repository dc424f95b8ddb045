// The wishes of a request that a refusal names, and where they stand: by a path, by a name on any wire, by a value or a tool.

import { isObject, type JsonObject } from '../../ir/json.ts'
import { startsWith } from './led.ts'
import { namesOfSetting } from './member-names.ts'
import { type Place, pathOfPlace, placesOf, valueAt } from './member-path.ts'
import type { Found, Name } from './names.ts'
import { isHeld, type Wish } from './wishes.ts'

/** A wish that the body holds, and the first place where it does. */
export type Hit = { wish: Wish; place: Place }

export const hitsOf = (
  { steps, found }: Name,
  place: Place | undefined,
  wishes: readonly Hit[],
  sent: JsonObject,
): Hit[] => {
  if (place !== undefined && place.length > 0) {
    const path = pathOfPlace(place)
    const along = wishes.flatMap(({ wish }): Hit[] => {
      const at = place.slice(0, wish.path.split('.').length)
      return pathOfPlace(at) === wish.path && isHeld(wish, at, sent) ? [{ wish, place: at }] : []
    })
    const exact = along.filter(({ place: at }) => at.length === place.length)
    if (exact.length > 0) return exact
    const within = along.filter(({ wish, place: at }) => wish.whole !== true && !isApart(wish, at, place))
    if (within.length > 0) return within.slice(0, 1)
    // A member that is missing where another form of the thing stands.
    const forms = wishes.filter(({ wish, place: at }) => wish.when !== undefined && startsWith(at, place))
    if (found !== 'word' && steps.length === 1 && isObject(valueAt(sent, place))) {
      const inside = wishes.filter(({ place: at }) => at.length > place.length && startsWith(at, place))
      if (inside.length > 0) return inside
    }
    const missing = steps.some((step) => !place.includes(step) && !/^\d+$/.test(step) && MISSING.has(step))
    if (missing || (path === 'input' && steps.length === 1)) return forms.slice(0, 1)
    if (steps.length > 1) return wishes.filter(({ wish }) => isAlong(wish.path, steps, place))
  }
  const [only] = steps
  const called =
    steps.length > 1 || found === 'word'
      ? []
      : wishes.filter(({ wish }) => only !== undefined && wish.called?.includes(only))
  // Servers put names of their own before it.
  const words = [steps.join('_'), ...(place === undefined && steps.length > 1 ? [steps.at(-1) ?? ''] : [])].map(wordsOf)
  const own = wishes.filter(({ wish }) => words.some((one) => isCalled(wish.path, one)))
  if (own.length > 0 || place !== undefined || !TOLD_AS_ONE.has(found)) return [...own, ...called.slice(0, 1)]
  const otherwise = wishes.filter(({ wish }) => namesOfSetting(wish.path).includes(steps.join('.')))
  return [...otherwise, ...called.slice(0, 1)]
}

/** A name of another wire may be a word of the sentence. */
const TOLD_AS_ONE: ReadonlySet<Found> = new Set(['told', 'path', 'quoted'])

/** Whether steps lead to the path, whatever stands between: the indices may be those of another list, or be missing. */
const isAlong = (path: string, steps: readonly string[], place: Place): boolean => {
  const names = path.split('.').filter((name) => name !== '*')
  const last = names.at(-1) ?? ''
  if (names[0] !== place[0] || names.length < 2 || place.includes(last) || !steps.includes(last)) return false
  let at = -1
  return names.every((name) => {
    at = steps.indexOf(name, at + 1)
    return at !== -1
  })
}

/** Members that tools and items of other types lack. */
const MISSING = new Set(['function', 'type', 'name'])

/** A fault within a schema is that of the client's schema, and one deep within a tool or an item no fault of its type. */
const isApart = ({ called }: Wish, at: Place, place: Place): boolean =>
  place.includes('schema') || (called !== undefined && place.length > at.length + 1)

export const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean)

/** Whether a name of those words is the member's: all of its last name's are among them, and they are all of its path's. */
const isCalled = (path: string, words: readonly string[]): boolean => {
  const last = wordsOf(path.slice(path.lastIndexOf('.') + 1))
  const all = wordsOf(path)
  return last.length > 0 && last.every((word) => words.includes(word)) && words.every((word) => all.includes(word))
}

/** Names that are quoted may be values. */
export const valueHits = (names: readonly Name[], wishes: readonly Hit[], sent: JsonObject): Hit[] => {
  const values = new Set(
    names.filter(({ found }) => found === 'quoted' || found === 'path').map(({ steps }) => steps.join('_')),
  )
  if (values.size === 0) return []
  return wishes.flatMap(({ wish }): Hit[] => {
    const place = placesOf(sent, wish.path).find((one) => {
      const value = valueAt(sent, one)
      return [isObject(value) ? value.type : value]
        .flat()
        .some((said) => typeof said === 'string' && said.length > 2 && values.has(said.replace(/\W/g, '_')))
    })
    return place !== undefined && isHeld(wish, place, sent) ? [{ wish, place }] : []
  })
}

/** A tool's type is refused in many words, that of its missing parts included: some name tools and nothing of them. */
export const toolHits = (text: string, wishes: readonly Hit[]): Hit[] => {
  const others = wishes.filter(({ wish }) => wish.path === 'tools.*')
  const isTold = text
    .split('\n')
    .some((line) => /\btools?\b/i.test(line) && /\b(?:type|function|kind|variant)s?\b/i.test(line))
  return isTold || /['"`]function['"`]/.test(text) ? others.slice(0, 1) : []
}
