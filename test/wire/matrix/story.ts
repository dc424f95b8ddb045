// A story of the matrix: what a client asks and what a model answers, in no wire's words and apart from the IR, so that
// a fault of the codecs cannot hide in the test that looks for it.

import type { JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'

/** What a user, an instruction or a tool's result holds. `pdf` and `image` data is base64. */
export type Shown =
  | { text: string; cached?: true }
  | { imageUrl: string }
  | { image: string }
  | { pdf: string; name: string }
  | { file: string; name: string }

/** As a client of the responses wire writes what it has an item of its own for, `of` and `call` apart. */
type Own = { own?: JsonObject }

/** `of`: the id of the call. */
export type Result = { result: Shown[]; of: string; failed?: true } & Own

/** A piece of what a model said. `input` is the arguments' JSON text, or free text for a `custom` tool. */
export type Piece =
  | { text: string; cites?: string[] }
  | { refusal: string }
  | { thought: string; seal?: string }
  | ({ call: string; name: string; input: string; custom?: true; namespace?: string } & Own)

export type Turn =
  | { role: 'system'; parts: Shown[] }
  | { role: 'user'; parts: (Shown | Result)[] }
  | { role: 'assistant'; parts: Piece[] }

export type Tool = {
  name: string
  description?: string
  /** Absent: no arguments. */
  schema?: JsonObject
  strict?: true
  custom?: true
  namespace?: string
} & Own

export type Ask = {
  turns: Turn[]
  tools?: Tool[]
  choice?: 'auto' | 'none' | 'required' | { tool: string }
  parallel?: false
  maxOutput?: number
  stop?: string[]
  schema?: JsonObject
  effort?: 'low' | 'high'
  temperature?: number
  user?: string
  /** Members that only this wire's client can write. */
  extra?: Partial<Record<ChatWire, JsonObject>>
}

export type Figures = { input: number; cacheRead?: number; cacheWrite?: number; output: number; reasoning?: number }

export type Answer = {
  pieces: Piece[]
  finish: 'stop' | 'calls' | 'length' | 'refusal' | 'filter' | { stopSequence: string }
  usage: Figures
  /** Where the wire allows it, the calls' deltas come mixed. */
  overlap?: true
  /** Where the wire allows it, no figures come before the very end. */
  late?: true
}

export type Crossing = `${ChatWire} → ${ChatWire}`

export type Story = {
  name: string
  /** Where in the table it stands. */
  group: string
  ask: Ask
  answer: Answer
  /** The model's variant: what its provider is configured to lack. */
  variant?: 'plain' | 'no-forms' | 'no-custom' | 'no-thought'
  /** Clients that can ask this; all where absent. */
  clients?: ChatWire[]
  /** Vendors that can answer this; all where absent. */
  vendors?: ChatWire[]
  /** Refused with `invalid_request`, naming the member, before any provider is called. */
  refused?: Partial<Record<Crossing, string>>
  /** What `x-gateway-dropped` lists, and why. */
  dropped?: Partial<Record<Crossing, string[]>>
  because?: string
  /**
   * Vendors whose wire cannot say all of the answer: their clients read a telling of its own, with the reason, which
   * the table gives.
   */
  differs?: { vendors: ChatWire[]; why: string }
  /** Stands in a whole answer's text to the letter. */
  verbatim?: string
  /** Passes through as the vendor sent it though the strict rules forbid it. */
  lax?: ChatWire[]
}

export const crossing = (client: ChatWire, vendor: ChatWire): Crossing => `${client} → ${vendor}`

/** A telling of an answer in the client's own words, ids and times taken out. */
export type Told = JsonObject

/** One line for each thing the model was shown: see `heard`. */
export type Heard = string[]
