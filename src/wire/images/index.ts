// The images wire: its codec. Its requests pass to providers that speak it, and are never translated.

import { envelope } from '../../errors.ts'
import type { PassCodec } from '../codec.ts'
import { faultOf, KEEP_ALIVE, modelEdit, refusedMembers, usageIn, withoutRefused } from '../pass.ts'
import { decodeError } from '../refusal/error-object.ts'
import { answerOf, framesOf } from './frames.ts'
import { editSchema, requestSchema, variationSchema } from './schema.ts'
import { tap } from './tap.ts'
import { decodeUsage, usageObject } from './usage.ts'

// Models that always answer in base64 refuse this member. A client that asks for base64 loses nothing without it: the
// member is removed and not listed as dropped.
const FORMAT = 'response_format'

const passEdits: PassCodec['passEdits'] = (body, options) => {
  const { quirks } = options
  const refused = refusedMembers(body, quirks).filter(([name]) => name !== FORMAT)
  const edits = withoutRefused([modelEdit(options)], refused, quirks, body)
  const isNeedless = body[FORMAT] === 'b64_json' && quirks.rejects?.includes(FORMAT) === true
  return isNeedless ? [...edits, { path: [FORMAT], value: undefined }] : edits
}

export const images: PassCodec = {
  wire: 'images',
  requestSchema,
  passEdits,
  outputCap: () => undefined,
  tap,
  faultIn: (body) => faultOf(body, 'data', decodeError),
  readUsage: (body) => usageIn({ ...body, usage: usageObject(body) }, decodeUsage),
  decodeError,
  encodeError: envelope,
  keepAlive: KEEP_ALIVE,
  otherForm: { frames: (body, most) => framesOf(body, most, 'image_generation'), answer: answerOf },
}

export const imageEdits: PassCodec = {
  ...images,
  operation: 'images/edits',
  requestSchema: editSchema,
  takesForms: true,
  otherForm: { frames: (body, most) => framesOf(body, most, 'image_edit'), answer: answerOf },
}

export const imageVariations: PassCodec = {
  ...images,
  operation: 'images/variations',
  requestSchema: variationSchema,
  takesForms: true,
  isStream: () => false,
}
