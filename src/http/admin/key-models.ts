// The models a key, a member or a default is given, checked against the catalogue.

import { invalidRequest } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { namedModels } from '../../keys/models.ts'

/** Throws `invalid_request` for a name or a pattern that no model has. */
export const catalogueModels = ({ catalogue, config }: Gateway, names: readonly string[], param: string): string[] => {
  const found = namedModels(catalogue, config.brands, names)
  if ('models' in found) return found.models
  throw invalidRequest(`${param}: there is no model "${found.unknown.slice(0, 100)}".`, param)
}
