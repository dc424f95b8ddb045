// One demo vendor as a loopback HTTP server: credential, directives, checks, answer, in the vendor's own order.

import { isObject, type JsonObject } from '../ir/json.ts'
import { createBounded } from './bounded.ts'
import { type Directive, failureOf, numberOf, readDirectives } from './directive.ts'
import { randomId } from './id.ts'
import { pause, playBack } from './playback.ts'
import { drawPng } from './png.ts'
import { type DemoWire, type DemoWireName, MARKER, type Vendor, VendorError } from './vendor.ts'

/** One request as it reached a demo vendor. `aborted` turns true when the caller goes away before the end. */
export type Recorded = {
  vendor: Vendor['name']
  wire: DemoWireName | undefined
  path: string
  headers: Record<string, string>
  /** The body's exact text. */
  body: string
  /** Milliseconds since the epoch. */
  at: number
  aborted: boolean
}

export type ServerOptions = {
  vendor: Vendor
  apiKey: string
  /** Between two frames of a stream. */
  delayMs: number
  record(request: Recorded): void
}

export type DemoServer = { origin: string; stop(): Promise<void> }

/** The vendors' own bound on a request; the gateway's default lies below. */
const MOST_BYTES = 32 * 1024 * 1024

export const startServer = ({ vendor, apiKey, delayMs, record }: ServerOptions): DemoServer => {
  const spent = createBounded<number>(1_000)
  const stopping = new AbortController()

  /** The directives in force: for this vendor, and not yet used up. */
  const inForce = (said: string): Directive[] =>
    readDirectives(said).filter((directive, place) => {
      if (directive.vendor !== undefined && directive.vendor !== vendor.name) return false
      if (directive.times === undefined) return true
      const counted = `${place} ${said}`
      const used = spent.get(counted) ?? 0
      spent.set(counted, used + 1)
      return used < directive.times
    })

  const respond = async (request: Request, entry: Recorded): Promise<Response> => {
    const requestId = randomId(`req_${MARKER}_`, 12)
    const headers = vendor.headers(requestId)
    const refuse = (error: VendorError): Response =>
      Response.json(vendor.errorBody(error, requestId), {
        status: error.status,
        headers: { ...headers, ...error.headers },
      })
    try {
      vendor.authorise(request.headers, apiKey)
      const wire = vendor.wires[entry.path]
      if (wire === undefined || request.method !== 'POST') throw vendor.notFound(entry.path)
      if (entry.body.length > MOST_BYTES) throw vendor.failure('too_large', wire.wire)
      const body = parse(entry.body)
      if (body === undefined) throw vendor.invalidJson()
      const directives = inForce(wire.said(body))
      const early = await before(directives, wire, request, headers)
      if (early) return early
      return speak(wire, body, request, directives, headers, entry)
    } catch (error) {
      if (error instanceof VendorError) return refuse(error)
      throw error
    }
  }

  /** What a directive has happen before the request is even looked at. */
  const before = async (
    directives: Directive[],
    wire: DemoWire,
    request: Request,
    headers: Record<string, string>,
  ): Promise<Response | undefined> => {
    const signal = AbortSignal.any([request.signal, stopping.signal])
    for (const directive of directives) {
      if (directive.name === 'slow') await pause(numberOf(directive, 1_000), signal)
      if (directive.name === 'hang') await pause(Number.POSITIVE_INFINITY, signal)
      if (directive.name === 'error') throw vendor.failure(failureOf(directive.argument, 'server'), wire.wire)
      if (directive.name === 'empty')
        return new Response(null, { status: 200, headers: { ...headers, 'content-type': 'application/json' } })
      if (directive.name === 'html')
        return new Response(HTML, { status: 502, headers: { ...headers, 'content-type': 'text/html' } })
      if (directive.name === 'redirect') {
        return new Response(null, { status: 307, headers: { ...headers, location: `${origin}/elsewhere/${MARKER}` } })
      }
    }
    return undefined
  }

  const speak = (
    wire: DemoWire,
    body: JsonObject,
    request: Request,
    directives: Directive[],
    headers: Record<string, string>,
    entry: Recorded,
  ): Response => {
    const now = Math.floor(Date.now() / 1_000)
    const accepted = wire.accept({ headers: request.headers, body, now, origin })
    const failure = (name: string) => vendor.failure(failureOf(name, 'overloaded'), wire.wire)
    const left = () => {
      entry.aborted = true
    }
    const streamed = accepted.stream && accepted.play !== undefined
    const fault = directives.find((directive) => directive.name === 'stream-error')
    if (!streamed && fault) throw failure(fault.argument)
    const json = directives.some((directive) => directive.name === 'malformed')
      ? JSON.stringify(accepted.body).slice(0, -1)
      : JSON.stringify(accepted.body)
    const half = Math.floor(json.length / 2)
    const pieces = streamed ? Array.from(accepted.play?.() ?? []) : [json.slice(0, half), json.slice(half)]
    const faults = streamed ? directives : directives.filter((directive) => directive.name !== 'malformed')
    const plain = !streamed && faults.every((directive) => !['cut', 'eof', 'stall'].includes(directive.name))
    const tape = { pieces, failure, ...(accepted.broken ? { broken: accepted.broken } : {}) }
    const signal = AbortSignal.any([request.signal, stopping.signal])
    return new Response(plain ? json : playBack(tape, faults, { delayMs, signal }, left), {
      headers: {
        ...headers,
        'content-type': streamed ? 'text/event-stream; charset=utf-8' : 'application/json',
        ...(streamed ? { 'cache-control': 'no-cache' } : {}),
      },
    })
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    maxRequestBodySize: 4 * MOST_BYTES,
    development: false,
    fetch: async (request) => {
      const path = new URL(request.url).pathname
      if (request.method === 'GET' && path.startsWith('/files/')) return picture(path)
      const entry: Recorded = {
        vendor: vendor.name,
        wire: vendor.wires[path]?.wire,
        path,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
        at: Date.now(),
        aborted: false,
      }
      request.signal.addEventListener('abort', () => {
        entry.aborted = true
      })
      record(entry)
      return respond(request, entry)
    },
  })
  const origin = `http://127.0.0.1:${server.port}`
  return {
    origin,
    stop: async () => {
      stopping.abort()
      await server.stop(true)
    },
  }
}

const HTML = `<!doctype html><html><head><title>502 Bad Gateway</title></head><body>${MARKER}</body></html>`

const parse = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const picture = (path: string): Response => {
  const [, width, height, name] = /^\/files\/(\d{1,4})x(\d{1,4})\/(.+)\.png$/.exec(path) ?? []
  if (width === undefined || height === undefined || name === undefined)
    return new Response('not found', { status: 404 })
  const png = drawPng(Math.min(4096, Number(width)), Math.min(4096, Number(height)), decodeURIComponent(name))
  return new Response(new Uint8Array(png), { headers: { 'content-type': 'image/png' } })
}
