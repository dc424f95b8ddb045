// The response object of an answer, at its start and at its end: it echoes the request's members, with the vendor's
// defaults.

import type { FinishReason, Moderation } from '../../ir/event.ts'
import { asList, asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { type Usage, withPrompt } from '../../ir/usage.ts'
import type { Asked } from '../codec.ts'
import { encodeModeration } from '../moderation.ts'
import { given } from '../read.ts'
import { isCall } from './client-calls.ts'
import { bareId } from './names.ts'
import { isTier } from './settings.ts'
import { encodeUsage } from './usage.ts'

/** The response before any output, with every member that the wire requires, and before its id and time are known. */
export const initialResponse = (ask: Pick<Asked, 'model' | 'now' | 'stored'>, body: JsonObject): JsonObject => ({
  id: '',
  object: 'response',
  created_at: ask.now,
  status: 'in_progress',
  background: false,
  completed_at: null,
  error: null,
  incomplete_details: null,
  instructions: ifString(body.instructions),
  max_output_tokens: ifNumber(body.max_output_tokens),
  max_tool_calls: ifNumber(body.max_tool_calls),
  metadata: asObject(body.metadata),
  model: ask.model,
  output: [],
  parallel_tool_calls: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : true,
  previous_response_id: ifString(body.previous_response_id),
  prompt_cache_key: ifString(body.prompt_cache_key),
  reasoning: { effort: null, summary: null, ...asObject(body.reasoning) },
  safety_identifier: ifString(body.safety_identifier),
  service_tier: isTier(body.service_tier) ? body.service_tier : 'default',
  store: ask.stored ?? false,
  temperature: ifNumber(body.temperature) ?? 1,
  text: echoText(body.text),
  tool_choice: typeof body.tool_choice === 'string' || isObject(body.tool_choice) ? body.tool_choice : 'auto',
  tools: asList(body.tools).flatMap(echoTool),
  top_logprobs: ifNumber(body.top_logprobs) ?? 0,
  top_p: ifNumber(body.top_p) ?? 1,
  truncation: body.truncation === 'auto' ? 'auto' : 'disabled',
  usage: null,
  user: ifString(body.user),
})

const ifString = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)
const ifNumber = (value: Json | undefined): number | null => (typeof value === 'number' ? value : null)

const echoText = (value: Json | undefined): JsonObject => {
  const text = asObject(value)
  return {
    format: isObject(text.format) ? text.format : { type: 'text' },
    verbosity: given(text.verbosity) ? text.verbosity : 'medium',
  }
}

const echoTool = (value: Json): JsonObject[] => {
  if (!isObject(value)) return []
  if (value.type !== 'function') return [value]
  return [
    {
      ...value,
      description: value.description ?? null,
      parameters: value.parameters ?? null,
      strict: value.strict ?? true,
    },
  ]
}

export const responseId = (id: string): string => (id.startsWith('resp_') ? id : `resp_${bareId(id)}`)

type Ending = {
  reason: FinishReason
  usage: Usage
  serviceTier?: string
  moderation?: Moderation
}

/** The text of a refusal without one: clients recognise a refusal by its text, and treat a cut answer as a failure. */
export const DECLINED = 'The model declined to answer.'

/** Whether a refusal needs text: the model gave none, and there is no call that the client would carry out. */
export const needsRefusalText = (reason: FinishReason, answer: { calls: boolean; refused: boolean }): boolean =>
  reason === 'refusal' && !answer.refused && !answer.calls

/** Why the answer is incomplete; undefined where it is not. `calls`: a refusal after calls means they must not be run. */
export const incompleteReason = (reason: FinishReason, calls: boolean): string | undefined => {
  switch (reason) {
    case 'length':
    case 'context-length':
      return 'max_output_tokens'
    case 'content-filter':
      return 'content_filter'
    case 'refusal':
      return calls ? 'content_filter' : undefined
    default:
      return undefined
  }
}

/** The response at its end. Clients rely on its usage: input that the provider did not report is estimated. */
export const finalResponse = (base: JsonObject, output: JsonObject[], ending: Ending, ask: Asked): JsonObject => {
  const why = incompleteReason(ending.reason, output.some(isCall))
  return {
    ...base,
    status: why === undefined ? 'completed' : 'incomplete',
    completed_at: why === undefined ? Math.max(ask.now, Number(base.created_at)) : null,
    incomplete_details: why === undefined ? null : { reason: why },
    output,
    ...(isTier(ending.serviceTier) ? { service_tier: ending.serviceTier } : {}),
    ...encodeModeration(ending.moderation, (first, all) => all.find(({ flagged }) => flagged === true) ?? first),
    usage: encodeUsage(withPrompt(ending.usage, ask.inputEstimate)),
  }
}
