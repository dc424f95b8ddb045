// The schema of a `POST /v1/messages` body, open to unknown members everywhere: clients use new ones before this list
// knows them, and the provider judges those.

import { type TSchema, Type } from '@sinclair/typebox'
import { nullable } from '../schema/nullable.ts'

const Block = Type.Object({ type: Type.String() })
const Content = Type.Union([Type.String(), Type.Array(Block)])

/** With 0 the provider only writes the prompt to its cache. */
const MaxTokens = Type.Integer({ minimum: 0 })

const model = Type.String({ minLength: 1 })

const members = {
  system: nullable(Content),
  stream: nullable(Type.Boolean()),
  temperature: nullable(Type.Number()),
  top_p: nullable(Type.Number()),
  top_k: nullable(Type.Number()),
  stop_sequences: nullable(Type.Array(Type.String())),
  tools: nullable(Type.Array(Type.Object({}))),
  tool_choice: nullable(Type.Object({ type: Type.String() })),
  thinking: nullable(Type.Object({ type: nullable(Type.String()) })),
  output_config: nullable(Type.Object({})),
  metadata: nullable(Type.Object({})),
  service_tier: nullable(Type.String()),
}

/** A system message may hold settings and no content. */
const Message = Type.Union([
  Type.Object({ role: Type.Union([Type.Literal('user'), Type.Literal('assistant')]), content: Content }),
  Type.Object({ role: Type.Literal('system'), content: nullable(Content) }),
])

/**
 * Bodies that do not continue a conversation kept at the provider. The schema below excludes them, rather than require
 * `thread`: otherwise refusals would name a member that clients need not send.
 */
const Begins = Type.Object({ thread: Type.Optional(Type.Not(Type.Object({ type: Type.Literal('continue') }))) })

/** A conversation kept at the provider may continue without a new message. */
const bodies = <MaxTokens extends TSchema>(max_tokens: MaxTokens) =>
  Type.Union([
    Type.Object({ model, max_tokens, messages: Type.Array(Message, { minItems: 1 }), ...members }),
    Type.Intersect([Type.Object({ model, max_tokens, messages: Type.Array(Message), ...members }), Type.Not(Begins)]),
  ])

export const MessagesRequest = bodies(MaxTokens)

/** The same, for a request to count its tokens. */
export const CountRequest = bodies(Type.Optional(MaxTokens))
