// What the configuration file may say of a model: whose it is, what it does and what it costs.

import { type Static, Type } from '@sinclair/typebox'
import { MODALITIES } from '../../catalogue/model.ts'
import { KINDS } from '../../ir/wire.ts'
import { closed, count, oneOf } from './forms.ts'
import { Quirks } from './providers.ts'

const modality = oneOf(MODALITIES, 'A modality')

const usd = (description: string) =>
  Type.Optional(Type.Number({ description: `USD per million tokens: ${description}`, minimum: 0, maximum: 1_000_000 }))

const rates = {
  input: usd('fresh input'),
  output: usd('output, reasoning included'),
  cache_read: usd('input read from the cache'),
  cache_write: usd('input written to the cache'),
  cache_write_1h: usd('input written to the cache for an hour; by default as cache_write'),
}

/** By kind of what tokens are of. */
const kindRates = (of: string) =>
  Type.Object(
    {
      input: Type.Optional(rates.input),
      cache_read: Type.Optional(rates.cache_read),
      output: Type.Optional(rates.output),
    },
    { ...closed, description: `What tokens of ${of} cost, where that is something else; what is left out, as above` },
  )

export const Model = Type.Object(
  {
    provider: Type.Optional(Type.String({ description: 'The provider that serves it; needed for a new model' })),
    upstream: Type.Optional(Type.String({ description: "The provider's own id of it", minLength: 1 })),
    kind: Type.Optional(oneOf(KINDS, 'What it does: text on the text wires, each other on a wire of its own (text)')),
    family: Type.Optional(Type.String({ description: 'What it is listed under (default other)', minLength: 1 })),
    display_name: Type.Optional(Type.String({ description: 'Its name for people (default its id)', minLength: 1 })),
    input: Type.Optional(Type.Array(modality, { description: 'What it reads', minItems: 1 })),
    output: Type.Optional(Type.Array(modality, { description: 'What it makes', minItems: 1 })),
    context: Type.Optional(Type.Integer({ description: 'Tokens of prompt and answer together', minimum: 1 })),
    max_output: Type.Optional(Type.Integer({ description: 'The most output tokens of one answer', minimum: 1 })),
    price: Type.Optional(
      Type.Object(
        {
          ...rates,
          long_context: Type.Optional(
            Type.Object(
              {
                above: Type.Integer({ description: 'Prompts of more tokens than this cost', minimum: 1 }),
                ...rates,
              },
              { ...closed, description: 'What long prompts cost, and their answers; what is left out, as above' },
            ),
          ),
          service_tiers: Type.Optional(
            Type.Record(
              Type.String(),
              Type.Number({ description: 'So many times as much', minimum: 0, maximum: 1000 }),
              {
                description:
                  'By the class of service, or the region, that the provider tells: flex, fast, us and the like',
              },
            ),
          ),
          per_call: Type.Optional(
            Type.Record(Type.String(), Type.Number({ description: 'USD for a call', minimum: 0, maximum: 1000 }), {
              description:
                'By tools that run at the vendor (web_search, code_execution, file_search, image_generation and the like): USD for one call, so that 10 for a thousand searches is 0.01',
            }),
          ),
          per_image: Type.Optional(
            Type.Record(
              Type.String({ pattern: '^(default|[a-z0-9]{1,20}(/[a-z0-9]{1,20})?)$' }),
              Type.Number({ description: 'USD for a picture', minimum: 0, maximum: 1000 }),
              {
                description:
                  'Of pictures that are billed one by one: USD by quality and size (high/1024x1024), one of them, or default; beside what tokens cost',
                additionalProperties: false,
              },
            ),
          ),
          audio: Type.Optional(kindRates('sound')),
          image: Type.Optional(kindRates('pictures')),
          as_of: Type.Optional(
            Type.String({
              description: 'The day of the price list, such as 2026-11-27',
              pattern: '^\\d{4}-\\d{2}-\\d{2}$',
            }),
          ),
        },
        closed,
      ),
    ),
    tokens_per_image: Type.Optional(count('Tokens billed for an image when the provider reports none')),
    tokens_per_second: Type.Optional(
      Type.Number({
        description: 'Transcription: tokens that a second of sound counts for, where the provider tells no tokens (10)',
        minimum: 0,
        maximum: 1_000_000,
      }),
    ),
    tokens_per_character: Type.Optional(
      Type.Number({
        description: 'Speech: tokens that a character of its text counts for, where the provider tells no tokens (1)',
        minimum: 0,
        maximum: 1_000_000,
      }),
    ),
    created: Type.Optional(
      Type.String({
        description: 'Release date',
        pattern: '^\\d{4}-\\d{2}-\\d{2}$',
        allowed: 'a date such as 2026-01-31',
      }),
    ),
    quirks: Type.Optional(Quirks),
  },
  closed,
)
export type FileModel = Static<typeof Model>
