// A request for an answer to a conversation, independent of any wire.

import type { ErrorDetails } from '../errors.ts'
import type { Json, JsonObject } from './json.ts'
import type { AssistantPart, CacheMark, SystemPart, UserPart } from './part.ts'
import type { ChatWire } from './wire.ts'

/** Turns keep the client's order. Decoders never merge them; an encoder does where its wire requires it. */
export type Turn =
  /** `developer` keeps the newer name of the role where the client used it. */
  | { role: 'system'; parts: SystemPart[]; developer?: boolean; name?: string }
  /** `within`: what the gateway says in the user's place in the middle of a turn of the model's. */
  | { role: 'user'; parts: UserPart[]; name?: string; within?: true }
  | { role: 'assistant'; parts: AssistantPart[]; name?: string; phase?: string }

/**
 * Opaque parts of the conversation may change the list of tools. `within`: such a part added the tool, so its own wire
 * does not list it again. `gone`: such a part removed the tool, or the client's search must find it first, so other wires
 * do not list it.
 */
type Listing = { within?: true; gone?: true }

/** `about`: the description of the namespace as a whole. */
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
 * A tool the provider runs itself, or any other that only `origin` knows. Encoders of other wires refuse it, or, where it
 * is `optional` (the conversation works without it), list it as dropped. `asFunction`: for a tool that the client runs,
 * the function it becomes on other wires.
 */
type OpaqueTool = {
  type: 'opaque'
  origin: ChatWire
  value: JsonObject
  optional?: boolean
  asFunction?: FunctionTool
} & Listing
export type Tool = FunctionTool | CustomTool | OpaqueTool

/** `namespace`: where the choice tells it. */
export type ChosenTool = { name: string; kind: 'function' | 'custom'; namespace?: string }

export type ToolChoice =
  | { type: 'auto' | 'none' | 'required' }
  | ({ type: 'tool' } & ChosenTool)
  /** Only these tools may be called; `required`: one of them must be. */
  | { type: 'allowed'; required: boolean; tools: ChosenTool[] }

export type OutputFormat =
  | { type: 'json-object' }
  | { type: 'json-schema'; name?: string; description?: string; schema: JsonObject; strict?: boolean }

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** How the model should think. All absent: the client did not say. */
export type Reasoning = {
  /** `off`: no thinking; `budget`: up to `budgetTokens`; `adaptive`: the model decides. */
  mode?: 'off' | 'budget' | 'adaptive'
  budgetTokens?: number
  effort?: Effort
  /** What the client wants to read of the thought: `omitted` for nothing, else a summary of that kind. */
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
 * A member that the IR does not model. `essential`: the request would mean something else without it, so encoders of
 * other wires refuse it with 400; otherwise they list `name` as dropped. `name` may be a path into the request
 * (`tools.2.defer_loading`). `details` go with the refusal, as `error.details`, for clients that act on them; `advice`
 * is a sentence on what the client can do instead. `met`: every provider does this anyway, or it is expressed by other
 * means, so encoders of other wires ignore it.
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
  /** As the client wrote it; the target's own id replaces it when the request is encoded. */
  model: string
  stream: boolean
  turns: Turn[]
  tools: Tool[]
  toolChoice?: ToolChoice
  /** Of `none` where the gateway itself wants it, and says so in words, too: the client's, for a cache that goes by the choice. */
  cachedChoice?: { choice?: ToolChoice }
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
