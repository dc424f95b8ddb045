// A model: what a client may ask for by id, and what the gateway knows of it.

import type { Quirks } from '../ir/quirks.ts'
import type { TokensPer } from '../ir/usage.ts'
import type { Kind } from '../ir/wire.ts'

/** What a model reads or makes. */
export const MODALITIES = ['text', 'image', 'audio', 'embedding', 'moderation'] as const
export type Modality = (typeof MODALITIES)[number]

/**
 * USD per million tokens, which is micro-USD per token, for each class of usage. `cacheWrite1h`: of what is to be kept
 * for an hour; like any other written input where it is absent.
 */
export type Rates = { input: number; output: number; cacheRead: number; cacheWrite: number; cacheWrite1h?: number }

/** USD per million tokens of sound, or of pictures. */
export type KindRates = Pick<Rates, 'input' | 'output' | 'cacheRead'>

/**
 * `long`: for all of an exchange whose prompt, what comes from a cache included, has more tokens than `above`.
 * `serviceTiers`: so many times as much, by the class of service and the region that the provider told; 1 for others.
 * `perCall`: USD for a call of a tool that runs at the vendor, by its name; nothing for others. `perImage`: USD for a picture
 * that is made, by its quality and size (see ledger/pictures.ts). `audio`, `image`: of tokens of sound and of pictures, where
 * they cost something else. `asOf`: the day of the price list. `asTold`: it costs what its provider's
 * figures say, and this where they do not.
 */
export type Price = Rates & {
  long?: Rates & { above: number }
  serviceTiers?: Readonly<Record<string, number>>
  perCall?: Readonly<Record<string, number>>
  perImage?: Readonly<Record<string, number>>
  audio?: KindRates
  image?: KindRates
  asOf?: string
  asTold?: true
}

export type Model = {
  /** The catalogue id: what answers, the ledger and permissions name. */
  id: string
  /** The id of the provider that serves it. */
  provider: string
  family: string
  displayName: string
  /** `text`: served on every text wire; the others on one of their own only. */
  kind: Kind
  inputModalities: Modality[]
  outputModalities: Modality[]
  /** Tokens of prompt and answer together. */
  contextWindow: number
  /** The most output tokens of one answer. */
  maxOutput: number
  price: Price
  /** Tokens billed for one image when the provider reports none; 0 for text models. */
  tokensPerImage: number
  /** For sound, where the provider reports no tokens. */
  tokensPer: TokensPer
  /** Seconds since the epoch. */
  createdAt: number
  /** The provider's own id of the model. */
  upstream: string
  quirks: Quirks
  /**
   * Not among those that are listed: its provider is known to have it no more, or never had it, and its id still leads there; or
   * nobody serves it while others are served.
   */
  unlisted?: true
}
