// An answer's schema as vendor_b's wires write it: one nests it, the other does not.

import type { JsonObject } from '../ir/json.ts'
import type { OutputFormat } from '../ir/request.ts'
import type { ChatWire } from '../ir/wire.ts'
import { isClosed, objectRoot } from './object-schema.ts'

const MAX_NAME = 64

/**
 * `{name, schema, description?, strict?}`. A client of the messages wire has its model held to every schema, and need not
 * say at its root that it is of an object: `drop` is told what of a root of alternatives is left out.
 */
export const encodeSchemaForm = (
  { name = '', description, schema, strict }: Extract<OutputFormat, { type: 'json-schema' }>,
  origin: ChatWire,
  drop: (member: string) => void,
): JsonObject => {
  const own = origin !== 'messages'
  const held = strict ?? (!own && isClosed(schema) ? true : undefined)
  return {
    name: name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME) || 'response',
    schema: own || schema.type !== undefined ? schema : objectRoot(schema, drop),
    ...(description === undefined ? {} : { description }),
    ...(held === undefined ? {} : { strict: held }),
  }
}
