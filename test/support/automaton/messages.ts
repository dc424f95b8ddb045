// The strict automaton of the messages stream: every rule a client may rely on, checked frame by frame.

import { isObject, type JsonObject, parseObject } from '../../../src/ir/json.ts'
import type { Frame } from '../../../src/lib/sse.ts'

type Block = { type: string; json: string[]; signatures: number }
type Say = (text: string) => void

const DELTAS: { [block: string]: string[] } = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
  mcp_tool_use: ['input_json_delta'],
  compaction: ['compaction_delta'],
}
const STOPS = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  'compaction',
])
/** Reasons that may end an answer whose calls are whole or cut. */
const CUTS = new Set(['max_tokens', 'refusal', 'model_context_window_exceeded', 'pause_turn'])

/** What a stream breaks, one line each, empty for a correct one. */
export const checkMessagesStream = (frames: Frame[]): string[] => {
  const wrong: string[] = []
  let started = false
  let open: Block | undefined
  let index = -1
  let calls = 0
  let cutCall = false
  let firstOutput = 0
  let stop: unknown
  let stopped = false
  let ended = false

  const delta = (say: Say, data: JsonObject): void => {
    if (open === undefined) {
      say('M4: a delta outside a block')
      return
    }
    if (data.index !== index) say('M4: a delta for another block than the open one')
    const inner = isObject(data.delta) ? data.delta : {}
    const type = String(inner.type)
    if (!(DELTAS[open.type] ?? []).includes(type)) say(`M6f: ${type} in a ${open.type} block`)
    if (open.signatures > 0) say('M6g: a delta after the signature')
    if (type === 'signature_delta') open.signatures++
    if (type === 'input_json_delta') {
      if (typeof inner.partial_json === 'string') open.json.push(inner.partial_json)
      else say('partial_json is no string')
    }
    if (type === 'text_delta' && typeof inner.text !== 'string') say('text is no string')
    if (type === 'thinking_delta' && typeof inner.thinking !== 'string') say('thinking is no string')
  }

  const start = (say: Say, data: JsonObject): void => {
    if (open !== undefined) say('M4: a block begins within another')
    index++
    if (data.index !== index) say(`M5: index ${data.index} where ${index} is due`)
    const block = isObject(data.content_block) ? data.content_block : {}
    const type = String(block.type)
    open = { type, json: [], signatures: 0 }
    if (type === 'text' && block.text !== '') say('M6a: a text block begins with text')
    if (type === 'thinking' && (block.thinking !== '' || block.signature !== ''))
      say('M6c: a thinking block begins full')
    if (type === 'tool_use' || type === 'server_tool_use') {
      if (!isObject(block.input) || Object.keys(block.input).length > 0) say('M6b: a call begins with input')
      if (typeof block.id !== 'string' || block.id === '') say('M6b: a call without an id')
      if (typeof block.name !== 'string' || block.name === '') say('M6b: a call without a name')
    }
    if (type === 'tool_use') calls++
  }

  const end = (say: Say, data: JsonObject): void => {
    if (open === undefined) {
      say('M4: a block ends that is not open')
      return
    }
    if (data.index !== index) say('M4: another block ends than the open one')
    if (open.type === 'thinking' && open.signatures !== 1) say(`M6g: ${open.signatures} signatures in a thinking block`)
    const json = open.json.join('')
    if (json !== '' && parseObject(json) === undefined) cutCall = true
    open = undefined
  }

  const last = (say: Say, data: JsonObject): void => {
    if (stopped) say('M7: a second message_delta')
    if (open !== undefined) say('M7: message_delta while a block is open')
    stopped = true
    const inner = isObject(data.delta) ? data.delta : {}
    stop = inner.stop_reason
    if (!STOPS.has(String(stop))) say(`M7: stop_reason ${String(stop)}`)
    if (stop === 'stop_sequence' && typeof inner.stop_sequence !== 'string') say('stop_sequence without the sequence')
    if (stop === 'tool_use' && calls === 0) say('M10: tool_use without a call')
    if (calls > 0 && stop !== 'tool_use' && !CUTS.has(String(stop))) say(`M10: a call and ${String(stop)}`)
    if (cutCall && !CUTS.has(String(stop))) say('M6i: input that is no JSON object')
    const output = isObject(data.usage) ? data.usage.output_tokens : undefined
    if (typeof output !== 'number') say('M8: message_delta without output_tokens')
    else if (output < firstOutput && output > 0) say('M8: output_tokens went down')
  }

  frames.forEach((frame, at) => {
    const say: Say = (text) => {
      wrong.push(`frame ${at}: ${text}`)
    }
    if (ended) {
      say('M9: comes after the end')
      return
    }
    const data = parseObject(frame.data)
    if (data === undefined) {
      say('M0: no JSON object')
      return
    }
    if (frame.event !== data.type) say(`M1: event ${frame.event} with type ${String(data.type)}`)
    if (!started && data.type !== 'message_start' && data.type !== 'error')
      say(`M2: ${String(data.type)} before the start`)
    switch (data.type) {
      case 'message_start':
        if (started) say('M3: a second message_start')
        started = true
        firstOutput = checkStart(say, isObject(data.message) ? data.message : {})
        break
      case 'content_block_start':
        if (stopped) say('M7: a block after message_delta')
        start(say, data)
        break
      case 'content_block_delta':
        delta(say, data)
        break
      case 'content_block_stop':
        end(say, data)
        break
      case 'message_delta':
        last(say, data)
        break
      case 'message_stop':
        if (!stopped) say('M7: message_stop before message_delta')
        ended = true
        break
      case 'error': {
        const error = isObject(data.error) ? data.error : {}
        if (typeof error.type !== 'string' || typeof error.message !== 'string') say('an error without type or message')
        if (stopped) say('an error after message_delta')
        ended = true
        break
      }
      case 'ping':
        break
      default:
        say(`M11: unknown event ${String(data.type)}`)
    }
  })
  if (!ended) wrong.push('M12: no end')
  return wrong
}

const checkStart = (say: Say, message: JsonObject): number => {
  if (typeof message.id !== 'string' || message.id === '') say('message without an id')
  if (message.type !== 'message' || message.role !== 'assistant') say('M3e: type or role')
  if (!Array.isArray(message.content) || message.content.length > 0) say('M3b: content is not []')
  if (message.stop_reason !== null || message.stop_sequence !== null)
    say('M3c: stop_reason or stop_sequence is not null')
  const usage = isObject(message.usage) ? message.usage : {}
  if (typeof usage.input_tokens !== 'number') say('M3d: no input_tokens')
  if (typeof usage.output_tokens !== 'number' || usage.output_tokens < 1) say('M3d: output_tokens')
  return typeof usage.output_tokens === 'number' ? usage.output_tokens : 0
}
