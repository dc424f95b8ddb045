// The moderations wire: its codec. Vendors bill nothing for it, or what was read.

import { faultOf } from '../pass.ts'
import { decodeError } from '../refusal/error-object.ts'
import { inputOnly, sameWire } from '../same-wire.ts'
import { requestSchema } from './schema.ts'

export const moderations = sameWire({
  wire: 'moderations',
  requestSchema,
  expects: (_, estimate) => ({ input: estimate, output: 0 }),
  faultIn: (body) => faultOf(body, 'results', decodeError),
  readUsage: inputOnly,
})
