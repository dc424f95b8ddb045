// A preset: what is publicly known of one vendor or server, so that a configuration needs no more than its name and a
// credential. Data only; docs/providers.md is made from it.

import type { Quirks } from '../ir/quirks.ts'
import type { Wire } from '../ir/wire.ts'
import type { Auth } from './provider.ts'

/** USD per million tokens. What is left out is not known. */
type PresetRates = { input: number; output: number; cacheRead?: number; cacheWrite?: number; cacheWrite1h?: number }

/** `image`: of tokens of pictures, where they cost something else. */
export type PresetPrice = PresetRates & {
  long?: PresetRates & { above: number }
  image?: { input: number; output: number; cacheRead: number }
}

/** What is left out is not known: never a guess. */
export type PresetModel = {
  /** What clients ask for. Where it begins with the preset's brand, it is the neutral model of the same rest. */
  id: string
  /** Other names of the vendor's for the same, dated ones most often, which clients send as well. */
  also?: readonly string[]
  /** The vendor's own id, where it is another. */
  upstream?: string
  name: string
  family?: string
  kind?: 'text' | 'image'
  images?: boolean
  context?: number
  maxOutput?: number
  price?: PresetPrice
  released?: string
  quirks?: Quirks
  /** The day from which the vendor answers it no more: it is listed no more. */
  gone?: string
}

/** `driven`: the server itself was run behind the gateway; `documented`: its makers' pages say so; `reported`: others' do. */
export type Verified = 'driven' | 'documented' | 'reported' | 'unverified'

/** What of a preset is known how. `of`: as a column of the table. */
export type Fact = { of: string; how: Verified; on: string; source: string }

export type Preset = {
  name: string
  title: string
  /** The provider it makes where the environment alone chooses it; its own name for most. */
  provider?: 'vendor_a' | 'vendor_b'
  wires: readonly Wire[]
  auth: Auth
  /** `{NAME}` stands for an environment variable. */
  baseUrl: string
  /** The environment variables its users have: the first of `credential` that is set counts. */
  env: { credential: readonly string[]; baseUrl?: string }
  /** A pattern that its credentials have, and hardly anyone else's: who pastes one is not asked whose it is. */
  credentialShape?: string
  /** Amazon's usual keys do in the place of its credential: each request is signed by them. */
  signs?: true
  /** A server that asks for no credential unless it is told to. */
  open?: true
  versionHeader?: { name: string; value: string }
  /** The word that stands for the neutral one, by the provider that is set up with it. */
  brand?: { vendor_a?: string; vendor_b?: string }
  /** What the vendor's ids of branded models begin with. */
  prefix?: { vendor_a?: string; vendor_b?: string }
  /** It knows the neutral ids: it is a gateway of this kind. */
  neutral?: true
  quirks?: Quirks
  /** Its figures say what an answer cost: that counts for models that are given no price. */
  tellsCost?: true
  /** Whether `GET …/models` lists what it has. */
  listsModels: boolean
  /** What the vendor is called in the community's map of prices (model_prices_and_context_window). */
  priceMap?: string
  models: readonly PresetModel[]
  /** The day of the price list. */
  pricesOf?: string
  facts: readonly Fact[]
  note?: string
}
