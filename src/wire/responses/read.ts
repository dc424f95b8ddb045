// Reading a client's members: absent and null are the same, a wrong basic type is refused by the member's name.

import { invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'

type Maybe = Json | undefined

const wrong = (path: string, expected: string) => invalidRequest(`'${path}' must be ${expected}.`, path)

const absent = (value: Maybe): value is null | undefined => value === undefined || value === null

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

export const optionalString = (value: Maybe, path: string): string | undefined =>
  absent(value) ? undefined : readString(value, path)

export const optionalObject = (value: Maybe, path: string): JsonObject | undefined =>
  absent(value) ? undefined : readObject(value, path)

export const optionalArray = (value: Maybe, path: string): Json[] | undefined => {
  if (absent(value)) return undefined
  if (!Array.isArray(value)) throw wrong(path, 'an array')
  return value
}

export const optionalNumber = (value: Maybe, path: string): number | undefined => {
  if (absent(value)) return undefined
  if (typeof value !== 'number') throw wrong(path, 'a number')
  return value
}

/** A whole number of at least `least`. */
export const optionalCount = (value: Maybe, path: string, least: number): number | undefined => {
  if (absent(value)) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least) {
    throw wrong(path, `a whole number of at least ${least}`)
  }
  return value
}

export const optionalBoolean = (value: Maybe, path: string): boolean | undefined => {
  if (absent(value)) return undefined
  if (typeof value !== 'boolean') throw wrong(path, 'true or false')
  return value
}

/** Present and not null. */
export const given = (value: Maybe): value is Exclude<Json, null> => !absent(value)

export const stringOr = (value: Maybe, otherwise: string): string => (typeof value === 'string' ? value : otherwise)
