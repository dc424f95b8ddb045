// Markers of prompt caches on their way to vendor_b: as explicit breakpoints for a model that needs them, else listed.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'

const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) } })
const BODY: JsonObject = {
  model: 'm',
  max_tokens: 50,
  system: [{ type: 'text', text: 'Be brief.', ...mark('1h') }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'text', text: 'there', ...mark() },
      ],
    },
  ],
}
const encode = (to: ChatWire, cacheBreakpoints: boolean) =>
  CHAT_CODECS[to].encodeRequest(CHAT_CODECS.messages.decodeRequest(BODY), {
    model: 'up',
    maxOutput: 64_000,
    quirks: { cacheBreakpoints },
  })

test.each<[ChatWire, string, string]>([
  ['responses', 'input', 'input_text'],
  ['chat-completions', 'messages', 'text'],
])('a model that caches only up to breakpoints gets them, %s', (to, list, type) => {
  const { body, dropped } = encode(to, true)
  expect(body[list]).toMatchObject([
    { content: [{ type, text: 'Be brief.', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }] },
    {
      content: [
        { type, text: 'Hi' },
        { type, text: 'there', prompt_cache_breakpoint: { mode: 'explicit' } },
      ],
    },
  ])
  expect(dropped).toEqual([])
})

test.each<ChatWire>(['responses', 'chat-completions'])('any other model gets none, and they are listed, %s', (to) => {
  const { body, dropped } = encode(to, false)
  expect(JSON.stringify(body)).not.toContain('breakpoint')
  expect(dropped).toEqual(['system.0.cache_control', 'messages.0.content.1.cache_control'])
})
