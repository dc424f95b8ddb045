// The responses codec.

import { isObject } from '../../ir/json.ts'
import type { ChatCodec } from '../codec.ts'
import { faultOf } from '../pass.ts'
import { counting } from './counting.ts'
import { decodeEvents } from './decode-events.ts'
import { encodeEvents } from './encode-events.ts'
import { decodeError, encodeError } from './error.ts'
import { outputCap, passEdits } from './pass.ts'
import { decodeRequest, encodeRequest } from './request.ts'
import { decodeResponse, encodeResponse } from './response.ts'
import { ResponsesRequest } from './schema.ts'
import { tap } from './tap.ts'
import { decodeUsage } from './usage.ts'

export const responses: ChatCodec = {
  wire: 'responses',
  requestSchema: ResponsesRequest,
  passEdits,
  outputCap,
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  decodeEvents,
  encodeEvents,
  decodeError,
  encodeError,
  faultIn: (body) => faultOf(body, 'output', decodeError),
  readUsage(body) {
    const usage = decodeUsage(body.usage)
    return usage === undefined || !isObject(body.usage) ? undefined : { usage, raw: body.usage }
  },
  tap,
  counting,
  // One line end only: a blank line would dispatch an empty event in some readers.
  keepAlive: ': keep-alive\n\n',
}
