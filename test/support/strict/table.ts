// What a vendor answers with 400 beyond its published types, as a table: each rule with where it is known from, and the
// places of a request that break it.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'

export type Rule<Seen> = {
  rule: string
  /** `docs`: the vendor's own. `reported`: its answer, quoted by those who got it. */
  source: string
  /** One line for each breach. */
  broken(seen: Seen): readonly (string | false | undefined)[]
}

/** One line for each breach; none for a request that may go out. */
export const breaches = <Seen>(rules: readonly Rule<Seen>[], seen: Seen): string[] =>
  rules.flatMap(({ rule, broken }) => broken(seen).flatMap((at) => (typeof at === 'string' ? [`${rule}: ${at}`] : [])))

export const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const member = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) ? value[name] : undefined
export const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []

/** Values that came before in the list. */
export const repeated = (values: readonly unknown[]): string[] =>
  values.flatMap((value, at) => (value !== undefined && values.indexOf(value) < at ? [`${value} twice`] : []))

/** Half a character somewhere in it: no JSON that a vendor reads. */
export const isTorn = (value: Json | undefined): boolean => {
  if (typeof value === 'string') return !value.isWellFormed()
  if (Array.isArray(value)) return value.some(isTorn)
  return isObject(value) && Object.entries(value).some(([name, inner]) => isTorn(name) || isTorn(inner))
}

/** What a gateway has added so that a thought can come back: no vendor's. */
export const hasTag = (body: JsonObject): boolean => JSON.stringify(body).includes('"sluice.')
