// vendor_b's responses: the response object as JSON, with its output items.

import { asList, asObject, asText, type Json, type JsonObject } from '../../ir/json.ts'
import { randomId } from '../id.ts'
import type { Answer, Call, Figures } from '../prompt.ts'
import { createSeal } from '../seal.ts'

const encryption = createSeal('vendor_b reasoning', 'gAAAAAB')

/** The id of the item that this encrypted content was made for, or undefined where it is not the vendor's own. */
export const thoughtId = (sealed: string): string | undefined => encryption.open(sealed, '')?.split('\n')[0]

export const composeResponse = (answer: Answer, asked: JsonObject, now: number, withUsage: boolean): JsonObject => {
  const incomplete = answer.stop === 'max-tokens'
  return {
    ...head(asked, now),
    status: incomplete ? 'incomplete' : 'completed',
    completed_at: incomplete ? null : now,
    incomplete_details: incomplete ? { reason: 'max_output_tokens' } : null,
    output: outputOf(answer, asked),
    service_tier: 'default',
    usage: withUsage ? usageOf(answer.figures) : null,
  }
}

/** Every member of a response with what the request set, in the state before anything was put out. */
const head = (asked: JsonObject, now: number): JsonObject => {
  const reasoning = asObject(asked.reasoning)
  const text = asObject(asked.text)
  return {
    id: randomId('resp_0', 49),
    object: 'response',
    created_at: now,
    status: 'in_progress',
    background: false,
    completed_at: null,
    error: null,
    frequency_penalty: 0,
    incomplete_details: null,
    instructions: asked.instructions ?? null,
    max_output_tokens: asked.max_output_tokens ?? null,
    max_tool_calls: asked.max_tool_calls ?? null,
    model: asText(asked.model),
    output: [],
    parallel_tool_calls: asked.parallel_tool_calls ?? true,
    presence_penalty: 0,
    previous_response_id: asked.previous_response_id ?? null,
    prompt_cache_key: asked.prompt_cache_key ?? null,
    prompt_cache_retention: asked.prompt_cache_retention ?? null,
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    safety_identifier: asked.safety_identifier ?? null,
    service_tier: 'auto',
    store: asked.store ?? true,
    temperature: asked.temperature ?? 1,
    text: { format: text.format ?? { type: 'text' }, verbosity: text.verbosity ?? 'medium' },
    tool_choice: asked.tool_choice ?? 'auto',
    tools: asList(asked.tools).map(echoTool),
    top_logprobs: asked.top_logprobs ?? 0,
    top_p: asked.top_p ?? 1,
    truncation: asked.truncation ?? 'disabled',
    usage: null,
    user: asked.user ?? null,
    metadata: asked.metadata ?? {},
  }
}

const echoTool = (tool: Json): Json => {
  const echoed = asObject(tool)
  return echoed.type === 'function' ? { description: null, strict: true, ...echoed } : echoed
}

/** The response as it stands when its stream begins. */
export const begun = (response: JsonObject): JsonObject => ({
  ...response,
  status: 'in_progress',
  completed_at: null,
  incomplete_details: null,
  output: [],
  service_tier: 'auto',
  usage: null,
})

const outputOf = (answer: Answer, asked: JsonObject): JsonObject[] => {
  const { reasoning, text, refusal, calls, stop } = answer
  const items: JsonObject[] = []
  if (reasoning !== undefined) items.push(reasoningItem(reasoning, asked))
  const status = stop === 'max-tokens' && calls.length === 0 ? 'incomplete' : 'completed'
  if (refusal !== undefined || text !== '') {
    const content =
      refusal === undefined
        ? { type: 'output_text', annotations: [], logprobs: [], text }
        : { type: 'refusal', refusal }
    items.push({ id: randomId('msg_0', 49), type: 'message', status, content: [content], role: 'assistant' })
  }
  return [...items, ...calls.map(callItem)]
}

const reasoningItem = (text: string, asked: JsonObject): JsonObject => {
  const id = randomId('rs_0', 49)
  const summarised = asObject(asked.reasoning).summary ?? null
  const encrypted = asList(asked.include).includes('reasoning.encrypted_content')
  return {
    id,
    type: 'reasoning',
    summary: summarised === null ? [] : [{ type: 'summary_text', text: `**Thinking it over**\n\n${text}` }],
    ...(encrypted ? { encrypted_content: encryption.close(`${id}\n${text}`, '') } : {}),
  }
}

const callItem = ({ tool, input }: Call): JsonObject => {
  const call_id = randomId('call_', 24)
  const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace }
  return tool.custom
    ? {
        id: randomId('ctc_0', 49),
        type: 'custom_tool_call',
        status: 'completed',
        call_id,
        input,
        name: tool.name,
        ...namespace,
      }
    : {
        id: randomId('fc_0', 49),
        type: 'function_call',
        status: 'completed',
        arguments: input,
        call_id,
        name: tool.name,
        ...namespace,
      }
}

const usageOf = (figures: Figures): JsonObject => {
  const written = figures.cacheWrite5m + figures.cacheWrite1h
  const input = figures.input + figures.cacheRead + written
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: figures.cacheRead, cache_write_tokens: written },
    output_tokens: figures.output,
    output_tokens_details: { reasoning_tokens: figures.reasoning },
    total_tokens: input + figures.output,
  }
}
