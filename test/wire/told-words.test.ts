// Words by which clients know a class of the gateway's errors where they read nothing but the message (docs/clients.md).

import { expect, test } from 'bun:test'
import { providerError } from '../../src/wire/refusal/failure.ts'

const CONTENT = providerError('content-policy', { provider: {} }).message
const LENGTH = providerError('context-length', { provider: {} }).message

test.each<[string, string, string]>([
  ['LiteLLM, openai/', CONTENT.toLowerCase(), 'request was rejected as a result of the safety system'],
  ['LiteLLM, azure/', CONTENT.toLowerCase(), 'content_policy_violation'],
  ['LiteLLM, anthropic/', CONTENT, 'content filtering policy'],
  ['LiteLLM, vertex_ai/', CONTENT, 'The response was blocked.'],
  ['inspect-ai', CONTENT, 'content filtering'],
  ['LiteLLM, any', LENGTH.toLowerCase(), 'prompt is too long'],
  ['LiteLLM, older', LENGTH.toLowerCase(), "this model's maximum context length is"],
])('%s finds its words', (_, message, words) => {
  expect(message).toContain(words)
})
