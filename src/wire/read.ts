// Reads members of a client's request. Absent and null are the same; a wrong basic type is refused with 400, naming the
// member.

import { invalidRequest } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../ir/json.ts'

type Maybe = Json | undefined

const wrong = (path: string, expected: string) => invalidRequest(`'${path}' must be ${expected}.`, path)

/** Present and not null. */
export const given = (value: Maybe): value is Exclude<Json, null> => value !== undefined && value !== null

export const readString = (value: Maybe, path: string): string => {
  if (typeof value !== 'string') throw wrong(path, 'a string')
  return value
}

/** A string that names something: never empty. */
export const readName = (value: Maybe, path: string): string => {
  if (typeof value !== 'string' || value === '') throw wrong(path, 'a non-empty string')
  return value
}

export const readObject = (value: Maybe, path: string): JsonObject => {
  if (!isObject(value)) throw wrong(path, 'an object')
  return value
}

export const readArray = (value: Maybe, path: string): Json[] => {
  if (!Array.isArray(value)) throw wrong(path, 'an array')
  return value
}

export const readNumber = (value: Maybe, path: string): number => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(path, 'a number')
  return value
}

const readBoolean = (value: Maybe, path: string): boolean => {
  if (typeof value !== 'boolean') throw wrong(path, 'true or false')
  return value
}

const optional =
  <T>(read: (value: Maybe, path: string) => T) =>
  (value: Maybe, path: string): T | undefined =>
    given(value) ? read(value, path) : undefined

export const optionalString = optional(readString)
export const optionalObject = optional(readObject)
export const optionalArray = optional(readArray)
export const optionalNumber = optional(readNumber)
export const optionalBoolean = optional(readBoolean)

/** A whole number of at least `least`. */
export const readCount = (value: Maybe, path: string, least: number): number => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least) {
    throw wrong(path, `a whole number of at least ${least}`)
  }
  return value
}

export const optionalCount = (value: Maybe, path: string, least: number): number | undefined =>
  given(value) ? readCount(value, path, least) : undefined
