// Words by which clients know a class of the gateway's errors where they read nothing but the message (docs/clients.md).

import { expect, test } from 'bun:test'
import { providerError } from '../../src/wire/refusal/failure.ts'

const CONTENT = providerError('content-policy', { provider: {} }).message
const LENGTH = providerError('context-length', { provider: {} }).message

const COUNTED = providerError('context-length', { provider: {}, tokens: 9_001, maximum: 8_192 }).message
const WITH_ANSWER = providerError('context-length', {
  provider: {},
  ...{ tokens: 9_001, maximum: 8_192, prompt: 8_000, answer: 1_001 },
}).message

test.each<[string, RegExp, number[]]>([
  ['Claude Code, Crush on messages', /prompt is too long:\s*(\d+)\s*tokens?\s*>\s*(\d+)\s*maximum/, [9_001, 8_192]],
  ['Crush', /maximum context length (?:is|of) (\d+) tokens.*?(?:resulted in|requested) ~?(\d+) tokens/, [8_192, 9_001]],
])('%s finds its counts, with and without an answer', (_, words, counts) => {
  for (const message of [COUNTED, WITH_ANSWER]) expect(words.exec(message)?.slice(1).map(Number)).toEqual(counts)
})

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
