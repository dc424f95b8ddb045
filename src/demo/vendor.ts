// What a demo vendor is: wires it speaks, how it checks a credential, how it words a failure. The demo providers are
// servers of their own: nothing in the gateway's serving path knows them, and they know nothing of it.

import { asList, asObject, asText, type Json, type JsonObject } from '../ir/json.ts'
import type { Wire } from '../ir/wire.ts'

export type DemoWireName = Wire | 'count-tokens'

/** The failures a vendor can be asked for, whatever words it has for them. */
export const FAILURES = [
  'invalid',
  'credential',
  'billing',
  'permission',
  'model',
  'conflict',
  'too_large',
  'rate_limit',
  'quota',
  'context_length',
  'content_policy',
  'server',
  'bad_gateway',
  'overloaded',
  'timeout',
] as const
export type Failure = (typeof FAILURES)[number]

/** An error in the vendor's own words: its HTTP status, extra headers and the members of its `error` object. */
export class VendorError extends Error {
  readonly status: number
  readonly members: JsonObject
  readonly headers: Record<string, string>

  constructor(status: number, members: JsonObject & { message: string }, headers: Record<string, string> = {}) {
    super(members.message)
    this.status = status
    this.members = members
    this.headers = headers
  }
}

/** A request the vendor accepted. `play` yields the same answer as `body`, as frames of its stream. */
type Accepted = {
  stream: boolean
  /** A text or bytes where the answer is no JSON. */
  body: JsonObject | string | Uint8Array
  play?: () => Iterable<string>
  /** The frames with which the vendor ends a stream it breaks off after `sent` frames. */
  broken?: (error: VendorError, sent: number) => string
}

export type DemoRequest = {
  headers: Headers
  body: JsonObject
  /** Seconds since the epoch, as answers carry it. */
  now: number
  /** The vendor's own address, for the files it serves. */
  origin: string
}

export type DemoWire = {
  wire: DemoWireName
  /** What the user said, read as far as the body allows: directives come before every check but the credential. */
  said(body: JsonObject): string
  /** Throws `VendorError` as the vendor would. */
  accept(request: DemoRequest): Accepted
}

/** What a vendor has kept of an answer: as a body, or as frames of its stream. */
export type Kept = { body: JsonObject; frames?: undefined } | { frames: string[] }

export type Vendor = {
  name: 'vendor_a' | 'vendor_b'
  /** By path below the server's root. */
  wires: Record<string, DemoWire>
  /** Requests about answers that were made before; undefined for any other. Throws `VendorError`. */
  kept?(method: string, path: string, query: URLSearchParams): Kept | undefined
  /** Throws `VendorError` where the credential is missing or wrong. */
  authorise(headers: Headers, apiKey: string): void
  failure(name: Failure, wire: DemoWireName): VendorError
  invalidJson(): VendorError
  notFound(path: string): VendorError
  /** The HTTP body and headers of an error. `requestId` is the vendor's own. */
  errorBody(error: VendorError, requestId: string): JsonObject
  headers(requestId: string): Record<string, string>
}

export const asNumber = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined)

/** The parts of a content that may be text alone; such a text is a part of type `text`. */
export const partsOf = (content: Json | undefined): JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content).map(asObject)

/** What the parts of a content say. */
export const textOf = (content: Json | undefined): string =>
  partsOf(content)
    .map((part) => asText(part.text) || asText(part.refusal))
    .filter((text) => text !== '')
    .join('\n')

/** In every error text and header of the demo vendors: what must never reach a client. */
export const MARKER = 'vendor-secret-marker'
