// Members of a request that its provider does not take: of another wire, or refused.

import { GatewayError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { OpaqueMember } from '../../ir/request.ts'
import { type Place, placesOf, removeMembers, shownPath, valueAt } from './member-path.ts'
import { HASHED_USER } from './wishes.ts'

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

/** The members that identify a user. */
const USERS = ['user', 'safety_identifier', 'metadata.user_id']

/** Where a body names its user in a form that is no digest, and the digest. */
export const usersIn = (body: JsonObject): { path: string; place: Place; digest: string }[] =>
  USERS.flatMap((path) =>
    placesOf(body, path).flatMap((place) => {
      const user = valueAt(body, place)
      return typeof user === 'string' && !HASHED_USER.test(user) ? [{ path, place, digest: hashedUser(user) }] : []
    }),
  )

const hashedUser = (user: string): string =>
  `u_${BigInt(`0x${new Bun.CryptoHasher('sha256').update(user).digest('hex')}`)
    .toString(36)
    .slice(0, 22)
    .padStart(22, '0')}`

/** Removes the members of an encoded body that the provider refuses, and hashes those it takes hashed. `drop` is called with each. */
export const removeRefused = (
  body: JsonObject,
  { rejects = [], hashesUsers }: Quirks,
  drop: (name: string, value: Json) => void,
): void => {
  for (const path of rejects) {
    const [value] = removeMembers(body, path)
    if (value !== undefined) drop(shownPath(path), value)
  }
  if (hashesUsers !== true) return
  for (const { path, place, digest } of usersIn(body)) {
    const holder = valueAt(body, place.slice(0, -1))
    const name = place.at(-1)
    if (isObject(holder) && typeof name === 'string') holder[name] = digest
    drop(path, digest)
  }
}
