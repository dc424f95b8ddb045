// Descriptions of request members for the OpenAPI document, shared by the wires.

import type { TSchema } from '@sinclair/typebox'

const CAP = 'The most tokens of the answer, thoughts included. The key’s quota may lower it.'
const SAMPLING = 'How freely the answer is chosen. Listed as dropped where the model takes none.'

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  model: 'An id of GET /v1/models, an alias, or auto.',
  stream: 'The answer as events, as it comes.',
  messages: 'The conversation, oldest first.',
  input: 'The conversation, oldest first; text alone is one message of the user.',
  system: 'What the model is told before the conversation.',
  instructions: 'What the model is told before the conversation.',
  max_tokens: CAP,
  max_completion_tokens: CAP,
  max_output_tokens: CAP,
  temperature: SAMPLING,
  top_p: SAMPLING,
  top_k: SAMPLING,
  frequency_penalty: SAMPLING,
  presence_penalty: SAMPLING,
  seed: 'Answers alike for requests alike, where the model’s wire can.',
  stop: 'Texts that end the answer.',
  stop_sequences: 'Texts that end the answer.',
  tools:
    'What the model may call: functions of the client’s, and tools of the provider’s own where it is reached on its own wire.',
  tool_choice: 'Whether and which tools are to be called.',
  parallel_tool_calls: 'Whether several tools may be called at once.',
  functions: 'Tools in their older form.',
  function_call: 'The choice of tools in its older form.',
  response_format: 'The form of the answer: text, JSON, or JSON of a schema.',
  text: 'The form of the answer: text, JSON, or JSON of a schema.',
  output_config: 'The form of the answer and how much thought goes into it.',
  thinking: 'Whether the model thinks before it answers, and how many tokens of it.',
  reasoning: 'How much the model thinks, and whether it sums its thoughts up.',
  reasoning_effort: 'How much the model thinks.',
  verbosity: 'How long answers are.',
  stream_options: 'include_usage: a last chunk with the figures.',
  include: 'What the answer is to hold besides.',
  store: 'Whether the answer may be referred to later.',
  background: 'Not to be waited for: `GET /v1/responses/{id}` tells how it stands. On the model’s own wire only.',
  previous_response_id:
    'The answer that this request goes on from. Of a model of another wire, the gateway remembers it for a while.',
  n: 'How many answers or pictures; several answers on the model’s own wire only.',
  logprobs: 'Likelihoods of tokens; on the model’s own wire only.',
  top_logprobs: 'Likelihoods of tokens; on the model’s own wire only.',
  metadata: 'The client’s own labels.',
  user: 'The client’s own name for its user.',
  prompt_cache_key: 'Requests that share a beginning; they go to the same account.',
  service_tier: 'The provider’s own class of service.',
  prompt: 'What the picture shows.',
  encoding_format: 'Vectors as numbers (`float`) or in `base64`.',
  dimensions: 'How many numbers a vector is to have, where the model can be told.',
  stream_format: 'The sound as it is made (`audio`), or in events (`sse`).',
  size: 'Width and height in pixels, 1024x1024 for instance, or auto.',
}

/** The schema with descriptions for the members that have none, also within unions and intersections. */
export const withDescriptions = (schema: TSchema): TSchema => {
  const more: Record<string, unknown> = {}
  for (const parts of ['anyOf', 'allOf'] as const) {
    if (Array.isArray(schema[parts])) more[parts] = schema[parts].map(withDescriptions)
  }
  if (schema.properties !== undefined) {
    more.properties = Object.fromEntries(
      Object.entries(schema.properties as Record<string, TSchema>).map(([name, member]) => {
        const description = DESCRIPTIONS[name]
        return [
          name,
          description === undefined || member.description !== undefined ? member : { ...member, description },
        ]
      }),
    )
  }
  return { ...schema, ...more }
}
