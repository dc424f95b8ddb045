// Watches a responses stream that passes through: the model id in every event that holds the response, the usage of
// its terminal event, the failure.

import type { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Usage } from '../../ir/usage.ts'
import { isClosedObject, rawString, splice } from '../../lib/json-splice.ts'
import { OutputText } from '../../lib/output-text.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { malformed, parseData } from '../pass.ts'
import { decodeError } from './error.ts'
import { failureFrames } from './failure-frames.ts'
import { decodeUsage } from './usage.ts'

export const tap = (options: TapOptions): Tap => {
  const modelText = JSON.stringify(options.model)
  const output = new OutputText()
  let usage: Usage | undefined
  let rawUsage: JsonObject | undefined
  let state: Tap['state'] = 'open'
  let error: GatewayError | undefined
  let last = ''
  let identity: { id: string; createdAt: number } | undefined

  const failed = (why: GatewayError): string => {
    state = 'failed'
    error = why
    return ''
  }

  /** An event that holds the whole response as it stands. */
  const whole = (frame: Frame, type: unknown): string => {
    const { response } = parseData(frame.data) ?? {}
    if (!isObject(response)) return failed(malformed())
    if (type === 'response.failed') return failed(decodeError(200, response))
    if (identity === undefined && typeof response.id === 'string') {
      identity = {
        id: response.id,
        createdAt: typeof response.created_at === 'number' ? response.created_at : options.now,
      }
    }
    if (isObject(response.usage)) {
      usage = decodeUsage(response.usage)
      rawUsage = response.usage
    }
    if (type === 'response.completed' || type === 'response.incomplete') state = 'done'
    if (response.model === undefined) return writeFrame(frame)
    return writeFrame({ ...frame, data: splice(frame.data, [{ path: ['response', 'model'], value: modelText }]) })
  }

  const see = (frame: Frame): string => {
    if (state !== 'open') return ''
    const { data } = frame
    const type = frame.event ?? parseData(data)?.type
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        last = data
        return whole(frame, type)
      case 'error':
        return failed(decodeError(200, parseData(data)))
      default:
        // The SDKs' own end marker of another wire: whatever follows would be lost on them.
        if (data === '[DONE]') return ''
        if (!isClosedObject(data)) return failed(malformed())
        last = data
        output.add(rawString(data, '"delta":"'))
        return frame.event === undefined ? writeFrame({ event: String(type), data }) : writeFrame(frame)
    }
  }

  const nextSequence = (): number => {
    const seen = parseData(last)?.sequence_number
    return typeof seen === 'number' ? seen + 1 : 0
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
    fail: (why, requestId) =>
      failureFrames(why, {
        id: identity?.id ?? `resp_${requestId.replace(/[^A-Za-z0-9]/g, '')}`,
        createdAt: identity?.createdAt ?? options.now,
        model: options.model,
        sequence: nextSequence(),
        started: identity !== undefined,
      }),
  }
}
