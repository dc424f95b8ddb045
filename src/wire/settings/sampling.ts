// Sampling parameters with the vendors' defaults: leaving them out changes nothing, so they need not be listed.

import type { Sampling } from '../../ir/request.ts'

const DEFAULTS: Sampling = { temperature: 1, topP: 1, frequencyPenalty: 0, presencePenalty: 0 }

/** The parameters that differ from the defaults. */
export const withoutDefaults = (sampling: Sampling): Sampling => {
  const rest = { ...sampling }
  for (const name of ['temperature', 'topP', 'frequencyPenalty', 'presencePenalty'] as const)
    if (rest[name] === DEFAULTS[name]) delete rest[name]
  return rest
}
