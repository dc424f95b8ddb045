// The schema of a client's body on the moderations wire, open to unknown members.

import { Type } from '@sinclair/typebox'
import { nullable } from '../schema/nullable.ts'

export const requestSchema = Type.Object({
  // Clients of the vendor leave it out: then it is the first model here that moderates.
  model: nullable(Type.String({ minLength: 1 })),
  input: Type.Union([Type.String(), Type.Array(Type.Unknown(), { minItems: 1 })], {
    description: 'a text, or a list of texts or parts',
  }),
})
