// The schema of a client's responses body, open to unknown members: types and required members only.

import { Type } from '@sinclair/typebox'
import { nullable } from '../schema/nullable.ts'

const Text = Type.String()
const Item = Type.Object({ type: nullable(Text), role: nullable(Text) })

const Input = Type.Union([Text, Type.Array(Item)])
const members = {
  model: Type.String({ minLength: 1 }),
  instructions: nullable(Text),
  stream: nullable(Type.Boolean()),
  max_output_tokens: nullable(Type.Integer({ minimum: 1 })),
  temperature: nullable(Type.Number()),
  top_p: nullable(Type.Number()),
  top_logprobs: nullable(Type.Integer({ minimum: 0 })),
  tools: nullable(Type.Array(Type.Object({ type: Text }))),
  tool_choice: Type.Optional(Type.Union([Text, Type.Object({ type: Text }), Type.Null()])),
  parallel_tool_calls: nullable(Type.Boolean()),
  text: nullable(Type.Object({ format: nullable(Type.Object({ type: Text })), verbosity: nullable(Text) })),
  reasoning: nullable(Type.Object({ effort: nullable(Text), summary: nullable(Text) })),
  include: nullable(Type.Array(Text)),
  store: nullable(Type.Boolean()),
  background: nullable(Type.Boolean()),
  previous_response_id: nullable(Text),
  metadata: nullable(Type.Object({})),
  user: nullable(Text),
  prompt_cache_key: nullable(Text),
  service_tier: nullable(Text),
}

/** Bodies that refer to nothing stored. Used in a `Not`, so that a refusal names `input` alone. */
const Begins = Type.Object({
  previous_response_id: Type.Optional(Type.Null()),
  conversation: Type.Optional(Type.Null()),
  prompt: Type.Optional(Type.Null()),
})

/** `input` is required unless the body refers to what the provider stores. */
export const ResponsesRequest = Type.Union([
  Type.Object({ ...members, input: Input }),
  Type.Intersect([Type.Object({ ...members, input: nullable(Input) }), Type.Not(Begins)]),
])
