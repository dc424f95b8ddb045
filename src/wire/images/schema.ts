// The schema of a client's body on the images wire, open to unknown members.

import { Type } from '@sinclair/typebox'

export const requestSchema = Type.Object(
  {
    model: Type.String({ minLength: 1 }),
    prompt: Type.String({ minLength: 1 }),
    size: Type.Optional(
      Type.Union([
        Type.Null(),
        Type.String({
          pattern: '^(auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$',
          description: 'a size such as 1024x1024, or auto',
        }),
      ]),
    ),
    n: Type.Optional(Type.Union([Type.Null(), Type.Integer({ minimum: 1, maximum: 10 })])),
    stream: Type.Optional(Type.Union([Type.Null(), Type.Boolean()])),
  },
  { additionalProperties: true },
)
