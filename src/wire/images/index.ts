// The images wire: served by providers that speak it, never translated.

import type { PassCodec } from '../codec.ts'
import { faultOf, KEEP_ALIVE, modelEdit, refusedMembers, usageIn, withoutRefused } from '../pass.ts'
import { decodeError, encodeError } from './error.ts'
import { requestSchema } from './schema.ts'
import { tap } from './tap.ts'
import { decodeUsage, usageObject } from './usage.ts'

// Models that answer in base64 and in no other way refuse to be asked for it, though clients lose nothing by that.
const NEEDLESS = 'response_format'

const refusedIn: NonNullable<PassCodec['refusedIn']> = (body, quirks) =>
  refusedMembers(body, quirks).filter(([name]) => name !== NEEDLESS)

const passEdits: PassCodec['passEdits'] = (body, options) => {
  const { quirks } = options
  const needless = body[NEEDLESS] === 'b64_json' && quirks.rejects?.includes(NEEDLESS) === true
  return withoutRefused([modelEdit(options)], [...refusedIn(body, quirks), ...(needless ? [[NEEDLESS]] : [])], quirks)
}

export const images: PassCodec = {
  wire: 'images',
  requestSchema,
  passEdits,
  refusedIn,
  outputCap: () => undefined,
  tap,
  faultIn: (body) => faultOf(body, 'data', decodeError),
  readUsage: (body) => usageIn({ ...body, usage: usageObject(body) }, decodeUsage),
  decodeError,
  encodeError,
  keepAlive: KEEP_ALIVE,
}
