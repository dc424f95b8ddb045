// The wire's events on a WebSocket: what clients send, and what answers have there that are no events of a stream.

import { invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Edit } from '../../lib/json-splice.ts'
import type { Asked } from '../codec.ts'
import { finalResponse, initialResponse } from './answer.ts'

/** `lane`: the conversation within the connection, where its client names one. `warms`: only the prompt is to be got ready. */
type ClientEvent =
  | { type: 'create'; lane: string | undefined; warms: boolean }
  /** `id`: of the answer, where its client names one. */
  | { type: 'cancel'; lane: string | undefined; id: string | undefined }
  | { type: 'steer' | 'other' }

const MAX_LANE_CHARS = 256

/** Throws `invalid_request`. */
export const clientEvent = (event: JsonObject): ClientEvent => {
  const { type, generate, background } = event
  const lane = event.stream_id ?? undefined
  switch (type) {
    case 'response.create':
      requireLane(lane)
      if (background === true)
        throw invalidRequest('background: no answer is made in the background over a WebSocket.', 'background')
      return { type: 'create', lane, warms: generate === false }
    case 'response.cancel':
      requireLane(lane)
      return { type: 'cancel', lane, id: typeof event.response_id === 'string' ? event.response_id : undefined }
    case 'response.steer':
      return { type: 'steer' }
    default:
      if (typeof type === 'string' && type.startsWith('response.')) return { type: 'other' }
      throw invalidRequest("type: expected 'response.create'.", 'type')
  }
}

function requireLane(lane: Json | undefined): asserts lane is string | undefined {
  if (lane !== undefined && (typeof lane !== 'string' || lane.length > MAX_LANE_CHARS))
    throw invalidRequest(`stream_id: expected a text of at most ${MAX_LANE_CHARS} characters.`, 'stream_id')
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

const clientError = (status: number, code: string, message: string): JsonObject => ({
  type: 'error',
  status,
  error: { type: 'invalid_request_error', code, message, param: null },
})

/** What ends an answer that its client has cancelled: by an error its clients know that nothing more of it comes. */
export const cancelled = (lane: string | undefined): string =>
  onLane(
    JSON.stringify(
      clientError(499, 'response_cancelled', 'The answer was cancelled. Send the next response.create to go on.'),
    ),
    lane,
  )

/** By the code of the vendor's protocol that has this event. */
export const nothingToCancel = (lane: string | undefined): string =>
  onLane(
    JSON.stringify(
      clientError(
        400,
        'response_cancel_not_active',
        'There is no answer under way to cancel: it is over, or of another stream_id or response_id. One made in the background is cancelled by POST /v1/responses/{id}/cancel.',
      ),
    ),
    lane,
  )

/** The connection is as old as it may become: clients open another one. */
export const tooOld = (minutes: number): string =>
  JSON.stringify(
    clientError(
      400,
      'websocket_connection_limit_reached',
      `Responses websocket connection limit reached (${minutes} minutes). Create a new websocket connection to continue.`,
    ),
  )

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
