// The schema of a client's body on the images wire, open to unknown members.

import { Type } from '@sinclair/typebox'
import { nullable } from '../schema/nullable.ts'

const picture = {
  model: Type.String({ minLength: 1 }),
  size: nullable(
    Type.String({
      pattern: '^(auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$',
      description: 'a size such as 1024x1024, or auto',
    }),
  ),
  n: nullable(Type.Integer({ minimum: 1, maximum: 10 })),
}

const drawn = { prompt: Type.String({ minLength: 1 }), stream: nullable(Type.Boolean()) }

export const requestSchema = Type.Object({ ...picture, ...drawn })

/** Which pictures there are to change, and under which names, is the provider's to say. */
export const editSchema = requestSchema

export const variationSchema = Type.Object(picture)
