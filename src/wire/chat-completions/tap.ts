// Watches a chat-completions stream that passes through: the model id in every chunk, the usage chunk we asked for,
// the end and the failure. A stream reads as it would without us: usage shows only to clients that asked for it.

import type { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Usage } from '../../ir/usage.ts'
import { findMember, isClosedObject, rawString, splice } from '../../lib/json-splice.ts'
import { OutputText } from '../../lib/output-text.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { malformed, parseData } from '../pass.ts'
import { decodeError, encodeError } from './error.ts'
import { decodeUsage } from './usage.ts'

const NO_USAGE = '"usage":null'

export const tap = (options: TapOptions): Tap => {
  const modelText = JSON.stringify(options.model)
  const output = new OutputText()
  let usage: Usage | undefined
  let rawUsage: JsonObject | undefined
  let state: Tap['state'] = 'open'
  let error: GatewayError | undefined
  // Chunks of one stream begin alike up to their model: the spot is looked up once and then recognised.
  let prefix = ''
  let renamed = ''

  const failed = (why: GatewayError): string => {
    state = 'failed'
    error = why
    return ''
  }

  const rename = (data: string): string => {
    if (prefix !== '' && data.startsWith(prefix)) return renamed + data.slice(prefix.length)
    const span = findMember(data, 'model')
    if (span === undefined) return data
    prefix = data.slice(0, span.end)
    renamed = data.slice(0, span.start) + modelText
    return renamed + data.slice(span.end)
  }

  /** A chunk that carries figures: noted, and shown as far as the client asked. */
  const withUsage = (data: string): string => {
    const chunk = parseData(data)
    if (chunk === undefined) return failed(malformed())
    if (isObject(chunk.usage)) {
      usage = decodeUsage(chunk.usage)
      rawUsage = chunk.usage
      if (options.includeUsage) return data
      if (Array.isArray(chunk.choices) && chunk.choices.length === 0) return ''
    }
    return options.includeUsage ? data : splice(data, [{ path: ['usage'], value: undefined }])
  }

  const see = (frame: Frame): string => {
    if (state !== 'open') return ''
    let { data } = frame
    if (data === '[DONE]') {
      state = 'done'
      return writeFrame({ data })
    }
    if (frame.event === 'error' || !data.includes('"choices"')) {
      const parsed = parseData(data)
      if (parsed === undefined) return failed(malformed())
      if (frame.event === 'error' || isObject(parsed.error)) return failed(decodeError(200, parsed))
    }
    if (!isClosedObject(data)) return failed(malformed())
    output.add(
      rawString(data, '"content":"') ?? rawString(data, '"arguments":"') ?? rawString(data, '"reasoning_content":"'),
    )
    if (data.includes('"usage"')) {
      const none = options.includeUsage ? -1 : data.indexOf(`,${NO_USAGE}`)
      if (none !== -1) data = data.slice(0, none) + data.slice(none + NO_USAGE.length + 1)
      else if (!options.includeUsage || !data.includes(NO_USAGE)) data = withUsage(data)
      if (data === '') return ''
    }
    return writeFrame({ ...frame, data: rename(data) })
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
