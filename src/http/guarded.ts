// GET endpoints that need a key: authenticate, answer with JSON, and report errors in the envelope.

import type { Gateway } from '../gateway.ts'
import type { Key } from '../keys/key.ts'
import { authenticated } from './authenticated.ts'
import { errorResponse, reported, requestId } from './respond.ts'

export const guarded = async (
  gateway: Gateway,
  request: Request,
  answer: (key: Key) => object | Promise<object>,
): Promise<Response> => {
  const id = requestId()
  try {
    const key = await authenticated(gateway, request)
    return Response.json(await answer(key), { headers: { 'x-request-id': id, 'cache-control': 'no-store' } })
  } catch (thrown) {
    return errorResponse(reported(gateway.log, thrown, { request: id }), id, undefined)
  }
}
