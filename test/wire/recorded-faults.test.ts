// Recorded streams that are cut, garbled or failed anywhere, or of which a piece is repeated or lost: whoever reads them on any
// wire has the whole answer or an error, never a shorter answer that looks whole.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { FrameReader } from '../../src/lib/sse.ts'
import { translateStream } from '../../src/relay/translate.ts'
import type { Tap } from '../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../src/wire/index.ts'
import { type Recording, recordings } from '../support/corpus.ts'
import { framesOf } from '../support/frames.ts'
import { GATHER } from './answers/gather.ts'
import { list, object, text } from './answers/told.ts'
import { askFor, PATIENCE_MS, RUNS } from './answers/vendors.ts'

const tapFor = (client: ChatWire, vendor: ChatWire): Tap =>
  client === vendor
    ? CHAT_CODECS[vendor].tap({ model: 'gateway-model', includeUsage: true, now: 0 })
    : translateStream({
        ...{ client: CHAT_CODECS[client], provider: CHAT_CODECS[vendor] },
        ...{ ask: askFor(client, true), undo: {} },
      })

/** What a client is sent of these bytes, its error frame apart. */
const played = (client: ChatWire, vendor: ChatWire, bytes: Uint8Array): { tap: Tap; sent: string } => {
  const tap = tapFor(client, vendor)
  const reader = new FrameReader()
  let sent = ''
  for (const frame of [...reader.push(bytes), ...reader.end()]) sent += tap.see(frame)
  sent += tap.end?.() ?? ''
  return { tap, sent }
}

type Essence = { texts: string; thoughts: string; calls: string[]; end: string }

/** What a client has of an answer at its end. */
const essenceOf = (client: ChatWire, sent: string): Essence => {
  const answer = GATHER[client](framesOf(sent))
  const said: Essence = { texts: '', thoughts: '', calls: [], end: '' }
  const call = (name: unknown, input: unknown) => said.calls.push(JSON.stringify([name, input]))
  if (client === 'chat-completions') {
    const [choice] = list(answer.choices)
    const message = object(choice?.message)
    said.texts = text(message.content) + text(message.refusal)
    said.thoughts = text(message.reasoning_content)
    for (const one of list(message.tool_calls)) call(object(one.function ?? one.custom).name, one)
    said.end = text(choice?.finish_reason)
  } else if (client === 'messages') {
    for (const block of list(answer.content)) {
      said.texts += text(block.text)
      said.thoughts += text(block.thinking)
      if (block.type === 'tool_use') call(block.name, block.input)
    }
    said.end = text(answer.stop_reason)
  } else {
    for (const item of list(answer.output)) {
      for (const part of list(item.content)) said.texts += text(part.text) + text(part.refusal)
      for (const part of list(item.summary)) said.thoughts += text(part.text)
      if (typeof item.name === 'string') call(item.name, item.arguments ?? item.input)
    }
    said.end = text(answer.status)
  }
  return said
}

const GARBAGE = ['data: <html>502</html>', 'data: {"type":"x', 'data: null', 'data: 7', '\0\0', 'word']
const FAILURES: Record<ChatWire, JsonObject[]> = {
  'chat-completions': [{ error: { message: 'x', type: 'server_error', code: 500 } }, { error: 'x' }],
  responses: [
    { type: 'error', code: 'server_error', message: 'x', sequence_number: 9 },
    { type: 'response.failed', response: { id: 'r', status: 'failed', error: { code: 'server_error', message: 'x' } } },
  ],
  messages: [{ type: 'error', error: { type: 'overloaded_error', message: 'x' } }],
}
const frameOf = (event: JsonObject): string =>
  `${typeof event.type === 'string' ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`

const utf8 = new TextEncoder()
const pairs = CHAT_WIRES.flatMap((vendor) => CHAT_WIRES.map((client) => [client, vendor] as const))

/** The frames to try: spread over all of them, the last ones included. */
const PLACES = RUNS / 5
const isTried = (at: number, count: number): boolean => count - at <= 4 || at % Math.ceil(count / PLACES) === 0
/** Places within a frame. */
const CUTS = 4

describe.each(pairs)('a client of %s reads a stream of %s', (client, vendor) => {
  const streams = recordings(vendor).filter(({ status, stream }) => status === 200 && stream)

  test.each(streams.map((one): [string, Recording] => [one.name, one]))(
    '%s',
    (_, { response }) => {
      const whole = played(client, vendor, utf8.encode(response))
      // Some were recorded to their failure.
      if (whole.tap.state !== 'done') return
      const due = essenceOf(client, whole.sent)
      const faults: string[] = []
      const seen = (bytes: Uint8Array): Essence | undefined => {
        const { tap, sent } = played(client, vendor, bytes)
        if (tap.state !== 'done') return undefined
        try {
          return essenceOf(client, sent)
        } catch (thrown) {
          // Bytes that pass are its own to read: arguments with a piece twice are no JSON to it.
          if (client === vendor && thrown instanceof SyntaxError) return undefined
          throw thrown
        }
      }
      const require = (what: string, isRight: (got: Essence) => boolean, bytes: Uint8Array): void => {
        const got = seen(bytes)
        if (got !== undefined && !isRight(got)) faults.push(`${what}: ${JSON.stringify(got)}`)
      }
      const isWhole = (got: Essence): boolean => Bun.deepEquals(got, due)
      const frames = response.split(/(?<=\n\n)/)
      frames.forEach((frame, at) => {
        if (!isTried(at, frames.length)) return
        const before = utf8.encode(frames.slice(0, at).join(''))
        const [bytes, after] = [frame, frames.slice(at).join('')].map((one) => utf8.encode(one))
        if (bytes === undefined || after === undefined) return
        const put = (piece: string) => Buffer.concat([before, utf8.encode(piece), after])
        for (let cut = 0; cut < CUTS; cut++) {
          const length = Math.floor((bytes.length * cut) / CUTS)
          require(`cut at ${before.length + length}`, isWhole, Buffer.concat([before, bytes.subarray(0, length)]))
        }
        for (const piece of GARBAGE) require(`${piece} before frame ${at}`, isWhole, put(`${piece}\n\n`))
        for (const event of FAILURES[vendor]) require(`a failure before frame ${at}`, () => false, put(frameOf(event)))
        require(`frame ${at} twice`, ({ texts, calls }) =>
          texts.length >= due.texts.length && calls.length >= due.calls.length, put(frame))
        // Only this wire says at its end what it has streamed. One recording says more there, without the piece that differs.
        if (vendor === 'responses' && client !== vendor && at > 1 && at < frames.length - 1)
          require(`without frame ${at}`, ({ texts, ...got }) =>
            texts.length >= due.texts.length && isWhole({ ...got, texts: due.texts }), utf8.encode(
            frames.toSpliced(at, 1).join(''),
          ))
      })
      expect(faults).toEqual([])
    },
    PATIENCE_MS,
  )
})
