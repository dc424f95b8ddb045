// The URL of a PostgreSQL database as its own clients take it: of several hosts, or of a socket in a folder.

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([/?#].*)?$/s
const SOCKET = /[?&]host=(?:\/|%2F)/i

/** One for each host, in their order; undefined where it is none. */
export const postgresUrls = (text: string): readonly [URL, ...URL[]] | undefined => {
  const [, before = '', hosts, after = ''] = PARTS.exec(text.trim()) ?? []
  if (hosts === undefined) return undefined
  const urls = hosts.split(',').flatMap((host) => {
    const url = URL.parse(before + (host === '' && SOCKET.test(after) ? 'localhost' : host) + after)
    return url === null || url.hostname === '' || !isReadable(url) ? [] : [url]
  })
  const [first, ...others] = urls
  return first === undefined || urls.length < hosts.split(',').length ? undefined : [first, ...others]
}

/** A / in a password that is written as it is has the rest of it, with its @, for a path; a % stands for no character. */
const isReadable = ({ username, password, pathname }: URL): boolean => {
  if (pathname.includes('@')) return false
  try {
    decodeURIComponent(`${username}:${password}${pathname}`)
    return true
  } catch {
    return false
  }
}

/** All of its hosts. */
export const hostsOf = (urls: readonly URL[]): string => urls.map(({ host }) => host).join(',')

/** The same URL at each of those hosts. One without a port has none of another's. */
export const atEach = (url: URL, hosts: readonly URL[]): string[] =>
  hosts.map(({ hostname, port }) => Object.assign(new URL(url.href), { hostname, port }).href)
