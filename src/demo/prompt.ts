// What a demo vendor understood of a request and what it will answer, whatever the wire. Tokens are words.

import type { JsonObject } from '../ir/json.ts'

export type Tool = { name: string; schema: JsonObject; custom: boolean; namespace?: string }
export type Media = { mediaType: string; bytes?: number; url?: string }

/** A piece of the prompt in its order. `breakpoint` asks that the prompt up to here be cached. */
export type Segment = { text: string; tokens: number; breakpoint?: '5m' | '1h' }

export type Prompt = {
  model: string
  segments: Segment[]
  /** The text of the user's last turn. */
  said: string
  /** What the tools answered in the last turn. */
  results: string[]
  media: Media[]
  tools: Tool[]
  choice: 'auto' | 'none' | 'required' | { name: string }
  parallel: boolean
  /** The JSON schema the answer must follow; `{}` where any JSON object will do. */
  schema?: JsonObject
  stop: string[]
  maxTokens?: number
  reasoning: boolean
}

/** `input` is the call's arguments as JSON text, or free text for a custom tool. */
export type Call = { tool: Tool; input: string }

/** `input` excludes both cache figures; `output` includes `reasoning`. */
export type Figures = {
  input: number
  cacheRead: number
  cacheWrite5m: number
  cacheWrite1h: number
  output: number
  reasoning: number
}

export type Answer = {
  reasoning?: string
  text: string
  refusal?: string
  calls: Call[]
  stop: 'end' | 'max-tokens' | 'stop-sequence' | 'tool-calls' | 'refusal'
  stopSequence?: string
  figures: Figures
}

/** Words with the white space around them, so that joining them gives the text back. */
export const words = (text: string): string[] => text.match(/\s*\S+(?:\s+$)?|\s+$/g) ?? []

export const countTokens = (text: string): number => text.match(/\S+/g)?.length ?? 0

export const segment = (text: string, breakpoint?: '5m' | '1h'): Segment => ({
  text,
  tokens: countTokens(text),
  ...(breakpoint === undefined ? {} : { breakpoint }),
})

/** Of the whole prompt, in tokens. */
export const promptTokens = ({ segments }: Prompt): number => segments.reduce((total, part) => total + part.tokens, 0)

/** What a picture or file counts as, in tokens: the vendors count by size, the demo by a flat fee. */
const MEDIA_TOKENS = 85

export const mediaSegment = (media: Media, breakpoint?: '5m' | '1h'): Segment => ({
  text: `${media.mediaType} ${media.url ?? media.bytes ?? 0}`,
  tokens: MEDIA_TOKENS,
  ...(breakpoint === undefined ? {} : { breakpoint }),
})

/** Text in pieces of a few characters, never through a surrogate pair: how arguments stream. */
export const fragments = (text: string): string[] => text.match(/.{1,7}/gsu) ?? []

/** The length in bytes of what base64 text stands for. */
export const base64Bytes = (data: string): number => {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding)
}
