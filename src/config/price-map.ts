// The community's map of prices (model_prices_and_context_window.json): what it says of a model, in the words of this
// configuration. Its prices are USD for one token; ours for a million.

import type { Model } from '../catalogue/model.ts'
import { asList, asObject, isObject, type JsonObject } from '../ir/json.ts'
import { count } from '../ir/usage.ts'
import type { FileModel } from './schema/models.ts'

export type FilePrice = NonNullable<FileModel['price']>

/** `vendor`: what the map calls it; undefined where nothing is known of the provider. `also`: other names of the model. */
export type Sought = Pick<Model, 'id' | 'upstream' | 'provider' | 'kind' | 'tokensPer'> & {
  vendor: string | undefined
  also?: readonly string[]
  /** As they are now, by the class of service. */
  tiers?: Readonly<Record<string, number>>
}

/** `entry`: the member of the map. `left`: what it says that has no place here, in words. */
export type Found = { entry: string; price: FilePrice; left: string[] }

/** What the map says of a model; undefined where it knows none of its names, or no price. */
export const priceIn = (map: JsonObject, model: Sought): Found | undefined => {
  for (const name of new Set([model.upstream, ...(model.also ?? []), model.id])) {
    for (const entry of [`${model.vendor ?? model.provider}/${name}`, name]) {
      const told = Object.hasOwn(map, entry) ? map[entry] : undefined
      if (!isObject(told) || !isOf(told, model.vendor)) continue
      const found = read(told, map, name, model)
      if (found !== undefined) return { entry, ...found }
    }
  }
  return undefined
}

const read = (told: JsonObject, map: JsonObject, name: string, model: Sought): Omit<Found, 'entry'> | undefined => {
  const left: string[] = []
  const tokens = { ...tokenRates(told, model, left), ...kinds(told) }
  // What is billed by its tokens has a price by the picture only to compare.
  const isByTokens = Boolean(tokens.output) || Boolean(tokens.image?.output)
  const price = { ...tokens, ...calls(told, left), ...(isByTokens ? {} : pictures(map, name, model)) }
  if (Object.keys(price).length === 0) return undefined
  const tiers = serviceTiers(told, model, left)
  return { price: tiers === undefined ? price : { ...price, service_tiers: tiers }, left }
}

/** A bare name may be several vendors'; of some the map has parts (`vertex_ai-anthropic_models`, `bedrock_converse`). */
const isOf = ({ litellm_provider: of }: JsonObject, vendor: string | undefined): boolean =>
  vendor === undefined ||
  of === vendor ||
  (typeof of === 'string' && of.startsWith(vendor) && /^[-_]/.test(of.slice(vendor.length)))

/** USD for a piece; the map has nothing, null or words where it does not know. */
const usd = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= 1000 ? value : undefined

/** No model costs as much: what a configuration takes. */
const MOST = 1_000_000

/** Without the digits that a multiplication makes up. */
const rounded = (value: number | undefined, times = 1): number | undefined =>
  value === undefined || value * times > MOST ? undefined : Number((value * times).toPrecision(10))

const million = (value: unknown): number | undefined => rounded(usd(value), 1_000_000)

type Given<T> = { [N in keyof T]?: NonNullable<T[N]> }

const given = <T extends object>(members: T): Given<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>

const isEmpty = (members: object): boolean => Object.keys(members).length === 0

type TokenRates = Pick<FilePrice, 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_1h' | 'long_context'>

const tokenRates = (told: JsonObject, { kind, tokensPer }: Sought, left: string[]): TokenRates => {
  const tiers = asList(told.tiered_pricing).filter(isObject)
  const first = tiers[0] ?? told
  const input = million(first.input_cost_per_token) ?? byLength(told, kind, tokensPer)
  const output = million(first.output_cost_per_token)
  if (input === undefined && output === undefined) return {}
  const longer = tiers.length > 0 ? byTiers(tiers) : byThreshold(told)
  if (longer.length > 1)
    left.push(
      `prices above ${longer
        .slice(1)
        .map(({ above }) => above)
        .join(', ')} tokens`,
    )
  return {
    input: input ?? 0,
    output: output ?? 0,
    // What has no price of its own is billed as any other input.
    cache_read: million(first.cache_read_input_token_cost) ?? input ?? 0,
    cache_write: million(first.cache_creation_input_token_cost) ?? input ?? 0,
    ...given({ cache_write_1h: million(first.cache_creation_input_token_cost_above_1hr), long_context: longer[0] }),
  }
}

/** Sound by the second and speech by the character are tokens here. */
const byLength = (
  told: JsonObject,
  kind: Sought['kind'],
  { second, character }: Sought['tokensPer'],
): number | undefined => {
  const [price, tokens] =
    kind === 'transcription'
      ? [usd(told.input_cost_per_second), second]
      : kind === 'speech'
        ? [usd(told.input_cost_per_character), character]
        : [undefined, 0]
  return tokens === 0 ? undefined : rounded(price, 1_000_000 / tokens)
}

type Longer = NonNullable<FilePrice['long_context']>

const THRESHOLD = /^(?:input|output)_cost_per_token_above_(\d+)(k?)_tokens$/

/** Lowest first. */
const byThreshold = (told: JsonObject): Longer[] => {
  const named = new Map<number, string>()
  for (const name of Object.keys(told)) {
    const [, above, k = ''] = THRESHOLD.exec(name) ?? []
    if (above !== undefined) named.set(Number(above) * (k === '' ? 1 : 1_000), `${above}${k}`)
  }
  return [...named]
    .filter(([above]) => above > 0)
    .toSorted(([a], [b]) => a - b)
    .map(([above, words]) => longerOf(above, (name) => told[`${name}_above_${words}_tokens`]))
}

const byTiers = (tiers: readonly JsonObject[]): Longer[] =>
  tiers.slice(1).flatMap((tier) => {
    const above = count(asList(tier.range)[0]) ?? 0
    return above < 1 ? [] : [longerOf(above, (name) => tier[name])]
  })

/** What is left out is as for shorter prompts; what is cached without a word of its own costs as input. */
const longerOf = (above: number, of: (name: string) => unknown): Longer => {
  const input = million(of('input_cost_per_token'))
  return {
    above,
    ...given({
      input,
      output: million(of('output_cost_per_token')),
      cache_read: million(of('cache_read_input_token_cost')) ?? input,
      cache_write: million(of('cache_creation_input_token_cost')) ?? input,
      cache_write_1h: million(of('cache_creation_input_token_cost_above_1hr')),
    }),
  }
}

const kinds = (told: JsonObject): Pick<FilePrice, 'audio' | 'image'> => {
  const of = (kind: 'audio' | 'image') => {
    const rates = given({
      input: million(told[`input_cost_per_${kind}_token`]),
      cache_read: million(told[`cache_read_input_${kind}_token_cost`]),
      output: million(told[`output_cost_per_${kind}_token`]),
    })
    return isEmpty(rates) ? undefined : rates
  }
  return given({ audio: of('audio'), image: of('image') })
}

const calls = (told: JsonObject, left: string[]): Pick<FilePrice, 'per_call'> => {
  const bySize = asObject(told.search_context_cost_per_query)
  const sizes = ['low', 'medium', 'high'].flatMap((size) => usd(bySize[`search_context_size_${size}`]) ?? [])
  const search = sizes.length === 0 ? undefined : Math.max(...sizes)
  if (sizes.some((size) => size !== search)) left.push('searches of less context for less')
  if (usd(told.code_interpreter_cost_per_session)) left.push('containers of code, which are billed by the session')
  const fees = given({ web_search: search, file_search: rounded(usd(told.file_search_cost_per_1k_calls), 1 / 1000) })
  return isEmpty(fees) ? {} : { per_call: fees }
}

/** By the picture, by its size (`1024-x-1024/MODEL`) and its quality (`high/1024-x-1024/MODEL`), or by the pixel of those. */
const pictures = (map: JsonObject, name: string, { kind, vendor }: Sought): Pick<FilePrice, 'per_image'> => {
  if (kind !== 'image') return {}
  const rates: Record<string, number> = {}
  for (const [entry, told] of Object.entries(map)) {
    if (!isObject(told) || !isOf(told, vendor)) continue
    const words = entry === name || entry === `${vendor}/${name}` ? [] : wordsOf(entry, name, vendor)
    const price = words && priceOfPicture(told, words)
    if (price !== undefined) rates[words?.join('/') || 'default'] = price
  }
  return isEmpty(rates) ? {} : { per_image: rates }
}

const SIZE = /^(\d+)x(\d+)$/

/** Quality and size in an entry's name; undefined where that is another model's, or says something else. */
const wordsOf = (entry: string, name: string, vendor: string | undefined): string[] | undefined => {
  if (!entry.endsWith(`/${name}`)) return undefined
  const words = entry.slice(0, -name.length - 1).split('/')
  if (words[0] === vendor) words.shift()
  const written = words.map((word) => word.toLowerCase().replace(/^(\d+)-x-(\d+)$/, '$1x$2'))
  const isKnown = written.length <= 2 && written.every((word) => /^[a-z0-9]{1,20}$/.test(word))
  return isKnown && written.some((word) => SIZE.test(word)) ? written : undefined
}

const priceOfPicture = (told: JsonObject, words: readonly string[]): number | undefined => {
  const each = usd(told.output_cost_per_image) ?? usd(told.input_cost_per_image)
  if (each !== undefined) return rounded(each)
  const pixel = usd(told.input_cost_per_pixel)
  const [, width, height] = SIZE.exec(words.find((word) => SIZE.test(word)) ?? '') ?? []
  if (pixel === undefined || width === undefined || height === undefined) return undefined
  // A quotient, written with few digits: no more of the product mean anything.
  return Number((pixel * Number(width) * Number(height)).toPrecision(4))
}

/** By what a class of service makes of the input's and the output's price: the dearer of the two. */
const serviceTiers = (told: JsonObject, { tiers: before = {} }: Sought, left: string[]): FilePrice['service_tiers'] => {
  const tiers: Record<string, number> = {}
  for (const [name, times] of Object.entries(asObject(told.provider_specific_entry)))
    if (isFactor(times)) tiers[name] = times
  for (const name of ['priority', 'flex']) {
    const times = ['input', 'output'].flatMap((of) => {
      const [tier, usual] = [usd(told[`${of}_cost_per_token_${name}`]), usd(told[`${of}_cost_per_token`])]
      const times = tier === undefined || !usual ? undefined : Number((tier / usual).toPrecision(6))
      return isFactor(times) ? [times] : []
    })
    if (times.length === 0) continue
    tiers[name] = Math.max(...times)
    if (times.some((each) => each !== tiers[name])) left.push(`a lower price of ${name} for input or output`)
  }
  if (isEmpty(tiers)) return undefined
  // A vendor's two names for its faster class go together.
  const { priority } = tiers
  const isTwin = priority !== undefined && tiers.fast === undefined && before.fast === before.priority
  return { ...before, ...tiers, ...(isTwin && before.fast !== undefined ? { fast: priority } : {}) }
}

/** What a configuration takes for one. */
const isFactor = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1000
