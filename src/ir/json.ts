// JSON as types: any wire's body before a codec has read it.

import { requireBounds } from '../lib/json-reader.ts'

export type Json = string | number | boolean | null | Json[] | JsonObject
export type JsonObject = { [name: string]: Json | undefined }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The text, the object, the list, the objects in the list; empty for any other value. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {})
export const asList = (value: unknown): Json[] => (Array.isArray(value) ? value : [])
export const asObjects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Whether a value is an object that says anything: some servers write members that they do not use as empty objects. */
export const isFilled = (value: unknown): value is JsonObject =>
  isObject(value) && Object.values(value).some((one) => (typeof one === 'object' ? !isBlank(one) : Boolean(one)))

const isBlank = (value: Json[] | JsonObject | null): boolean => value === null || Object.keys(value).length === 0

/** A text that says anything; undefined for an empty one and for anything else. */
export const filledText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Undefined for text that is not JSON, or holds more than JSON may. `surveyed`: whether that has been looked at. */
export const parseJson = (text: string, surveyed = false): unknown => {
  try {
    if (!surveyed) requireBounds(text)
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The same for text that is not a JSON object. */
export const parseObject = (text: string, surveyed = false): JsonObject | undefined => {
  const value = parseJson(text, surveyed)
  return isObject(value) ? value : undefined
}
