// Watches an images stream that passes through: partial images, then one completed event with the usage.

import { isObject } from '../../ir/json.ts'
import { findMember, splice } from '../../lib/json-splice.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { malformed, openNotes, parseData } from '../pass.ts'
import { decodeError, encodeError } from './error.ts'
import { decodeUsage } from './usage.ts'

export const tap = (options: TapOptions): Tap => {
  const noted = openNotes()

  const see = (frame: Frame): string => {
    if (noted.state !== 'open') return ''
    const data = parseData(frame.data)
    if (data === undefined) return frame.data === '[DONE]' ? '' : noted.failed(malformed())
    const type = frame.event ?? data.type
    if (type === 'error' || isObject(data.error)) return noted.failed(decodeError(200, data))
    if (type === 'image_generation.completed') {
      noted.state = 'done'
      noted.usage = decodeUsage(data.usage)
      if (isObject(data.usage)) noted.rawUsage = data.usage
    }
    if (findMember(frame.data, 'model') === undefined) return writeFrame(frame)
    return writeFrame({
      ...frame,
      data: splice(frame.data, [{ path: ['model'], value: JSON.stringify(options.model) }]),
    })
  }

  return Object.assign(noted, {
    see,
    fail: ((why) => writeFrame({ event: 'error', data: JSON.stringify(encodeError(why)) })) satisfies Tap['fail'],
  })
}
