// What a client is told of a refusal that no other form of its request has helped: its own member that the provider has
// named, in the gateway's words.

import { GatewayError } from '../../errors.ts'
import { isChatWire, type Wire } from '../../ir/wire.ts'
import { asWritten, memberName } from '../../wire/refusal/member-names.ts'
import { type Place, pathOfPlace, valueAt } from '../../wire/refusal/member-path.ts'
import type { ClientRequest } from '../exchange.ts'
import type { Target } from '../target.ts'

/** Longer ones are cut: a client may name its members as it likes. */
const MOST_CHARS = 200

/** The error as it is, where the client cannot mend what is refused. */
export const toldOf = (error: GatewayError, request: ClientRequest, target: Target): GatewayError => {
  const { place, code, failover, advice = 'Leave it out, or change it.', provider = {} } = error
  if (place === undefined || place.length === 0 || code !== 'upstream_error' || failover) return error
  const param = clientsMember(place, request, target.wire)?.slice(0, MOST_CHARS)
  if (param === undefined) return error
  return new GatewayError(
    'invalid_request',
    `'${param}': the provider does not take this for the model as it stands. ${advice}`,
    { param, provider, retry: false },
  )
}

/** The client's path of what stands at that place of the body that was sent; undefined for what it has not written. */
const clientsMember = (
  place: Place,
  { bodyWire, body: { outline } }: ClientRequest,
  wire: Wire,
): string | undefined => {
  if (bodyWire === wire) {
    // In a form a list is written so.
    const listed = `${place[0]}[]`
    if (place.length === 1 && outline[listed] !== undefined) return listed
    return valueAt(outline, place) === undefined ? undefined : place.join('.')
  }
  if (!isChatWire(bodyWire) || !isChatWire(wire)) return undefined
  for (let length = place.length; length > 0; length--) {
    const path = pathOfPlace(place.slice(0, length)).replaceAll('.*', '')
    const name = asWritten(memberName(bodyWire, wire, path), outline)
    if (valueAt(outline, name.split('.')) !== undefined) return name
  }
  return undefined
}
