// Moderation results on the two wires that have them, in whole answers and streams.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import { translateResponse, translateStream } from '../../src/relay/translate.ts'
import { CHAT_CODECS } from '../../src/wire/index.ts'
import { violations } from '../support/corpus.ts'
import { framesOf } from '../support/frames.ts'
import { askFor } from './answers/vendors.ts'

const verdict = (flagged: boolean): JsonObject => ({
  type: 'moderation_result',
  model: 'omni',
  flagged,
  categories: { violence: flagged },
  category_scores: { violence: 0.5 },
  category_applied_input_types: { violence: ['text'] },
})
const results = (...list: JsonObject[]): JsonObject => ({ type: 'moderation_results', model: 'omni', results: list })
const failure = { type: 'error', code: 'timeout', message: 'vendor-secret' }
const failed = { type: 'error', code: 'upstream_error', message: 'The moderation gave no result.' }

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const head = { id: 'chatcmpl-1', created: 1, model: 'up' }
const ANSWERS: Record<string, (moderation: JsonObject) => { whole: JsonObject; stream: JsonObject[] }> = {
  'chat-completions': (moderation) => ({
    whole: {
      ...head,
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage,
      moderation,
    },
    stream: [
      { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] },
      { ...head, choices: [], usage },
      { ...head, choices: [], moderation },
    ],
  }),
  responses: (moderation) => {
    const content = [{ type: 'output_text', text: 'hi', annotations: [] }]
    const response = {
      id: 'resp_1',
      status: 'completed',
      output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      moderation,
    }
    return { whole: response, stream: [{ type: 'response.completed', response }] }
  },
}

test.each<[ChatWire, ChatWire, JsonObject, JsonObject]>([
  [
    'chat-completions',
    'responses',
    { input: results(verdict(false)), output: results(verdict(false), verdict(true)) },
    { input: verdict(false), output: verdict(true) },
  ],
  ['chat-completions', 'responses', { input: results(), output: failure }, { input: failed, output: failed }],
  [
    'responses',
    'chat-completions',
    { input: verdict(true), output: failure },
    { input: results(verdict(true)), output: failed },
  ],
])('of %s for a client of %s: %j', (vendor, client, moderation, due) => {
  const { whole, stream } = ANSWERS[vendor]?.(moderation) ?? { whole: {}, stream: [] }
  const across = { client: CHAT_CODECS[client], provider: CHAT_CODECS[vendor], undo: {} }
  const body = translateResponse(whole, { ...across, ask: askFor(client, false) })
  expect(body.moderation).toEqual(due)
  const tap = translateStream({ ...across, ask: askFor(client, true) })
  const frames = [...stream.map((data) => JSON.stringify(data)), '[DONE]'].map((data) => ({ data }))
  const told = framesOf(frames.map((frame) => tap.see(frame)).join(''))
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }): JsonObject => JSON.parse(data))
  const holder = client === 'responses' ? told.map(({ response }) => response as JsonObject) : told
  expect(holder.findLast((one) => one?.moderation !== undefined)?.moderation).toEqual(due)
  const [answer, event] = {
    'chat-completions': ['OpenAIChatCompletion.current', 'OpenAIChatCompletionChunk.current'] as const,
    responses: ['OpenAIResponse.current', 'OpenAIResponseStreamEvent.current'] as const,
    messages: ['', ''] as const,
  }[client]
  expect([body, ...told].flatMap((one, at) => violations(at === 0 ? answer : event, one))).toEqual([])
})
