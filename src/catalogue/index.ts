// The catalogue's own door: models, aliases and the rule that resolves them.

export { BUILTIN_ALIASES, BUILTIN_MODELS } from './builtin.ts'
export { type Brand, type Catalogue, type CatalogueOptions, createCatalogue } from './catalogue.ts'
export type { Modality, Model, Price } from './model.ts'
