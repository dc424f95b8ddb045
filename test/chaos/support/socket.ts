// Raw sockets, for what no well-behaved client or provider would send.

import { readFileSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'

export type RawServer = { origin: string; connections: net.Socket[]; stop(): Promise<void> }

/** A server of bytes. `serve` is given each connection with its number. */
export const startRaw = async (serve: (socket: net.Socket, index: number) => void): Promise<RawServer> => {
  const connections: net.Socket[] = []
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined)
    serve(socket, connections.push(socket) - 1)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    connections,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of connections) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

/** Calls back at each request whose body has come whole, with its number on this connection. */
export const eachRequest = (socket: net.Socket, respond: (index: number) => void): void => {
  let heard = ''
  let index = 0
  socket.on('data', (data) => {
    heard += data.toString('latin1')
    for (;;) {
      const gap = heard.indexOf('\r\n\r\n')
      const [, length] = /content-length: (\d+)/i.exec(heard) ?? []
      if (gap === -1 || heard.length < gap + 4 + Number(length)) return
      heard = heard.slice(gap + 4 + Number(length))
      respond(index++)
    }
  })
}

export type RawClient = {
  socket: net.Socket
  write(text: string): void
  /** Resolves with what was heard lately, once it has this in it. Throws when the connection ends before. */
  hears(text: string): Promise<string>
  closed: Promise<string>
  /** What was heard so far is not looked for any more. */
  forget(): void
  /** Heard in all. */
  readonly bytes: number
}

/** What a client remembers: an answer's end, or all of a short one. */
const KEPT = 64 * 1024

/** A connection to a URL's host. A paused one reads nothing until it is resumed. */
export const connect = (url: string, paused = false): RawClient => {
  const { hostname, port } = new URL(url)
  let heard = ''
  let count = 0
  let grown = Promise.withResolvers<void>()
  let over = false
  const socket = net.connect(Number(port), hostname)
  const { promise: closed, resolve: close } = Promise.withResolvers<string>()
  if (paused) socket.pause()
  socket.on('data', (bytes) => {
    count += bytes.length
    heard = (heard + bytes.toString('latin1')).slice(-KEPT)
    grown.resolve()
    grown = Promise.withResolvers()
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    over = true
    grown.resolve()
    close(heard)
  })
  return {
    socket,
    closed,
    get bytes() {
      return count
    },
    write: (text) => void socket.write(text),
    forget: () => {
      heard = ''
    },
    hears: async (text) => {
      while (!heard.includes(text)) {
        if (over) throw new Error(`closed before "${text}": ${heard}`)
        await grown.promise
      }
      return heard
    },
  }
}

/** A POST as bytes. */
export const rawPost = (path: string, secret: string, body: string, length = Buffer.byteLength(body)): string =>
  `POST ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${length}\r\n\r\n${body}`

/**
 * Bytes that the system keeps in the buffers of sockets to and from these URLs: sent, and read by nobody yet. How large
 * they grow differs from machine to machine, up to 32 MB each. Only Linux tells; undefined elsewhere.
 */
export const kernelHolds = (urls: string[]): number | undefined => {
  if (process.platform !== 'linux') return undefined
  const ports = urls.map((url) => `:${Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')}`)
  const sockets = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1)
  return sockets.reduce((sum, line) => {
    const [, local = '', remote = '', , queues = ''] = line.trim().split(/\s+/)
    if (!ports.some((port) => local.endsWith(port) || remote.endsWith(port))) return sum
    return queues.split(':').reduce((held, queue) => held + Number.parseInt(queue, 16), sum)
  }, 0)
}
