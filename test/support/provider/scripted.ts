// A provider that does exactly what a test says: status, headers, bytes in given slices, waits between them, a cut
// socket. It records the exact bytes it was sent and whether the caller went away.

import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** A point a script waits at until the test opens it. */
export type Gate = { open(): void; readonly opened: Promise<void> }

export const gate = (): Gate => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { open: resolve, opened: promise }
}

/** Bytes to send, or a gate to wait at. */
export type Step = string | Uint8Array | Gate

export type Script = {
  /** Default 200. */
  status?: number
  headers?: Record<string, string>
  /** Sent one by one, each flushed; the next is made only when the socket took the one before. */
  steps?: Iterable<Step> | AsyncIterable<Step>
  /**
   * `close` (default): the body ends properly. `cut`: the socket is destroyed. `stall`: nothing more comes. `reset`:
   * the socket is destroyed before anything was sent. `hang`: not even headers come.
   */
  end?: 'close' | 'cut' | 'stall' | 'reset' | 'hang'
}

export type ScriptedRequest = {
  method: string
  /** Path and query. */
  path: string
  headers: Record<string, string>
  bytes: Uint8Array
  text: string
  /** Bytes the socket has taken so far: what a test of backpressure looks at. */
  readonly sent: number
  /** `done` when the script played to its end, `aborted` when the caller went away before. */
  closed: Promise<'done' | 'aborted'>
}

export type Scripted = {
  /** `http://127.0.0.1:port`, without a path. */
  origin: string
  /** In order of arrival. */
  requests: ScriptedRequest[]
  /** The request with this place in the order, once it has come. */
  arrived(index: number): Promise<ScriptedRequest>
  /** The next request to come that matches. */
  next(matches: (request: ScriptedRequest) => boolean): Promise<ScriptedRequest>
  stop(): Promise<void>
}

export type Handler = (request: ScriptedRequest, index: number) => Script | Promise<Script>

const isGate = (step: Step): step is Gate => typeof step === 'object' && 'opened' in step

const readAll = async (incoming: http.IncomingMessage): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export const startScripted = async (handler: Handler): Promise<Scripted> => {
  const requests: ScriptedRequest[] = []
  const waiting = new Set<(request: ScriptedRequest, index: number) => void>()

  const coming = (matches: (request: ScriptedRequest, index: number) => boolean): Promise<ScriptedRequest> =>
    new Promise((resolve) => {
      const look = (request: ScriptedRequest, index: number): void => {
        if (!matches(request, index)) return
        waiting.delete(look)
        resolve(request)
      }
      waiting.add(look)
    })

  const serve = async (incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<void> => {
    const { promise: closed, resolve: close } = Promise.withResolvers<'done' | 'aborted'>()
    const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
    let finished = false
    outgoing.on('close', () => {
      leave()
      close(finished ? 'done' : 'aborted')
    })
    const bytes = await readAll(incoming)
    let sent = 0
    const request: ScriptedRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
      bytes,
      text: new TextDecoder().decode(bytes),
      get sent() {
        return sent
      },
      closed,
    }
    const index = requests.push(request) - 1
    for (const look of waiting) look(request, index)
    const script = await handler(request, index)
    if (script.end === 'hang') return
    if (script.end === 'reset') {
      finished = true
      outgoing.socket?.destroy()
      return
    }
    outgoing.writeHead(script.status ?? 200, { 'content-type': 'application/json', ...script.headers })
    outgoing.flushHeaders()
    for await (const step of script.steps ?? []) {
      if (outgoing.destroyed) return
      if (isGate(step)) await Promise.race([step.opened, gone])
      else if (step.length > 0) {
        const taken = outgoing.write(step)
        if (!taken) await Promise.race([new Promise<void>((resolve) => outgoing.once('drain', resolve)), gone])
        sent += typeof step === 'string' ? Buffer.byteLength(step) : step.length
      }
    }
    if (script.end === 'stall') return
    finished = !outgoing.destroyed
    if (script.end === 'cut') outgoing.socket?.destroy()
    else outgoing.end()
  }

  const server = http.createServer((incoming, outgoing) => {
    // A caller that leaves in the middle of its own request is no fault of the script.
    serve(incoming, outgoing).catch(() => outgoing.destroy())
  })
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    arrived: (index) => {
      const already = requests[index]
      return already === undefined ? coming((_, at) => at === index) : Promise.resolve(already)
    },
    next: coming,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The same script for every request. */
export const always = (script: Script): Handler => {
  return () => script
}

/** One script after another; the last one stays. */
export const inTurn =
  (...scripts: Script[]): Handler =>
  (_, index) =>
    scripts[Math.min(index, scripts.length - 1)] ?? {}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Script => ({
  status,
  headers,
  steps: [JSON.stringify(body)],
})

/** A stream's text, whole or cut into slices of `size` bytes. */
export const sse = (text: string | Uint8Array, size = Number.POSITIVE_INFINITY): Script => ({
  headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  steps: slices(typeof text === 'string' ? new TextEncoder().encode(text) : text, size),
})

/** Bytes in slices of `size`, characters cut through where it falls so. */
export const slices = (bytes: Uint8Array, size: number): Uint8Array[] => {
  if (!Number.isFinite(size)) return [bytes]
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}
