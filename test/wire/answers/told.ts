// What an answer says, whatever the wire: the reading all three must agree on.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import type { Dice } from '../matrix/untidy/dice.ts'

export type Call = { id: string; name: string; kind: 'function' | 'custom'; input: string }

/** Tokens in classes that do not overlap. */
export type Figures = { input: number; read: number; written: number; output: number }

export type Told = {
  /** Texts and refusals in their order. */
  said: { kind: 'text' | 'refusal'; text: string }[]
  thought: string
  calls: Call[]
  usage: Figures
}

export const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
export const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
/** Also of a number that is kept as it was written. */
export const number = (value: Json | undefined): number => Number(JSON.stringify(value ?? 0))

/** The name of the provider's own model and its marks: none of them may reach a client of another wire. */
export const SECRET = 'vendor-secret'

/** The figures of an answer as a provider may have them: caches of the prompt, or none told of. */
export const figures = (dice: Dice): Figures & { reasoning: number } => {
  const output = dice.one(9, 1, 400, 0)
  return {
    input: dice.one(5, 0, 12_000),
    read: dice.one(0, 3, 9_000),
    written: dice.one(0, 2, 700),
    output,
    reasoning: dice.one(0, Math.min(output, 4)),
  }
}

/** A word of the model's, never empty where the wire would then say nothing. Of white space alone: see blank.test.ts. */
export const words = (dice: Dice): string =>
  dice.one(
    'Hello.',
    'two\nlines',
    '"q" \\ b',
    '👩🏽‍🚀 Grüße',
    'data: x\n\n',
    '\u2028',
    '</s> {"a":1}',
    '\u0000\u001f',
    ' x ',
  )

/** Arguments as models write them, the numbers of any size. */
export const input = (dice: Dice): string =>
  dice.one(
    '{"a":1}',
    '{}',
    '{"id":12345678901234567890,"deep":{"list":[1,-98765432109876543210,null]}}',
    '{ "path" : "a\\\\b\\"c", "text": "👩🏽‍🚀\\n" }',
    '{"n":1.5,"t":true,"empty":{},"":[]}',
    '{"input":"free","more":0}',
  )

export const toolName = (dice: Dice): string => dice.one('get_weather', 'now', 'a-b', 'n'.repeat(64))

/** Ids of a vendor's own form, no two of one answer alike. */
export const ids = (prefix: string) => {
  let count = 0
  return (): string => `${prefix}Vendor${count++}`
}
