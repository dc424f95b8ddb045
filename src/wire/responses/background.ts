// An answer that its provider makes in the background: how it stands, and as what its client is shown it.

import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Edit } from '../../lib/json-splice.ts'
import { given } from '../read.ts'
import { decodeError } from './error.ts'
import { failureOf } from './failure-frames.ts'

/** `open`: not over yet. */
export type Standing = 'open' | 'done' | 'failed' | 'cancelled'

/** Undefined for what is no answer. */
export const standingOf = ({ status, usage, output }: JsonObject): Standing | undefined => {
  switch (status) {
    case 'queued':
    case 'in_progress':
      return 'open'
    case 'completed':
    case 'incomplete':
      return 'done'
    case 'failed':
    case 'cancelled':
      return status
    case undefined:
      return Array.isArray(output) ? 'done' : undefined
    default:
      // A provider's own word: figures are given at the end.
      return isObject(usage) ? 'done' : 'open'
  }
}

/** An answer in the background that has only been begun: it may have no output yet. */
export const isBegun = ({ background, status, error, output }: JsonObject): boolean =>
  background === true && (status === 'queued' || status === 'in_progress') && !given(error) && !given(output)

/** Makes an answer as its provider has it the client's: our name of the model, our words for why it failed. */
export const clientEdits = (body: JsonObject, model: string): Edit[] => [
  ...(body.model === undefined ? [] : [{ path: ['model'], value: JSON.stringify(model) }]),
  ...(isObject(body.error) ? [{ path: ['error'], value: JSON.stringify(failureOf(decodeError(200, body))) }] : []),
]
