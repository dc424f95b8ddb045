// The embeddings wire: its codec. Texts, or their tokens, become vectors; only what was read is billed.

import { isObject, type Json } from '../../ir/json.ts'
import { faultOf } from '../pass.ts'
import { decodeError } from '../refusal/error-object.ts'
import { inputOnly, sameWire } from '../same-wire.ts'
import { requestSchema } from './schema.ts'

export const embeddings = sameWire({
  wire: 'embeddings',
  requestSchema,
  // A text may come as its tokens: each is one, whatever it weighs as a number.
  expects: ({ input }, estimate) => {
    const least = tokensGiven(input)
    return { input: Math.max(estimate, least), output: 0, least }
  },
  faultIn: (body) => faultOf(body, 'data', decodeError),
  readUsage: inputOnly,
})

const tokensGiven = (input: Json | undefined): number => {
  if (typeof input === 'number') return 1
  if (Array.isArray(input)) return input.reduce<number>((sum, each) => sum + tokensGiven(each), 0)
  return isObject(input) ? tokensGiven(input.content) : 0
}
