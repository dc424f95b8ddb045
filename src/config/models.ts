// The models of a configuration: the built-in ones overridden, new ones added, and the names that lead to them.

import { BUILTIN_ALIASES } from '../catalogue/builtin.ts'
import { type Brand, type Catalogue, createCatalogue } from '../catalogue/catalogue.ts'
import type { Modality, Model, Price, Rates } from '../catalogue/model.ts'
import { serverToolName } from '../ir/server-tools.ts'
import { KINDS, type Kind } from '../ir/wire.ts'
import { parseIsoTime } from '../lib/iso-time.ts'
import { nearest } from '../lib/nearest.ts'
import { neutralWord, type Provider } from '../provider/provider.ts'
import { blankModel, presetModels, servedBy } from './preset-models.ts'
import { alsoNamed, presetFor } from './presets.ts'
import { describe, memberPath, mismatch } from './problem.ts'
import { readQuirks } from './providers.ts'
import { type Reader, withKept } from './reader.ts'
import type { FileModel } from './schema/models.ts'

/** What is said of a model beside what is known of it. `path`: where. */
type Override = { path: string; file: FileModel }

export const readBrands = (providers: readonly Provider[]): Brand[] =>
  providers.flatMap(({ id, brand }) => (brand === undefined ? [] : [{ neutral: neutralWord(id), branded: brand }]))

/**
 * The built-in models in their order, those of presets, then the file's own in its order. A branded id overrides the model
 * it names.
 */
export const readModels = (reader: Reader, providers: readonly Provider[], brands: readonly Brand[]): Model[] => {
  const { models: given, unpriced } = presetModels(providers, brands)
  const builtin = createCatalogue({ models: given, aliases: {}, brands })
  const overrides = new Map<string, Override>()
  for (const [name, file] of Object.entries(withKept(reader, 'models', reader.file.models, reader.kept.models))) {
    const path = memberPath('models', name)
    const id = builtin.resolve(name)?.id ?? name
    if (/[\s*]/.test(id) || id === '') {
      reader.report(path, mismatch(id, 'a model id without blanks or *'))
    } else if (overrides.has(id)) {
      reader.report(path, `found the model ${id} a second time, allowed: one entry for each model`)
    } else {
      overrides.set(id, { path, file })
    }
  }
  const known = given.map((model) => {
    const override = overrides.get(model.id)
    overrides.delete(model.id)
    if (override?.file.price !== undefined) unpriced.delete(model.id)
    return told(override ? readModel(reader, model, override, providers) : model, override?.file.price, providers)
  })
  const own = [...overrides].map(([id, { path, file }]) => {
    if (file.provider === undefined) {
      const near = nearest(
        id,
        given.map((model) => model.id),
      )
      const hint = near === undefined ? '' : `; or did you mean the model "${near}"?`
      reader.report(`${path}.provider`, mismatch(undefined, list(providers.map((provider) => provider.id)) + hint))
    }
    const model = told(readModel(reader, blankModel(id), { path, file }, providers), file.price, providers)
    if (model.price.asTold !== true) warnOfNone(reader, path, file.price)
    return model
  })
  warnOfUnpriced(reader, known, unpriced, providers)
  return [...known, ...own]
}

const readModel = (reader: Reader, base: Model, { path, file }: Override, providers: readonly Provider[]): Model => {
  const ids = providers.map((provider) => provider.id)
  if (file.provider !== undefined && !ids.includes(file.provider)) {
    reader.report(`${path}.provider`, unknownName(file.provider, ids, 'provider'))
  }
  const contextWindow = file.context ?? base.contextWindow
  if (file.max_output !== undefined && file.max_output > contextWindow) {
    const allowed = `a whole number up to the context of ${contextWindow}`
    reader.report(`${path}.max_output`, mismatch(file.max_output, allowed))
  }
  const upstream = file.upstream ?? upstreamAt(base, file.provider, providers)
  const kind = file.kind ?? (file.output ? kindOf(file.output) : base.kind)
  return {
    id: base.id,
    provider: file.provider ?? base.provider,
    family: file.family ?? base.family,
    displayName: file.display_name ?? base.displayName,
    kind,
    inputModalities: file.input ?? (kind === 'transcription' && kind !== base.kind ? ['audio'] : base.inputModalities),
    outputModalities: file.output ?? (kind === base.kind ? base.outputModalities : [MADE[kind]]),
    contextWindow,
    maxOutput: Math.min(file.max_output ?? base.maxOutput, contextWindow),
    price: file.price === undefined ? base.price : readPrice(reader, `${path}.price`, file.price, { ...base, kind }),
    tokensPerImage: file.tokens_per_image ?? base.tokensPerImage,
    tokensPer: {
      second: file.tokens_per_second ?? base.tokensPer.second,
      character: file.tokens_per_character ?? base.tokensPer.character,
    },
    createdAt: file.created === undefined ? base.createdAt : readDate(reader, `${path}.created`, file.created),
    upstream,
    quirks: { ...base.quirks, ...readQuirks(file.quirks) },
    ...(base.unlisted && upstream === base.upstream ? { unlisted: true } : {}),
  }
}

/** A price that is given counts; one of a list does only where its provider does not say what it charged. */
const told = (model: Model, given: FilePrice | undefined, providers: readonly Provider[]): Model => {
  const provider = providers.find(({ id }) => id === model.provider)
  const isTold = given === undefined && provider !== undefined && presetFor(provider)?.tellsCost === true
  return isTold ? { ...model, price: { ...model.price, asTold: true } } : model
}

/** A built-in model that is moved to another provider is asked for by that one's own id. */
const upstreamAt = (base: Model, moved: string | undefined, providers: readonly Provider[]): string => {
  const to = moved === base.provider ? undefined : providers.find(({ id }) => id === moved)
  return (to && servedBy(to, base)?.upstream) ?? base.upstream
}

/** What a model of a kind makes. */
const MADE: Readonly<Record<Kind, Modality>> = {
  text: 'text',
  image: 'image',
  embedding: 'embedding',
  moderation: 'moderation',
  speech: 'audio',
  transcription: 'text',
}

/** The kind of a model that makes that. */
const kindOf = (output: readonly Modality[]): Kind =>
  output.includes('text') ? 'text' : (KINDS.find((kind) => output.includes(MADE[kind])) ?? 'image')

type FilePrice = NonNullable<FileModel['price']>

const warnOfUnpriced = (
  reader: Reader,
  models: readonly Model[],
  unpriced: ReadonlySet<string>,
  providers: readonly Provider[],
): void => {
  for (const { id, preset, accounts } of providers) {
    const ids = models
      .filter((model) => model.provider === id && unpriced.has(model.id) && model.price.asTold !== true)
      .map((model) => model.id)
    if (ids.length === 0 || accounts.length === 0) continue
    reader.warn(
      `the preset ${preset} knows no price of ${list(ids)}: until models sets one (price: { input, output }, or "sluice models prices" from the community's map), what is used costs 0`,
    )
  }
}

const warnOfNone = (reader: Reader, path: string, price: FilePrice | undefined): void => {
  if (price?.per_image !== undefined) return
  const missing = (['input', 'output'] as const).filter((name) => price?.[name] === undefined)
  if (missing.length === 2) reader.warn(`${path} has no price: its cost counts as 0`)
  else if (missing.length === 1) reader.warn(`${path}.price has no ${missing[0]}, which counts as 0`)
}

/** USD per million tokens below which no vendor sells: other programs' tables have prices of single tokens. */
const LOWEST = 0.001

const warnOfSingle = (reader: Reader, path: string, file: FileRates): void => {
  for (const name of RATES) {
    const price = file[name]
    if (price === undefined || price === 0 || price >= LOWEST) continue
    const meant = Number((price * 1_000_000).toPrecision(12))
    reader.warn(`${path}.${name} is ${price} USD per million tokens; is ${meant} meant?`)
  }
}

/** Vendors bill a picture by itself or by its tokens: who names but its price means none of the tokens beside it. */
const isByPicture = (file: FilePrice, kind: Kind): boolean =>
  kind === 'image' &&
  file.per_image !== undefined &&
  file.image === undefined &&
  RATES.every((name) => file[name] === undefined)

const FREE: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

const readPrice = (
  reader: Reader,
  path: string,
  file: FilePrice,
  { provider, kind, price: known }: Pick<Model, 'provider' | 'kind' | 'price'>,
): Price => {
  const price = isByPicture(file, kind) ? FREE : known
  warnOfSingle(reader, path, file)
  if (file.long_context !== undefined) warnOfSingle(reader, `${path}.long_context`, file.long_context)
  if (file.as_of !== undefined) readDate(reader, `${path}.as_of`, file.as_of)
  // A new model's cached input costs what its input costs unless the file says otherwise.
  const cached = provider === '' ? file.input : undefined
  const rates = readRates(file, cached === undefined ? price : { ...price, cacheRead: cached, cacheWrite: cached })
  const { long_context: long, service_tiers: serviceTiers = price.serviceTiers, per_call: fees } = file
  // Another price's are none of a price that is set here.
  const others = RATES.some((name) => file[name] !== undefined) ? undefined : price
  const longer = long === undefined ? others?.long : { ...readRates(long, rates), above: long.above }
  const audio = file.audio === undefined ? others?.audio : kindRates(file.audio, rates)
  const image = file.image === undefined ? others?.image : kindRates(file.image, rates)
  const perImage = file.per_image ?? price.perImage
  const asOf = file.as_of ?? others?.asOf
  return {
    ...rates,
    ...(longer === undefined ? {} : { long: longer }),
    ...(serviceTiers === undefined ? {} : { serviceTiers }),
    ...(fees === undefined && price.perCall === undefined ? {} : { perCall: { ...price.perCall, ...named(fees) } }),
    ...(perImage === undefined ? {} : { perImage }),
    ...(audio === undefined ? {} : { audio }),
    ...(image === undefined ? {} : { image }),
    ...(asOf === undefined ? {} : { asOf }),
  }
}

type FileKindRates = NonNullable<FilePrice['audio']>

const kindRates = (
  { input, cache_read, output }: FileKindRates,
  rates: Rates,
): { input: number; cacheRead: number; output: number } => ({
  input: input ?? rates.input,
  // Without a word of its own, what is cached is no dearer than what is fresh.
  cacheRead: cache_read ?? (input === undefined ? rates.cacheRead : input),
  output: output ?? rates.output,
})

/** Tools by the one name that each has here. */
const named = (fees: FilePrice['per_call'] = {}): Record<string, number> =>
  Object.fromEntries(Object.entries(fees).map(([tool, fee]) => [serverToolName(tool), fee]))

const RATES = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const

type FileRates = Pick<FilePrice, (typeof RATES)[number]>

const readRates = (file: FileRates, otherwise: Rates): Rates => {
  // One that is set for five minutes is not for the hour of another price.
  const hour = file.cache_write_1h ?? (file.cache_write === undefined ? otherwise.cacheWrite1h : undefined)
  return {
    input: file.input ?? otherwise.input,
    output: file.output ?? otherwise.output,
    cacheRead: file.cache_read ?? otherwise.cacheRead,
    cacheWrite: file.cache_write ?? otherwise.cacheWrite,
    ...(hour === undefined ? {} : { cacheWrite1h: hour }),
  }
}

const readDate = (reader: Reader, path: string, text: string): number => {
  const ms = parseIsoTime(`${text}T00:00:00Z`)
  if (ms !== undefined) return ms / 1000
  reader.report(path, mismatch(text, 'a date such as 2026-01-31'))
  return 0
}

/** Aliases and fallbacks name models by id, branded or dotted where one likes; they are kept as catalogue ids. */
export const readNames = (
  reader: Reader,
  providers: readonly Provider[],
  models: readonly Model[],
  brands: readonly Brand[],
) => {
  const catalogue = createCatalogue({ models, aliases: {}, brands })
  return { aliases: readAliases(reader, catalogue, providers), fallbacks: readFallbacks(reader, catalogue) }
}

const readAliases = (reader: Reader, catalogue: Catalogue, providers: readonly Provider[]): Record<string, string> => {
  const aliases = defaultAliases(reader, catalogue, providers)
  for (const [name, id] of alsoNamed(providers)) {
    const model = catalogue.resolve(id)
    if (model !== undefined && catalogue.resolve(name) === undefined) aliases[name] = model.id
  }
  const ids = new Set(catalogue.list().map((model) => model.id))
  for (const [alias, written] of Object.entries(writtenAliases(reader))) {
    const path = memberPath('aliases', alias)
    const model = readName(reader, path, written, catalogue)
    if (ids.has(alias)) reader.report(path, 'found the id of a model, allowed: a name that no model has')
    else if (model) aliases[alias] = model.id
  }
  return aliases
}

const writtenAliases = (reader: Reader): Record<string, string> =>
  withKept(reader, 'aliases', reader.file.aliases, reader.kept.aliases)

/**
 * Those of the contract. Where no provider has their model, the first text model that there is stands in for it; where its
 * provider has no account, the first of a real vendor that has one.
 */
const defaultAliases = (
  reader: Reader,
  catalogue: Catalogue,
  providers: readonly Provider[],
): Record<string, string> => {
  const texts = catalogue.list().filter(({ kind }) => kind === 'text')
  const setUp = new Map(providers.flatMap((one) => (one.accounts.length > 0 ? [[one.id, one.preset]] : [])))
  const standIn = (alias: string, id: string): string | undefined => {
    const model = catalogue.resolve(id)
    if (model !== undefined)
      return setUp.has(model.provider) ? undefined : texts.find((one) => setUp.get(one.provider) !== undefined)?.id
    const [first] = texts
    if (first !== undefined && (reader.file.aliases?.[alias] ?? reader.kept.aliases[alias]) === undefined)
      reader.warn(`${alias} is ${first.id}: no provider has ${id}; aliases.${alias} names another`)
    return first?.id
  }
  return Object.fromEntries(Object.entries(BUILTIN_ALIASES).map(([alias, id]) => [alias, standIn(alias, id) ?? id]))
}

const readFallbacks = (reader: Reader, catalogue: Catalogue): Record<string, string[]> => {
  const fallbacks: Record<string, string[]> = {}
  for (const [written, names] of Object.entries(
    withKept(reader, 'fallbacks', reader.file.fallbacks, reader.kept.fallbacks),
  )) {
    const path = memberPath('fallbacks', written)
    const model = readName(reader, path, written, catalogue)
    // The file may name it otherwise.
    if (model && Object.hasOwn(fallbacks, model.id)) reader.report(path, `found ${model.id} a second time`)
    const next = names.flatMap((name, index) => {
      const at = memberPath(path, index)
      const fallback = readName(reader, at, name, catalogue)
      if (!fallback || !model) return []
      if (fallback.id === model.id) reader.report(at, `found ${model.id} itself, allowed: another model`)
      else if (fallback.kind !== model.kind) {
        reader.report(at, `found a model of kind ${fallback.kind}, allowed: models of kind ${model.kind}`)
      }
      return [fallback.id]
    })
    if (model) fallbacks[model.id] = [...new Set(next)]
  }
  return fallbacks
}

const readName = (reader: Reader, path: string, written: string, catalogue: Catalogue): Model | undefined => {
  const model = catalogue.resolve(written)
  const ids = catalogue.list().map(({ id }) => id)
  if (!model) reader.report(path, unknownName(written, ids, 'model', catalogue.names()))
  return model
}

/** `found "x", which is no known model, did you mean "y"? Allowed: …` `names`: by which they are known too. */
const unknownName = (name: string, known: string[], noun: string, names = known): string => {
  const near = nearest(name, names)
  const hint = near === undefined ? '.' : `, did you mean "${near}"?`
  return `found ${describe(name)}, which is no known ${noun}${hint} Allowed: ${list(known)}`
}

const list = (names: string[]): string => names.join(', ')
