// What the client API's small endpoints answer with, and the envelope of errors: the shapes of its document.

import { Type } from '@sinclair/typebox'
import { Budget } from '../admin-api/schema.ts'

const Time = Type.String({ format: 'date-time', description: 'ISO 8601, UTC, with milliseconds.' })

export const Discovery = Type.Object({
  object: Type.Literal('gateway'),
  name: Type.String(),
  version: Type.String(),
  status: Type.Literal('ok'),
  endpoints: Type.Array(
    Type.Object({
      method: Type.String(),
      path: Type.String(),
      wire: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
  documentation: Type.String(),
})

export const ModelEntry = Type.Object({
  id: Type.String(),
  object: Type.Literal('model'),
  type: Type.Literal('model'),
  created: Type.Integer({ description: 'Seconds since the epoch.' }),
  created_at: Time,
  owned_by: Type.String(),
  display_name: Type.String(),
  provider: Type.String(),
  family: Type.String(),
  input_modalities: Type.Array(Type.String()),
  output_modalities: Type.Array(Type.String()),
  context_window: Type.Integer({ description: 'Tokens.' }),
  max_output_tokens: Type.Integer(),
  max_input_tokens: Type.Integer({ description: 'The same as `context_window`.' }),
  max_tokens: Type.Integer({ description: 'The same as `max_output_tokens`.' }),
  reasoning: Type.Boolean({ description: 'Whether an effort of thought may be asked of it.' }),
})

export const ModelList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(ModelEntry),
  first_id: Type.Union([Type.String(), Type.Null()]),
  last_id: Type.Union([Type.String(), Type.Null()]),
  has_more: Type.Boolean(),
})

export const UsageRecord = Type.Object({
  label: Type.String({ description: 'Name of the key.' }),
  tokens_total: Type.Integer({ description: 'Total token quota of the key.' }),
  tokens_used: Type.Integer({ description: 'Tokens consumed.' }),
  tokens_remaining: Type.Integer({ description: 'Tokens still available.' }),
  expires_at: Time,
  status: Type.Union([Type.Literal('active'), Type.Literal('exhausted')]),
  rate: Type.Object({ khr_per_usd: Type.Number({ description: 'Riel for one US dollar.' }) }),
})

const Sums = {
  requests: Type.Integer(),
  errors: Type.Integer(),
  tokens: Type.Integer({ description: 'Of all classes.' }),
  input: Type.Integer(),
  cache_read: Type.Integer(),
  cache_write: Type.Integer(),
  output: Type.Integer(),
  reasoning: Type.Integer({ description: 'A part of output.' }),
  cost_micro_usd: Type.Integer({ description: 'Millionths of a US dollar.' }),
  cost_khr: Type.Integer({ description: 'Whole riel.' }),
  fees_micro_usd: Type.Integer({ description: 'The part of the cost that is of calls, pictures and the like.' }),
}

const Bound = Type.Union([Type.Integer(), Type.Null()])

export const UsageHistory = Type.Object({
  object: Type.Literal('usage.history'),
  since: Time,
  until: Time,
  days: Type.Array(Type.Object({ at: Time, ...Sums })),
  models: Type.Array(Type.Object({ model: Type.String(), ...Sums })),
  key: Type.Object({
    renews: Type.Union([Type.Object({ every: Type.String(), at: Time }), Type.Null()], {
      description: 'How often the used tokens start again from 0, and when they do next; null: never.',
    }),
    budgets: Type.Array(
      Type.Composite([
        Type.Object({
          of: Type.Unsafe<'key' | 'member' | 'team' | 'gateway'>({ enum: ['key', 'member', 'team', 'gateway'] }),
        }),
        Budget,
      ]),
      { description: 'Those that its requests count against.' },
    ),
    time_zone: Type.String({ description: 'By whose clocks days begin and quotas and budgets renew.' }),
    allowed_models: Type.Array(Type.String(), { description: 'Catalogue ids, * as a wildcard.' }),
    capture: Type.Unsafe<'none' | 'content'>({
      enum: ['none', 'content'],
      description: 'content: its prompts and answers are exported to those who run the gateway, where traces are.',
    }),
    limits: Type.Object(
      { rpm: Bound, tpm: Bound, concurrency: Bound },
      { description: 'Requests and tokens a minute, requests at once; null: no limit.' },
    ),
  }),
  rate: Type.Object({ khr_per_usd: Type.Number() }),
})

const Tokens = Type.Integer({ description: 'Of the whole prompt: messages, system, tools and files.' })

export const MessagesCount = Type.Object({ input_tokens: Tokens })

export const ResponsesCount = Type.Object({ object: Type.Literal('response.input_tokens'), input_tokens: Tokens })

export const ErrorEnvelope = Type.Object({
  error: Type.Object({
    message: Type.String({ description: 'Human-readable; never the provider’s own text.' }),
    type: Type.String(),
    code: Type.String({ description: 'Also in the header x-gateway-error-code.' }),
  }),
})
