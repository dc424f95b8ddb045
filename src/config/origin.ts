// The addresses people reach a server by, as far as the server can know them.

export type Address = { host: string; port: number }

/** Without brackets, an address of the second family cannot be told from its port. */
const NAME = '(?:[\\w.-]+|\\[[0-9A-Fa-f:.]+\\])'
export const ADDRESS_PATTERN = `^${NAME}:\\d{1,5}$`
export const HOST_PATTERN = `^${NAME}(?::\\d{1,5})?$`

/** Of an address as ADDRESS_PATTERN has it. */
export const readAddress = (written: string): Address => {
  const at = written.lastIndexOf(':')
  return { host: written.slice(0, at).replace(/^\[(.*)\]$/, '$1'), port: Number(written.slice(at + 1)) }
}

const EVERYWHERE = new Set(['0.0.0.0', '::'])

export const listensEverywhere = ({ host }: Address): boolean => EVERYWHERE.has(host)

/** `http://…`, without a slash at its end. A server that listens everywhere is reached on this machine. */
export const originOf = ({ host, port }: Address): string => {
  const name = EVERYWHERE.has(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** Where the dashboard of a server is that was reached at `listening`: under a name it answers to, if it has some. */
export const adminOriginOf = ({ admin }: { admin: { hosts: readonly string[] } }, listening: Address): string => {
  const own = originOf(listening)
  const [first] = admin.hosts
  if (first === undefined || isAmong(admin.hosts, new URL(own).host)) return own
  return `http://${/:\d+$/.test(first) ? first : `${first}:${listening.port}`}`
}

/** Whether a Host header is one of these; one that is written without a port is so at any. */
export const isAmong = (hosts: readonly string[], header: string): boolean => {
  const host = header.toLowerCase()
  return hosts.some((each) => host === each || host.replace(/:\d+$/, '') === each)
}
