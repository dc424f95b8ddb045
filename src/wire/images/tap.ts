// Watches an images stream that passes through: partial images, then one completed event with the usage.

import type { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Usage } from '../../ir/usage.ts'
import { findMember, splice } from '../../lib/json-splice.ts'
import { OutputText } from '../../lib/output-text.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { malformed, parseData } from '../pass.ts'
import { decodeError, encodeError } from './error.ts'
import { decodeUsage } from './usage.ts'

export const tap = (options: TapOptions): Tap => {
  let usage: Usage | undefined
  let rawUsage: JsonObject | undefined
  let state: Tap['state'] = 'open'
  let error: GatewayError | undefined

  const failed = (why: GatewayError): string => {
    state = 'failed'
    error = why
    return ''
  }

  const see = (frame: Frame): string => {
    if (state !== 'open') return ''
    const data = parseData(frame.data)
    if (data === undefined) return frame.data === '[DONE]' ? '' : failed(malformed())
    const type = frame.event ?? data.type
    if (type === 'error' || isObject(data.error)) return failed(decodeError(200, data))
    if (type === 'image_generation.completed') {
      state = 'done'
      usage = decodeUsage(data.usage)
      if (isObject(data.usage)) rawUsage = data.usage
    }
    if (findMember(frame.data, 'model') === undefined) return writeFrame(frame)
    return writeFrame({
      ...frame,
      data: splice(frame.data, [{ path: ['model'], value: JSON.stringify(options.model) }]),
    })
  }

  return {
    see,
    output: new OutputText(),
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
    fail: (why) => writeFrame({ event: 'error', data: JSON.stringify(encodeError(why)) }),
  }
}
