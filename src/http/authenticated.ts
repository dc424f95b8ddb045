// The key a request shows, from where it may be used.

import type { Gateway } from '../gateway.ts'
import { requireAddress } from '../keys/address.ts'
import type { Key } from '../keys/key.ts'
import { clientAddress } from './address.ts'

/** Throws `missing_api_key`, `invalid_api_key`, or `permission_denied` for a key that is for other networks. */
export const authenticated = (gateway: Gateway, request: Request): Key => {
  const key = gateway.store.keys.authenticate(request.headers)
  if (key.ips !== undefined) requireAddress(key, clientAddress(gateway, request))
  return key
}
