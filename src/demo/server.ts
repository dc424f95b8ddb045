// One demo vendor as a loopback HTTP server: credential, directives, checks, answer, in the vendor's own order.

import { type Json, type JsonObject, parseObject } from '../ir/json.ts'
import { createRecent } from '../lib/recent.ts'
import { type Directive, type DirectiveName, failureOf, numberOf, readDirectives } from './directive.ts'
import { randomId } from './id.ts'
import { pause, playBack } from './playback.ts'
import { drawPng } from './png.ts'
import { type DemoWire, type DemoWireName, type Failure, MARKER, type Vendor, VendorError } from './vendor.ts'

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

type ServerOptions = {
  vendor: Vendor
  apiKey: string
  /** Between two frames of a stream. */
  delayMs: number
  record(request: Recorded): void
}

/** What is asked for, and how it is answered. `entry`: what is kept of it. */
type Spoken = {
  asked: JsonObject
  request: Request
  directives: Directive[]
  headers: Record<string, string>
  entry: Recorded
}

type DemoServer = { origin: string; stop(): Promise<void> }

const STREAM = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }

/** The vendors' own bound on a request; the gateway's default lies below. */
const MOST_BYTES = 32 * 1024 * 1024

export const startServer = ({ vendor, apiKey, delayMs, record }: ServerOptions): DemoServer => {
  const spent = createRecent<string, number>(1_000)
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
      const kept = vendor.kept?.(request.method, entry.path, new URL(request.url).searchParams)
      if (kept?.frames) return new Response(kept.frames.join(''), { headers: { ...headers, ...STREAM } })
      if (kept) return Response.json(kept.body, { headers })
      const wire = vendor.wires[entry.path]
      if (wire === undefined || request.method !== 'POST') throw vendor.notFound(entry.path)
      if (entry.body.length > MOST_BYTES) throw vendor.failure('too_large', wire.wire)
      const body = (await formIn(request)) ?? parseObject(entry.body)
      if (body === undefined) throw vendor.invalidJson()
      const directives = inForce(wire.said(body))
      const early = await before(directives, wire, request, headers)
      if (early) return early
      return speak(wire, { asked: body, request, directives, headers, entry })
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

  /** The answer at its pace, with the faults asked for: its frames, or else its JSON, which breaks in the middle. */
  const speak = (wire: DemoWire, { asked, request, directives, headers, entry }: Spoken): Response => {
    const now = Math.floor(Date.now() / 1_000)
    const { stream, play, body, broken } = wire.accept({ headers: request.headers, body: asked, now, origin })
    const failure = (name: Failure) => vendor.failure(name, wire.wire)
    const played = (pieces: string[], faults: Directive[]) => {
      const signal = AbortSignal.any([request.signal, stopping.signal])
      const left = () => {
        entry.aborted = true
      }
      return playBack({ pieces, failure, ...(broken ? { broken } : {}) }, faults, { delayMs, signal }, left)
    }
    if (stream && play !== undefined) {
      return new Response(played(Array.from(play()), directives), { headers: { ...headers, ...STREAM } })
    }
    const told = (...names: DirectiveName[]) => directives.find(({ name }) => names.includes(name))
    const fault = told('stream-error')
    if (fault) throw failure(failureOf(fault.argument, 'overloaded'))
    const isJson = typeof body !== 'string' && !(body instanceof Uint8Array)
    if (!isJson) {
      const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'audio/wav'
      return new Response(typeof body === 'string' ? body : new Uint8Array(body), {
        headers: { ...headers, 'content-type': type },
      })
    }
    const text = JSON.stringify(body)
    const json = told('malformed') ? text.slice(0, -1) : text
    const half = Math.floor(json.length / 2)
    const halves = [json.slice(0, half), json.slice(half)]
    const others = directives.filter(({ name }) => name !== 'malformed')
    return new Response(told('cut', 'eof', 'stall') ? played(halves, others) : json, {
      headers: { ...headers, 'content-type': 'application/json' },
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
        body: await request.clone().text(),
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

/** A form's texts, and of its files what is known of them. */
const formIn = async (request: Request): Promise<JsonObject | undefined> => {
  if (!/^multipart\/form-data/i.test(request.headers.get('content-type') ?? '')) return undefined
  const form = await request.formData().catch(() => undefined)
  if (form === undefined) return undefined
  const shown = async (value: string | File): Promise<Json> =>
    typeof value === 'string' ? value : { filename: value.name, type: value.type, bytes: value.size }
  const members = [...new Set(form.keys())].map(async (name): Promise<[string, Json]> => {
    const [first = null, ...more] = await Promise.all(form.getAll(name).map(shown))
    return [name, more.length === 0 ? first : [first, ...more]]
  })
  return Object.fromEntries(await Promise.all(members))
}

const HTML = `<!doctype html><html><head><title>502 Bad Gateway</title></head><body>${MARKER}</body></html>`

const picture = (path: string): Response => {
  const [, width, height, name] = /^\/files\/(\d{1,4})x(\d{1,4})\/(.+)\.png$/.exec(path) ?? []
  if (width === undefined || height === undefined || name === undefined)
    return new Response('not found', { status: 404 })
  const png = drawPng(Math.min(4096, Number(width)), Math.min(4096, Number(height)), decodeURIComponent(name))
  return new Response(new Uint8Array(png), { headers: { 'content-type': 'image/png' } })
}
