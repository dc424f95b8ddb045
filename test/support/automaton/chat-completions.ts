// The strict automaton of the chat-completions stream: every rule a client may rely on, checked frame by frame.

import { isObject, type JsonObject, parseObject } from '../../../src/ir/json.ts'
import type { Frame } from '../../../src/lib/sse.ts'

type Say = (text: string) => void
type Call = { kind: 'function' | 'custom'; text: string[] }
type Choice = { finished: boolean; calls: Call[]; legacy: boolean }

/** What a stream breaks, one line each, empty for a correct one. `includeUsage` undefined: either form, but one of them. */
export const checkChatCompletionsStream = (frames: Frame[], includeUsage?: boolean): string[] => {
  const wrong: string[] = []
  const choices = new Map<number, Choice>()
  let identity: string | undefined
  let ended: 'done' | 'error' | undefined
  let nullUsage = 0
  let noUsage = 0
  let usageChunks = 0

  for (const [at, frame] of frames.entries()) {
    const say: Say = (text) => {
      wrong.push(`frame ${at}: ${text}`)
    }
    if (ended !== undefined) {
      say('comes after the end')
      continue
    }
    if (frame.data === '[DONE]') {
      ended = 'done'
      if (frame.event !== undefined) say('[DONE] carries an event name')
      if (choices.size === 0) say('[DONE] without any choice')
      for (const [index, choice] of choices) if (!choice.finished) say(`choice ${index} has no finish_reason`)
      continue
    }
    let chunk: unknown
    try {
      chunk = JSON.parse(frame.data)
    } catch {
      say('data is not JSON')
      continue
    }
    if (!isObject(chunk)) {
      say('data is not an object')
      continue
    }
    if (isObject(chunk.error)) {
      ended = 'error'
      if (frame.event !== undefined && frame.event !== 'error') say('error frame under another event name')
      for (const name of ['message', 'type', 'code']) {
        if (typeof chunk.error[name] !== 'string' || chunk.error[name] === '') say(`error.${name} is missing`)
      }
      continue
    }
    if (frame.event !== undefined) say('chunk carries an event name')
    if (chunk.object !== 'chat.completion.chunk') say('object is not chat.completion.chunk')
    const who = JSON.stringify([chunk.id, chunk.created, chunk.model])
    if (typeof chunk.id !== 'string' || chunk.id === '') say('id is missing')
    if (typeof chunk.created !== 'number' || typeof chunk.model !== 'string') say('created or model is missing')
    identity ??= who
    if (who !== identity) say(`id, created or model changed: ${who}`)
    if (!Array.isArray(chunk.choices)) {
      say('choices is missing')
      continue
    }
    if (chunk.choices.length === 0) {
      if (!isObject(chunk.usage)) {
        say('no choices and no usage')
        continue
      }
      usageChunks += 1
      for (const [index, choice] of choices) if (!choice.finished) say(`usage before choice ${index} finished`)
      checkUsage(chunk.usage, say)
      continue
    }
    if (usageChunks > 0) say('a choice after the usage chunk')
    if (chunk.usage === null) nullUsage += 1
    else if (chunk.usage === undefined) noUsage += 1
    else say('usage beside choices')
    for (const choice of chunk.choices) if (isObject(choice)) checkChoice(choice, choices, say)
  }

  if (ended === undefined) wrong.push('the stream does not end')
  if (nullUsage > 0 && noUsage > 0) wrong.push('usage: null in some chunks only')
  if (usageChunks > 1) wrong.push('more than one usage chunk')
  const shown = includeUsage ?? nullUsage > 0
  if (shown && noUsage > 0) wrong.push('usage was asked for, but chunks lack usage: null')
  if (shown && ended === 'done' && usageChunks !== 1) wrong.push('usage was asked for and never came')
  if (!shown && (nullUsage > 0 || usageChunks > 0)) wrong.push('usage was not asked for')
  return wrong
}

const checkUsage = (usage: JsonObject, say: Say): void => {
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage
  if (typeof prompt !== 'number' || typeof completion !== 'number') {
    say('usage lacks its counts')
    return
  }
  if (total !== prompt + completion) say('usage does not add up')
}

const checkChoice = (raw: JsonObject, choices: Map<number, Choice>, say: Say): void => {
  const { index, delta, finish_reason: reason } = raw
  if (typeof index !== 'number') {
    say('choice without index')
    return
  }
  if (reason === undefined) say('finish_reason is missing')
  if (!isObject(delta)) {
    say('choice without delta')
    return
  }
  let choice = choices.get(index)
  if (choice === undefined) {
    choice = { finished: false, calls: [], legacy: false }
    choices.set(index, choice)
    if (delta.role !== 'assistant') say('first delta has no role')
    if (delta.content !== '' && delta.content !== null) say('first delta has no empty content')
    if (delta.refusal !== null) say('first delta has no refusal: null')
  } else if (delta.role !== undefined) {
    say('role is repeated')
  }
  if (choice.finished) say('delta after the finish_reason')
  if (Array.isArray(delta.tool_calls))
    for (const call of delta.tool_calls) if (isObject(call)) checkCall(call, choice, say)
  if (typeof reason !== 'string') return
  choice.finished = true
  if (Object.keys(delta).length > 0) say('the finish chunk has a delta')
  if (!['stop', 'length', 'tool_calls', 'content_filter', 'function_call'].includes(reason))
    say(`finish_reason ${reason}`)
  if (reason === 'tool_calls' && choice.calls.length === 0) say('finish_reason tool_calls without a call')
  if (reason === 'stop' && choice.calls.length > 0) say('finish_reason stop with calls')
  if (reason === 'length' || reason === 'content_filter') return
  for (const { kind, text } of choice.calls) {
    if (kind === 'function' && parseObject(text.join('')) === undefined)
      say(`arguments are no JSON object: ${text.join('')}`)
  }
}

const checkCall = (raw: JsonObject, choice: Choice, say: Say): void => {
  const kind = isObject(raw.custom) ? 'custom' : 'function'
  const body = raw[kind]
  if (!isObject(body)) {
    say('a call without its body')
    return
  }
  const text = kind === 'custom' ? body.input : body.arguments
  if (typeof text !== 'string') {
    say('a call delta without text')
    return
  }
  if (raw.index === choice.calls.length) {
    if (typeof raw.id !== 'string' || raw.id === '') say('a call without id')
    if (raw.type !== kind) say('a call without type')
    if (typeof body.name !== 'string' || body.name === '') say('a call without name')
    choice.calls.push({ kind, text: [text] })
    return
  }
  if (raw.index !== choice.calls.length - 1) {
    say(`call index ${raw.index} out of order`)
    return
  }
  if (raw.id !== undefined || raw.type !== undefined || body.name !== undefined) say('a call names itself twice')
  choice.calls.at(-1)?.text.push(text)
}
