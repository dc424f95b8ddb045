// A provider: who serves models, reached through its accounts. Data only; nothing here fetches.

import type { Quirks } from '../ir/quirks.ts'
import type { Wire } from '../ir/wire.ts'

/**
 * How a credential is shown: `x-api-key: …`, `api-key: …` or `Authorization: Bearer …`; `aws-sigv4`: not itself, each
 * request is signed by it; `google`: none is set, the machine's own makes tokens, and requests are as Vertex AI takes them.
 */
export type Auth = 'x-api-key' | 'api-key' | 'bearer' | 'aws-sigv4' | 'google'

/** One credential and base URL of a provider. `weight` is its share of the requests beside its siblings'. */
export type Account = {
  name: string
  /** Without a trailing slash; a messages provider's has no `/v1`, the other wires' ends in it. */
  baseUrl: string
  /** Secret: never logged, never shown. */
  credential: string
  weight: number
}

/** Milliseconds: until connected, until the first byte, between two bytes, and for the whole answer. */
export type Timeouts = { connectMs: number; firstByteMs: number; idleMs: number; totalMs: number }

export type Provider = {
  id: string
  /** The name of the preset it was set up by. */
  preset?: string
  /** What it speaks, most preferred first. */
  wires: Wire[]
  auth: Auth
  /** Sent on every request that the client sent none of; undefined for providers that take no version. */
  versionHeader: { name: string; value: string } | undefined
  /** Sent with every request beside the gateway's own, by their names in small letters; values may be secret. */
  headers?: Readonly<Record<string, string>>
  /** The word that stands for the neutral one in ids: `claude` for `vendorA`; see `neutralWord`. */
  brand: string | undefined
  /** The proxy it is reached through; false: none, whatever the environment says; absent: the environment's. Secret. */
  proxy?: string | false | undefined
  /** Empty: the provider is not configured, its models answer 503. */
  accounts: Account[]
  timeouts: Timeouts
  quirks: Quirks
}

/** The id of the provider that is meant: by its own id, or by the preset that it alone was set up by. */
export const idOfNamed = (providers: readonly Pick<Provider, 'id' | 'preset'>[], name: string): string => {
  if (providers.some(({ id }) => id === name)) return name
  const [found, ...others] = providers.filter(({ preset }) => preset === name)
  return found === undefined || others.length > 0 ? name : found.id
}

/** The word that stands for a provider in its models' ids: `vendor_a` → `vendorA`. */
export const neutralWord = (providerId: string): string =>
  providerId.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
