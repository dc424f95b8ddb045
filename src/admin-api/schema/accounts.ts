// Accounts of providers, what they say when asked, presets, and what of the configuration is set at run time.

import { type Static, Type } from '@sinclair/typebox'
import { Count, Nullable, oneOf, Time } from './forms.ts'
import { BreakerState } from './models.ts'

/**
 * One credential of a provider, without the credential. `base_url` has no user, password or query. `failures`: attempts
 * that failed since the last that did not, the first of them at `failing_since`. `trouble`: what only the owner can mend, an
 * account out of money or a model whose `upstream` id the provider does not know; null again after the next answer.
 * `managed`: who says that there is such an account; only those of the store are changed here. `problem`: why one of those is
 * not used. `first_byte_ms`: the median of its last answers. That, `last_error`, `last_used_at` and `spent_micro_usd` are of all
 * processes and starts; what is long ago is told by what this process knows, the last use then by its hour.
 */
export const Account = Type.Object({
  provider: Type.String(),
  name: Type.String(),
  base_url: Type.String(),
  weight: Type.Number(),
  wires: Type.Array(Type.String()),
  in_flight: Count,
  state: BreakerState,
  managed: oneOf(['file', 'environment', 'store']),
  preset: Nullable(Type.String()),
  credential: Type.Object({
    /** `env` is read at a start, `file` at a reload as well. */
    kind: oneOf(['env', 'file', 'literal', 'sealed', 'none']),
    name: Nullable(Type.String({ description: 'Of the variable or the file.' })),
    last_four: Nullable(Type.String()),
  }),
  problem: Nullable(Type.String()),
  last_used_at: Nullable(Time),
  last_error: Nullable(
    Type.Object({ at: Time, model: Type.String(), error_code: Type.String(), words: Type.String() }),
  ),
  first_byte_ms: Nullable(Count),
  spent_micro_usd: Count,
  spent_since: Time,
  models: Type.Array(
    Type.Object({
      model: Type.String(),
      state: BreakerState,
      in_flight: Count,
      failures: Count,
      failing_since: Nullable(Time),
      trouble: Nullable(Type.Object({ what: oneOf(['no_money', 'unknown_model']), upstream: Nullable(Type.String()) })),
    }),
  ),
})
export type Account = Static<typeof Account>

/**
 * What an account said when it was asked for a word. `model` and `upstream`: null for what holds for the account as a
 * whole. `verdict`: a word for programs; `words`: a sentence for people, never the provider's.
 */
export const Finding = Type.Object({
  model: Nullable(Type.String()),
  upstream: Nullable(Type.String()),
  ok: Type.Boolean(),
  verdict: Type.String(),
  words: Type.String(),
})
export type Finding = Static<typeof Finding>

/** A vendor or server that is known. `base_url` null: it is each owner's own. `credential_shape`: a pattern, or null. */
export const Preset = Type.Object({
  name: Type.String(),
  title: Type.String(),
  base_url: Nullable(Type.String()),
  wires: Type.Array(Type.String()),
  credential_shape: Nullable(Type.String()),
  open: Type.Boolean({ description: 'Asks for no credential.' }),
})
export type Preset = Static<typeof Preset>

export const EntrySection = oneOf(['providers', 'accounts', 'models', 'aliases', 'fallbacks'])
export type EntrySection = Static<typeof EntrySection>

/**
 * A member of the configuration. `managed` `file`: it stands in the configuration file and is changed there. `problem`: why one
 * that is kept here is not in force. `value`: as the file says it, never with a secret; null for those of the file.
 */
export const Entry = Type.Object({
  section: EntrySection,
  name: Type.String(),
  managed: oneOf(['file', 'store']),
  value: Type.Unknown(),
  problem: Nullable(Type.String()),
  updated_at: Nullable(Time),
})
export type Entry = Static<typeof Entry>
