// The wire's events on a WebSocket: what clients send, and what answers have there that are no events of a stream.

import { invalidRequest } from '../../errors.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Edit } from '../../lib/json-splice.ts'
import type { Asked } from '../codec.ts'
import { finalResponse, initialResponse } from './answer.ts'

/** `lane`: the conversation within the connection, where its client names one. `warms`: only the prompt is to be got ready. */
export type ClientEvent = { type: 'create'; lane: string | undefined; warms: boolean } | { type: 'steer' | 'other' }

const MAX_LANE_CHARS = 256

/** Throws `invalid_request`. */
export const clientEvent = (event: unknown): ClientEvent => {
  if (!isObject(event)) throw invalidRequest('An event must be a JSON object.')
  const { type, stream_id: lane, generate, background } = event
  switch (type) {
    case 'response.create':
      if (lane !== undefined && (typeof lane !== 'string' || lane.length > MAX_LANE_CHARS))
        throw invalidRequest(`stream_id: expected a text of at most ${MAX_LANE_CHARS} characters.`, 'stream_id')
      if (background === true)
        throw invalidRequest('background: no answer is made in the background over a WebSocket.', 'background')
      return { type: 'create', lane, warms: generate === false }
    case 'response.steer':
      return { type: 'steer' }
    default:
      if (typeof type === 'string' && type.startsWith('response.')) return { type: 'other' }
      throw invalidRequest("type: expected 'response.create'.", 'type')
  }
}

/** The edits that make an event's text the body of a request. */
export const BODY_EDITS: readonly Edit[] = [
  { path: ['type'], value: undefined },
  { path: ['stream_id'], value: undefined },
  { path: ['generate'], value: undefined },
  { path: ['stream'], value: 'true' },
]

/** An event's text, said of a lane. */
export const onLane = (text: string, lane: string | undefined): string =>
  lane === undefined ? text : `{"stream_id":${JSON.stringify(lane)},${text.trimStart().slice(1)}`

/** The text of an error that is no answer's: what would have been the response to a request. */
export const errorEvent = (
  { status, body, headers }: { status: number; body: JsonObject; headers: Readonly<Record<string, string>> },
  lane: string | undefined,
): string => {
  const error = isObject(body.error) ? body.error : {}
  const isLost = error.param === 'previous_response_id' && (status === 400 || status === 404)
  // By these words clients know that all of the conversation is to be sent again.
  const named = isLost ? { ...error, code: 'previous_response_not_found' } : error
  return onLane(JSON.stringify({ ...body, type: 'error', status, error: named, headers }), lane)
}

/** The connection is as old as it may become: clients open another one. */
export const tooOld = (minutes: number): string =>
  JSON.stringify({
    type: 'error',
    status: 400,
    error: {
      type: 'invalid_request_error',
      code: 'websocket_connection_limit_reached',
      message: `Responses websocket connection limit reached (${minutes} minutes). Create a new websocket connection to continue.`,
      param: null,
    },
  })

/** What is said in the middle of an answer is no part of it here: its client is to send it with the next request. */
export const steerFailed = (event: JsonObject): string =>
  JSON.stringify({
    type: 'response.steer.failed',
    sequence_number: 0,
    steer: { input: event.input ?? [], previous_response_id: event.previous_response_id ?? null },
    error: {
      type: 'invalid_request_error',
      code: 'steering_not_supported',
      message: 'Answers are not steered here. Send it with the next response.create.',
    },
  })

/** The texts of the events of an answer without output, whose request later ones go on from. */
export const warmedUp = (id: string, ask: Asked, body: JsonObject): { events: string[]; answer: JsonObject } => {
  const begun = { ...initialResponse(ask, body), id }
  const answer = finalResponse(begun, [], { reason: 'stop', usage: { input: 0, output: 0 } }, ask)
  const events = [
    { type: 'response.created', response: begun, sequence_number: 0 },
    { type: 'response.in_progress', response: begun, sequence_number: 1 },
    { type: 'response.completed', response: answer, sequence_number: 2 },
  ]
  return { events: events.map((event) => JSON.stringify(event)), answer }
}
