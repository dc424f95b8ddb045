// What a client has gathered of a stream at its end: the whole answer, by the rules of its wire alone.

import type { Json, JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import { exactly } from '../matrix/exact.ts'
import { list, number, object, text } from './told.ts'

const events = (frames: Frame[]): JsonObject[] =>
  frames.flatMap(({ data }) => (data === '[DONE]' ? [] : [exactly(data) as JsonObject]))

const appended = (before: Json | undefined, more: Json): Json[] => [...(Array.isArray(before) ? before : []), more]

type Members = { [name: string]: Json | undefined }

const chat = (frames: Frame[]): JsonObject => {
  const message: Members = { content: null, refusal: null }
  const calls: Members[] = []
  const whole: Members = {}
  const logprobs: Json[] = []
  let finish: Json = null
  const grow = (into: Members, name: string, piece: Json | undefined): void => {
    if (typeof piece === 'string') into[name] = text(into[name]) + piece
  }
  for (const chunk of events(frames)) {
    const { choices: _, object: __, usage: ___, ...head } = chunk
    Object.assign(whole, head)
    if (chunk.usage != null) whole.usage = chunk.usage
    const [choice] = list(chunk.choices)
    const delta = object(choice?.delta)
    for (const name of ['content', 'refusal', 'reasoning_content']) grow(message, name, delta[name])
    for (const { index, id, type, ...bodies } of list(delta.tool_calls)) {
      const call = calls[number(index)] ?? { id, type, [text(type)]: {} }
      calls[number(index)] = call
      for (const [kind, body] of Object.entries(bodies))
        for (const [name, piece] of Object.entries(object(body))) grow(object(call[kind]) as Members, name, piece)
    }
    for (const name of ['annotations', 'reasoning_details', 'images'])
      for (const mark of list(delta[name])) message[name] = appended(message[name], mark)
    if (delta.audio != null) message.audio = delta.audio
    for (const one of list(object(choice?.logprobs).content)) logprobs.push(one)
    finish = choice?.finish_reason ?? finish
  }
  if (calls.length > 0) message.tool_calls = calls
  const told = logprobs.length === 0 ? null : { content: logprobs, refusal: null }
  return { ...whole, choices: [{ index: 0, message, logprobs: told, finish_reason: finish }] }
}

const messages = (frames: Frame[]): JsonObject => {
  let whole: Members = {}
  const content: Members[] = []
  let json = ''
  for (const event of events(frames)) {
    const block = content.at(-1) ?? {}
    const delta = object(event.delta)
    switch (event.type) {
      case 'message_start':
        whole = { ...object(event.message) }
        break
      case 'content_block_start':
        content.push({ ...object(event.content_block) })
        json = ''
        break
      case 'content_block_delta':
        if (delta.type === 'text_delta') block.text = text(block.text) + text(delta.text)
        if (delta.type === 'citations_delta') block.citations = appended(block.citations, delta.citation ?? null)
        if (delta.type === 'signature_delta') block.signature = delta.signature
        if (delta.type === 'thinking_delta') block.thinking = text(block.thinking) + text(delta.thinking)
        if (delta.type === 'input_json_delta') json += text(delta.partial_json)
        break
      case 'content_block_stop':
        if (json !== '') block.input = exactly(json)
        break
      case 'message_delta':
        Object.assign(whole, delta, { usage: { ...object(whole.usage), ...object(event.usage) } })
        break
      default:
        break
    }
  }
  return { ...whole, content }
}

/** The terminal event holds the answer; its items are those that were done, which the automaton sees to. */
const responses = (frames: Frame[]): JsonObject => object(events(frames).at(-1)?.response)

export const GATHER: Record<ChatWire, (frames: Frame[]) => JsonObject> = {
  'chat-completions': chat,
  responses,
  messages,
}
