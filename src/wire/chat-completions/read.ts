// Reading a client's members: absent and null are the same, a wrong basic type is refused by the member's name.

import { invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'

const wrong = (path: string, expected: string) => invalidRequest(`'${path}' must be ${expected}.`, path)

export const readString = (value: unknown, path: string): string => {
  if (typeof value !== 'string') throw wrong(path, 'a string')
  return value
}

export const readObject = (value: unknown, path: string): JsonObject => {
  if (!isObject(value)) throw wrong(path, 'an object')
  return value
}

export const readArray = (value: unknown, path: string): Json[] => {
  if (!Array.isArray(value)) throw wrong(path, 'an array')
  return value as Json[]
}

export const optionalString = (value: unknown, path: string): string | undefined =>
  value === undefined || value === null ? undefined : readString(value, path)

export const optionalNumber = (value: unknown, path: string): number | undefined => {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number') throw wrong(path, 'a number')
  return value
}

/** A whole number of at least `least`. */
export const optionalCount = (value: unknown, path: string, least: number): number | undefined => {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least) {
    throw wrong(path, `a whole number of at least ${least}`)
  }
  return value
}

export const optionalBoolean = (value: unknown, path: string): boolean | undefined => {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean') throw wrong(path, 'true or false')
  return value
}

/** Present and not null. */
export const given = (value: Json | undefined): value is Exclude<Json, null> => value !== undefined && value !== null
