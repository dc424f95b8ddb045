// Where a request may go: an account, the model that it is asked for, and the wire on which; and what is sent there.

import type { Model } from '../catalogue/model.ts'
import type { JsonObject } from '../ir/json.ts'
import type { Quirks } from '../ir/quirks.ts'
import { isChatWire, type Wire } from '../ir/wire.ts'
import type { Sent } from '../lib/pieces.ts'
import type { TraceContext } from '../lib/trace-context.ts'
import type { Account, Provider } from '../provider/provider.ts'

export type Target = {
  provider: Provider
  account: Account
  model: Model
  /** The wire the provider is reached on: the client's own where it speaks it. */
  wire: Wire
  /** What the breaker knows the target by. */
  name: string
  /** What its refusals have told of it. */
  learned?: Learned | undefined
  /** The longest answer that it is asked for, in tokens: the prompt leaves no room for more. */
  outputCap?: number
  /** Asked without the conversation's earlier reasoning, which it has refused. */
  withoutReasoning?: true
  /** Its request is written anew, though it is in this wire: as the client wrote its conversation it was refused. */
  anew?: true
}

/**
 * What refusals have told of a target: quirks for the codecs, the betas that it does not know (adapt/betas.ts), the preset of
 * the vendor that it has turned out to be (adapt/own-names.ts). `guessesCap`: the cap's name is by what answers count, and no
 * refusal has told it (adapt/cap-name.ts). `unstreamed`: what alone it gives in no stream: calls of tools,
 * or what the refusal named, which concerns the one request.
 */
export type Learned = Quirks & {
  unknownBetas?: readonly string[]
  vendor?: string
  guessesCap?: true | undefined
  unstreamed?: 'tools' | 'named' | undefined
}

/** The wire a provider is reached on for a client of that wire: the client's own where it speaks it. */
export const wireOf = (provider: Provider, wire: Wire): Wire | undefined => {
  if (provider.wires.includes(wire)) return wire
  return isChatWire(wire) ? provider.wires.find(isChatWire) : undefined
}

/** `method`: POST by default. */
export type Outgoing = {
  method?: 'GET' | 'POST' | 'DELETE'
  url: string
  body?: Sent
  /** Of the body; JSON by default. */
  contentType?: string | undefined
  /** Of a body that is no JSON, for what its refusal may be about. */
  members?: JsonObject
  /** Told to the provider. */
  trace?: TraceContext
}
