// Watches a messages stream that passes through: usage from message_start and message_delta, the end, the failure.

import { isObject, type JsonObject } from '../../ir/json.ts'
import { splice } from '../../lib/json-splice.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { malformed, openNotes, parseData, textOf } from '../pass.ts'
import { decodeError, encodeError } from './error.ts'
import { decodeUsage } from './usage.ts'

export const tap = (options: TapOptions): Tap => {
  const noted = openNotes()
  let started = false

  const report = (raw: unknown): void => {
    if (!isObject(raw)) return
    noted.usage = { ...noted.usage, ...decodeUsage(raw) }
    noted.rawUsage = { ...noted.rawUsage, ...raw }
  }

  const start = (event: string, text: string, { message }: JsonObject): string => {
    // A second start is a restarted proxy upstream: clients refuse it.
    if (started) return ''
    started = true
    if (!isObject(message)) return writeFrame({ event, data: text })
    report(message.usage)
    const edits =
      message.model === undefined ? [] : [{ path: ['message', 'model'], value: JSON.stringify(options.model) }]
    return writeFrame({ event, data: splice(text, edits) })
  }

  const see = (frame: Frame): string => {
    if (noted.state !== 'open') return ''
    const data = parseData(frame.data)
    // A trailing [DONE] is another wire's habit: nothing is meant by it here.
    if (data === undefined) return frame.data === '[DONE]' ? '' : noted.failed(malformed())
    const event = frame.event ?? data.type
    if (typeof event !== 'string') return noted.failed(malformed())
    switch (event) {
      case 'content_block_delta':
        if (isObject(data.delta)) {
          const { text, partial_json: input, thinking } = data.delta
          noted.output.add(textOf(text) ?? textOf(input) ?? textOf(thinking))
        }
        break
      case 'message_start':
        return start(event, frame.data, data)
      case 'message_delta':
        report(data.usage)
        break
      case 'message_stop':
        noted.state = 'done'
        break
      case 'error':
        return noted.failed(decodeError(200, data))
      default:
        break
    }
    return writeFrame({ event, data: frame.data })
  }

  return Object.assign(noted, {
    see,
    fail: ((why, requestId) =>
      writeFrame({ event: 'error', data: JSON.stringify(encodeError(why, requestId)) })) satisfies Tap['fail'],
  })
}
