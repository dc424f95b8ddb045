// What a key may be made of, checked where keys are issued and changed.

import { invalidRequest } from '../errors.ts'
import type { KeyPatch } from './key.ts'

/** Of a new key or a change. Throws `invalid_request` that names the member. */
export const checkKey = (patch: KeyPatch): void => {
  const { label, models } = patch
  if (label !== undefined && label.trim() === '') throw invalidRequest('The label of a key must not be empty.', 'label')
  if (models !== undefined && (models.length === 0 || models.some((model) => model.trim() === ''))) {
    throw invalidRequest('A key needs at least one model; "*" is every model.', 'models')
  }
  for (const name of COUNTS) {
    const count = patch[name]
    if (count !== undefined && count !== null && !(Number.isSafeInteger(count) && count >= 0)) {
      throw invalidRequest(`The ${name} of a key must be a whole number, 0 or more.`, name)
    }
  }
}

const COUNTS = ['tokensTotal', 'addTokens', 'expiresAt', 'rpm', 'tpm', 'concurrency', 'tokensUsed'] as const
