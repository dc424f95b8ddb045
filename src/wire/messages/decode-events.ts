// A provider's stream as events of the IR.

import { GatewayError } from '../../errors.ts'
import { isObject } from '../../ir/json.ts'
import type { EventDecoder, Undo } from '../codec.ts'
import { broken, Reader } from './reader.ts'

export const decodeEvents = (undo: Undo = {}): EventDecoder => {
  const reader = new Reader(undo)
  return {
    push: ({ data, event }) => {
      if (reader.over || data === '[DONE]') return []
      let value: unknown
      try {
        value = JSON.parse(data)
      } catch {
        return reader.fail(broken())
      }
      return isObject(value) ? reader.read(value, event) : reader.fail(broken())
    },
    end: () => (reader.over ? [] : reader.fail(new GatewayError('upstream_error', CUT))),
  }
}

const CUT = 'The answer of the provider broke off before its end. Try again.'
