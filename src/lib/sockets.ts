// The connections this process has accepted, by the system's own calls. The runtime tells of none before a request on it
// has come whole, and closes one that sends nothing when it likes.

import { libc } from './libc.ts'

/** `peer`: the port at its other end. `unsent`: bytes its peer has not taken yet, `unread`: those this process has not. */
export type Connection = { fd: number; peer: number; unsent: number; unread: number }

export type Sockets = {
  /** The one behind a descriptor, where there is one that was accepted at this port. */
  at(fd: number, port: number): Connection | undefined
  /** Ends it: whoever reads it finds its end, and closes it. What was handed to the system is still sent. */
  hangUp(fd: number): void
}

/** An address of either family has its port in the third and fourth byte. */
const ADDRESS_BYTES = 28
const INET = 2
const INET6 = 10
const SIOCOUTQ = 0x5411
const FIONREAD = 0x541b
const SHUT_RDWR = 2

/** Undefined where the system has no such calls under these names. */
export const openSockets = (): Sockets | undefined => {
  const system = libc()
  if (system === undefined) return undefined
  const address = new Uint8Array(ADDRESS_BYTES)
  const words = new DataView(address.buffer)
  const length = new Uint32Array(1)
  const bytes = new Int32Array(1)
  const portOf = (ask: typeof system.getpeername, fd: number): number | undefined => {
    length[0] = ADDRESS_BYTES
    if (ask(fd, address, length) !== 0) return undefined
    const family = address[0]
    return family === INET || family === INET6 ? words.getUint16(2) : undefined
  }
  const bytesOf = (ask: number, fd: number): number => (system.ioctl(fd, ask, bytes) === 0 ? (bytes[0] ?? 0) : 0)
  return {
    at(fd, port) {
      // What is no socket fails here, and one that listens has no peer.
      const peer = portOf(system.getpeername, fd)
      if (peer === undefined || portOf(system.getsockname, fd) !== port) return undefined
      return { fd, peer, unsent: bytesOf(SIOCOUTQ, fd), unread: bytesOf(FIONREAD, fd) }
    },
    hangUp: (fd) => void system.shutdown(fd, SHUT_RDWR),
  }
}
