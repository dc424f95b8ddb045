// A vendor that is set up by neutral words and turns out to be a real one: by its own names it is asked for what it has.

import { ownName } from '../../provider/own-names.ts'
import { PRESETS, presetNamed } from '../../provider/presets/index.ts'
import type { Target } from '../target.ts'

/**
 * The same target as one of the vendor whose version header its refusal misses; undefined where it is asked by names of
 * its own already.
 */
export const byOwnNames = (target: Target): Target | undefined => {
  const { provider, learned } = target
  if (provider.preset !== undefined || learned?.vendor !== undefined) return undefined
  if (provider.versionHeader?.name !== NEUTRAL_VERSION) return undefined
  const preset = PRESETS.find((one) => one.provider === provider.id)
  return preset && named({ ...target, learned: { ...learned, vendor: preset.name } })
}

const NEUTRAL_VERSION = 'vendorA-version'

/** With the names that the vendor has been found to want. A model that the configuration gives an id keeps it. */
export const named = (target: Target): Target => {
  const { provider, model, learned } = target
  const preset = learned?.vendor === undefined ? undefined : presetNamed(learned.vendor)
  if (preset === undefined) return target
  const upstream = model.upstream === model.id ? ownName(preset, provider.id, model.id)?.upstream : undefined
  return {
    ...target,
    provider: { ...provider, versionHeader: preset.versionHeader },
    model: { ...model, upstream: upstream ?? model.upstream },
  }
}
