// A failed schema check as one sentence that names the member the way clients write paths.

import { type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { type GatewayError, invalidRequest } from '../errors.ts'
import { alternatives, type Words } from '../lib/allowed.ts'

const WORDS: Words = { list: 'an array', object: 'an object', between: ', ', last: ' or ' }

/** `error` is the first that the check of `body` found; undefined where it reports none. */
export const fault = (error: ValueError | undefined, body: unknown): GatewayError => {
  if (error === undefined) return invalidRequest('The request is not valid.')
  const deepest = deepestFaults(error)
  const path = pathOf(deepest)
  const said = sayOf(deepest, body)
  const member = path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  return member === '' ? invalidRequest(`The body ${said}.`) : invalidRequest(`${member}: ${said}.`, member)
}

const pathOf = ([first]: ValueError[]): string => first?.path ?? ''

const sayOf = (faults: ValueError[], body: unknown): string => {
  if (faults.every(({ value }) => value === undefined) && !hasMember(body, pathOf(faults))) return 'is required'
  if (faults.some(({ type }) => type === ValueErrorType.ObjectAdditionalProperties)) return 'is not known here'
  return `expected ${alternatives(
    faults.map(({ schema }) => schema),
    WORDS,
  )}`
}

const depthOf = (faults: ValueError[]): number => pathOf(faults).split('/').length

/** How many errors are examined: a list of a million wrong members has a million, each with its branches' own. */
const MAX_EXAMINED = 1_000

// A union's own error says only that nothing matched; the deepest errors of its branches say what would.
const deepestFaults = (error: ValueError): ValueError[] => {
  let left = MAX_EXAMINED
  const deepest = (fault: ValueError): ValueError[] => {
    let best = [fault]
    for (const branch of fault.errors) {
      for (const inner of branch) {
        if (left-- <= 0) return best
        const found = deepest(inner)
        if (depthOf(found) > depthOf(best)) best = found
        else if (pathOf(found) === pathOf(best) && !best.includes(fault)) best = [...best, ...found]
      }
    }
    return best
  }
  return deepest(error)
}

const hasMember = (body: unknown, path: string): boolean => {
  let at: unknown = body
  for (const name of path.slice(1).split('/')) {
    if (typeof at !== 'object' || at === null || !(name in at)) return false
    at = (at as Record<string, unknown>)[name]
  }
  return true
}
