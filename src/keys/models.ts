// The models of a key as people write them, in the catalogue's words.

import { permits } from './key.ts'

/** What a catalogue and its configuration know of names. */
export type Names = {
  all(): readonly { id: string }[]
  resolve(name: string): { id: string } | undefined
}
type BrandWord = { neutral: string; branded: string }

/**
 * Names are resolved like a client's; patterns are kept, a branded one in the neutral word that ids have. `unknown` is
 * the first name or pattern that no model has.
 */
export const namedModels = (
  catalogue: Names,
  brands: readonly BrandWord[],
  names: readonly string[],
): { models: string[] } | { unknown: string } => {
  const models = new Set<string>()
  for (const given of names) {
    const name = given.trim()
    const found = name.includes('*') ? pattern(catalogue, brands, name) : catalogue.resolve(name)?.id
    if (found === undefined) return { unknown: name }
    models.add(found)
  }
  return { models: [...models] }
}

const pattern = (catalogue: Names, brands: readonly BrandWord[], written: string): string | undefined => {
  const brand = brands.find(({ branded }) => written.startsWith(`${branded}-`))
  const models = [brand === undefined ? written : brand.neutral + written.slice(brand.branded.length)]
  return catalogue.all().some(({ id }) => permits({ models }, id)) ? models[0] : undefined
}
