// What a body of `POST /v1/messages` must be before anything else is asked of it. Open everywhere: clients are ahead of
// every list of members, and what only the provider knows is the provider's to judge.

import { type Static, type TSchema, Type } from '@sinclair/typebox'

const Nullable = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

const Block = Type.Object({ type: Type.String() })
const Content = Type.Union([Type.String(), Type.Array(Block)])

const MaxTokens = Type.Integer({ minimum: 1 })

const model = Type.String({ minLength: 1 })

const members = {
  system: Nullable(Content),
  stream: Nullable(Type.Boolean()),
  temperature: Nullable(Type.Number()),
  top_p: Nullable(Type.Number()),
  top_k: Nullable(Type.Number()),
  stop_sequences: Nullable(Type.Array(Type.String())),
  tools: Nullable(Type.Array(Type.Object({}))),
  tool_choice: Nullable(Type.Object({ type: Type.String() })),
  thinking: Nullable(Type.Object({ type: Nullable(Type.String()) })),
  output_config: Nullable(Type.Object({})),
  metadata: Nullable(Type.Object({})),
  service_tier: Nullable(Type.String()),
}

/** A system message may hold settings alone. */
const Message = Type.Union([
  Type.Object({ role: Type.Union([Type.Literal('user'), Type.Literal('assistant')]), content: Content }),
  Type.Object({ role: Type.Literal('system'), content: Nullable(Content) }),
])

/**
 * Bodies that do not go on with a conversation kept at the provider. They are excluded below, rather than the others
 * asked for: a refusal never names a member that a client need not send.
 */
const Begins = Type.Object({ thread: Type.Optional(Type.Not(Type.Object({ type: Type.Literal('continue') }))) })

/** A conversation that is kept at the provider may go on without a new message. */
const bodies = <MaxTokens extends TSchema>(max_tokens: MaxTokens) =>
  Type.Union([
    Type.Object({ model, max_tokens, messages: Type.Array(Message, { minItems: 1 }), ...members }),
    Type.Intersect([Type.Object({ model, max_tokens, messages: Type.Array(Message), ...members }), Type.Not(Begins)]),
  ])

export const MessagesRequest = bodies(MaxTokens)

/** The same, to be counted and not answered. */
export const CountRequest = bodies(Type.Optional(MaxTokens))

export type MessagesRequest = Static<typeof MessagesRequest>
