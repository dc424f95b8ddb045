// The images wire: served by providers that speak it, never translated.

import { isObject, type JsonObject } from '../../ir/json.ts'
import type { PassCodec } from '../codec.ts'
import { decodeError, encodeError } from './error.ts'
import { requestSchema } from './schema.ts'
import { tap } from './tap.ts'
import { decodeUsage } from './usage.ts'

const readUsage: PassCodec['readUsage'] = (body: JsonObject) => {
  const usage = decodeUsage(body.usage)
  return usage !== undefined && isObject(body.usage) ? { usage, raw: body.usage } : undefined
}

export const images: PassCodec = {
  wire: 'images',
  requestSchema,
  passEdits: (body, { model }) => (body.model === model ? [] : [{ path: ['model'], value: JSON.stringify(model) }]),
  outputCap: () => undefined,
  tap,
  readUsage,
  decodeError,
  encodeError,
  keepAlive: ': keep-alive\n',
}
