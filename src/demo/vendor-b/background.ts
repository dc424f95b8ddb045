// What vendor_b makes in the background: queued at first, in progress when first asked for, over from then on; streamed
// again from any event, ended early, removed.

import { asText, type JsonObject } from '../../ir/json.ts'
import { createRecent } from '../../lib/recent.ts'
import type { Kept } from '../vendor.ts'
import { invalid } from './error.ts'
import { begun } from './responses.ts'
import { playResponse } from './responses-stream.ts'

type Made = { response: JsonObject; input: JsonObject[]; status: 'queued' | 'in_progress' | 'over' | 'cancelled' }

export type Background = {
  /** Gives the response as it is answered with: `played` to its end, or queued. */
  begin(response: JsonObject, input: JsonObject[], played: boolean): JsonObject
  /** Undefined for a path that is no answer's. Throws `VendorError`. */
  serve(method: string, path: string, query: URLSearchParams): Kept | undefined
}

const PATH = /^\/v1\/responses\/([^/]+)(?:\/(cancel|input_items))?$/

export const createBackground = (): Background => {
  const answers = createRecent<string, Made>(200)
  const removed = createRecent<string, true>(200)

  const find = (id: string): Made => {
    const made = removed.get(id) === undefined ? answers.get(id) : undefined
    if (made === undefined) throw invalid(`Response with id '${id}' not found.`, null, null, 404)
    return made
  }

  const shown = ({ response, status }: Made): JsonObject =>
    status === 'over' ? response : { ...begun(response), status }

  return {
    begin(response, input, played) {
      const made: Made = { response: { ...response, background: true }, input, status: played ? 'over' : 'queued' }
      answers.set(asText(response.id), made)
      return shown(made)
    },
    serve(method, path, query) {
      const [, id, below] = PATH.exec(path) ?? []
      if (id === undefined || id === 'input_tokens' || id === 'compact') return undefined
      const made = find(id)
      if (method === 'DELETE' && below === undefined) {
        removed.set(id, true)
        return { body: { id, object: 'response', deleted: true } }
      }
      if (method === 'POST' && below === 'cancel') {
        if (made.status !== 'over') made.status = 'cancelled'
        return { body: shown(made) }
      }
      if (method !== 'GET' || below === 'cancel') return undefined
      if (below === 'input_items') return { body: { object: 'list', data: made.input, has_more: false } }
      if (query.get('stream') === 'true') {
        if (made.status !== 'cancelled') made.status = 'over'
        const after = Number(query.get('starting_after') ?? -1)
        return { frames: [...playResponse(made.response, false)].slice(after + 1) }
      }
      const body = shown(made)
      if (made.status === 'queued') made.status = 'in_progress'
      else if (made.status === 'in_progress') made.status = 'over'
      return { body }
    },
  }
}
