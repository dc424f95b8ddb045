// Sloppy vendors: however irregular a stream, clients on the other wires get its content, in the regular form of their own
// vendor.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isObject, type Json, type JsonObject } from '../../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../../src/ir/wire.ts'
import { translateStream } from '../../../../src/relay/translate.ts'
import type { Ask } from '../../../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../../../src/wire/index.ts'
import { DECLINED } from '../../../../src/wire/responses/answer.ts'
import { framesOf } from '../../../support/frames.ts'
import { CLIENTS } from '../client/index.ts'
import { untidyAnswer } from '../random.ts'
import { streamFaults } from '../rules.ts'
import type { Answer } from '../story.ts'
import * as chat from './chat-completions.ts'
import { type Dice, dice, framed } from './dice.ts'
import * as messages from './messages.ts'
import * as responses from './responses.ts'

const VENDORS: Record<ChatWire, { frames(answer: Answer, dice: Dice): { event?: string; data: string }[] }> = {
  'chat-completions': chat,
  responses,
  messages,
}

const askFor = (client: ChatWire): Ask => ({
  model: 'gateway-model',
  body: CLIENTS[client].request({ turns: [] }, 'gateway-model', true),
  inputEstimate: 11,
  now: 1_790_000_000,
})

const translated = (client: ChatWire, vendor: ChatWire, chunks: Uint8Array[]) => {
  const tap = translateStream({
    client: CHAT_CODECS[client],
    provider: CHAT_CODECS[vendor],
    ask: askFor(client),
    undo: {},
  })
  const text = framesOf(...chunks).map((frame) => tap.see(frame))
  return { tap, text: text.join('') }
}

type Heard = { said: string; thought: string; calls: [Json, Json][]; cut: boolean; calling: boolean; total: number }

const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const joined = (texts: (Json | undefined)[]): string => texts.filter((text) => typeof text === 'string').join('')
const parsed = (text: Json | undefined): Json => JSON.parse(String(text))

const HEAR: Record<ChatWire, (body: JsonObject) => Omit<Heard, 'total'>> = {
  'chat-completions': (body) => {
    const [choice] = list(body.choices)
    const message = isObject(choice?.message) ? choice.message : {}
    return {
      said: joined([message.content, message.refusal]),
      thought: joined([message.reasoning_content]),
      calls: list(message.tool_calls).map((call) => {
        const { name = '', arguments: input } = call.function as JsonObject
        return [name, parsed(input)]
      }),
      cut: choice?.finish_reason === 'length' || choice?.finish_reason === 'content_filter',
      calling: choice?.finish_reason === 'tool_calls',
    }
  },
  messages: (body) => ({
    said: joined(list(body.content).map(({ text }) => text)),
    thought: joined(list(body.content).map(({ thinking }) => thinking)),
    calls: list(body.content).flatMap(({ type, name = '', input = null }): [Json, Json][] =>
      type === 'tool_use' ? [[name, input]] : [],
    ),
    cut: body.stop_reason === 'max_tokens' || body.stop_reason === 'refusal',
    calling: body.stop_reason === 'tool_use',
  }),
  responses: (body) => {
    const items = list(body.output)
    const calls = items.filter(({ type }) => type === 'function_call')
    const parts = items.flatMap(({ content }) => list(content))
    return {
      said: joined(parts.map(({ text, refusal }) => text ?? refusal)),
      thought: joined(items.flatMap(({ summary }) => list(summary)).map(({ text }) => text)),
      calls: calls.map(({ name = '', arguments: input }) => [name, parsed(input)]),
      cut: body.status === 'incomplete',
      calling: body.status === 'completed' && calls.length > 0,
    }
  },
}

const due = ({ pieces, finish, usage }: Answer): Heard => ({
  said: joined(pieces.map((piece) => ('text' in piece ? piece.text : 'refusal' in piece ? piece.refusal : ''))),
  thought: joined(pieces.map((piece) => ('thought' in piece ? piece.thought : ''))),
  calls: pieces.flatMap((piece): [Json, Json][] => ('call' in piece ? [[piece.name, parsed(piece.input)]] : [])),
  cut: finish === 'length' || finish === 'filter',
  calling: finish === 'calls',
  total: usage.input + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) + usage.output,
})

/** The messages wire has one word for a refusal and a filter: what its clients elsewhere make of it is their wire's. */
const asHeard = (heard: Heard, { finish }: Answer, crossing: ChatWire[]): Heard => {
  if (!crossing.includes('messages') || (finish !== 'refusal' && finish !== 'filter')) return heard
  return { ...heard, said: heard.said.replace(DECLINED, ''), cut: finish === 'filter', calling: false }
}

const crossings = CHAT_WIRES.flatMap((client) =>
  CHAT_WIRES.filter((vendor) => vendor !== client).map((vendor) => [client, vendor] as const),
)

describe.each(crossings)('a client of %s and an untidy vendor of %s', (client, vendor) => {
  test('the client gets the content, in the form of its own vendor', () =>
    fc.assert(
      fc.asyncProperty(untidyAnswer, dice, async (answer, thrown) => {
        const { tap, text } = translated(client, vendor, framed(VENDORS[vendor].frames(answer, thrown), thrown))
        expect(tap.state).toBe('done')
        expect(streamFaults(client, text)).toEqual([])
        const read = await CLIENTS[client].gather(text, true)
        const heard = { ...HEAR[client](read), total: CLIENTS[client].total(read) }
        expect(asHeard(heard, answer, [client, vendor])).toEqual(due(answer))
        const { usage = {} } = tap
        const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = usage
        expect(input + cacheRead + cacheWrite + output).toBe(due(answer).total)
        expect(isObject(tap.rawUsage)).toBe(true)
      }),
      { numRuns: 50 },
    ))

  test('the client gets an error wherever the stream is cut', () =>
    fc.assert(
      fc.property(untidyAnswer, dice, fc.nat(), (answer, thrown, place) => {
        const frames = VENDORS[vendor].frames(answer, thrown)
        const last = frames.findIndex(({ data }) =>
          /^\[DONE\]$|"message_stop"|"response\.(completed|incomplete)"/.test(data),
        )
        const kept = frames.slice(0, place % Math.max(1, last))
        const chunks = framed(kept, thrown)
        const { tap, text } = translated(client, vendor, chunks)
        expect(tap.state).toBe('open')
        const { error } = tap
        expect(error).toBeUndefined()
        expect(text).not.toMatch(/\[DONE\]|"message_stop"|response\.completed|response\.incomplete|"finish_reason":"/)
      }),
      { numRuns: 30 },
    ))
})
