// The embeddings wire: its codec. Texts, or their tokens, become vectors; only what was read is billed.

import { asList, asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Edit } from '../../lib/json-splice.ts'
import { faultOf } from '../pass.ts'
import { decodeError } from '../refusal/error-object.ts'
import { inputOnly, sameWire } from '../same-wire.ts'
import { requestSchema } from './schema.ts'

/** Libraries that ask for base64 of themselves read nothing else, and many servers do not heed it: numbers are packed. */
const packed = (
  { data }: JsonObject,
  _cap: number | undefined,
  { encoding_format: format }: JsonObject = {},
): Edit[] =>
  format !== 'base64'
    ? []
    : asList(data).flatMap((one, at) => {
        const { embedding } = asObject(one)
        return isVector(embedding)
          ? [{ path: ['data', at, 'embedding'], value: JSON.stringify(base64Of(embedding)) }]
          : []
      })

const isVector = (value: Json | undefined): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number')

/** As numbers of 32 bits, the lowest byte first, as every machine that this runs on has them. */
const base64Of = (vector: readonly number[]): string => Buffer.from(new Float32Array(vector).buffer).toString('base64')

export const embeddings = sameWire({
  wire: 'embeddings',
  requestSchema,
  // A text may come as its tokens: each is one, whatever it weighs as a number.
  expects: ({ input }, estimate) => {
    const least = tokensGiven(input)
    return { input: Math.max(estimate, least), output: 0, least }
  },
  faultIn: (body) => faultOf(body, 'data', decodeError),
  answerEdits: packed,
  readUsage: inputOnly,
})

const tokensGiven = (input: Json | undefined): number => {
  if (typeof input === 'number') return 1
  if (Array.isArray(input)) return input.reduce<number>((sum, each) => sum + tokensGiven(each), 0)
  return isObject(input) ? tokensGiven(input.content) : 0
}
