// Values as files of settings hold them.

import type { Json, JsonObject, Path } from './client.ts'

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

export const valueAt = (root: JsonObject, path: Path): Json | undefined => {
  let at: Json | undefined = root
  for (const name of path) at = isObject(at) ? at[name] : undefined
  return at
}

/** A copy to change. What is neither list nor group, a date of TOML among it, stays the same object. */
export const copied = <T extends Json>(value: T): T => {
  if (Array.isArray(value)) return value.map(copied) as T
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copied(member)])) as T
}
