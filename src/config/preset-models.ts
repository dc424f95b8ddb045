// The models that presets give a configuration: the built-in ones under their vendors' own ids, and those beside them.

import { BUILTIN_MODELS } from '../catalogue/builtin.ts'
import { type Brand, createCatalogue } from '../catalogue/catalogue.ts'
import type { Model, Price, Rates } from '../catalogue/model.ts'
import { TOKENS_PER } from '../ir/usage.ts'
import { BUILTIN_PROVIDERS } from '../provider/builtin.ts'
import { ownName } from '../provider/own-names.ts'
import type { PresetModel, PresetPrice } from '../provider/preset.ts'
import type { Provider } from '../provider/provider.ts'
import { presetFor } from './presets.ts'

/** `unpriced`: ids of models whose price is not known. */
type PresetModels = { models: Model[]; unpriced: Set<string> }

/** A model of which nothing is known but its id. */
export const blankModel = (id: string): Model => ({
  id,
  provider: '',
  family: 'other',
  displayName: id,
  kind: 'text',
  inputModalities: ['text'],
  outputModalities: ['text'],
  contextWindow: 128_000,
  maxOutput: 16_384,
  price: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  tokensPerImage: 0,
  tokensPer: TOKENS_PER,
  createdAt: 0,
  upstream: id,
  quirks: {},
})

/** The built-in models in their order, as their providers' presets have them, then the presets' own. */
export const presetModels = (providers: readonly Provider[], brands: readonly Brand[]): PresetModels => {
  const models: Model[] = BUILTIN_MODELS.flatMap((model) => {
    const provider = providers.find(({ id }) => id === model.provider)
    const served = provider === undefined ? model : servedBy(provider, model)
    return served === undefined ? [] : [served]
  })
  const unpriced = new Set<string>()
  for (const provider of providers) {
    const { models: owned = [], pricesOf } = presetFor(provider) ?? {}
    for (const own of owned) {
      if (own.gone !== undefined || neutralOf(provider, own.id) !== undefined) continue
      const isTaken = createCatalogue({ models, aliases: {}, brands }).resolve(own.id) !== undefined
      const id = isTaken ? `${provider.id}/${own.id}` : own.id
      models.push(ownModel(id, own, provider, pricesOf))
      if (own.price === undefined && builtinOf(own.id) === undefined) unpriced.add(id)
    }
  }
  return { models, unpriced }
}

/**
 * A built-in model as a provider has it: its own id, its own limits. Unlisted where the provider is not known to have it;
 * undefined where its preset has no word for it.
 */
export const servedBy = (provider: Provider, model: Model): Model | undefined => {
  const preset = presetFor(provider)
  if (preset === undefined || preset.neutral) return model
  const own = ownName(preset, model.provider, model.id)
  if (own === undefined) return undefined
  const { known, upstream } = own
  const unlisted = known === undefined || known.gone !== undefined ? { unlisted: true as const } : {}
  return { ...model, ...(known === undefined ? {} : factsOf(known, model, preset.pricesOf)), upstream, ...unlisted }
}

/**
 * The models with those unlisted that nobody serves, their stand-ins included: a client would be offered what answers 503. Where
 * the contract's two providers alone are set up by their neutral names, or nobody yet, its whole table is listed.
 */
export const servedOnly = (
  models: readonly Model[],
  providers: readonly Provider[],
  fallbacks: Readonly<Record<string, readonly string[]>>,
): Model[] => {
  const serving = providers.filter(({ accounts }) => accounts.length > 0)
  if (serving.every(({ id, preset }) => preset === undefined && CONTRACTED.has(id))) return [...models]
  const ids = new Set(serving.map(({ id }) => id))
  const answering = new Set(models.filter(({ provider }) => ids.has(provider)).map(({ id }) => id))
  return models.map((model) =>
    [model.id, ...(fallbacks[model.id] ?? [])].some((id) => answering.has(id)) ? model : { ...model, unlisted: true },
  )
}

const CONTRACTED = new Set(BUILTIN_PROVIDERS.map(({ id }) => id))

/** The built-in model that a provider of the contract serves under this id. */
const neutralOf = (provider: Provider, id: string): Model | undefined => {
  const preset = presetFor(provider)
  if (preset === undefined) return undefined
  return BUILTIN_MODELS.find(
    (model) => model.provider === provider.id && ownName(preset, provider.id, model.id)?.name === id,
  )
}

/** The built-in model of an id under its vendor's own name: another vendor that sells it says less of it. */
const builtinOf = (id: string): Model | undefined =>
  BUILTIN_MODELS.find((model) => BRANDS.some(([neutral, brand]) => model.id.replace(neutral, brand) === id))

const BRANDS = [
  ['vendorA-', 'claude-'],
  ['vendorB-', 'gpt-'],
] as const

const ownModel = (id: string, own: PresetModel, provider: Provider, pricesOf: string | undefined): Model => {
  const base = { ...(builtinOf(own.id) ?? blankModel(own.id)), id, provider: provider.id }
  const { family = base.family, kind = base.kind, images, released } = own
  const seen: Model['inputModalities'] = images === undefined ? base.inputModalities : ['text', 'image']
  return {
    ...base,
    ...{ family, kind, inputModalities: seen, outputModalities: kind === 'image' ? ['image'] : base.outputModalities },
    ...(released === undefined ? {} : { createdAt: Date.parse(`${released}T00:00:00Z`) / 1000 }),
    ...factsOf(own, base, pricesOf),
    upstream: own.upstream ?? own.id,
  }
}

/** What the preset knows better. */
const factsOf = (
  { name, context, maxOutput, price, quirks }: PresetModel,
  base: Model,
  pricesOf: string | undefined,
) => {
  const contextWindow = context ?? base.contextWindow
  return {
    displayName: name,
    contextWindow,
    maxOutput: Math.min(maxOutput ?? base.maxOutput, contextWindow),
    price:
      price === undefined
        ? base.price
        : { ...base.price, ...priceOf(price), ...(pricesOf === undefined ? {} : { asOf: pricesOf }) },
    quirks: { ...base.quirks, ...quirks },
  }
}

const priceOf = ({ long, image, ...rates }: PresetPrice): Price => ({
  ...ratesOf(rates),
  ...(long === undefined ? {} : { long: { ...ratesOf(long), above: long.above } }),
  ...(image === undefined ? {} : { image }),
})

/** Cached input costs what fresh input costs where nothing else is said. */
const ratesOf = ({ input, output, cacheRead = input, cacheWrite = input, cacheWrite1h }: PresetPrice): Rates => ({
  ...{ input, output, cacheRead, cacheWrite },
  ...(cacheWrite1h === undefined ? {} : { cacheWrite1h }),
})
