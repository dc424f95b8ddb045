// What many resources of the admin API are made of: numbers, times, choices, what may be null.

import { type SchemaOptions, type TSchema, Type } from '@sinclair/typebox'

export const Time = Type.String({ description: 'ISO 8601, UTC, with milliseconds.' })
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const Days = Type.Integer({ minimum: 1, maximum: 36_500 })
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const Closed = { additionalProperties: false }
export const oneOf = <const T extends string>(values: readonly T[], options: SchemaOptions = {}) =>
  Type.Unsafe<T>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      options,
    ),
  )
