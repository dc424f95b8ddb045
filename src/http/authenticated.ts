// The key a request shows, from where it may be used.

import type { Gateway } from '../gateway.ts'
import { requireAddress } from '../keys/address.ts'
import type { Key } from '../keys/key.ts'
import { requireInForce } from '../keys/status.ts'
import { type Known, onceKnown } from '../lib/known.ts'
import { clientAddress } from './address.ts'

/** Throws `missing_api_key`, `invalid_api_key`, or `permission_denied` for a key that is for other networks. */
export const authenticated = (gateway: Gateway, request: Request): Known<Key> =>
  onceKnown(gateway.store.keys.authenticate(request.headers), (key) => {
    if (key.ips !== undefined) requireAddress(key, clientAddress(gateway, request))
    return key
  })

/** What a client has shown before: the key, at how many changes of keys, from where. */
type Shown = { key: Key; changes: number; headers: Headers; address: string | undefined }

/** Throws as `authenticated` does where a key has expired or been revoked since it was shown, or its secret been replaced. */
export const requireShown = ({ store: { keys }, clock }: Gateway, { key, changes, headers, address }: Shown) =>
  keys.changes() === changes
    ? requireInForce(key, clock())
    : onceKnown(keys.authenticate(headers), (now) => requireAddress(now, address))
