// What a key may be made of, checked where keys are issued and changed.

import { invalidRequest } from '../errors.ts'
import { isNetwork, MOST_NETWORKS } from '../lib/networks.ts'
import { isBlank, isPlainLabel } from '../lib/visible.ts'
import type { KeyPatch } from './key.ts'

/** Throws `invalid_request` for one that does not show as it is written. */
export const checkLabel = (label: string, of: 'key' | 'token'): void => {
  if (isPlainLabel(label)) return
  const fault = isBlank(label) ? 'must not be empty' : 'must not have line breaks or other invisible characters'
  throw invalidRequest(`The label of a ${of} ${fault}.`, 'label')
}

/** Whether a change may be known by that name, which goes in a header. */
export const isOnceName = (name: string): boolean => /^[\x20-\x7e]{1,255}$/.test(name) && name.trim() === name

/** Of a new key or a change. Throws `invalid_request` that names the member. */
export const checkKey = (patch: KeyPatch): void => {
  const { label, models, ips } = patch
  if (label !== undefined) checkLabel(label, 'key')
  if (models !== undefined && (models.length === 0 || models.some((model) => model.trim() === ''))) {
    throw invalidRequest('A key needs at least one model; "*" is every model.', 'models')
  }
  if (ips != null) checkNetworks(ips)
  for (const name of COUNTS) {
    const count = patch[name]
    if (count !== undefined && count !== null && !(Number.isSafeInteger(count) && count >= 0)) {
      throw invalidRequest(`The ${name} of a key must be a whole number, 0 or more.`, name)
    }
  }
}

const checkNetworks = (ips: readonly string[]): void => {
  const wrong = ips.find((each) => !isNetwork(each))
  if (wrong !== undefined)
    throw invalidRequest(
      `ips: found "${wrong.slice(0, 100)}", expected an address or a network, such as 203.0.113.7 or 10.0.0.0/8.`,
      'ips',
    )
  if (ips.length === 0 || ips.length > MOST_NETWORKS)
    throw invalidRequest(`ips: expected 1 to ${MOST_NETWORKS} addresses and networks; null is anywhere.`, 'ips')
}

const COUNTS = ['tokensTotal', 'addTokens', 'expiresAt', 'rpm', 'tpm', 'concurrency', 'tokensUsed'] as const
