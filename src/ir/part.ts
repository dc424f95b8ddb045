// The parts a conversation is made of. Only what at least two wires can express has a type of its own; the rest is
// opaque, kept whole with the wire it came from, so that it returns there unchanged and is left out elsewhere.

import type { Json, JsonObject } from './json.ts'
import type { ChatWire } from './wire.ts'

/** A marker after which the provider may cache the prompt. */
export type CacheMark = { ttl?: '5m' | '1h' }

export type Source =
  | { kind: 'url'; url: string }
  | { kind: 'base64'; mediaType: string; data: string }
  | { kind: 'text'; text: string }
  /** An id in the provider's own file store: meaningless at any other provider. */
  | { kind: 'file'; id: string; origin: ChatWire }

/** `native`: the citation as it was on its own wire. */
export type Citation =
  | {
      kind: 'url'
      url: string
      title?: string
      citedText?: string
      start?: number
      end?: number
      native?: { origin: ChatWire; value: JsonObject }
    }
  | { kind: 'opaque'; origin: ChatWire; value: JsonObject }

export type TokenLogprob = { token: string; logprob: number; bytes?: number[] | null }
export type Logprob = TokenLogprob & { top: TokenLogprob[] }

export type TextPart = { type: 'text'; text: string; citations?: Citation[]; logprobs?: Logprob[]; cache?: CacheMark }
export type ImagePart = { type: 'image'; source: Source; detail?: string; cache?: CacheMark }
/**
 * A PDF or a text file. `name` is its file name or title. `blocks`: of one whose client wrote it as texts and pictures, what
 * is shown in its place where a document has one source.
 */
export type DocumentPart = {
  type: 'document'
  source: Source
  name?: string
  context?: string
  blocks?: (TextPart | ImagePart)[]
  cache?: CacheMark
}
export type RefusalPart = { type: 'refusal'; text: string }

/** Content of a message or of a tool's result. */
export type ContentPart = TextPart | ImagePart | DocumentPart | OpaquePart

/** A tool that the client's search has found: it is in the request's list. */
export type FoundTool = { name: string; namespace?: string }

/**
 * A call the client must carry out. `input` is raw text: for `function` the JSON text of the arguments as the model
 * wrote it ('{}' for none), for `custom` free text. `id` pairs it with its result. `native`, of a call and
 * of a result: the client's own item, of a kind that only its wire has, which is sent back unchanged on that wire.
 */
export type ToolCallPart = {
  type: 'tool-call'
  id: string
  name: string
  kind: 'function' | 'custom'
  namespace?: string
  input: string
  /** The wire's own id of the item that holds the call, where it has one apart from `id`. */
  itemId?: string
  native?: JsonObject
  cache?: CacheMark
}
export type ToolResultPart = {
  type: 'tool-result'
  callId: string
  kind: 'function' | 'custom'
  parts: ContentPart[]
  /** Of a search for tools: what encoders of other wires tell the model in place of `parts`. */
  found?: FoundTool[]
  isError?: boolean
  native?: JsonObject
  cache?: CacheMark
}

/**
 * What only its own provider can read of a thought: a signature, redacted or encrypted content. `value` is the wire's
 * own members, verbatim (`{signature}`, `{data}`, `{id, encrypted_content}`), to be returned to `origin` untouched.
 */
export type Seal = { origin: ChatWire; value: { [name: string]: Json } }
/** `text` is the thought where `full`, else a summary of it; empty when redacted or omitted. */
export type ReasoningPart = { type: 'reasoning'; text: string; full?: boolean; seal?: Seal }

/**
 * Something only one wire can express: `value` verbatim. `met`: encoders of other wires express it by other means, and
 * need not list it as dropped.
 */
export type OpaquePart = { type: 'opaque'; origin: ChatWire; value: JsonObject; met?: true }

export type SystemPart = TextPart | OpaquePart
export type UserPart = ContentPart | ToolResultPart
export type AssistantPart = TextPart | RefusalPart | ToolCallPart | ReasoningPart | OpaquePart
