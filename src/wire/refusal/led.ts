// Where a name of a refusal leads in the body that was sent: its place, as far as its steps go.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { type Place, type Step, valueAt } from './member-path.ts'
import type { Name } from './names.ts'

/**
 * Where the steps of a name lead in a body, as far as they do; undefined where its first does not. Servers write a name of
 * their own before the first (`body`), and names of types between the others.
 */
export const resolved = (sent: JsonObject, steps: readonly string[]): Place | undefined => {
  const from = steps.slice(0, MOST_PREFIXES).findIndex((step) => Object.hasOwn(sent, step))
  if (from === -1) return inListed(sent, steps)
  const place: Step[] = []
  let at: Json | undefined = sent
  for (const step of steps.slice(from)) {
    if (Array.isArray(at)) {
      const list: Json[] = at
      const index = /^\d+$/.test(step)
        ? Number(step)
        : list.findIndex((one) => isObject(one) && Object.hasOwn(one, step))
      if (index < 0 || index >= list.length) continue
      place.push(index)
      at = list[index]
      if (/^\d+$/.test(step)) continue
    }
    if (!isObject(at) || !Object.hasOwn(at, step)) continue
    place.push(step)
    at = at[step]
  }
  return place
}

const MOST_PREFIXES = 6

/** Of steps that begin within a list, in the list whose element has the next of them. */
const inListed = (sent: JsonObject, [first = '', ...rest]: readonly string[]): Place | undefined => {
  if (!/^\d+$/.test(first) || rest[0] === undefined) return undefined
  const [next] = rest
  const list = Object.keys(sent).find((name) => {
    const element = valueAt(sent, [name, Number(first)])
    return isObject(element) && Object.hasOwn(element, next)
  })
  return list === undefined ? undefined : resolved(sent, [list, first, ...rest])
}

/** A place, and in what stands there the member that is named by itself beside it. */
export const within = (place: Place, names: readonly Name[], sent: JsonObject): Place => {
  const value = valueAt(sent, place)
  const name = names.find(
    ({ found, steps: [step = '', ...rest] }) =>
      found === 'quoted' && rest.length === 0 && isObject(value) && Object.hasOwn(value, step),
  )?.steps[0]
  return name === undefined || place.length < 2 ? place : [...place, name]
}

/** Where a name leads, and to what is named by itself of all that stands there. */
export const innermost = (name: Name, names: readonly Name[], sent: JsonObject): Place | undefined => {
  const place = resolved(sent, name.steps)
  const value = place === undefined ? undefined : valueAt(sent, place)
  if (place === undefined || name.found !== 'path' || !isObject(value)) return place
  const inner = names.find(
    ({ found, steps }) => found === 'name' && steps.length === 1 && Object.hasOwn(value, steps[0] ?? ''),
  )
  return inner === undefined ? place : [...place, ...inner.steps]
}

export const startsWith = (place: Place, beginning: Place): boolean => beginning.every((step, at) => place[at] === step)
