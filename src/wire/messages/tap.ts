// Watches a messages stream that passes through: usage from message_start and message_delta, the end, the failure.

import { brokenOff } from '../../ir/fold.ts'
import { isObject, type JsonObject, parseObject } from '../../ir/json.ts'
import { FrameTemplate } from '../../lib/frame-template.ts'
import { type Edit, splice } from '../../lib/json-splice.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { isToldError, malformedAnswer, noAnswer, openNotes, saysMore, textOf } from '../pass.ts'
import { halfCall } from '../tools/half-call.ts'
import { callsInAnswer, countCalls } from '../tools/server-calls.ts'
import { wordOf } from '../turns/ending.ts'
import { decodeError, encodeError, failureIn } from './error.ts'
import { mended } from './stop.ts'
import { decodeUsage, tierIn, withReport } from './usage.ts'

export const tap = (options: TapOptions): Tap => {
  const noted = openNotes()
  const template = new FrameTemplate()
  let started = false
  let hasContent = false
  noted.summed = false
  const call = halfCall()

  const report = (raw: unknown): void => {
    if (!isObject(raw)) return
    noted.rawUsage = withReport(noted.rawUsage, raw)
    noted.usage = decodeUsage(noted.rawUsage)
    noted.serviceTier = tierIn(noted.rawUsage)
  }

  const start = (event: string, text: string, { message }: JsonObject): string => {
    // Clients refuse a second start, as a proxy sends after a restart: after content, it would repeat all of it.
    if (started) return hasContent ? noted.failed(malformedAnswer()) : ''
    started = true
    if (!isObject(message)) return writeFrame({ event, data: text })
    noted.answerId = textOf(message.id)
    report(message.usage)
    // Blocks that it already has are not begun again.
    noted.serverTools = callsInAnswer(message)
    // A start with a stop reason holds a whole message.
    if (typeof message.stop_reason === 'string') noted.summed = noted.complete = noted.begun = true
    const edits =
      message.model === undefined ? [] : [{ path: ['message', 'model'], value: JSON.stringify(options.model) }]
    return writeFrame({ event, data: splice(text, edits) })
  }

  const delta = (event: string, frame: Frame, { delta }: JsonObject): string => {
    const out = writeFrame({ event, data: frame.data })
    if (!isObject(delta)) return out
    noted.begun ||= saysMore(delta, NAMING)
    const member = OUTPUT.find((name) => typeof delta[name] === 'string')
    if (member === undefined) return out
    noted.output.add(textOf(delta[member]))
    if (member === 'partial_json') call.add(textOf(delta[member]))
    if (noted.begun) template.learn(frame, ['delta', member], out)
    return out
  }

  const endEdits = ({ delta }: JsonObject): Edit[] => {
    const cut = call.breaksOff && (noted.usage?.output ?? 0) >= (options.cap ?? Number.POSITIVE_INFINITY)
    const reason = isObject(delta) ? mended(delta, cut) : undefined
    return reason === undefined ? [] : [{ path: ['delta', 'stop_reason'], value: JSON.stringify(reason) }]
  }

  const see = (frame: Frame): string => {
    if (noted.state !== 'open') return ''
    const match = template.match(frame)
    if (match !== undefined) {
      noted.output.add(match.text)
      call.add(match.text)
      return match.out
    }
    const data = parseObject(frame.data)
    // Some providers end with the [DONE] of another wire: it is ignored.
    if (data === undefined) return frame.data === '[DONE]' ? '' : noted.failed(malformedAnswer())
    const event = typeof data.type === 'string' ? data.type : frame.event
    if (event === undefined) return noted.failed(noAnswer(data, decodeError))
    switch (event) {
      case 'content_block_start':
        hasContent = true
        if (isObject(data.content_block)) {
          countCalls([data.content_block], noted.serverTools)
          noted.output.add(textOf(data.content_block.text))
          noted.begun ||= saysMore(data.content_block, NAMING)
        }
        call.begin(isObject(data.content_block) && data.content_block.type === 'tool_use')
        break
      case 'content_block_delta':
        hasContent = true
        return delta(event, frame, data)
      case 'message_start':
        return start(event, frame.data, data)
      case 'message_delta':
        noted.begun = true
        report(data.usage)
        if (decodeUsage(data.usage)?.output !== undefined) noted.summed = true
        if (isObject(data.delta)) {
          const failure = failureIn(data.delta)
          if (failure !== undefined) return noted.failed(failure)
          noted.complete ||= typeof data.delta.stop_reason === 'string' || wordOf(data.delta.stop_reason) !== ''
        }
        return writeFrame({ event, data: splice(frame.data, endEdits(data)) })
      case 'message_stop':
        // Clients treat an end without a stop reason as a broken stream, and ask again.
        if (!noted.complete) return noted.failed(brokenOff())
        noted.state = 'done'
        break
      case 'error':
        return noted.failed(decodeError(200, data))
      default:
        // Some providers send their error without naming the event.
        if (isToldError(data.error)) return noted.failed(decodeError(200, data))
    }
    return writeFrame({ event, data: frame.data })
  }

  return Object.assign(noted, {
    see,
    end: (() => (noted.state === 'open' && noted.complete && noted.summed ? see(STOP) : '')) satisfies Tap['end'],
    fail: ((why, requestId) =>
      writeFrame({ event: 'error', data: JSON.stringify(encodeError(why, requestId)) })) satisfies Tap['fail'],
  })
}

const STOP: Frame = { event: 'message_stop', data: '{"type":"message_stop"}' }

/** What says of a block or a delta only which it is. */
const NAMING: ReadonlySet<string> = new Set(['type'])

/** The members of a delta that hold output. */
const OUTPUT = ['text', 'partial_json', 'thinking'] as const
