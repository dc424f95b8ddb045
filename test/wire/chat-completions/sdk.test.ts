// The vendor's own SDK reads what the codec writes: its stream helper is the strictest client of this wire.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent } from '../../../src/ir/event.ts'
import { unfold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import { openaiAnswered } from '../../support/answered.ts'
import { chatCompletionsResponse } from '../../support/arbitrary/chat-completions.ts'
import { encodeAll } from '../../support/frames.ts'

const encode = (events: ChatEvent[]): string => {
  const body: JsonObject = { stream_options: { include_usage: true } }
  return encodeAll(chatCompletions.encodeEvents({ model: 'm', body, inputEstimate: 1, now: 1 }), events)
}

const ask = {
  model: 'm',
  messages: [{ role: 'user' as const, content: 'hi' }],
  stream_options: { include_usage: true },
}

test('the stream helper gives the streamed answer', async () => {
  await fc.assert(
    fc.asyncProperty(chatCompletionsResponse, async (response) => {
      const completion = await openaiAnswered(encode(unfold(response)))
        .chat.completions.stream(ask)
        .finalChatCompletion()
      const whole = chatCompletions.encodeResponse(response, { model: 'm', body: {}, inputEstimate: 1, now: 1 })
      const [choice] = whole.choices as { message: JsonObject; finish_reason: string }[]
      const [got] = completion.choices
      expect(got?.finish_reason as string).toBe(choice?.finish_reason ?? '')
      expect(got?.message.content || '').toBe((choice?.message.content as string | null) ?? '')
      expect(got?.message.refusal ?? null).toBe((choice?.message.refusal as string | null) ?? null)
      expect((got?.message.tool_calls ?? []).map(({ id }) => id)).toEqual(
        ((choice?.message.tool_calls ?? []) as { id: string }[]).map(({ id }) => id),
      )
      expect(completion.usage as unknown).toEqual(whole.usage)
    }),
    { numRuns: 30 },
  )
})

test('an error in mid-stream is thrown with its code', async () => {
  const text = encode([
    { type: 'start', id: 'x' },
    { type: 'text-start', part: 0 },
    { type: 'text-delta', part: 0, text: 'half' },
    { type: 'error', error: new GatewayError('upstream_error', 'It broke.') },
  ])
  const stream = await openaiAnswered(text).chat.completions.create({ ...ask, stream: true })
  const read = async () => {
    for await (const _ of stream);
  }
  await expect(read()).rejects.toMatchObject({ code: 'upstream_error', type: 'api_error' })
})
