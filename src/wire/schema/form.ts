// The schema of a structured answer, as both of vendor_b's text wires write it.

import type { JsonObject } from '../../ir/json.ts'
import type { OutputFormat } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'
import { isClosed, objectRoot } from './object.ts'
import { withReadablePatterns } from './pattern.ts'
import { withDefinitions } from './references.ts'

const MAX_NAME = 64

/**
 * `{name, schema, description?, strict?}`. On the messages wire every schema is enforced, so its clients' schemas become
 * strict where possible. They may lack a type at the root, and are then made an object: `drop` is called with keywords
 * that this removes.
 */
export const encodeSchemaForm = (
  { name = '', description, schema, strict }: Extract<OutputFormat, { type: 'json-schema' }>,
  origin: ChatWire,
  drop: (member: string) => void,
): JsonObject & { schema: JsonObject } => {
  const own = origin !== 'messages'
  const enforced = strict ?? (!own && isClosed(schema) ? true : undefined)
  return {
    name: name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME) || 'response',
    schema: own
      ? schema
      : withReadablePatterns(schema.type === undefined ? objectRoot(schema, drop) : withDefinitions(schema)),
    ...(description === undefined ? {} : { description }),
    ...(enforced === undefined ? {} : { strict: enforced }),
  }
}
