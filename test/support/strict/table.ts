// Rules by which a vendor refuses requests with 400, beyond its published types: each with its source and a check.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'

export type Rule<Seen> = {
  rule: string
  /** `docs`: the vendor's documentation. `reported`: its error message, as users have quoted it. */
  source: string
  /** One line for each breach. */
  broken(seen: Seen): readonly (string | false | undefined)[]
}

/** One line for each breach; none for a request that the vendor takes. */
export const breaches = <Seen>(rules: readonly Rule<Seen>[], seen: Seen): string[] =>
  rules.flatMap(({ rule, broken }) => broken(seen).flatMap((at) => (typeof at === 'string' ? [`${rule}: ${at}`] : [])))

export const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const member = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) ? value[name] : undefined
export const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []

/** Values that occur earlier in the list. */
export const repeated = (values: readonly unknown[]): string[] =>
  values.flatMap((value, at) => (value !== undefined && values.indexOf(value) < at ? [`${value} twice`] : []))

/** Whether some text holds half a surrogate pair, which vendors refuse. */
export const isTorn = (value: Json | undefined): boolean => {
  if (typeof value === 'string') return !value.isWellFormed()
  if (Array.isArray(value)) return value.some(isTorn)
  return isObject(value) && Object.entries(value).some(([name, inner]) => isTorn(name) || isTorn(inner))
}

/** Whether it holds a gateway's tag for a thought, which no vendor can read. */
export const hasTag = (body: JsonObject): boolean => JSON.stringify(body).includes('"sluice.')
