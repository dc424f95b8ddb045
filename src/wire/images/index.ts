// The images wire: served by providers that speak it, never translated.

import type { Edit } from '../../lib/json-splice.ts'
import type { PassCodec } from '../codec.ts'
import { faultOf, KEEP_ALIVE, refusedMembers, usageIn, withoutRefused } from '../pass.ts'
import { decodeError, encodeError } from './error.ts'
import { requestSchema } from './schema.ts'
import { tap } from './tap.ts'
import { decodeUsage } from './usage.ts'

// Models that answer in base64 and in no other way refuse to be asked for it, though clients lose nothing by that.
const NEEDLESS = 'response_format'

const refusedIn: NonNullable<PassCodec['refusedIn']> = (body, quirks) =>
  refusedMembers(body, quirks).filter(([name]) => name !== NEEDLESS)

const passEdits: PassCodec['passEdits'] = (body, { model, quirks }) => {
  const edits: Edit[] = body.model === model ? [] : [{ path: ['model'], value: JSON.stringify(model) }]
  const needless = body[NEEDLESS] === 'b64_json' && quirks.rejects?.includes(NEEDLESS) === true
  return withoutRefused(edits, [...refusedIn(body, quirks), ...(needless ? [[NEEDLESS]] : [])], quirks)
}

export const images: PassCodec = {
  wire: 'images',
  requestSchema,
  passEdits,
  refusedIn,
  outputCap: () => undefined,
  tap,
  faultIn: (body) => faultOf(body, 'data', decodeError),
  readUsage: (body) => usageIn(body, decodeUsage),
  decodeError,
  encodeError,
  keepAlive: KEEP_ALIVE,
}
