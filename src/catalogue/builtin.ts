// The built-in models, as data: a new one is a row. Ids, order, families and modalities are the contract's; windows,
// caps and prices are the defaults a configuration overrides.

import type { Quirks } from '../ir/quirks.ts'
import { TOKENS_PER } from '../ir/usage.ts'
import type { Kind } from '../ir/wire.ts'
import type { Model, Price } from './model.ts'

type Row = Pick<Model, 'id' | 'provider' | 'family' | 'displayName'> &
  Partial<Pick<Model, 'kind' | 'tokensPerImage' | 'inputModalities'>> & {
    context: number
    maxOutput: number
    price: Price
    released: string
    quirks?: Quirks
  }

const usd = (input: number, output: number, cacheRead: number, cacheWrite: number): Price => ({
  input,
  output,
  cacheRead,
  cacheWrite,
})

/** What vendor_a asks for inference that is kept to the United States, of models that can be. */
const US = { us: 1.1 }

/** vendor_b has two names for its faster class: newer models report `fast`, others `priority`. */
const faster = (times: number) => ({ priority: times, fast: times })

/** vendor_a's: of its input's price a tenth for what it reads from its cache, and 1.25 or 2 times as much to write there. */
const cached = (input: number, output: number, serviceTiers?: Price['serviceTiers']): Price => ({
  ...usd(input, output, input / 10, input * 1.25),
  cacheWrite1h: input * 2,
  ...(serviceTiers === undefined ? {} : { serviceTiers }),
})

/** USD a call, of tools that run at each vendor: ten for a thousand searches of the web, two and a half of files. */
const FEES: Readonly<Record<string, Price['perCall']>> = {
  vendor_a: { web_search: 0.01 },
  vendor_b: { web_search: 0.01, file_search: 0.0025 },
}

/** vendor_b's with a window of a million tokens: long prompts cost twice as much, and their answers half as much again. */
const lengthy = (price: Price): Price => {
  const { input, output, cacheRead, cacheWrite } = price
  return { ...price, long: { ...usd(input * 2, output * 1.5, cacheRead * 2, cacheWrite * 2), above: 272_000 } }
}

/** The days of the vendors' price lists that these are from. */
const PRICES_OF: Readonly<Record<string, string>> = { vendor_a: '2026-11-27', vendor_b: '2026-06-04' }

const priced = (price: Price, provider: string, kind: Kind): Price => {
  const perCall = kind === 'text' ? FEES[provider] : undefined
  const asOf = PRICES_OF[provider]
  return { ...price, ...(perCall === undefined ? {} : { perCall }), ...(asOf === undefined ? {} : { asOf }) }
}

const model = ({ context, released, quirks = {}, kind = 'text', ...row }: Row): Model => ({
  ...row,
  price: priced(row.price, row.provider, kind),
  kind,
  inputModalities: row.inputModalities ?? (kind === 'image' ? ['text'] : ['text', 'image']),
  outputModalities: kind === 'image' ? ['image'] : ['text'],
  contextWindow: context,
  tokensPerImage: row.tokensPerImage ?? 0,
  tokensPer: TOKENS_PER,
  createdAt: Date.parse(`${released}T00:00:00Z`) / 1000,
  upstream: row.id,
  quirks,
})

export const BUILTIN_MODELS: readonly Model[] = [
  model({
    id: 'vendorA-opus-4-8',
    provider: 'vendor_a',
    family: 'opus',
    displayName: 'Opus 4.8',
    context: 1_000_000,
    maxOutput: 64_000,
    price: cached(5, 25, { fast: 2, ...US }),
    released: '2026-05-20',
    quirks: { noSampling: true },
  }),
  model({
    id: 'vendorA-opus-4-7',
    provider: 'vendor_a',
    family: 'opus',
    displayName: 'Opus 4.7',
    context: 1_000_000,
    maxOutput: 64_000,
    price: cached(5, 25, US),
    released: '2026-03-10',
    quirks: { noSampling: true, noMidSystem: true },
  }),
  model({
    id: 'vendorA-sonnet-5',
    provider: 'vendor_a',
    family: 'sonnet',
    displayName: 'Sonnet 5',
    context: 1_000_000,
    maxOutput: 64_000,
    price: cached(2, 10, US),
    released: '2026-06-15',
    quirks: { noSampling: true },
  }),
  model({
    id: 'vendorA-sonnet-4-6',
    provider: 'vendor_a',
    family: 'sonnet',
    displayName: 'Sonnet 4.6',
    context: 1_000_000,
    maxOutput: 64_000,
    price: cached(3, 15, US),
    released: '2026-02-05',
    quirks: { noMidSystem: true, noXhighEffort: true },
  }),
  model({
    id: 'vendorA-haiku-4-5',
    provider: 'vendor_a',
    family: 'haiku',
    displayName: 'Haiku 4.5',
    context: 200_000,
    maxOutput: 64_000,
    price: cached(1, 5),
    released: '2025-10-15',
    quirks: { noMidSystem: true, noAdaptiveThinking: true },
  }),
  model({
    id: 'vendorB-5.5',
    provider: 'vendor_b',
    family: 'codex',
    displayName: '5.5',
    context: 1_050_000,
    maxOutput: 128_000,
    price: { ...lengthy(usd(5, 30, 0.5, 5)), serviceTiers: { flex: 0.5, ...faster(2.5) } },
    released: '2026-07-01',
    // It thinks unless told not to, and takes none of it then.
    quirks: { noSampling: true },
  }),
  model({
    id: 'vendorB-5.4',
    provider: 'vendor_b',
    family: 'codex',
    displayName: '5.4',
    context: 1_050_000,
    maxOutput: 128_000,
    price: { ...lengthy(usd(2.5, 15, 0.25, 2.5)), serviceTiers: { flex: 0.5, ...faster(2) } },
    released: '2026-03-05',
    quirks: { thinksUnasked: false },
  }),
  model({
    id: 'vendorB-5.4-mini',
    provider: 'vendor_b',
    family: 'codex',
    displayName: '5.4 mini',
    context: 400_000,
    maxOutput: 128_000,
    price: { ...usd(0.75, 4.5, 0.075, 0.75), serviceTiers: { flex: 0.5, ...faster(2) } },
    released: '2026-03-17',
    quirks: { thinksUnasked: false },
  }),
  model({
    id: 'vendorB-4o',
    provider: 'vendor_b',
    family: 'other',
    displayName: '4o',
    context: 128_000,
    maxOutput: 16_384,
    price: { ...usd(2.5, 10, 1.25, 2.5), serviceTiers: faster(1.7) },
    released: '2024-05-13',
    quirks: { noReasoning: true },
  }),
  model({
    id: 'vendorB-4',
    provider: 'vendor_b',
    family: 'other',
    displayName: '4',
    inputModalities: ['text'],
    context: 32_768,
    maxOutput: 8_192,
    price: usd(30, 60, 30, 30),
    released: '2023-06-13',
    quirks: { noReasoning: true },
  }),
  model({
    id: 'vendorB-image-1',
    provider: 'vendor_b',
    family: 'image',
    displayName: 'Image 1',
    kind: 'image',
    context: 32_000,
    maxOutput: 6_240,
    tokensPerImage: 1_056,
    price: usd(5, 40, 1.25, 5),
    released: '2025-04-23',
    quirks: { rejects: ['response_format'] },
  }),
  model({
    id: 'vendorB-imagegen-3',
    provider: 'vendor_b',
    family: 'image',
    displayName: 'Imagegen 3',
    kind: 'image',
    context: 4_000,
    maxOutput: 1_000,
    tokensPerImage: 1_000,
    price: usd(0, 40, 0, 0),
    released: '2025-01-15',
  }),
]

export const BUILTIN_ALIASES: Readonly<Record<string, string>> = { auto: 'vendorA-opus-4-8' }
