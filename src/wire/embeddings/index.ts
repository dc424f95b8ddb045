// The embeddings wire: its codec. Texts, or their tokens, become vectors; only what was read is billed.

import { asList, asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { faultOf } from '../pass.ts'
import { decodeError } from '../refusal/error-object.ts'
import { inputOnly, sameWire } from '../same-wire.ts'
import { requestSchema } from './schema.ts'

/** Libraries that ask for base64 of themselves read nothing else, and many servers do not heed it: numbers are packed. */
const isPacked = ({ encoding_format: format }: JsonObject): boolean => format === 'base64'

/** Each with its place in the list. */
const vectorsOf = ({ data }: JsonObject): [at: number, vector: number[]][] =>
  asList(data).flatMap((one, at): [number, number[]][] => {
    const { embedding } = asObject(one)
    return isVector(embedding) ? [[at, embedding]] : []
  })

const isVector = (value: Json | undefined): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number')

/** As numbers of 32 bits, the lowest byte first, as every machine that this runs on has them. */
const packed = (vector: readonly number[]): string =>
  JSON.stringify(Buffer.from(new Float32Array(vector).buffer).toString('base64'))

export const embeddings = sameWire({
  wire: 'embeddings',
  requestSchema,
  // A text may come as its tokens: each is one, whatever it weighs as a number.
  expects: ({ input }, estimate) => {
    const least = tokensGiven(input)
    return { input: Math.max(estimate, least), output: 0, least }
  },
  faultIn: (body) => faultOf(body, 'data', decodeError),
  answerEdits: (body, _, asked = {}) =>
    isPacked(asked)
      ? vectorsOf(body).map(([at, vector]) => ({ path: ['data', at, 'embedding'], value: packed(vector) }))
      : [],
  listsWritten: (body, asked) => {
    const vectors = new Set(isPacked(asked) ? vectorsOf(body).map(([, [which]]) => which) : [])
    return (list, which) => (vectors.has(which) ? packed(JSON.parse(list)) : list)
  },
  readUsage: inputOnly,
})

const tokensGiven = (input: Json | undefined): number => {
  if (typeof input === 'number') return 1
  if (Array.isArray(input)) return input.reduce<number>((sum, each) => sum + tokensGiven(each), 0)
  return isObject(input) ? tokensGiven(input.content) : 0
}
