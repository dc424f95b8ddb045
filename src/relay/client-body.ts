// A request's body: parsed as far as the gateway needs, and passed on byte for byte.

import type { Json, JsonObject } from '../ir/json.ts'
import type { Marked } from '../lib/json-marked.ts'
import { createPicker } from '../lib/json-pick.ts'
import type { Container } from '../lib/json-scan.ts'
import { type Edit, type Names, spliceBytesOnce, spliceOnce } from '../lib/json-splice.ts'
import { free } from '../lib/memory.ts'
import type { Sent } from '../lib/pieces.ts'
import { DECISIVE, PROMPT } from '../wire/decisive.ts'
import { decidesWithin } from '../wire/models-within.ts'
import { measured, objectIn } from './body-json.ts'
import { leastInput, tokensIn, weigh } from './estimate.ts'

/** `plain`: whether no number in it has more digits than numbers hold, as far as that is known. */
export type Whole = { readonly text: string; body: JsonObject; plain: boolean }

export type ClientBody = {
  /** Of its JSON text: in bytes, or in characters where it has been decoded. */
  readonly size: number
  /** What it is sent as; absent for JSON. */
  readonly contentType?: string
  /** What decisions are made by. Of a large body, long strings are cut to their beginnings. */
  readonly outline: JsonObject
  /** Tokens, by a quick guess. */
  readonly inputEstimate: number
  /** Whether it may hold a picture: where it is false, nothing in it decodes as one. */
  readonly mayShow: boolean
  /** Tokens that the prompt surely takes. Counted when asked for. */
  readonly leastInput: number
  /** An outermost member exactly. Of a large body, it alone is parsed. */
  member(name: string): Json | undefined
  /** The same as its client wrote it, in the body's own memory; undefined for none, and where those bytes are not at hand. */
  written?(name: string): Uint8Array<ArrayBuffer> | undefined
  /** The elements of a list that is an outermost member, each exactly, parsed as they are asked for; undefined for others. */
  elements(name: string): Iterable<Json> | undefined
  /** All of it. */
  whole(): Whole
  /**
   * For a translation, where much need not be read: all of it, but with marks for that, and what puts its bytes back into the
   * request that is made of it.
   */
  readonly marked?: { readonly body: JsonObject } & Pick<Marked, 'size' | 'written'>
  /**
   * All of it with edits, as a request sends it. A member that may decide and is written more than once is sent once, as it
   * stands in the outline: servers differ in which of the two they read, and each must read what was admitted.
   */
  edited(edits: readonly Edit[]): Sent
  /** Gives the memory of a large one back: from then on only its size, its outline and its estimate may be asked for. */
  free?(): void
}

/** Members that decide, and those that hold others: at some server any of them may name the model that answers. */
export const ONCE: Names = {
  has: (name, isContainer) => isContainer || DECISIVE.has(String(name)) || decidesWithin(String(name)),
}

/** A body that is text already. Throws `invalid_json`, and `invalid_request` for JSON that is no object or nested too deeply. */
export const openText = (text: string): ClientBody =>
  openWhole(objectIn(text), {
    ...{ size: text.length, plain: false },
    read: () => text,
    edited: (edits) => spliceOnce(text, edits, ONCE),
  })

type Text = { size: number; plain: boolean; read: () => string } & Pick<ClientBody, 'edited' | 'free'>

/** `read` gives the text, which is not held. */
export const openWhole = (body: JsonObject, { size, plain, read, edited, free }: Text): ClientBody => {
  const { bytes, mayShow, said } = measured(() => weigh(body))
  return {
    size,
    outline: body,
    inputEstimate: tokensIn(bytes),
    mayShow,
    get leastInput() {
      return leastInput(body, said)
    },
    member: (name) => body[name],
    elements: (name) => listIn(body[name]),
    whole: () => wholeOf(body, read, plain),
    edited,
    ...(free && { free }),
  }
}

/** What a large body is asked for where its bytes stand; `outermost`: its members, where there is nothing wrong with them. */
export const inPlace = (
  bytes: Uint8Array<ArrayBuffer>,
  outermost: Container | undefined,
): Pick<ClientBody, 'size' | 'member' | 'written' | 'elements' | 'edited' | 'free'> => {
  const picker = createPicker(bytes, outermost?.slots ?? [])
  return {
    size: bytes.byteLength,
    member: (name) => picker.member(name) as Json | undefined,
    written: picker.written,
    elements: (name) => picker.elements(name) as Iterable<Json> | undefined,
    edited: (edits) => spliceBytesOnce(bytes, edits, ONCE, outermost),
    free: () => free(bytes),
  }
}

const listIn = (value: Json | undefined): Json[] | undefined => (Array.isArray(value) ? value : undefined)

export const wholeOf = (body: JsonObject, read: () => string, plain: boolean): Whole => ({
  plain,
  get text() {
    return read()
  },
  body,
})

/** The body to be translated as a whole. */
export const withoutMarks = ({ marked: _, ...body }: ClientBody): ClientBody => body

/** Stands in for a body that is no longer needed. */
export const NO_BODY: ClientBody = openText('{}')

/** The prompt, and what chat completions may bring besides it that is as long. */
const LONG: ReadonlySet<string> = new Set([...PROMPT, 'functions', 'prediction'])

/** What settling an exchange needs of a body that has been answered: figures and settings, and nothing of the prompt. */
export const withoutPrompt = ({ size, inputEstimate, outline }: ClientBody): ClientBody => ({
  ...NO_BODY,
  size,
  inputEstimate,
  outline: Object.fromEntries(Object.entries(outline).filter(([name]) => !LONG.has(name))),
})

/** The body with another estimate. What it surely takes is not counted for that. */
export const withEstimate = (body: ClientBody, inputEstimate: number): ClientBody => {
  const { size, contentType, outline, mayShow, member, written, elements, whole, edited, free, marked } = body
  const sent = contentType === undefined ? {} : { contentType }
  return {
    ...{ size, ...sent, outline, inputEstimate, mayShow, member, elements, whole, edited },
    ...(written && { written }),
    ...(free && { free }),
    ...(marked && { marked }),
    get leastInput() {
      return body.leastInput
    },
  }
}
