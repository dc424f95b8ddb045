// Members that the IR has no word for: kept on their way in; on their way out put back, carried, listed or refused.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ChatRequest, OpaqueMember } from '../../ir/request.ts'
import { leaveOut, SHARED } from '../opaque-member.ts'
import { given } from '../read.ts'
import type { Outgoing } from './outgoing.ts'

/** Keeps what `known` does not name of the object at `path`: a request means the same without it. */
export const keepRest = (
  object: JsonObject,
  known: ReadonlySet<string>,
  path: string,
  opaque: OpaqueMember[],
): void => {
  for (const [member, value] of Object.entries(object)) {
    if (!known.has(member) && given(value)) opaque.push({ name: `${path}.${member}`, value, essential: false })
  }
}

/** Our own client's members go back where they were; another wire's are listed, or refused where they matter. */
export const encodeOpaque = (request: ChatRequest, body: JsonObject, out: Outgoing): void => {
  for (const member of request.opaque) {
    const { name, value } = member
    if (out.own) {
      // What stood within the input is in its turn.
      if (!name.startsWith('input.')) putBack(body, name.split('.'), value)
    } else if (request.origin === 'chat-completions' && SHARED.has(name)) {
      if (name !== 'stream_options') body[name] = value
      else if (request.stream && isObject(value) && value.include_obfuscation !== undefined)
        body[name] = { include_obfuscation: value.include_obfuscation }
    } else {
      leaveOut(member, out.drop)
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
