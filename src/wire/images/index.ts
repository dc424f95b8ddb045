// The images wire: served by providers that speak it, never translated.

import type { Edit } from '../../lib/json-splice.ts'
import type { PassCodec } from '../codec.ts'
import { faultOf, KEEP_ALIVE, usageIn } from '../pass.ts'
import { decodeError, encodeError } from './error.ts'
import { requestSchema } from './schema.ts'
import { tap } from './tap.ts'
import { decodeUsage } from './usage.ts'

const passEdits: PassCodec['passEdits'] = (body, { model, quirks }) => {
  const edits: Edit[] = body.model === model ? [] : [{ path: ['model'], value: JSON.stringify(model) }]
  // Models that answer so and in no other way refuse to be asked for it; clients ask wherever they do not know the id.
  const needless = body.response_format === 'b64_json' && quirks.rejects?.includes('response_format') === true
  return needless ? [...edits, { path: ['response_format'], value: undefined }] : edits
}

export const images: PassCodec = {
  wire: 'images',
  requestSchema,
  passEdits,
  outputCap: () => undefined,
  tap,
  faultIn: (body) => faultOf(body, 'data', decodeError),
  readUsage: (body) => usageIn(body, decodeUsage),
  decodeError,
  encodeError,
  keepAlive: KEEP_ALIVE,
}
