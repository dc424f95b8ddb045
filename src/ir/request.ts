// A conversation to be continued, in no wire's words.

import type { ErrorDetails } from '../errors.ts'
import type { Json, JsonObject } from './json.ts'
import type { AssistantPart, CacheMark, SystemPart, UserPart } from './part.ts'
import type { ChatWire } from './wire.ts'

/** Turns keep the client's order and are never merged by a decoder: merging is the encoder's, where its wire forces it. */
export type Turn =
  /** `developer` keeps the newer name of the role where the client used it. */
  | { role: 'system'; parts: SystemPart[]; developer?: boolean; name?: string }
  | { role: 'user'; parts: UserPart[]; name?: string }
  | { role: 'assistant'; parts: AssistantPart[]; name?: string; phase?: string }

/**
 * Opaque parts of the conversation may change the list of tools: `within` came along in one, so that its own wire does
 * not list it; `gone` was taken away by one, so that no other wire lists it.
 */
type Listing = { within?: true; gone?: true }

/** `about`: what is said of all tools of the namespace. */
type Named = { name: string; namespace?: string; about?: string; description?: string }

/** `schema` absent: the tool takes no arguments. */
export type FunctionTool = Named & {
  type: 'function'
  schema?: JsonObject
  strict?: boolean
  cache?: CacheMark
} & Listing
/** A tool whose input is free text, in a grammar where one is given. */
export type CustomTool = Named & {
  type: 'custom'
  format?: JsonObject
} & Listing
/**
 * A tool the provider runs itself, or any other that only `origin` knows. A foreign encoder refuses it, or, where it is
 * `optional` (an ability the conversation goes on without), lists it as dropped. `standIn`: what it is elsewhere, where
 * the client carries it out as it does its functions.
 */
type OpaqueTool = {
  type: 'opaque'
  origin: ChatWire
  value: JsonObject
  optional?: boolean
  standIn?: FunctionTool
} & Listing
export type Tool = FunctionTool | CustomTool | OpaqueTool

export type ToolChoice =
  | { type: 'auto' | 'none' | 'required' }
  | { type: 'tool'; name: string; kind: 'function' | 'custom' }
  /** Only these of the tools: one of them if it likes, or one in any case. */
  | { type: 'allowed'; required: boolean; tools: { name: string; kind: 'function' | 'custom' }[] }

export type OutputFormat =
  | { type: 'json-object' }
  | { type: 'json-schema'; name?: string; description?: string; schema: JsonObject; strict?: boolean }

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** How the model should think. All absent: the client said nothing. */
export type Reasoning = {
  /** `off`: no thinking; `budget`: up to `budgetTokens`; `adaptive`: the model decides. */
  mode?: 'off' | 'budget' | 'adaptive'
  budgetTokens?: number
  effort?: Effort
  /** Whether the client wants to read the thought: `omitted` hides it, others ask for a summary of that kind. */
  summary?: 'omitted' | 'auto' | 'concise' | 'detailed'
}

export type Sampling = {
  temperature?: number
  topP?: number
  topK?: number
  frequencyPenalty?: number
  presencePenalty?: number
  seed?: number
}

/**
 * A member the IR has no word for. `essential`: leaving it out would change what the request means, so a foreign
 * encoder refuses it with 400; else a foreign encoder lists `name` as dropped. `name` may be a path into the request
 * (`tools.2.defer_loading`). `details` go with the refusal, as `error.details`, for clients that act on them; `advice`
 * is a sentence on what the client can do instead. `met`: what it asks is so at any provider, or is said by other
 * means: a foreign encoder needs no word for it.
 */
export type OpaqueMember = {
  name: string
  value: Json
  essential: boolean
  details?: ErrorDetails
  advice?: string
  met?: true
}

export type ChatRequest = {
  /** As the client wrote it; the relay puts the target's own id on the way out. */
  model: string
  stream: boolean
  turns: Turn[]
  tools: Tool[]
  toolChoice?: ToolChoice
  parallelTools?: boolean
  maxOutput?: number
  stop?: string[]
  sampling: Sampling
  output?: OutputFormat
  reasoning?: Reasoning
  verbosity?: string
  /** Log probabilities of the output's tokens, with this many alternatives each. */
  logprobs?: { top: number }
  user?: string
  metadata?: { [name: string]: string }
  cacheKey?: string
  serviceTier?: string
  /** The wire the opaque members belong to. */
  origin: ChatWire
  opaque: OpaqueMember[]
}
