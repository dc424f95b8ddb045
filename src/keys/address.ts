// Where a key may be used from.

import { GatewayError } from '../errors.ts'
import { networksOf } from '../lib/networks.ts'
import type { Key } from './key.ts'

/** Throws `permission_denied` where the key is for other networks, and where it is not known whence the request came. */
export const requireAddress = ({ ips }: Pick<Key, 'ips'>, address: string | undefined): void => {
  if (ips === undefined || (address !== undefined && networksOf(ips).has(address))) return
  throw new GatewayError(
    'permission_denied',
    `This key may not be used from ${address ?? 'an unknown address'}. Use it where it is meant to be used, or have those who run the gateway add this address to the key.`,
  )
}
