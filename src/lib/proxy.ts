// Which proxy of the environment the runtime's `fetch` goes through, by its own rules, and which it would pass by.

import { isKeptFromProxy } from './no-proxy.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The variables that decide for a scheme, the first pair in which one is set. */
const DECIDES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'http:': [
    ['http_proxy', 'HTTP_PROXY'],
    ['all_proxy', 'ALL_PROXY'],
  ],
  'https:': [
    ['https_proxy', 'HTTPS_PROXY'],
    ['all_proxy', 'ALL_PROXY'],
  ],
}

/** The names of those that decide for a URL: two where both spellings are set; none where it is reached directly. */
export const proxyVariables = (url: URL, env: Env = process.env): string[] => {
  const pairs = DECIDES[url.protocol] ?? []
  const set = pairs.map((names) => names.filter((name) => env[name])).find((names) => names.length > 0) ?? []
  return set.length === 0 || isKeptFromProxy(url.hostname, portOf(url), env) ? [] : set
}

/** As text, the scheme's own where the URL names none. */
export const portOf = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80')

/** The scheme of a proxy that the runtime does not speak, such as socks5; undefined for one that it does. */
export const unspokenScheme = (proxy: string): string | undefined => {
  const scheme = /^\s*([a-z][a-z0-9+.-]*):\/\//i.exec(proxy)?.[1]?.toLowerCase()
  return scheme === undefined || scheme === 'http' || scheme === 'https' ? undefined : scheme
}

/** The variable, and its scheme, by which a URL should be reached and would not be: `fetch` would go past it. */
export const unspokenProxy = (url: URL, env: Env = process.env): { name: string; scheme: string } | undefined => {
  for (const name of proxyVariables(url, env)) {
    const scheme = unspokenScheme(env[name] ?? '')
    if (scheme !== undefined) return { name, scheme }
  }
  return undefined
}

/** What no proxy is asked for, whatever the environment says: `cli/loopback.ts` adds it to what is kept from them. */
export const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
