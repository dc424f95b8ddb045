// Whether `NO_PROXY` exempts a host from the proxy, with the same rules as the runtime's `fetch`.

/** `host`: as in a URL. `port`: a number as text. */
export const isKeptFromProxy = (
  host: string,
  port: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): boolean =>
  `${env.no_proxy || env.NO_PROXY || ''}`
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== '' && matches(entry, host, port))

const matches = (entry: string, host: string, port: string): boolean => {
  const name = entry.replace(/^\*?\./, '')
  // URLs have brackets around some addresses, which entries need not have.
  const names = [host, `${host}:${port}`, host.replace(/^\[(.*)\]$/, '$1')]
  return entry === '*' || names.some((full) => `.${full}`.endsWith(`.${name}`)) || holds(entry, host)
}

const IPV4 = /^(\d+)\.(\d+)\.(\d+)\.(\d+)(?:\/(\d+))?$/

/** Whether a block such as 10.0.0.0/8 contains an address. */
const holds = (block: string, host: string): boolean => {
  const [net, size] = numberOf(block)
  const [address] = numberOf(host)
  return size !== undefined && Math.floor(net / size) === Math.floor(address / size)
}

/** An address as a number, and the size of its block; NaN for text that is not an IPv4 address. */
const numberOf = (text: string): [number, number | undefined] => {
  const parts = IPV4.exec(text)
  if (parts === null) return [Number.NaN, undefined]
  const address = parts.slice(1, 5).reduce((sum, part) => sum * 256 + Number(part), 0)
  return [address, parts[5] === undefined ? undefined : 2 ** (32 - Number(parts[5]))]
}
