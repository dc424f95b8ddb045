// The schemas of a client's bodies on the audio wire, open to unknown members. Of a form, the file is the provider's to ask
// for: some servers take an address in its place.

import { Type } from '@sinclair/typebox'
import { nullable } from '../schema/nullable.ts'

const model = Type.String({ minLength: 1 })

export const speechSchema = Type.Object({
  model,
  input: Type.String({ minLength: 1 }),
  stream_format: nullable(
    Type.Union([Type.Literal('audio'), Type.Literal('sse')], { description: 'audio (the default), or sse for events' }),
  ),
})

export const transcriptionSchema = Type.Object({
  model,
  response_format: nullable(Type.String()),
  stream: nullable(Type.Boolean()),
})
