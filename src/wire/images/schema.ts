// The schema of a client's body on the images wire, open to unknown members.

import { Type } from '@sinclair/typebox'
import { nullable } from '../nullable.ts'

export const requestSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  prompt: Type.String({ minLength: 1 }),
  size: nullable(
    Type.String({
      pattern: '^(auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$',
      description: 'a size such as 1024x1024, or auto',
    }),
  ),
  n: nullable(Type.Integer({ minimum: 1, maximum: 10 })),
  stream: nullable(Type.Boolean()),
})
