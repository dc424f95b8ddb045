// An answer's schema as vendor_b's wires write it: one nests it, the other does not.

import type { JsonObject } from '../ir/json.ts'
import type { OutputFormat } from '../ir/request.ts'
import type { ChatWire } from '../ir/wire.ts'
import { isClosed } from './object-schema.ts'

const MAX_NAME = 64

/** `{name, schema, description?, strict?}`. A client of the messages wire has its model held to every schema. */
export const encodeSchemaForm = (
  { name = '', description, schema, strict }: Extract<OutputFormat, { type: 'json-schema' }>,
  origin: ChatWire,
): JsonObject => {
  const held = strict ?? (origin === 'messages' && isClosed(schema) ? true : undefined)
  return {
    name: name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME) || 'response',
    schema,
    ...(description === undefined ? {} : { description }),
    ...(held === undefined ? {} : { strict: held }),
  }
}
