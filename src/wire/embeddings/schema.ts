// The schema of a client's body on the embeddings wire, open to unknown members.

import { Type } from '@sinclair/typebox'
import { nullable } from '../schema/nullable.ts'

export const requestSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  input: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.Unknown(), { minItems: 1 })], {
    description: 'a text, its tokens, or a list of either',
  }),
  encoding_format: nullable(Type.String()),
  dimensions: nullable(Type.Integer({ minimum: 1 })),
})
