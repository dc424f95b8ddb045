// Single requests of clients: in a list, explained, and as they happen.

import { type Static, Type } from '@sinclair/typebox'
import { Count, Nullable, oneOf, Time } from './forms.ts'
import { ServerToolCalls, Tokens } from './usage.ts'

export const Outcome = oneOf(['open', 'done', 'refused', 'failed', 'aborted'])

/**
 * One client request: an exchange, or one that was refused before it became one. `model` is what was asked for; `provider` … what answered last; members are not told which account.
 * Never a prompt, never an answer.
 */
export const Exchange = Type.Object({
  id: Type.String(),
  key: Type.Object({ id: Type.String(), label: Type.String() }),
  model: Nullable(Type.String({ description: 'Null: refused before it was known.' })),
  wire: Type.String(),
  stream: Type.Boolean(),
  outcome: Outcome,
  status: Nullable(Type.Integer()),
  error_code: Nullable(Type.String()),
  provider: Nullable(Type.String()),
  account: Nullable(Type.String()),
  address: Nullable(Type.String({ description: 'Where the client asked from.' })),
  tag: Nullable(Type.String({ description: 'What it is billed as, by the header x-gateway-tag.' })),
  started_at: Time,
  ended_at: Nullable(Time),
  first_byte_ms: Nullable(Count),
  total_ms: Nullable(Count),
  attempts: Count,
  ...Tokens,
  estimated: Type.Boolean(),
  cost_micro_usd: Count,
  cost_khr: Count,
})
export type Exchange = Static<typeof Exchange>

/**
 * One try at one target. `ms` runs until its answer began or it failed. `result` `answered` has no error code. Members are
 * told neither the account nor what the provider said.
 */
export const Attempt = Type.Object({
  provider: Type.String(),
  account: Nullable(Type.String()),
  model: Type.String(),
  wire: Type.String(),
  result: oneOf(['answered', 'failed', 'ended']),
  error_code: Nullable(Type.String()),
  provider_status: Nullable(Type.Integer()),
  provider_code: Nullable(Type.String()),
  provider_request_id: Nullable(Type.String()),
  ms: Nullable(Count),
})
export type Attempt = Static<typeof Attempt>

/** One thing the gateway looked at before it called a provider, in the order it did. `detail` is a sentence. */
export const Check = Type.Object({ name: Type.String(), passed: Type.Boolean(), detail: Type.String() })
export type Check = Static<typeof Check>

/**
 * `what`: `input`, `cache_read`, `cache_write`, `cache_write_1h`, `output`, the parts of them that are priced apart
 * (`audio_input`, `image_output` …), `calls` of a `tool` at the vendor, `pictures` that are priced each, or `told`: all of it,
 * as the provider said.
 */
export const BillLine = Type.Object({
  what: Type.String(),
  tool: Nullable(Type.String()),
  model: Nullable(
    Type.String({ description: 'Another that answered within, at its own price; null: the one that answered.' }),
  ),
  count: Nullable(Count),
  usd: Nullable(Type.Number({ description: 'For a million tokens, or for one call; the factors are in it.' })),
  micro_usd: Type.Number({
    description: 'Not rounded: the cost is the sum over tokens and that over the rest, each rounded once.',
  }),
})
export type BillLine = Static<typeof BillLine>

export const ExplainedExchange = Type.Object({
  exchange: Exchange,
  failure: Nullable(
    Type.Object(
      { happened: Type.String(), why: Type.String(), todo: Type.String() },
      { description: 'Of one that failed or was refused: what happened, why most often, and what to do.' },
    ),
  ),
  checks: Type.Array(Check),
  quota: Nullable(
    Type.Object({
      input_estimate: Count,
      reserved: Count,
      billed: Count,
      left_before: Nullable(Type.Integer()),
      left_after: Nullable(Type.Integer()),
    }),
  ),
  route: Type.Object({
    model: Nullable(Type.String()),
    upstream_model: Nullable(Type.String()),
    client_wire: Type.String(),
    provider_wire: Nullable(Type.String()),
    mode: Nullable(oneOf(['pass', 'translate'])),
    why: Type.Array(Type.String()),
  }),
  attempts: Type.Array(Attempt),
  server_tools: ServerToolCalls,
  fees_micro_usd: Type.Integer({
    minimum: 0,
    description: 'The part of the cost that is of those calls, of pictures and the like.',
  }),
  bill: Nullable(
    Type.Object(
      {
        lines: Type.Array(BillLine),
        long_context_above: Nullable(
          Type.Integer({ description: 'The prices are those of prompts of more tokens than this.' }),
        ),
        factors: Type.Record(Type.String(), Type.Number(), {
          description: 'By how much its class of service and its region multiplied every price of tokens.',
        }),
        as_of: Nullable(Type.String({ description: 'The day of the price list.' })),
        former: Type.Boolean({ description: 'By a price that the model had then, and has no more.' }),
        told_micro_usd: Nullable(
          Type.Integer({
            minimum: 0,
            description: 'What the provider says that it charged, beside our prices; for members null.',
          }),
        ),
      },
      {
        description:
          'What made the cost; null: it has none yet, or no price that is known, by what is told of it, comes to it.',
      },
    ),
  ),
  dropped: Type.Array(Type.String(), { description: 'Members of the request the provider wire could not say.' }),
  raw_usage: Type.Unknown({
    description:
      "The provider's own usage object, with the class of service that it told beside it, or null; for members null.",
  }),
})
export type ExplainedExchange = Static<typeof ExplainedExchange>

/** The data of a `counters` frame of the live stream; an `exchange` frame carries an Exchange. */
export const Counters = Type.Object({ at: Time, open_exchanges: Count, finished: Count, errors: Count })
export type Counters = Static<typeof Counters>
