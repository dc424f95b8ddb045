// Short answers in the vendors' words, whole and piece by piece, and the requests that ask for them.

import type { Script, Step } from '../../support/provider/scripted.ts'

export type Story = {
  path: string
  model: string
  request(stream: boolean): object
  /** The frames before the first word, one word, and those after the last. */
  begin: string
  word(text: string): string
  end: string
  /** The whole answer of a request without stream. */
  answer: object
}

const frame = (event: string | undefined, data: object): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
const typed = (data: { type: string; [name: string]: unknown }): string => frame(data.type, data)

const chunk = (delta: object, finish: string | null = null): string =>
  frame(undefined, {
    ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'up' },
    choices: [{ index: 0, delta, finish_reason: finish }],
  })

export const CHAT: Story = {
  path: '/v1/chat/completions',
  model: 'vendorB-5.5',
  request: (stream) => ({ model: 'vendorB-5.5', messages: [{ role: 'user', content: 'hi' }], stream }),
  begin: chunk({ role: 'assistant', content: '' }),
  word: (content) => chunk({ content }),
  end: `${chunk({}, 'stop')}${frame(undefined, {
    ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [] },
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  })}data: [DONE]\n\n`,
  answer: {
    ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'up' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello', refusal: null }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  },
}

const said = { id: 'm1', type: 'message', role: 'assistant', model: 'up', stop_sequence: null }

export const MESSAGES: Story = {
  path: '/v1/messages',
  model: 'vendorA-opus-4-8',
  request: (stream) => ({
    ...{ model: 'vendorA-opus-4-8', max_tokens: 100, stream },
    messages: [{ role: 'user', content: 'hi' }],
  }),
  begin:
    typed({
      type: 'message_start',
      message: { ...said, content: [], stop_reason: null, usage: { input_tokens: 3, output_tokens: 1 } },
    }) + typed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  word: (text) => typed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  end:
    typed({ type: 'content_block_stop', index: 0 }) +
    typed({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: 3, output_tokens: 5 },
    }) +
    typed({ type: 'message_stop' }),
  answer: {
    ...said,
    content: [{ type: 'text', text: 'hello' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 5 },
  },
}

const item = { id: 'i1', type: 'message', role: 'assistant' }
const response = (status: string, more: object = {}) => ({
  ...{ id: 'r1', object: 'response', created_at: 1, model: 'up', status, output: [], error: null },
  ...{ incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: true, tools: [] },
  ...{ temperature: 1, top_p: 1, tool_choice: 'auto', usage: null },
  ...more,
})
const text = (value: string) => ({ type: 'output_text', text: value, annotations: [] })
const spoken = { ...item, status: 'completed', content: [text('hello')] }
const used = {
  ...{ input_tokens: 3, output_tokens: 5, total_tokens: 8 },
  ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
}
const at = { item_id: 'i1', output_index: 0, content_index: 0 }

export const RESPONSES: Story = {
  path: '/v1/responses',
  model: 'vendorB-5.5',
  request: (stream) => ({ model: 'vendorB-5.5', input: 'hi', stream }),
  begin: [
    typed({ type: 'response.created', sequence_number: 0, response: response('in_progress') }),
    typed({
      ...{ type: 'response.output_item.added', sequence_number: 1, output_index: 0 },
      item: { ...item, status: 'in_progress', content: [] },
    }),
    typed({ type: 'response.content_part.added', sequence_number: 2, ...at, part: text('') }),
  ].join(''),
  word: (delta) => typed({ type: 'response.output_text.delta', sequence_number: 3, ...at, delta, logprobs: [] }),
  end: [
    typed({ type: 'response.output_text.done', sequence_number: 4, ...at, text: 'hello', logprobs: [] }),
    typed({ type: 'response.content_part.done', sequence_number: 5, ...at, part: text('hello') }),
    typed({ type: 'response.output_item.done', sequence_number: 6, output_index: 0, item: spoken }),
    typed({
      ...{ type: 'response.completed', sequence_number: 7 },
      response: response('completed', { output: [spoken], usage: used }),
    }),
  ].join(''),
  answer: response('completed', { output: [spoken], usage: used }),
}

export const STORIES = [CHAT, RESPONSES, MESSAGES]

export const SSE = { 'content-type': 'text/event-stream; charset=utf-8' }

/** A stream of the story: its beginning, these steps, its end. */
export const streamed = (story: Story, ...steps: Step[]): Script => ({
  headers: SSE,
  steps: [story.begin, ...(steps.length === 0 ? [story.word('hello')] : steps), story.end],
})

export const whole = (story: Story): Script => ({ steps: [JSON.stringify(story.answer)] })
