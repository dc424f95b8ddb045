// What members of the configuration file are made of: durations, sizes, secrets, counts, choices.

import { Type } from '@sinclair/typebox'
import { DURATION_PATTERN, SIZE_PATTERN } from '../units.ts'

export const closed = { additionalProperties: false }

// `allowed` is the sentence an error gives; `secret` keeps the value found out of it; `also` are names that other programs have
// for the member. All are left out of the JSON Schema.
export const duration = (description: string) =>
  Type.String({ description, pattern: DURATION_PATTERN, allowed: 'a duration such as 500ms, 15s, 10m or 24h' })
export const durationOrNone = (description: string) =>
  Type.Union([Type.String({ pattern: DURATION_PATTERN }), Type.Literal(0)], {
    description,
    allowed: 'a duration such as 15s, 24h or 90d, or 0',
  })
export const size = (description: string) =>
  Type.String({ description, pattern: SIZE_PATTERN, allowed: 'a size such as 512KB, 64MB or 1GB' })
export const secret = (description: string, also: readonly string[] = []) =>
  Type.String({ description, minLength: 1, secret: true, also, allowed: 'env:NAME, file:PATH or the secret itself' })
export const count = (description: string) => Type.Integer({ description, minimum: 0 })
export const oneOf = <const T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description },
    ),
  )
