// A client of the responses wire by WebSocket: what it was sent, event by event.

import type { JsonObject } from '../../src/ir/json.ts'

export type SocketClient = {
  socket: WebSocket
  send(event: JsonObject | string | Uint8Array<ArrayBuffer>): void
  /** The next event that has not been read. Rejects once the connection is over. */
  next(): Promise<JsonObject>
  /** The events up to the end of an answer, or an error. */
  answer(): Promise<JsonObject[]>
  /** Everything that has come and was not read. */
  unread(): JsonObject[]
  closed: Promise<{ code: number; reason: string }>
  close(): void
}

const ENDS = new Set(['response.completed', 'response.incomplete', 'error'])

/** Resolves once it is open; rejects where the handshake fails. */
export const openSocket = async (
  origin: string,
  headers: Record<string, string>,
  path = '/v1/responses',
): Promise<SocketClient> => {
  const socket = new WebSocket(origin.replace(/^http/, 'ws') + path, { headers } as unknown as string[])
  const events: JsonObject[] = []
  let waiting: ((event: JsonObject | undefined) => void)[] = []
  const { promise: closed, resolve: isClosed } = Promise.withResolvers<{ code: number; reason: string }>()
  const { promise: opened, resolve: isOpen, reject: failed } = Promise.withResolvers<void>()
  let over = false
  socket.onopen = () => isOpen()
  socket.onerror = () => failed(new Error('the handshake failed'))
  socket.onclose = ({ code, reason }) => {
    over = true
    failed(new Error(`closed with ${code}`))
    isClosed({ code, reason })
    for (const told of waiting) told(undefined)
    waiting = []
  }
  socket.onmessage = ({ data }) => {
    const event = JSON.parse(String(data)) as JsonObject
    const [told, ...rest] = waiting
    waiting = rest
    if (told === undefined) events.push(event)
    else told(event)
  }
  await opened
  const next = async (): Promise<JsonObject> => {
    const event =
      events.shift() ??
      (over ? undefined : await new Promise<JsonObject | undefined>((resolve) => waiting.push(resolve)))
    if (event === undefined) throw new Error('the connection is over')
    return event
  }
  return {
    socket,
    next,
    closed,
    send: (event) =>
      socket.send(typeof event === 'string' || event instanceof Uint8Array ? event : JSON.stringify(event)),
    async answer() {
      const all: JsonObject[] = []
      do all.push(await next())
      while (!ENDS.has(String(all.at(-1)?.type)))
      return all
    },
    unread: () => events.splice(0),
    close: () => socket.close(),
  }
}
