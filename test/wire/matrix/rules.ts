// The rules for every body of the matrix: the vendors' published types, the strict order of their streams' events, and the
// pairing of calls with results that the vendors enforce beyond their types.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import { checkChatCompletionsStream } from '../../support/automaton/chat-completions.ts'
import { checkMessagesStream } from '../../support/automaton/messages.ts'
import { checkResponsesStream } from '../../support/automaton/responses.ts'
import { compileSchemas, SCHEMAS, violations } from '../../support/corpus.ts'
import { framesOf } from '../../support/frames.ts'

compileSchemas()

export const requestFaults = (wire: ChatWire, body: JsonObject): string[] => [
  ...violations(SCHEMAS[wire].request, body),
  ...PAIRINGS[wire](body),
]

export const answerFaults = (wire: ChatWire, body: JsonObject): string[] => violations(SCHEMAS[wire].response, body)

/** `lax`: the vendor's own order of frames, passed through. */
export const streamFaults = (wire: ChatWire, text: string, lax = false): string[] => {
  const frames = framesOf(text)
  const order = lax ? [] : AUTOMATA[wire](frames)
  return [
    ...order,
    ...frames.flatMap(({ event, data }) =>
      data === '[DONE]' || event === 'error' || event === 'ping'
        ? []
        : violations(SCHEMAS[wire].event, JSON.parse(data)),
    ),
  ]
}

const AUTOMATA: Record<ChatWire, (frames: Frame[]) => string[]> = {
  'chat-completions': (frames) => checkChatCompletionsStream(frames, true),
  responses: checkResponsesStream,
  messages: checkMessagesStream,
}

const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const ids = (items: JsonObject[], member: string): string[] => items.map((item) => String(item[member])).sort()

const messagesPairing = (body: JsonObject): string[] => {
  const messages = list(body.messages)
  return messages.flatMap((message, at) => {
    const calls = list(message.content).filter(({ type }) => type === 'tool_use')
    const next = list(messages[at + 1]?.content)
    const results = list(message.content).filter(({ type }) => type === 'tool_result')
    const before = list(messages[at - 1]?.content).filter(({ type }) => type === 'tool_use')
    const wrong: string[] = []
    if (calls.length > 0) {
      const answered = next.filter(({ type }) => type === 'tool_result')
      if (ids(calls, 'id').join() !== ids(answered, 'tool_use_id').join())
        wrong.push(`messages.${at}: calls unanswered`)
      if (next.findIndex(({ type }) => type !== 'tool_result') < answered.length && next.length > answered.length) {
        wrong.push(`messages.${at + 1}: content before the results`)
      }
    }
    if (results.length > 0 && ids(before, 'id').join() !== ids(results, 'tool_use_id').join())
      wrong.push(`messages.${at}: results without their calls`)
    return wrong
  })
}

const chatPairing = (body: JsonObject): string[] => {
  const messages = list(body.messages)
  const wrong: string[] = []
  messages.forEach((message, at) => {
    const calls = list(message.tool_calls)
    const behind = messages.slice(at + 1)
    const end = behind.findIndex(({ role }) => role !== 'tool')
    const results = end === -1 ? behind : behind.slice(0, end)
    if (calls.length > 0 && ids(calls, 'id').join() !== ids(results, 'tool_call_id').join())
      wrong.push(`messages.${at}: calls unanswered`)
    const before = messages.slice(0, at).findLast(({ role }) => role !== 'tool')
    if (message.role === 'tool' && list(before?.tool_calls).length === 0) wrong.push(`messages.${at}: no call before`)
  })
  return wrong
}

const responsesPairing = (body: JsonObject): string[] => {
  const calls = list(body.input).filter(({ type }) => /^(function|custom_tool)_call$/.test(String(type)))
  const results = list(body.input).filter(({ type }) => /_call_output$/.test(String(type)))
  return ids(calls, 'call_id').join() === ids(results, 'call_id').join() ? [] : ['input: calls and results do not pair']
}

const PAIRINGS: Record<ChatWire, (body: JsonObject) => string[]> = {
  'chat-completions': chatPairing,
  responses: responsesPairing,
  messages: messagesPairing,
}
