// A provider's stream as events of the IR.

import { brokenOff } from '../../ir/fold.ts'
import { isObject } from '../../ir/json.ts'
import { parseExact } from '../../lib/json-exact.ts'
import { parseBounded } from '../../lib/json-reader.ts'
import type { Frame } from '../../lib/sse.ts'
import type { EventDecoder, Undo } from '../codec.ts'
import { malformedAnswer } from '../pass.ts'
import { Reader } from './reader.ts'

export const decodeEvents = (undo: Undo = {}): EventDecoder => {
  const reader = new Reader(undo)
  // Some relays end behind the reason and the figures, as `[DONE]` is left out on the chat-completions wire.
  const mayEnd = (): boolean => reader.hasStopReason && reader.summed
  return {
    push: (frame) => {
      if (reader.over || frame.data === '[DONE]') return []
      let value: unknown
      try {
        value = parse(frame)
      } catch {
        return reader.fail(malformedAnswer())
      }
      if (!isObject(value)) return reader.fail(malformedAnswer())
      // Clients treat an end without a stop reason as a broken stream, and ask again.
      if ((value.type ?? frame.event) === 'message_stop' && !reader.hasStopReason) return reader.fail(brokenOff())
      return reader.read(value, frame.event)
    },
    end: () => (reader.over ? [] : mayEnd() ? reader.read({ type: 'message_stop' }) : reader.fail(brokenOff())),
    get mayEnd() {
      return mayEnd()
    },
    get summed() {
      return reader.summed
    },
    get complete() {
      return reader.hasStopReason
    },
    serverTools: reader.serverTools,
    get rawUsage() {
      return reader.rawUsage
    },
    get serviceTier() {
      return reader.serviceTier
    },
  }
}

/** A start may hold a call's whole input, whose large integers must keep all their digits. */
const parse = ({ event, data }: Frame): unknown =>
  event === undefined || event === 'content_block_start' || event === 'message_start'
    ? parseExact(data)
    : parseBounded(data)
