// A story of the matrix: what a client asks and what a model answers, independent of any wire and of the IR, so that the
// tests do not share the codecs' faults.

import type { JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'

/** What a user, an instruction or a tool's result holds. `pdf` and `image` data is base64. */
export type Shown =
  | { text: string; cached?: true }
  | { imageUrl: string }
  | { image: string }
  | { pdf: string; name: string }
  | { file: string; name: string }

/** `own`: the item of a client of the responses wire, where that has one of its own; ids are added from `of` or `call`. */
type Own = { own?: JsonObject }

/** `of`: the id of the call. */
export type Result = { result: Shown[]; of: string; failed?: true } & Own

/** What a model said, as a history may hold it. `input` is the arguments' JSON text, or free text for a `custom` tool. */
export type Said =
  | { text: string; cites?: string[] }
  | { refusal: string }
  | { thought: string; seal?: string }
  /** `heard`: the name that the model writes for the tool. */
  | ({ call: string; name: string; input: string; custom?: true; namespace?: string; heard?: string } & Own)

/** A piece of an answer: also a search of the vendor's own with the pages that it found, and a PNG in base64. */
export type Piece = Said | { search: string; found: string[] } | { drawn: string }

export type Turn =
  | { role: 'system'; parts: Shown[] }
  | { role: 'user'; parts: (Shown | Result)[] }
  | { role: 'assistant'; parts: Said[] }

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
  /** The vendor calls it complete, however it finished. */
  lies?: true
  /** Deltas of parallel calls are interleaved, on wires that allow it. */
  overlap?: true
  /** Usage is reported only at the very end, on wires that allow it. */
  late?: true
}

export type Crossing = `${ChatWire} → ${ChatWire}`

export type Story = {
  name: string
  /** The section of the table. */
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
   * Vendors whose wire cannot express all of the answer, so that clients read a different one (see golden.ts). `why` is
   * given in the table.
   */
  differs?: { vendors: ChatWire[]; why: string }
  /** Text that a whole answer must contain literally. */
  verbatim?: string
  /** Vendors whose streams pass through although the strict rules forbid them. */
  lax?: ChatWire[]
}

export const crossing = (client: ChatWire, vendor: ChatWire): Crossing => `${client} → ${vendor}`

/** An answer as the client reads it, without ids and times. */
export type ClientView = JsonObject

/** A conversation as lines: see received.ts. */
export type Lines = string[]
