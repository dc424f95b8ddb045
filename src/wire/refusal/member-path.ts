// Paths of members in a body, `*` for each element of a list: `tools.*.function.strict`. `tool_choice=auto` is the member only
// where it says that, or is of that type.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'

export type Step = string | number
export type Place = readonly Step[]

/** The places in a body that have the path. */
export const placesOf = (body: JsonObject, path: string): Place[] => {
  let found: { at: Step[]; value: Json }[] = [{ at: [], value: body }]
  for (const step of path.split('.'))
    found = found.flatMap(({ at, value }) => {
      if (step === '*')
        return Array.isArray(value) ? value.map((one, index) => ({ at: [...at, index], value: one })) : []
      const [name = '', said] = step.split('=')
      const inner = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
      const says = isObject(inner) ? inner.type : inner
      return inner === undefined || (said !== undefined && said !== says) ? [] : [{ at: [...at, name], value: inner }]
    })
  return found.map(({ at }) => at)
}

/** The path that a place has, with `*` for its indices. */
export const pathOfPlace = (place: Place): string =>
  place.map((step) => (typeof step === 'number' ? '*' : step)).join('.')

/** A path as people read it. */
export const shownPath = (path: string): string => path.replaceAll('.*', '').replace(/=.*$/, '')

/** What stands at a place; undefined where nothing does. */
export const valueAt = (body: JsonObject, place: Place): Json | undefined => {
  let value: Json | undefined = body
  for (const step of place) {
    if (Array.isArray(value) && typeof step === 'number') value = value[step]
    else if (isObject(value) && typeof step === 'string' && Object.hasOwn(value, step)) value = value[step]
    else return undefined
  }
  return value
}

/** Removes the member at each place that has the path, and an outermost one that is left empty. Returns what was removed. */
export const removeMembers = (body: JsonObject, path: string): Json[] =>
  placesOf(body, path).flatMap((place) => {
    const name = place.at(-1)
    const holder = valueAt(body, place.slice(0, -1))
    if (!isObject(holder) || typeof name !== 'string') return []
    const value = holder[name]
    if (value === undefined) return []
    delete holder[name]
    const [outer] = place
    if (place.length === 2 && typeof outer === 'string' && Object.keys(holder).length === 0) delete body[outer]
    return [value]
  })
