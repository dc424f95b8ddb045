// The schema of a member that may be absent or null: to clients the two are the same.

import { type TSchema, Type } from '@sinclair/typebox'

export const nullable = <T extends TSchema>(type: T) => Type.Optional(Type.Union([type, Type.Null()]))
