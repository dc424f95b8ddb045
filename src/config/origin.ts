// The address people reach a server by, as far as the server can know it.

/** `http://…`, without a slash at its end. A server that listens everywhere is reached on this machine. */
export const originOf = ({ host, port }: { host: string; port: number }): string => {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}
