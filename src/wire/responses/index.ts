// The responses wire: its codec, for the clients and for the providers that speak it.

import { envelope } from '../../errors.ts'
import { asList } from '../../ir/json.ts'
import type { ChatCodec } from '../codec.ts'
import { faultOf, KEEP_ALIVE, usageIn } from '../pass.ts'
import { isBegun } from './background.ts'
import { asksCompaction, isCompaction, withoutCompaction } from './compaction.ts'
import { counting } from './counting.ts'
import { endEdits } from './cut.ts'
import { decodeEvents } from './decode-events.ts'
import { encodeEvents } from './encode-events.ts'
import { decodeError } from './error.ts'
import { holdsOtherTools } from './functions-only.ts'
import { LEAST_OUTPUT, outputCap, passEdits } from './pass.ts'
import { decodeInSteps, decodeRequest, encodeInSteps, encodeRequest } from './request.ts'
import { decodeResponse, encodeResponse } from './response.ts'
import { ResponsesRequest } from './schema.ts'
import { tap } from './tap.ts'
import { decodeUsage, usageObject } from './usage.ts'

export const responses: ChatCodec = {
  wire: 'responses',
  requestSchema: ResponsesRequest,
  passEdits,
  outputCap,
  leastOutput: LEAST_OUTPUT,
  decodeRequest,
  decodeInSteps,
  encodeRequest,
  encodeInSteps,
  needsText: asksCompaction,
  isMissing: ({ noCompact, noCustomTools }, body) =>
    (noCompact === true && asksCompaction(body)) || (noCustomTools === true && holdsOtherTools(body)),
  decodeResponse,
  encodeResponse,
  decodeEvents,
  encodeEvents,
  decodeError,
  encodeError: (error, requestId) => ({ ...envelope(error), request_id: requestId }),
  faultIn: (body, asked) => {
    if (isBegun(body)) return undefined
    const lacks = asked !== undefined && asksCompaction(asked) && !asList(body.output).some(isCompaction)
    return faultOf(body, 'output', decodeError) ?? (lacks ? withoutCompaction() : undefined)
  },
  readUsage: (body) => usageIn({ ...body, usage: usageObject(body) }, decodeUsage),
  tap,
  answerEdits: endEdits,
  counting,
  keepAlive: KEEP_ALIVE,
}
