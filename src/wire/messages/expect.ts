// What a request's members must be for the decoder to read them; refusals name the member by its path.

import { invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'

export const anObject = (value: unknown, path: string): JsonObject => {
  if (!isObject(value)) throw invalidRequest(`${path}: expected an object`, path)
  return value
}

export const anArray = (value: unknown, path: string): Json[] => {
  if (!Array.isArray(value)) throw invalidRequest(`${path}: expected an array`, path)
  return value as Json[]
}

export const aString = (value: unknown, path: string): string => {
  if (typeof value !== 'string') throw invalidRequest(`${path}: expected a string`, path)
  return value
}

/** A name or an id: a string with something in it. */
export const aName = (value: unknown, path: string): string => {
  if (typeof value !== 'string' || value === '') throw invalidRequest(`${path}: expected a non-empty string`, path)
  return value
}

/** Absent and null are the same: clients write either. */
export const optional = <T>(
  value: unknown,
  path: string,
  expect: (value: unknown, path: string) => T,
): T | undefined => (value === undefined || value === null ? undefined : expect(value, path))

export const aNumber = (value: unknown, path: string): number => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw invalidRequest(`${path}: expected a number`, path)
  return value
}

export const aBoolean = (value: unknown, path: string): boolean => {
  if (typeof value !== 'boolean') throw invalidRequest(`${path}: expected true or false`, path)
  return value
}
