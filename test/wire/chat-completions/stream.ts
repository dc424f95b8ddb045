// Chunks to write, and events and chunks to read, in the fewest words.

import type { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent } from '../../../src/ir/event.ts'
import { fold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import type { Ask, Undo } from '../../../src/wire/codec.ts'
import { decodeAll, encodeAll, framesOf } from '../../support/frames.ts'

export const DONE = { data: '[DONE]' }
export const chunk = (choice: JsonObject | undefined, more: JsonObject = {}) => ({
  data: JSON.stringify({
    id: 'chatcmpl-1',
    created: 5,
    model: 'up',
    choices: choice === undefined ? [] : [{ index: 0, ...choice }],
    ...more,
  }),
})
export const delta = (value: JsonObject) => chunk({ delta: value, finish_reason: null })
export const stop = (reason = 'stop') => chunk({ delta: {}, finish_reason: reason })
export const call = (index: number | undefined, body: JsonObject, id?: string) =>
  delta({
    tool_calls: [
      {
        ...(index === undefined ? {} : { index }),
        ...(id === undefined ? {} : { id, type: 'function' }),
        function: body,
      },
    ],
  })

export const decode = (frames: { event?: string; data: string }[], undo?: Undo): ChatEvent[] =>
  decodeAll(chatCompletions.decodeEvents(undo), frames)
export const parts = (frames: { data: string }[], undo?: Undo) => fold(decode([...frames, DONE], undo)).parts
export const failure = (events: ChatEvent[]): GatewayError | undefined => {
  const last = events.at(-1)
  return last?.type === 'error' ? last.error : undefined
}

export const ask = (body: JsonObject = {}): Ask => ({
  model: 'vendorB-5.5',
  body,
  inputEstimate: 7,
  now: 1_790_000_000,
})
export const encode = (events: ChatEvent[], body?: JsonObject): string =>
  encodeAll(chatCompletions.encodeEvents(ask(body)), events)
export const deltas = (text: string) =>
  framesOf(text)
    .filter(({ data }) => data !== '[DONE]')
    .flatMap(({ data }) => (JSON.parse(data) as { choices?: { delta: JsonObject }[] }).choices ?? [])
    .map((choice) => choice.delta)
