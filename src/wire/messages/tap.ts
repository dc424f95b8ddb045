// Watches a messages stream that passes through: usage from message_start and message_delta, the end, the failure.

import type { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Usage } from '../../ir/usage.ts'
import { isClosedObject, rawString, splice } from '../../lib/json-splice.ts'
import { OutputText } from '../../lib/output-text.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { malformed, parseData } from '../pass.ts'
import { decodeError, encodeError } from './error.ts'
import { decodeUsage } from './usage.ts'

export const tap = (options: TapOptions): Tap => {
  const modelText = JSON.stringify(options.model)
  const output = new OutputText()
  let usage: Usage | undefined
  let rawUsage: JsonObject | undefined
  let state: Tap['state'] = 'open'
  let error: GatewayError | undefined
  let started = false

  const failed = (why: GatewayError): string => {
    state = 'failed'
    error = why
    return ''
  }

  const report = (raw: unknown): void => {
    if (!isObject(raw)) return
    usage = { ...usage, ...decodeUsage(raw) }
    rawUsage = { ...rawUsage, ...raw }
  }

  const start = (frame: Frame): string => {
    const data = parseData(frame.data)
    if (data === undefined) return failed(malformed())
    // A second start is a restarted proxy upstream: clients refuse it.
    if (started) return ''
    started = true
    const { message } = data
    if (!isObject(message)) return writeFrame(frame)
    report(message.usage)
    if (message.model === undefined) return writeFrame(frame)
    return writeFrame({ ...frame, data: splice(frame.data, [{ path: ['message', 'model'], value: modelText }]) })
  }

  const see = (frame: Frame): string => {
    if (state !== 'open') return ''
    const { data } = frame
    // A trailing [DONE] is another wire's habit: nothing is meant by it here.
    if (!isClosedObject(data)) return data === '[DONE]' ? '' : failed(malformed())
    const event = frame.event ?? parseData(data)?.type
    if (typeof event !== 'string') return failed(malformed())
    switch (event) {
      case 'content_block_delta':
        output.add(
          rawString(data, '"text":"') ?? rawString(data, '"partial_json":"') ?? rawString(data, '"thinking":"'),
        )
        break
      case 'message_start':
        return start(frame)
      case 'message_delta': {
        const parsed = parseData(data)
        if (parsed === undefined) return failed(malformed())
        report(parsed.usage)
        break
      }
      case 'message_stop':
        state = 'done'
        break
      case 'error':
        return failed(decodeError(200, parseData(data)))
      default:
        break
    }
    return writeFrame({ event, data })
  }

  return {
    see,
    output,
    get usage() {
      return usage
    },
    get rawUsage() {
      return rawUsage
    },
    get state() {
      return state
    },
    get error() {
      return error
    },
    fail: (why, requestId) => writeFrame({ event: 'error', data: JSON.stringify(encodeError(why, requestId)) }),
  }
}
