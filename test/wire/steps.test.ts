// Very long conversations are read and written in steps: each handles a thousand turns at most, and what comes of them is
// what comes of all at once.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import type { Steps } from '../../src/lib/steps.ts'
import { chatCodec } from '../../src/wire/index.ts'

const TURNS = 10_000
const STEP_TURNS = 1_000
const TARGET = { model: 'm', maxOutput: 1_000, quirks: {}, blind: false }

const roleAt = (at: number): string => (at % 2 === 0 ? 'user' : 'assistant')
const said = Array.from({ length: TURNS }, (_, at) => ({ role: roleAt(at), content: `said ${at}` }))
const REQUESTS: Record<ChatWire, JsonObject> = {
  messages: { model: 'm', max_tokens: 64, messages: said },
  'chat-completions': { model: 'm', messages: said },
  responses: { model: 'm', input: said },
}

const counted = <T>(steps: Steps<T>): { steps: number; made: T } => {
  for (let count = 1; ; count++) {
    const { done, value } = steps.next()
    if (done === true) return { steps: count, made: value }
  }
}

describe.each(CHAT_WIRES.flatMap((client) => CHAT_WIRES.map((provider) => [client, provider] as const)))(
  'ten thousand turns from %s to %s',
  (client, provider) => {
    test('take a step for each thousand at least, and make the same request', () => {
      const body = REQUESTS[client]
      const read = counted(chatCodec(client).decodeInSteps(body))
      const sent = counted(chatCodec(provider).encodeInSteps(read.made, TARGET))
      expect(Math.min(read.steps, sent.steps)).toBeGreaterThanOrEqual(TURNS / STEP_TURNS)
      expect(read.made).toEqual(chatCodec(client).decodeRequest(body))
      expect(sent.made).toEqual(chatCodec(provider).encodeRequest(chatCodec(client).decodeRequest(body), TARGET))
    })
  },
)
