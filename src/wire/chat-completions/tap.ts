// Watches a chat-completions stream that passes through: the model id in every chunk, the usage chunk we asked for,
// the end and the failure. A stream reads as it would without us: usage shows only to clients that asked for it.

import { isObject, type Json, type JsonObject, parseObject } from '../../ir/json.ts'
import { updated } from '../../ir/usage.ts'
import { findMember } from '../../lib/json-scan.ts'
import { splice } from '../../lib/json-splice.ts'
import { Likeness } from '../../lib/likeness.ts'
import type { OutputText } from '../../lib/output-text.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { malformed, openNotes, textOf } from '../pass.ts'
import { inputText, reasoningText, textIn, thoughtIn } from './assistant.ts'
import { endsSpeech } from './audio.ts'
import { decodeError, encodeError, failureIn } from './error.ts'
import { decodeUsage } from './usage.ts'

const NO_USAGE = ',"usage":null'

export const tap = (options: TapOptions): Tap => {
  const modelText = JSON.stringify(options.model)
  const noted = openNotes()
  const likeness = new Likeness()
  // Chunks of one stream begin alike up to their model: the spot is looked up once and then recognised.
  let prefix = ''
  let renamed = ''
  /** Whether the answer has said why it ends. */
  let reasoned = false
  /** Whether it ended as spoken answers may: with the sound, and without a reason. */
  let spoken = false
  /** Whether the answer comes in deltas: a message beside or behind them says nothing new. */
  let inDeltas = false

  const report = (usage: JsonObject): void => {
    noted.rawUsage = updated(noted.rawUsage, usage)
    noted.usage = decodeUsage(noted.rawUsage)
  }

  const rename = (data: string): string => {
    if (prefix !== '' && data.startsWith(prefix)) return renamed + data.slice(prefix.length)
    const span = findMember(data, 'model')
    if (span === undefined) return data
    prefix = data.slice(0, span.end)
    renamed = data.slice(0, span.start) + modelText
    return renamed + data.slice(span.end)
  }

  const see = (frame: Frame): string => {
    if (noted.state !== 'open') return ''
    const like = likeness.match(frame)
    if (like !== undefined) {
      noted.output.add(like.text)
      return like.out
    }
    let { data } = frame
    if (data.startsWith('[DONE]')) {
      // Clients take an end without a reason for none at all, and ask again.
      if (!reasoned && !spoken) return noted.failed(malformed())
      noted.state = 'done'
      return writeFrame({ data })
    }
    const chunk = parseObject(data)
    if (chunk === undefined) return noted.failed(malformed())
    const failure = frame.event === 'error' ? decodeError(200, chunk) : failureIn(chunk)
    if (failure !== undefined) return noted.failed(failure)
    noted.serviceTier = textOf(chunk.service_tier) ?? noted.serviceTier
    const { usage } = chunk
    const choices = Array.isArray(chunk.choices) ? chunk.choices : []
    let within = false
    for (const choice of choices) {
      if (!isObject(choice)) continue
      const { delta, finish_reason: why } = choice
      inDeltas ||= isObject(delta)
      const said = inDeltas ? delta : choice.message
      addText(noted.output, said)
      if (isObject(said) && isObject(said.audio)) spoken = endsSpeech(said.audio)
      if (typeof why === 'string' && why !== '') reasoned = true
      if (isObject(choice.usage)) report(choice.usage)
      within ||= choice.usage !== undefined
    }
    if (isObject(usage)) {
      report(usage)
      if (!options.includeUsage && choices.length === 0) return ''
    }
    if (!options.includeUsage) {
      if (usage !== undefined) data = withoutUsage(data, usage)
      if (within) data = withoutUsageWithin(data, choices)
    }
    data = rename(data)
    const out = frame.event === undefined ? writeFrame({ data }) : writeFrame({ event: frame.event, data })
    if (!isObject(usage) && isTextOnly(choices)) likeness.learn(frame, CONTENT, out)
    return out
  }

  return Object.assign(noted, {
    see,
    end: (() => (options.noDone && (reasoned || spoken) ? see({ data: '[DONE]' }) : '')) satisfies Tap['end'],
    fail: ((why) => writeFrame({ event: 'error', data: JSON.stringify(encodeError(why)) })) satisfies Tap['fail'],
  })
}

const CONTENT = ['choices', 0, 'delta', 'content'] as const

/** Whether a chunk says nothing but a piece of text. */
const isTextOnly = (choices: Json[]): boolean => {
  if (choices.length !== 1 || !isObject(choices[0])) return false
  const { delta } = choices[0]
  if (!isObject(delta) || typeof delta.content !== 'string') return false
  return !delta.tool_calls && !delta.function_call && !delta.refusal && reasoningText(delta) === undefined
}

/** Written so, the member is cut without reading the text over: within strings its quotes would be escaped. */
const withoutUsage = (data: string, usage: Json): string => {
  const at = usage === null ? data.lastIndexOf(NO_USAGE) : -1
  return at === -1
    ? splice(data, [{ path: ['usage'], value: undefined }])
    : data.slice(0, at) + data.slice(at + NO_USAGE.length)
}

/** Some servers tell it within the choices. */
const withoutUsageWithin = (data: string, choices: Json[]): string =>
  splice(
    data,
    choices.map((_, at) => ({ path: ['choices', at, 'usage'], value: undefined })),
  )

const addText = (output: OutputText, delta: Json | undefined): void => {
  if (!isObject(delta)) return
  if (Array.isArray(delta.content)) for (const piece of delta.content) output.add(pieceText(piece))
  else output.add(textIn(delta.content))
  output.add(textIn(delta.refusal))
  output.add(reasoningText(delta))
  if (isObject(delta.function_call)) output.add(inputText(delta.function_call.arguments))
  if (!Array.isArray(delta.tool_calls)) return
  for (const call of delta.tool_calls) if (isObject(call)) output.add(inputOf(call))
}

const pieceText = (piece: Json): string => (isObject(piece) ? textIn(thoughtIn(piece) ?? piece.text) : '')

const inputOf = (call: JsonObject): string => {
  if (isObject(call.function)) return inputText(call.function.arguments)
  return isObject(call.custom) ? inputText(call.custom.input) : ''
}
