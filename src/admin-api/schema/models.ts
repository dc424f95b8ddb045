// Models with what they cost, and whether their targets answer.

import { type Static, Type } from '@sinclair/typebox'
import { Count, Nullable, oneOf } from './forms.ts'

export const BreakerState = oneOf(['closed', 'open', 'half-open'])
export type BreakerState = Static<typeof BreakerState>

export const TargetHealth = Type.Object({
  provider: Type.String(),
  account: Type.String(),
  wires: Type.Array(Type.String()),
  state: BreakerState,
  in_flight: Count,
})
export type TargetHealth = Static<typeof TargetHealth>

const Rates = {
  input: Type.Number(),
  output: Type.Number(),
  cache_read: Type.Number(),
  cache_write: Type.Number(),
  cache_write_1h: Type.Number(),
}

const KindRates = { input: Type.Number(), cache_read: Type.Number(), output: Type.Number() }

/**
 * Prices are USD per million tokens. `targets` is empty where no account is configured. Members are told neither the
 * targets nor `upstream`, the provider's own id.
 */
export const Model = Type.Object({
  id: Type.String(),
  provider: Type.String(),
  upstream: Nullable(Type.String()),
  family: Type.String(),
  display_name: Type.String(),
  kind: oneOf(['text', 'image', 'embedding', 'moderation', 'speech', 'transcription']),
  input_modalities: Type.Array(Type.String()),
  output_modalities: Type.Array(Type.String()),
  context_window: Count,
  max_output_tokens: Count,
  tokens_per_image: Count,
  tokens_per_second: Type.Number({ minimum: 0 }),
  tokens_per_character: Type.Number({ minimum: 0 }),
  aliases: Type.Array(Type.String()),
  price: Type.Object({
    ...Rates,
    long_context: Nullable(
      Type.Object({ above: Count, ...Rates }, { description: 'For prompts of more tokens than `above`.' }),
    ),
    service_tiers: Type.Record(Type.String(), Type.Number(), {
      description: 'So many times as much, by the class of service that the provider tells.',
    }),
    per_call: Type.Record(Type.String(), Type.Number(), {
      description: 'USD for a call of a tool that runs at the vendor.',
    }),
    per_image: Type.Record(Type.String(), Type.Number(), {
      description: 'USD for a picture, by quality and size (high/1024x1024), one of them, or default.',
    }),
    audio: Nullable(Type.Object(KindRates, { description: 'Of tokens of sound, where they cost something else.' })),
    image: Nullable(Type.Object(KindRates, { description: 'Of tokens of pictures, where they cost something else.' })),
    as_of: Nullable(Type.String({ description: 'The day of the price list, such as 2026-11-27; null: not known.' })),
    as_told: Type.Boolean({
      description: 'It costs what its provider says in its answers, and its price where they do not say it.',
    }),
  }),
  fallbacks: Type.Array(Type.String()),
  available: Type.Boolean({ description: 'Some account is configured that serves it.' }),
  targets: Type.Array(TargetHealth),
})
export type Model = Static<typeof Model>

/** The catalogue in its order. `aliases`: name → id; `brands`: the word that ids also answer under. */
export const Catalogue = Type.Object({
  items: Type.Array(Model),
  aliases: Type.Record(Type.String(), Type.String()),
  brands: Type.Array(Type.Object({ neutral: Type.String(), branded: Type.String() })),
})
export type Catalogue = Static<typeof Catalogue>
