// An answer that the provider makes in the background: its state, and the edits before a client gets it.

import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Edit } from '../../lib/json-splice.ts'
import { isToldError } from '../pass.ts'
import { given } from '../read.ts'
import { decodeError } from './error.ts'
import { failureOf } from './failure-frames.ts'

/** `open`: not finished. */
export type AnswerState = 'open' | 'done' | 'failed' | 'cancelled'

/** Undefined for a body that is not an answer. */
export const answerStateOf = ({ status, usage, output }: JsonObject): AnswerState | undefined => {
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
      // A status unknown to the wire: usage is only reported at the end.
      return isObject(usage) ? 'done' : 'open'
  }
}

/** Whether a body is an answer that was only started in the background, and has no output yet. */
export const isBegun = ({ background, status, error, output }: JsonObject): boolean =>
  background === true && (status === 'queued' || status === 'in_progress') && !given(error) && !given(output)

/** The edits of a provider's answer for its client: the gateway's id of the model, and its own error. */
export const clientEdits = (body: JsonObject, model: string): Edit[] => [
  ...(body.model === undefined ? [] : [{ path: ['model'], value: JSON.stringify(model) }]),
  ...(isToldError(body.error) ? [{ path: ['error'], value: JSON.stringify(failureOf(decodeError(200, body))) }] : []),
]
