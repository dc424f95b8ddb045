// How an answer stands that its provider makes in the background.

import type { JsonObject } from '../../ir/json.ts'

/** `open`: not over yet. */
export type Standing = 'open' | 'done' | 'failed' | 'cancelled'

export const standingOf = ({ status }: JsonObject): Standing => {
  switch (status) {
    case 'queued':
    case 'in_progress':
      return 'open'
    case 'failed':
    case 'cancelled':
      return status
    default:
      return 'done'
  }
}
