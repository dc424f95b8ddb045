// Members that the IR has no word for, on their way out: back to where they were, carried, listed or refused.

import { type ErrorDetails, GatewayError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ChatRequest } from '../../ir/request.ts'
import type { Outgoing } from './outgoing.ts'

/** Members that the vendor's older wire has under the same name and meaning. */
const SHARED = new Set([
  'store',
  'safety_identifier',
  'moderation',
  'prompt_cache_retention',
  'prompt_cache_options',
  'stream_options',
])

/** Our own client's members go back where they were; another wire's are listed, or refused where they matter. */
export const encodeOpaque = (request: ChatRequest, body: JsonObject, out: Outgoing): void => {
  for (const { name, value, essential, details, advice, met } of request.opaque) {
    if (out.own) {
      // What stood within the input is in its turn.
      if (!name.startsWith('input.')) putBack(body, name.split('.'), value)
    } else if (request.origin === 'chat-completions' && SHARED.has(name)) {
      if (name !== 'stream_options') body[name] = value
      else if (request.stream && isObject(value) && value.include_obfuscation !== undefined)
        body[name] = { include_obfuscation: value.include_obfuscation }
    } else if (met) {
      // Nothing to say here.
    } else if (essential) {
      throw new GatewayError(
        'invalid_request',
        `'${name}' cannot be used with this model. ${advice ?? 'Leave it out, or use a model whose provider has it.'}`,
        {
          param: name,
          ...(details === undefined ? {} : { details: details as ErrorDetails }),
        },
      )
    } else {
      out.drop(name)
    }
  }
}

/** Sets a member by its path; objects missing on the way are made within `reasoning` and `text` alone. */
const putBack = (body: JsonObject, path: string[], value: Json): void => {
  const [first, ...rest] = path
  if (first === undefined) return
  if (rest.length === 0) {
    body[first] = value
    return
  }
  const inner = Object.hasOwn(body, first) ? body[first] : undefined
  if (Array.isArray(inner)) {
    const [at, ...deeper] = rest
    const item = inner[Number(at)]
    if (isObject(item) && deeper.length > 0) putBack(item, deeper, value)
  } else if (isObject(inner)) {
    putBack(inner, rest, value)
  } else if (first === 'reasoning' || first === 'text') {
    const made: JsonObject = {}
    body[first] = made
    putBack(made, rest, value)
  }
}
