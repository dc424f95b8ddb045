// Messages between processes of one machine: JSON, a line each, over a socket that is a file, in order and both ways.

import type { Socket } from 'bun'

export type Channel = {
  /** What is sent in one turn goes out together. Of a channel that has ended nothing goes out. */
  send(message: unknown): void
  /** Bytes that the other side has not taken yet. */
  waiting(): number
  close(): void
}

/** `closed` is called once, and nothing is heard after it. */
type Ears = {
  heard(message: unknown): void
  closed(): void
}

const LINE = 0x0a

/** Waits at a path for others to connect. `meet` is given each channel, and says who listens to it. */
export const listenAt = (path: string, meet: (channel: Channel) => Ears): { close(): void } => {
  const server = Bun.listen<End>({
    unix: path,
    socket: {
      ...handlers,
      open(socket) {
        socket.data = createEnd(meet)
        socket.data.begin(socket)
      },
    },
  })
  return { close: () => server.stop(true) }
}

/** Rejects where nobody listens at the path. */
export const connectTo = async (path: string, meet: (channel: Channel) => Ears): Promise<void> => {
  const end = createEnd(meet)
  await Bun.connect<End>({
    unix: path,
    data: end,
    socket: { ...handlers, open: (socket) => end.begin(socket) },
  })
}

type End = {
  begin(socket: Socket<End>): void
  data(bytes: Uint8Array): void
  drain(): void
  closed(): void
}

const handlers = {
  data: (socket: Socket<End>, bytes: Buffer) => socket.data.data(bytes),
  drain: (socket: Socket<End>) => socket.data.drain(),
  close: (socket: Socket<End>) => socket.data?.closed(),
  error: (socket: Socket<End>) => void socket.end(),
}

const createEnd = (meet: (channel: Channel) => Ears): End => {
  let socket: Socket<End> | undefined
  let ears: Ears | undefined
  let lines: string[] = []
  /** Written, and not taken by the system yet. */
  let unsent: Buffer[] = []
  let unsentBytes = 0
  /** The beginning of a line whose end has not come. */
  let begun: Buffer[] = []

  const write = (): void => {
    for (let first = unsent[0]; first !== undefined && socket !== undefined; first = unsent[0]) {
      const taken = socket.write(first)
      if (taken < 0) return
      unsentBytes -= taken
      if (taken < first.byteLength) {
        unsent[0] = first.subarray(taken)
        return
      }
      unsent.shift()
    }
  }
  const flush = (): void => {
    if (lines.length === 0 || socket === undefined) return
    const bytes = Buffer.from(lines.join(''))
    lines = []
    unsent.push(bytes)
    unsentBytes += bytes.byteLength
    if (unsent.length === 1) write()
  }

  return {
    begin(opened) {
      socket = opened
      ears = meet({
        send(message) {
          if (socket === undefined) return
          lines.push(`${JSON.stringify(message)}\n`)
          if (lines.length === 1) queueMicrotask(flush)
        },
        waiting: () => unsentBytes,
        close: () => void socket?.end(),
      })
    },
    data(bytes) {
      let from = 0
      for (let at = bytes.indexOf(LINE); at !== -1; at = bytes.indexOf(LINE, from)) {
        const piece = Buffer.from(bytes.buffer, bytes.byteOffset + from, at - from)
        const line = begun.length === 0 ? piece.toString() : Buffer.concat([...begun, piece]).toString()
        begun = []
        from = at + 1
        ears?.heard(JSON.parse(line))
      }
      // The bytes are the runtime's own, and used again.
      if (from < bytes.byteLength) begun.push(Buffer.from(bytes.subarray(from)))
    },
    drain: write,
    closed() {
      socket = undefined
      lines = []
      unsent = []
      begun = []
      const told = ears
      ears = undefined
      told?.closed()
    },
  }
}
