// Members that the IR does not model: kept when decoding; put back, carried over, listed as dropped or refused when
// encoding.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ChatRequest, OpaqueMember } from '../../ir/request.ts'
import { given } from '../read.ts'
import { leaveOut, SHARED } from '../refusal/opaque-member.ts'
import type { Outgoing } from './outgoing.ts'

/** Keeps the members of the object at `path` that are not in `known`, as ones the request does not depend on. */
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

/** Members of a client of this wire go back to their paths; another wire's are listed as dropped, or refused. */
export const encodeOpaque = (request: ChatRequest, body: JsonObject, out: Outgoing): void => {
  for (const member of request.opaque) {
    const { name, value } = member
    if (out.own) {
      // Of what stands within the input, items, parts and tools are kept in their turns.
      if (!name.startsWith('input.')) putBack(body, name.split('.'), value)
      else if (!member.met && !KEPT.test(name)) out.drop(name)
    } else if (request.origin === 'chat-completions' && SHARED.has(name)) {
      if (name !== 'stream_options') body[name] = value
      else if (isObject(value)) encodeStreaming(value, request.stream, body, out)
    } else {
      leaveOut(member, out.drop)
    }
  }
}

const encodeStreaming = (options: JsonObject, stream: boolean, body: JsonObject, out: Outgoing): void => {
  const { include_obfuscation: padding, ...rest } = options
  if (stream && padding !== undefined) body.stream_options = { include_obfuscation: padding }
  for (const name of Object.keys(rest)) out.drop(`stream_options.${name}`)
}

const KEPT = /\.\d+$|^input\.\d+\.tools\./

/** Sets a member by its path. Only `reasoning` and `text` are created where they are missing. */
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
