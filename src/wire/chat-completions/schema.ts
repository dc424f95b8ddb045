// What a client's chat-completions body must be, open to unknown members: types and required members only.

import { Type } from '@sinclair/typebox'
import { nullable } from '../schema/nullable.ts'

const Text = Type.String()
const Content = Type.Union([Text, Type.Array(Type.Object({ type: Type.Optional(Text) })), Type.Null()])

const FunctionCall = Type.Object({
  name: Text,
  arguments: Type.Optional(Type.Unknown()),
})

const ToolCall = Type.Object({
  id: Type.Optional(Type.Union([Text, Type.Null()])),
  type: Type.Optional(Text),
  function: Type.Optional(FunctionCall),
  custom: Type.Optional(Type.Object({ name: Text, input: Type.Optional(Text) })),
})

const Message = Type.Object({
  role: Text,
  content: Type.Optional(Content),
  name: nullable(Text),
  refusal: nullable(Text),
  tool_calls: nullable(Type.Array(ToolCall)),
  tool_call_id: nullable(Text),
  function_call: nullable(FunctionCall),
})

const Tool = Type.Object({
  type: Type.Optional(Text),
  function: Type.Optional(
    Type.Object({
      name: Text,
      description: nullable(Text),
      parameters: nullable(Type.Object({})),
      strict: nullable(Type.Boolean()),
    }),
  ),
})

const ToolChoice = Type.Union([Text, Type.Object({ type: Type.Optional(Text) }), Type.Null()])

export const ChatCompletionsRequest = Type.Object({
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(Message, { minItems: 1 }),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(Type.Object({ include_usage: nullable(Type.Boolean()) })),
  max_tokens: nullable(Type.Integer({ minimum: 1 })),
  max_completion_tokens: nullable(Type.Integer({ minimum: 1 })),
  temperature: nullable(Type.Number()),
  top_p: nullable(Type.Number()),
  top_k: nullable(Type.Number()),
  frequency_penalty: nullable(Type.Number()),
  presence_penalty: nullable(Type.Number()),
  seed: nullable(Type.Integer()),
  n: nullable(Type.Integer({ minimum: 1 })),
  stop: Type.Optional(Type.Union([Text, Type.Array(Text), Type.Null()])),
  tools: nullable(Type.Array(Tool)),
  tool_choice: Type.Optional(ToolChoice),
  parallel_tool_calls: nullable(Type.Boolean()),
  functions: nullable(Type.Array(Type.Object({ name: Text }))),
  function_call: Type.Optional(Type.Union([Text, Type.Object({ name: Text }), Type.Null()])),
  response_format: nullable(Type.Object({ type: Text })),
  reasoning_effort: nullable(Text),
  verbosity: nullable(Text),
  logprobs: nullable(Type.Boolean()),
  top_logprobs: nullable(Type.Integer({ minimum: 0 })),
  user: nullable(Text),
  metadata: nullable(Type.Object({})),
  prompt_cache_key: nullable(Text),
  service_tier: nullable(Text),
})
