// Watches an images stream that passes through: partial images, then for each image a completed event with its usage.

import { isObject, type JsonObject, parseObject } from '../../ir/json.ts'
import { sum } from '../../ir/usage.ts'
import { findMember } from '../../lib/json-scan.ts'
import { splice } from '../../lib/json-splice.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { errorFrame, isToldError, malformedAnswer, openNotes } from '../pass.ts'
import { decodeError } from '../refusal/error-object.ts'
import { isCompleted } from './frames.ts'
import { decodeUsage } from './usage.ts'

export const tap = (options: TapOptions): Tap => {
  const noted = openNotes()
  const reports: JsonObject[] = []
  const expected = options.images ?? 1
  const pictures = { come: 0, told: 0 }
  let images = 0

  const completed = ({ usage }: JsonObject): void => {
    images++
    pictures.come = images
    if (images === expected) noted.state = 'done'
    const read = decodeUsage(usage)
    noted.summed = read?.output !== undefined
    // Servers that tell it only once count all images together.
    if (noted.summed) pictures.told = images
    if (!isObject(usage)) return
    reports.push(usage)
    noted.usage = sum(noted.usage, read)
    noted.rawUsage = reports.length === 1 ? usage : { images: reports }
  }

  const see = (frame: Frame): string => {
    if (noted.state !== 'open') return ''
    const data = parseObject(frame.data)
    if (data === undefined) return frame.data === '[DONE]' ? '' : noted.failed(malformedAnswer())
    const type = typeof data.type === 'string' ? data.type : frame.event
    if (type === 'error' || isToldError(data.error)) return noted.failed(decodeError(200, data))
    noted.begun = true
    if (isCompleted(type)) completed(data)
    else if (type?.endsWith('.partial_image') === true) pictures.come = images + 1
    if (findMember(frame.data, 'model') === undefined) return writeFrame(frame)
    return writeFrame({
      ...frame,
      data: splice(frame.data, [{ path: ['model'], value: JSON.stringify(options.model) }]),
    })
  }

  return Object.assign(noted, {
    see,
    pictures,
    // A provider may make fewer images than the client asked for, but none in part.
    end: () => {
      if (images > 0 && pictures.come === images && noted.state === 'open') noted.state = 'done'
      return ''
    },
    fail: errorFrame,
  })
}
