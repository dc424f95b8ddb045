// The models of a key as people write them, in the catalogue's words.

import type { Catalogue } from '../../catalogue/catalogue.ts'
import { invalidRequest } from '../../errors.ts'

/** Names are resolved like a client's, patterns stay. Throws `invalid_request` for a name no model has. */
export const catalogueModels = (catalogue: Catalogue, names: readonly string[], param: string): string[] => {
  const models = names.map((given) => {
    const name = given.trim()
    if (name.includes('*')) return name
    const model = catalogue.resolve(name)
    if (model !== undefined) return model.id
    throw invalidRequest(`${param}: there is no model "${name.slice(0, 100)}".`, param)
  })
  return [...new Set(models)]
}
