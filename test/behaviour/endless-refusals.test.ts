// A server that refuses a request in one way after the other: it is asked in a bounded number of forms, and only an answer
// is billed.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { wireAt } from '../../src/http/endpoints.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { spoken } from '../money/support.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'

/** Requests in forms other than the client's, and the one in its own. */
const MOST_CALLS = 33

/** How each of these is heeded differs by wire, model and what the request holds. */
const REFUSALS = [
  'adaptive thinking is not supported on this model',
  '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".',
  '"thinking.type.disabled" is not supported for this model',
  'invalid thinking: only type=enabled is allowed for this model',
  "effort 'xhigh' is not supported when thinking is disabled on this model. Use effort 'medium' or below",
  "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'low' and 'high'.",
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  'The `reasoning_content` in the thinking mode must be passed back to the API.',
  'The `content[].thinking` in the thinking mode must be passed back to the API.',
  'tool_choice: type "tool" and "any" are not supported for this model.',
  "tools[0].type: 'type' of tool must be 'function'",
  'Function tools are not supported with this model in /v1/chat/completions. Please use /v1/responses instead.',
  'Conversation roles must alternate user/assistant/user/assistant',
  'Unexpected role "system". The Messages API accepts a top-level `system` parameter.',
  'messages.1.output_config: Extra inputs are not permitted',
  'tools.0.strict: Extra inputs are not permitted',
  'unknown field `service_tier`',
  'Argument not supported on this model: stop',
  'body.user: Extra inputs are not permitted',
  'temperature is deprecated for this model',
  'Unknown name "stream_options" at \'body\': Cannot find field.',
  'metadata.user_id: must be an opaque id',
  'messages[1].content: expected a string, got null',
  "input[0]: missing field 'type'",
  "Invalid 'tool_choice': only 'auto' can be used here",
  'max_tokens=30000 cannot be greater than max_model_len=20000',
  'max_output_tokens must be at most 9000',
  'nothing of this is understood: prompt_cache_key, seed, verbosity',
  "This model's maximum context length is 30000 tokens. However, you requested 34000 tokens (4000 in the messages, 30000 in the completion).",
]

const MESSAGES = [
  { role: 'user', content: 'Hi' },
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'So?' },
]
const SCHEMA = { type: 'object', properties: {} }

const bodyIn = (wire: ChatWire, model: string, thinks: boolean): object => {
  if (wire === 'messages')
    return {
      ...{ model, max_tokens: 30_000, messages: MESSAGES, stop_sequences: ['x'], tool_choice: { type: 'any' } },
      ...{ tools: [{ name: 'look', input_schema: SCHEMA, strict: true }], output_config: { effort: 'xhigh' } },
      thinking: { type: thinks ? 'adaptive' : 'disabled' },
    }
  if (wire === 'responses')
    return {
      ...{ model, max_output_tokens: 30_000, input: MESSAGES, store: false, user: 'u', temperature: 0.2 },
      ...{ tools: [{ type: 'custom', name: 'patch' }], reasoning: { effort: thinks ? 'xhigh' : 'none' } },
    }
  return {
    ...{ model, max_tokens: 30_000, messages: MESSAGES, stop: ['x'], user: 'u', temperature: 0.2 },
    ...{ service_tier: 'auto', reasoning_effort: thinks ? 'xhigh' : 'none', tool_choice: 'required' },
    tools: [{ type: 'function', function: { name: 'look', parameters: SCHEMA } }],
  }
}

const billed = { input: 3, output: 2 }
const BILLED = 5

/** The words of each refusal, one request after the other; undefined for an answer. */
let refusedAs: (call: number) => string | undefined
let calls = 0
let provider: Scripted
let gateway: TestGateway
beforeAll(async () => {
  provider = await startScripted(({ path }) => {
    const message = refusedAs(calls++)
    return message === undefined
      ? spoken(wireAt(path) as ChatWire, false, { billed })
      : json({ type: 'error', error: { type: 'invalid_request_error', message, param: null, code: null } }, 400)
  })
})
afterAll(() => provider.stop())
beforeEach(async () => {
  const versionHeader = { name: 'anthropic-version', value: '2023-06-01' }
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { versionHeader }) })
})
afterEach(() => gateway.stop())

const used = async (secret: string): Promise<number> =>
  ((await (await gateway.get('/v1/usage', { authorization: `Bearer ${secret}` })).json()) as { tokens_used: number })
    .tokens_used

test('is asked in so many forms at most, though each refusal names another member', async () => {
  refusedAs = (call) => `Unexpected value(s) \`beta-${call}\` for the \`anthropic-beta\` header.`
  calls = 0
  const betas = Array.from({ length: 60 }, (_, at) => `beta-${at}`).join(',')
  const body = { model: 'vendorA-sonnet-5', max_tokens: 90, messages: MESSAGES.slice(0, 1) }
  const { status } = await gateway.post('/v1/messages', body, { 'anthropic-beta': betas })
  expect([status, calls, await used(gateway.secret)]).toEqual([502, MOST_CALLS, 0])
})

test('whatever it refuses a request for, that ends, quotes none of it, and is billed once if it is answered', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...CHAT_WIRES),
      fc.constantFrom('vendorA-opus-4-8', 'vendorA-haiku-4-5', 'vendorB-5.5'),
      fc.boolean(),
      fc.array(fc.constantFrom(...REFUSALS), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (wire, model, thinks, refusals, forEver) => {
        refusedAs = (call) => (forEver ? refusals[call % refusals.length] : refusals[call])
        calls = 0
        const { secret } = await gateway.issue()
        const answer = await gateway.post(PATHS[wire], bodyIn(wire, model, thinks), {
          authorization: `Bearer ${secret}`,
        })
        const text = await answer.text()
        expect(calls).toBeLessThanOrEqual(MOST_CALLS)
        for (const words of refusals) expect(text).not.toContain(words)
        expect(await used(secret)).toBe(answer.status === 200 ? BILLED : 0)
        if (forEver) expect(answer.status).not.toBe(200)
      },
    ),
    { numRuns: 150 },
  ))
