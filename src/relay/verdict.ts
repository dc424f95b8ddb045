// What an account's answer to a word means for its operator, in their words: what stands in the way, and what to do. Of the
// provider's text only what kind of refusal it is counts; it is never shown.

import type { GatewayError } from '../errors.ts'
import { asText, parseJson } from '../ir/json.ts'
import { nearestOf } from '../lib/nearest.ts'
import { isKeptFromProxy } from '../lib/no-proxy.ts'
import { portOf, proxyVariables } from '../lib/proxy.ts'
import type { Provider } from '../provider/provider.ts'
import { retryDelay } from '../wire/refusal/delay.ts'
import { membersOf, messageIn } from '../wire/refusal/error-object.ts'
import { codesIn, kindIn } from '../wire/refusal/kinds.ts'
import { saidIn } from '../wire/refusal/names.ts'

/** What an account said. `account`: all of its models would say the same, or none was asked. */
export type Verdict = 'answers' | 'listed' | 'busy' | 'unknown-model' | 'refused' | 'failing' | AccountFault

const ACCOUNT_FAULTS = [
  'credential-refused',
  'not-permitted',
  'no-credit',
  'unknown-path',
  'unknown-host',
  'unreachable',
  'certificate',
  'silent',
  'redirected',
  'not-the-vendor',
  'proxy-refuses',
] as const
type AccountFault = (typeof ACCOUNT_FAULTS)[number]

export const isAccountFault = (verdict: Verdict): boolean => ACCOUNT_FAULTS.some((fault) => fault === verdict)

/** How long an account may take for one word. */
export const PATIENCE_MS = 30_000

export type Answer =
  | { status: number; type: string; text: string; location: string | null }
  | { error: GatewayError; cause: string }

type Context = {
  url: string
  /** As the provider has it. */
  proxy?: Provider['proxy']
  upstream: string
  /** The account's own list, where it gives one. */
  list: string[] | undefined
  isAnswer(json: unknown): boolean
}
export type Said = { verdict: Verdict; words: string }

/** What an answer means. */
export const verdictOf = (answer: Answer, { url, proxy, upstream, list, isAnswer }: Context): Said => {
  const { host } = new URL(url)
  if ('error' in answer) return networkVerdict(answer, new URL(url), proxyFor(proxy, new URL(url)))
  const { status, type, text, location } = answer
  const json = parseJson(text)
  if (status === 407)
    return {
      verdict: 'proxy-refuses',
      words: 'the proxy asks for a credential of its own: see HTTPS_PROXY and NO_PROXY',
    }
  if (status >= 300 && status < 400)
    return {
      verdict: 'redirected',
      words: `${host} sends on to ${hostOf(location, url)}: write the address it names as the base URL`,
    }
  if (json === undefined && (/html/i.test(type) || /^\s*<(?:!doctype|html)/i.test(text)))
    return {
      verdict: 'not-the-vendor',
      words: `a page answers at ${host} in place of the API (${status}): a proxy, a sign-in page or another site is in the way`,
    }
  if (status < 300)
    return isAnswer(json)
      ? { verdict: 'answers', words: 'answers' }
      : {
          verdict: 'not-the-vendor',
          words: `${host} answers ${status} with something that is no answer of this wire: see wires and the base URL`,
        }
  return refusalVerdict(status, json, { host, upstream, list, url })
}

const refusalVerdict = (
  status: number,
  json: unknown,
  { host, upstream, list, url }: { host: string; upstream: string; list: string[] | undefined; url: string },
): Said => {
  const members = membersOf(json)
  const message = messageIn(members)
  const code = asText(members.code) || asText(members.type)
  const { text, names } = saidIn(json)
  const isDelayed = retryDelay(text, members).retryAfterMs !== undefined
  const kind = isDelayed ? undefined : kindIn(status, { text, names, codes: codesIn(json) }, upstream)?.kind
  if (kind === 'out-of-money')
    return { verdict: 'no-credit', words: `${host} says that the account has no credit: pay it up, or raise its limit` }
  if (
    kind === 'unknown-model' ||
    ([400, 404, 422].includes(status) && list !== undefined && !list.includes(upstream) && upstream !== '')
  )
    return unknownModel(upstream, list)
  if (status === 401 || kind === 'refused' || code === 'authentication_error')
    return {
      verdict: 'credential-refused',
      words: `${host} refuses the credential: see whether it is whole, and of this vendor`,
    }
  if (status === 403)
    return {
      verdict: 'not-permitted',
      words: `${host} does not permit this credential to ask (403): see its rights and region`,
    }
  if (status === 404 || status === 405)
    return { verdict: 'unknown-path', words: `${host} knows no ${new URL(url).pathname} (${status})` }
  if (status === 429) return { verdict: 'busy', words: `${host} takes the credential and is at its rate limit now` }
  if (status >= 500) return { verdict: 'failing', words: `${host} fails itself (${status}): try again later` }
  if (TOO_SHORT.test(message))
    return { verdict: 'answers', words: 'answers, and thought for longer than it was asked to' }
  return {
    verdict: 'refused',
    words: `${host} refuses the request (${status}${codeIn(code)}): see the provider's quirks`,
  }
}

/** A code is a word of a machine, never a sentence. */
const codeIn = (code: string): string => (/^[\w.-]{1,60}$/.test(code) ? `, ${code}` : '')

const TOO_SHORT = /max_tokens or model output limit was reached/

export const unknownModel = (upstream: string, list: string[] | undefined): Said => {
  const near = list === undefined ? [] : nearestOf(upstream, list, 3)
  const hint = near.length === 0 ? '' : `; it has ${near.join(', ')}`
  return { verdict: 'unknown-model', words: `it knows no ${upstream}${hint}: set the upstream of this model` }
}

const hostOf = (location: string | null, base: string): string =>
  location !== null && URL.canParse(location, base) ? new URL(location, base).origin : 'another address'

/** The proxy that an address is asked by. */
const proxyFor = (proxy: Provider['proxy'], url: URL): string => {
  if (proxy === false) return ''
  const [name] = proxy === undefined ? proxyVariables(url) : isKeptFromProxy(url.hostname, portOf(url)) ? [] : ['proxy']
  return name === undefined ? '' : `, by the proxy of ${name}: is that the right way?`
}

/** Something is there, and did not take what was said for what it speaks. */
const SPEAKS_OTHERWISE = new Map([
  ['EPROTO', 'does not answer in TLS'],
  ['ECONNRESET', 'hangs up before it answers'],
  ['Malformed_HTTP_Response', 'does not answer in HTTP'],
])

/** What stands at the same place most often speaks the other of the two. */
const otherScheme = (protocol: string): string =>
  `see whether the base URL is to begin with ${protocol === 'https:' ? 'http' : 'https'}://`

const networkVerdict = (
  { error, cause }: { error: GatewayError; cause: string },
  { host, protocol }: URL,
  proxy: string,
): Said => {
  if (cause === 'GoogleCredentials')
    return { verdict: 'credential-refused', words: 'Google gives no token: see GOOGLE_APPLICATION_CREDENTIALS' }
  if (/ENOTFOUND|EAI_AGAIN|DNS/i.test(cause))
    return {
      verdict: 'unknown-host',
      words: `no host ${host} is known${proxy || ': see the base URL, and whether this machine reaches it'}`,
    }
  if (/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/i.test(cause))
    return {
      verdict: 'certificate',
      words: `the certificate of ${host} is not valid at this time (${cause}): see whether this machine's clock is right`,
    }
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_VERIFY/i.test(cause))
    return {
      verdict: 'certificate',
      words: `the certificate of ${host} is not trusted (${cause})${proxy || ': a proxy in between may have one of its own'}`,
    }
  if (error.code === 'gateway_timeout')
    return { verdict: 'silent', words: `${host} did not answer within ${PATIENCE_MS / 1_000} s${proxy}` }
  const otherwise = SPEAKS_OTHERWISE.get(cause)
  if (otherwise !== undefined)
    return { verdict: 'unreachable', words: `${host} ${otherwise} (${cause})${proxy || `: ${otherScheme(protocol)}`}` }
  return {
    verdict: 'unreachable',
    words: `nothing answers at ${host}${cause === '' ? '' : ` (${cause})`}${proxy || ': see the base URL, and whether it runs'}`,
  }
}
