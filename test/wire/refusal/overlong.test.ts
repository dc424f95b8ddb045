// A prompt that is too long is known by what is said of its figures, in whatever order and words.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isLengthCode, overlong } from '../../../src/wire/refusal/overlong.ts'

const MAXIMUM = [
  (count: string) => `the model allows at most ${count} tokens`,
  (count: string) => `its context window is ${count}`,
  (count: string) => `token limit: ${count}`,
  (count: string) => `${count} tokens maximum`,
]
const PROMPT = [
  (count: string) => `your prompt takes ${count} tokens`,
  (count: string) => `you sent ${count} input tokens`,
  (count: string) => `${count} tokens in the messages`,
  (count: string) => `prompt_tokens (${count} tokens)`,
]
const ANSWER = [
  (count: string) => `max_tokens is ${count}`,
  (count: string) => `you asked for ${count} output tokens`,
  (count: string) => `${count} tokens for the completion`,
]

const count = fc.integer({ min: 1, max: 2e6 })
/** `by`: how much the two exceed the maximum by, where that is not left to chance. */
const counts = fc
  .record({ maximum: count, prompt: count, answer: count, by: fc.constantFrom(undefined, -1, 0, 1, 2) })
  .map(({ maximum, prompt, answer, by }) => {
    const rest = maximum - prompt + (by ?? 0)
    return { maximum, prompt, answer: by === undefined || rest < 1 ? answer : rest }
  })
const words = fc.record({
  ...{ maximum: fc.constantFrom(...MAXIMUM), prompt: fc.constantFrom(...PROMPT), answer: fc.constantFrom(...ANSWER) },
  order: fc.shuffledSubarray(['maximum', 'prompt', 'answer'] as const, { minLength: 3 }),
  between: fc.constantFrom('. ', '; ', ', ', ' and '),
  locale: fc.constantFrom('en-US', undefined),
})

describe('a prompt that is too long', () => {
  test('is told with all of its figures, and one that fits is none', () => {
    fc.assert(
      fc.property(counts, words, ({ maximum, prompt, answer }, { order, between, locale, ...phrases }) => {
        const all = { maximum, prompt, answer }
        const written = (count: number): string => (locale === undefined ? `${count}` : count.toLocaleString(locale))
        const found = overlong(order.map((of) => phrases[of](written(all[of]))).join(between), {})
        if (prompt > maximum) expect(found).toEqual({ tokens: prompt, maximum })
        else if (prompt === maximum || prompt + answer <= maximum) expect(found).toBeUndefined()
        else {
          const atLeast = prompt + answer === maximum + 1 ? { atLeast: true as const } : {}
          expect(found).toEqual({ tokens: prompt + answer, ...all, ...atLeast })
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['Sorry, 70,500 tokens of input are more than the 65,536 this engine was started with', 70_500, 65_536],
    ['The conversation does not fit: messages take 70500 tokens (limit 65536)', 70_500, 65_536],
    ['error 4001: prompt of 70500 tokens, context of 65536', 70_500, 65_536],
    ['n_ctx exceeded: the context holds 65536 tokens and the request has 70500', 70_500, 65_536],
    ['At most 65536 tokens per request, the prompt has 70500', 70_500, 65_536],
  ])('is told by two figures: %s', (message, tokens, maximum) => {
    expect(overlong(message, {})).toEqual({ tokens, maximum })
  })

  test.each([
    'the prompt exceeds the context by 4964 tokens',
    'Your messages are longer than what this model was trained on, in tokens.',
    'too many tokens in the prompt',
    'context overflow',
    'Prompt length is larger than the maximum allowed length of 1024 tokens',
    "Invalid 'input[0]': maximum input length is 8192 tokens.",
    'The context is exceeded. Longer ones are not to be had at this time.',
  ])('is known without figures: %s', (message) => {
    expect(overlong(message, {})).toEqual({})
  })

  test.each([
    'the request has used 70500 tokens of the 65536 per minute',
    'Your daily limit is 65536 tokens and this request needs 70500',
    'max_tokens is 70500 and at most 65536 are allowed for the completion',
    "Invalid 'input[0].id': string too long. Expected a string with maximum length 64, but got one with length 65",
    'messages.3.name is too long: 70 of at most 64',
    'the prompt has 100 tokens and the context holds 65536',
    'the request holds 300 tools, of which at most 128 are taken',
    'upstream: context deadline exceeded',
    'The request timed out: its context was exceeded',
    'This request took too long, ask for less.',
    'request queue length exceeds 100, come back later',
    'The request has waited longer than 30 seconds',
    'the length of the prompt must be greater than 0',
    'input: its length should be longer than nothing at all',
    "Schema of a tool: in context=('a', 'b'), the length of names exceeds what is allowed",
    'max_output_tokens exceeds what this model takes: the request asks for 64000 tokens',
    'The request exceeds the maximum number of tools: max length 128',
    'input: the length of a stop sequence exceeds 64',
    'Input audio exceeds the length of 25 MB',
    'messages: the length of a name, 70, is larger than 64',
    'The request has a metadata value whose length is larger than 512',
    'This request is refused: prompt_cache_key has a length larger than 64',
    'top_logprobs: 30 is larger than 20, whatever the length of the request',
    'maximum recursion depth exceeded while the context was read',
    'The length of messages must not be larger than 100',
    'max_tokens is larger than the maximum context length minus prompt tokens',
  ])('is nothing else: %s', (message) => {
    expect(overlong(message, {})).toBeUndefined()
  })

  test.each([
    ['context_window_exceeded', 429, true],
    ['promptTooLong', 400, true],
    ['input-too-large', 422, true],
    ['tokens_exceeded', 429, false],
    ['messages_limit_exceeded', 429, false],
    ['input_tokens_per_minute_exceeded', 400, false],
    ['TokensPerDayExceeded', 503, false],
    ['context_deadline_exceeded', 504, false],
    ['prompt_cache_key_too_long', 400, false],
  ])('is told by a code of the prompt alone: %s, %i', (code, status, isOne) => {
    expect(isLengthCode(code, status)).toBe(isOne)
  })

  test('is told by members only where both counts are there', () => {
    expect(overlong('', { n_ctx: 8 })).toBeUndefined()
    expect(overlong('', { n_prompt_tokens: 9 })).toBeUndefined()
    expect(overlong('', { n_prompt_tokens: 9, n_ctx: 8 })).toEqual({ tokens: 9, maximum: 8 })
  })

  test('is looked for in linear time', () => {
    for (const piece of ['9 ', '9 tokens > ', 'context 9, ', 'prompt of 9 tokens. ', 'tokens of in the ', '1,111,'])
      overlong(piece.repeat(100_000), {})
  })
})
