// What the bench stands on: messages read alike however the bytes are cut, and answers of the promised shape.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { AGENT_BYTES } from '../../bench/cases.ts'
import { spread } from '../../bench/figures.ts'
import { FRAMES, streamedText, streamFrames } from '../../bench/frames.ts'
import { createMessageReader } from '../../bench/http-message.ts'
import { agentChat, agentConversation, largestConversation, withPictures } from '../../bench/requests.ts'
import { readNow } from '../../src/lib/json-reader.ts'
import { FrameReader } from '../../src/lib/sse.ts'
import { chatCompletions } from '../../src/wire/chat-completions/index.ts'
import { messages } from '../../src/wire/messages/index.ts'

type Sent = { chunks: string[]; chunked: boolean }

const encode = ({ chunks, chunked }: Sent): string => {
  const body = chunks.join('')
  if (!chunked) return `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  const parts = chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`)
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${parts.join('')}0\r\n\r\n`
}

const sent = fc.record({ chunks: fc.array(fc.string({ minLength: 1, unit: 'grapheme' })), chunked: fc.boolean() })

test('messages are read alike however their bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(sent, { minLength: 1 }), fc.integer({ min: 1, max: 50 }), (messages, size) => {
      const bodies: string[] = []
      let pieces: Buffer[] = []
      const reader = createMessageReader({
        head: () => {},
        body: (bytes) => pieces.push(Buffer.from(bytes)),
        end() {
          bodies.push(Buffer.concat(pieces).toString())
          pieces = []
        },
      })
      const bytes = Buffer.from(messages.map(encode).join(''))
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
      expect(bodies).toEqual(messages.map(({ chunks }) => chunks.join('')))
    }),
  )
})

test('a chunk size that is no number is refused', () => {
  const reader = createMessageReader({ head: () => {}, body: () => {}, end: () => {} })
  expect(() => reader.push(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'))).toThrow()
})

test.each(['chat-completions', 'responses', 'messages'] as const)('a %s answer has its frames, one each', (wire) => {
  const frames = streamFrames(wire)
  expect(frames).toHaveLength(FRAMES)
  expect(new FrameReader().push(Buffer.from(frames.join('')))).toHaveLength(FRAMES)
  expect(streamedText(wire).length).toBeGreaterThan(FRAMES)
})

test('the chat client of the agent says what its messages client says', () => {
  const chat = chatCompletions.decodeRequest(JSON.parse(agentChat('m', 100_000)))
  const blocks = messages.decodeRequest(JSON.parse(agentConversation('m', 100_000)))
  const kinds = ({ turns }: typeof chat) =>
    turns.filter(({ role }) => role !== 'system').flatMap(({ parts }) => parts.map(({ type }) => type))
  expect(kinds(chat)).toEqual(kinds(blocks))
  expect(chat.tools).toHaveLength(40)
})

test('screenshots stand in the last turn', () => {
  const body = withPictures(agentConversation('m', 50_000), { count: 2, chars: 1_000 })
  const { turns } = messages.decodeRequest(JSON.parse(body))
  expect(turns.at(-1)?.parts.filter(({ type }) => type === 'image')).toHaveLength(2)
})

test('the conversation of the agent has the promised weight', () => {
  const bytes = Buffer.byteLength(agentConversation('m', AGENT_BYTES))
  expect(bytes).toBeGreaterThanOrEqual(AGENT_BYTES)
  expect(bytes).toBeLessThan(AGENT_BYTES * 1.05)
})

test.each<{ values: number[]; median: number; min: number; max: number }>([
  { values: [3, 1, 2], median: 2, min: 1, max: 3 },
  { values: [4, 1, 2, 3], median: 2.5, min: 1, max: 4 },
  { values: [], median: 0, min: 0, max: 0 },
])('the spread of $values', ({ values, ...expected }) => {
  expect(spread(values)).toEqual(expected)
})

test('the largest conversation that is sent is let in', () => {
  const bytes = new TextEncoder().encode(largestConversation('m', 24.9 * 1024 * 1024))
  expect(bytes.byteLength).toBeLessThan(25 * 1024 * 1024)
  expect(readNow(bytes).faulty).toBe(false)
})
