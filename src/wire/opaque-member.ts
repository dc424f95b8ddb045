// Members of a request that its provider does not take: of another wire, or refused.

import { GatewayError } from '../errors.ts'
import type { Json, JsonObject } from '../ir/json.ts'
import type { Quirks } from '../ir/quirks.ts'
import type { OpaqueMember } from '../ir/request.ts'

/** Members that both of vendor_b's text wires have, under one name and with one meaning. */
export const SHARED: ReadonlySet<string> = new Set([
  'store',
  'safety_identifier',
  'moderation',
  'prompt_cache_retention',
  'prompt_cache_options',
  'stream_options',
])

/** Leaves the member out, and lists it with `drop`. Throws `invalid_request` where the request depends on it. */
export const leaveOut = (
  { name, essential, details, advice, met }: OpaqueMember,
  drop: (name: string) => void,
): void => {
  if (met) return
  if (!essential) {
    drop(name)
    return
  }
  throw new GatewayError(
    'invalid_request',
    `'${name}' cannot be used with this model. ${advice ?? 'Leave it out, or use a model whose provider has it.'}`,
    { param: name, ...(details === undefined ? {} : { details }) },
  )
}

/** Removes the members of an encoded body that the provider refuses. `drop` is called with each. */
export const removeRefused = (
  body: JsonObject,
  { rejects = [] }: Quirks,
  drop: (name: string, value: Json) => void,
): void => {
  for (const name of rejects) {
    const value = body[name]
    if (value === undefined) continue
    delete body[name]
    drop(name, value)
  }
}
