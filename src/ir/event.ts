// A model's answer as a stream of events, independent of any wire. The stream is primary; a full answer is its fold.

import type { GatewayError } from '../errors.ts'
import type { JsonObject } from './json.ts'
import type { AssistantPart, Citation, Logprob, OpaquePart, Seal } from './part.ts'
import type { Usage } from './usage.ts'

/**
 * Why the model stopped. `stop-sequence` names the sequence in `stopSequence` where known. `pause`: the provider's own
 * tools need another turn. `context-length`: the context window is full.
 */
export type FinishReason =
  | 'stop'
  | 'stop-sequence'
  | 'length'
  | 'tool-calls'
  | 'refusal'
  | 'content-filter'
  | 'pause'
  | 'context-length'

/** `model` is what the provider called itself: encoders write the gateway's id instead. `createdAt` is in seconds. */
export type Start = { type: 'start'; id: string; model?: string; createdAt?: number; usage?: Usage }
export type Finish = {
  type: 'finish'
  reason: FinishReason
  stopSequence?: string
  usage: Usage
  serviceTier?: string
  moderation?: Moderation
}

/** The vendor's moderation results for the prompt and the answer; an empty list where moderation failed. */
export type Moderation = { input: JsonObject[]; output: JsonObject[] }

/**
 * Grammar: `start`, then parts, then exactly one `finish` or `error`, then nothing. Each part has a number (`part`,
 * 0,1,2… in order of its start), one start, deltas, one end. Parts may overlap: see `sequence` in ir/sequence.ts for
 * wires that forbid it. `opaque` is a whole part in one event. A `citation` may also come after its text's end. `usage`
 * may come at any time: each report overwrites.
 */
export type ChatEvent =
  | Start
  | { type: 'text-start'; part: number }
  | { type: 'text-delta'; part: number; text: string; logprobs?: Logprob[] }
  | { type: 'citation'; part: number; citation: Citation }
  | { type: 'text-end'; part: number }
  | { type: 'refusal-start'; part: number }
  | { type: 'refusal-delta'; part: number; text: string }
  | { type: 'refusal-end'; part: number }
  /** `full`: the deltas are the thought itself, not a summary. `seal`: the end's, where a whole answer tells it already. */
  | { type: 'reasoning-start'; part: number; full?: boolean; seal?: Seal }
  | { type: 'reasoning-delta'; part: number; text: string }
  /** `full` overrides the start's: a tag that arrived with the end is more accurate. */
  | { type: 'reasoning-end'; part: number; seal?: Seal; full?: boolean }
  | {
      type: 'tool-start'
      part: number
      id: string
      name: string
      kind: 'function' | 'custom'
      namespace?: string
      itemId?: string
    }
  | { type: 'tool-delta'; part: number; text: string }
  | { type: 'tool-end'; part: number }
  | { type: 'opaque'; part: number; value: OpaquePart }
  | { type: 'usage'; usage: Usage }
  /** The provider is alive and silent. */
  | { type: 'ping' }
  | Finish
  /** `requestId`: the gateway's id of the request, which some wires give with the error. */
  | { type: 'error'; error: GatewayError; requestId?: string }

/** A whole answer. */
export type ChatResponse = {
  id: string
  model?: string
  createdAt?: number
  parts: AssistantPart[]
  finish: FinishReason
  stopSequence?: string
  usage: Usage
  serviceTier?: string
  moderation?: Moderation
}
