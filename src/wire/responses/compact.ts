// What the wire has beside answers: a conversation compacted, to what its user said and one item for all the rest. Of
// providers that have no such thing it is made by a summary, which they are asked for as by a trigger.

import { Type } from '@sinclair/typebox'
import { GatewayError, invalidRequest } from '../../errors.ts'
import type { ChatResponse } from '../../ir/event.ts'
import { asList, asObjects, type Json, type JsonObject } from '../../ir/json.ts'
import type { ChatRequest } from '../../ir/request.ts'
import { requireText } from '../../ir/whole.ts'
import { atOnce, type Steps } from '../../lib/steps.ts'
import type { ChatCodec } from '../codec.ts'
import { malformedAnswer } from '../pass.ts'
import { given } from '../read.ts'
import { providerError } from '../refusal/failure.ts'
import { nullable } from '../schema/nullable.ts'
import { asksCompaction, isTrigger } from './compaction.ts'
import { decodeError } from './error.ts'
import { responses } from './index.ts'
import { bareId, isMessage } from './names.ts'
import { passEdits } from './pass.ts'

/** Open to the members that agents send beside those of the contract: tools, reasoning and the like. */
const CompactRequest = Type.Object({
  model: Type.String({ minLength: 1 }),
  input: nullable(Type.Union([Type.String(), Type.Array(Type.Object({}))])),
  instructions: nullable(Type.String()),
  previous_response_id: nullable(Type.String()),
  tools: nullable(Type.Array(Type.Object({ type: Type.String() }))),
  prompt_cache_key: nullable(Type.String()),
  service_tier: nullable(Type.String()),
})

/** Tokens that are set aside for one: no cap can be sent to a provider that makes it itself. */
const EXPECTED_OUTPUT = 16_000

export const compact: ChatCodec = {
  ...responses,
  operation: 'responses/compact',
  requestSchema: CompactRequest,
  isStream: () => false,
  ofWholeConversation: true,
  outputCap: () => undefined,
  expects: (_, estimate) => ({ input: estimate, output: EXPECTED_OUTPUT }),
  passEdits: (body, options, whole) => passEdits(body, { ...options, outputCap: undefined }, whole),
  isMissing: ({ noCompact }) => noCompact === true,
  needsText: () => false,
  decodeRequest: (body) => atOnce(decodeInSteps(body)),
  decodeInSteps,
  encodeResponse(answer, ask) {
    requireSummary(answer)
    const { id, created_at, output, usage } = responses.encodeResponse(answer, { ...ask, body: triggered(ask.body) })
    const summaries = asObjects(output).filter(({ type }) => type === 'compaction')
    if (summaries.length === 0) throw malformedAnswer()
    return {
      ...{ id, object: 'response.compaction', created_at },
      output: [...saidByUser(ask.body, String(id)), ...summaries],
      usage,
    }
  },
  decodeError(status, body) {
    const error = decodeError(status, body)
    if (!MAY_BE_MISSING.has(status) || error.code !== 'upstream_error' || error.remedy !== undefined) return error
    if (error.provider?.trouble !== undefined) return error
    return providerError('invalid', { provider: error.provider ?? {}, remedy: 'no-compact' })
  },
}

/** Statuses by which servers say that they have no such endpoint, or not for this model. What else may be the matter, the same request in its other form tells. */
const MAY_BE_MISSING = new Set([400, 404, 405, 422, 501])

const itemsIn = ({ input }: JsonObject): Json[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : asList(input)

const triggered = (body: JsonObject): JsonObject =>
  asksCompaction(body) ? body : { ...body, input: [...itemsIn(body), { type: 'compaction_trigger' }] }

/** Of nothing a model would make something up. */
const requireConversation = (body: JsonObject): void => {
  if (given(body.previous_response_id) || !itemsIn(body).every(isTrigger)) return
  throw invalidRequest("'input' must be given and hold what is to be compacted.", 'input')
}

function* decodeInSteps(body: JsonObject): Steps<ChatRequest> {
  requireConversation(body)
  return yield* responses.decodeInSteps(triggered(body))
}

/** Its user's messages stay as they are, and are items of the answer. */
const saidByUser = (body: JsonObject, answerId: string): JsonObject[] =>
  asObjects(itemsIn(body))
    .filter((item) => isMessage(item) && item.role === 'user')
    .map(({ content, ...message }, at) => ({
      id: `msg_${bareId(answerId)}_${at}`,
      ...message,
      ...{ type: 'message', status: 'completed' },
      content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : asList(content),
    }))

/** A conversation that went on from half a summary would have lost the rest for good. */
const requireSummary = (answer: ChatResponse): void => {
  const { finish } = answer
  if (finish === 'length' || finish === 'context-length')
    throw new GatewayError('upstream_error', 'Server error: the summary of the conversation breaks off. Try again.')
  if (finish === 'refusal' || finish === 'content-filter') throw providerError('content-policy', { provider: {} })
  requireText(answer)
}
