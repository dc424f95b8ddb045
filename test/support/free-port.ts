// For servers that must be told their port, and for those that nobody is to find.

import { readFileSync } from 'node:fs'

/** From here on the system hands out ports of its own: to every connection that goes out, and to servers that name none. */
const givenFrom = (): number => {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10)
  } catch {
    return 32_768
  }
}

const LOWEST = 10_000
const WIDTH = givenFrom() - LOWEST
const handedOut = new Set<number>()

/**
 * One where nobody listens, and which stays free until it is taken, and while a server is started again: one that the system
 * has just given may be given to another by then.
 */
export const freePort = (): number => {
  // Where the system hands out nearly all of them there is no better one.
  const wished = WIDTH < 1_000 ? 0 : LOWEST + Math.floor(Math.random() * WIDTH)
  if (handedOut.has(wished)) return freePort()
  try {
    const probe = Bun.listen({ hostname: '127.0.0.1', port: wished, socket: { data: () => undefined } })
    const { port } = probe
    probe.stop(true)
    handedOut.add(port)
    return port
  } catch {
    return freePort()
  }
}
