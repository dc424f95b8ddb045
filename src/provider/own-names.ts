// What a vendor calls the models of the contract itself: brand and rest, or an id of its own.

import type { Preset, PresetModel } from './preset.ts'
import { neutralWord } from './provider.ts'

/** `known`: what the preset says of it; undefined where the vendor is not known to have it. */
type OwnName = { name: string; upstream: string; known: PresetModel | undefined }

/** Of a model of the contract's by its vendor and its neutral id; undefined where the preset has no word for it. */
export const ownName = (preset: Preset, vendor: string, id: string): OwnName | undefined => {
  const brand = ofVendor(preset.brand, vendor)
  const neutral = `${neutralWord(vendor)}-`
  if (brand === undefined || !id.startsWith(neutral)) return undefined
  const name = `${brand}-${id.slice(neutral.length)}`
  const known = preset.models.find((model) => model.id === name)
  return { name, upstream: known?.upstream ?? known?.id ?? (ofVendor(preset.prefix, vendor) ?? '') + name, known }
}

/** The word that stands for the neutral one where a vendor of the contract is set up with a preset. */
export const brandAt = ({ brand }: Preset, vendor: string): string | undefined => ofVendor(brand, vendor)

const ofVendor = (by: { vendor_a?: string; vendor_b?: string } | undefined, vendor: string): string | undefined =>
  vendor === 'vendor_a' || vendor === 'vendor_b' ? by?.[vendor] : undefined
