// The catalogue: the models in their order, and the one rule that turns what a client wrote into a model.

import type { Usage } from '../ir/usage.ts'
import type { Model, Price } from './model.ts'

/** A provider's neutral word in ids and the word deployments show instead: `vendorA` → `claude`. */
export type Brand = { neutral: string; branded: string }

export type Catalogue = {
  /** Every model that its provider has, in the catalogue's order; aliases and branded names are not among them. */
  list(): readonly Model[]
  /** Those too that are not listed. */
  all(): readonly Model[]
  /** Every name of the listed: ids, aliases and branded names. */
  names(): string[]
  /**
   * Exact id, then configured alias, then the branded form of either, then dots turned to dashes; nothing else. Case
   * matters. Hot path: one look-up for every name but a dotted one.
   */
  resolve(idOrAlias: string): Model | undefined
  /** A provider's model by its provider's own name, or by one of ours. */
  called(provider: string, name: string): Model | undefined
  /** By catalogue id. A function by itself: the ledger keeps it for the exchanges that began with it. */
  readonly price: (id: string) => Price | undefined
}

type CatalogueOptions = {
  models: readonly Model[]
  /** Name → catalogue id, `auto` among them. */
  aliases: Readonly<Record<string, string>>
  brands?: readonly Brand[]
}

/** An alias whose model is not in the catalogue is left out: the configuration has refused it before. */
export const createCatalogue = ({ models, aliases, brands = [] }: CatalogueOptions): Catalogue => {
  const list = listed(models)
  const ids = new Map(models.map((model) => [model.id, model]))
  const named = new Map(ids)
  const add = (to: Map<string, Model>, name: string, model: Model | undefined) => {
    if (model && !to.has(name)) to.set(name, model)
  }
  for (const [alias, id] of Object.entries(aliases)) add(named, alias, ids.get(id))
  for (const [id, model] of [...ids]) {
    for (const name of brandedNames(id, brands)) {
      add(named, name, model)
      add(ids, name, model)
    }
  }
  for (const [alias, id] of Object.entries(aliases)) {
    for (const name of brandedNames(alias, brands)) add(named, name, ids.get(id))
  }
  const resolve = (name: string): Model | undefined =>
    named.get(name) ?? (name.includes('.') ? ids.get(name.replaceAll('.', '-')) : undefined)
  return {
    list: () => list,
    all: () => models,
    names: () => [...named].filter(([, { unlisted }]) => unlisted !== true).map(([name]) => name),
    resolve,
    called: (provider, name) =>
      models.find((model) => model.provider === provider && model.upstream === name) ??
      [resolve(name)].find((model) => model?.provider === provider),
    price: (id) => ids.get(id)?.price,
  }
}

/** The usage of an answer of this model, with other models that have answered within by their ids here. */
export const namingOthers = (usage: Usage, { id, provider }: Model, { called }: Pick<Catalogue, 'called'>): Usage =>
  usage.apart === undefined
    ? usage
    : {
        ...usage,
        apart: usage.apart.map(({ model: name, usage }) => {
          const model = name === undefined ? undefined : called(provider, name)
          return model === undefined || model.id === id ? { usage } : { model: model.id, usage }
        }),
      }

/** Without those that are left out of lists. */
export const listed = (models: readonly Model[]): Model[] => models.filter(({ unlisted }) => unlisted !== true)

const brandedNames = (name: string, brands: readonly Brand[]): string[] =>
  brands
    .filter(({ neutral, branded }) => neutral !== branded && name.startsWith(`${neutral}-`))
    .map(({ neutral, branded }) => branded + name.slice(neutral.length))
