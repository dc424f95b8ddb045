// Asks an account for a word from each of its models, and says in the operator's words what stands in the way of one. What
// the provider says is read, never shown.

import type { Model } from '../catalogue/model.ts'
import { GatewayError } from '../errors.ts'
import { asList, asObject, asText, isObject, type JsonObject, parseJson } from '../ir/json.ts'
import { TOKENS_PER } from '../ir/usage.ts'
import { type ChatWire, isChatWire } from '../ir/wire.ts'
import { nearestOf } from '../lib/nearest.ts'
import { isKeptFromProxy } from '../lib/no-proxy.ts'
import { portOf, proxyVariables } from '../lib/proxy.ts'
import { endpoint, modelsEndpoint } from '../provider/endpoint.ts'
import type { Account, Provider } from '../provider/provider.ts'
import { CODECS, chatCodec } from '../wire/index.ts'
import { retryDelay } from '../wire/refusal/delay.ts'
import { membersOf, messageIn } from '../wire/refusal/error-object.ts'
import { codesIn, kindIn } from '../wire/refusal/kinds.ts'
import { saidIn } from '../wire/refusal/names.ts'
import { ERROR_BYTES, readText } from './answer-text.ts'
import type { Relay } from './services.ts'
import type { Target } from './target.ts'
import { quirksOf } from './translate.ts'
import { send, timedOut } from './upstream.ts'

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

/** `model`: undefined for what holds for the account as a whole. `words`: a sentence on what to do, or what was found. */
export type Finding = {
  provider: string
  account: string
  model: string | undefined
  upstream: string | undefined
  ok: boolean
  verdict: Verdict
  words: string
}

type Asking = { fetch: Relay['fetch']; provider: Provider; account: Account }

/** How long an account may take for one word. */
const PATIENCE_MS = 30_000
/** Enough for models that think before they say a word. */
const ANSWER_TOKENS = 256
/** Models that are asked at once. */
const AT_ONCE = 4

/** One cheap call for each text model; what draws is looked up in the account's own list, for drawing is not cheap. */
export const askAccount = async (asking: Asking, models: readonly Model[]): Promise<Finding[]> => {
  const list = (await listOf(asking))?.map(({ id }) => id)
  const lookedUp = drawn(asking, models, list)
  const [first, ...rest] = models.filter((model) => wireFor(asking.provider, model) !== undefined)
  if (first === undefined) {
    const found = await askForList(asking, models.length > 0)
    return found.ok && lookedUp.length > 0 ? lookedUp : [found]
  }
  const found = await askModel(asking, first, list)
  if (isAccountFault(found.verdict)) return [{ ...found, model: undefined, upstream: undefined }]
  const findings = [found]
  for (let at = 0; at < rest.length; at += AT_ONCE) {
    findings.push(...(await Promise.all(rest.slice(at, at + AT_ONCE).map((model) => askModel(asking, model, list)))))
  }
  return [...findings, ...lookedUp]
}

const isAccountFault = (verdict: Verdict): boolean => ACCOUNT_FAULTS.some((fault) => fault === verdict)

const wireFor = ({ wires }: Provider, { kind }: Model): ChatWire | undefined =>
  kind === 'text' ? wires.find(isChatWire) : undefined

const targetOf = ({ provider, account }: Asking, model: Model, wire: Target['wire']): Target => ({
  ...{ provider, account, model, wire },
  name: '',
})

const findingOf = ({ provider, account }: Asking, model: Model | undefined, said: Said): Finding => ({
  ...{ provider: provider.id, account: account.name, model: model?.id, upstream: model?.upstream },
  ...{ ok: OK.has(said.verdict), verdict: said.verdict, words: said.words },
})

const OK = new Set<Verdict>(['answers', 'listed', 'busy'])

const askModel = async (asking: Asking, model: Model, list: string[] | undefined): Promise<Finding> => {
  const wire = wireFor(asking.provider, model) ?? 'chat-completions'
  const target = targetOf(asking, model, wire)
  const request = {
    ...{ model: model.id, stream: false, tools: [], sampling: {}, origin: wire, opaque: [] },
    turns: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Say hi.' }] }],
    maxOutput: Math.min(ANSWER_TOKENS, model.maxOutput),
  }
  const { upstream, maxOutput } = model
  const { body } = chatCodec(wire).encodeRequest(request, { model: upstream, maxOutput, quirks: quirksOf(target) })
  const url = endpoint(asking.account, wire, upstream)
  const answer = await answerOf(asking.fetch, target, { url, body: JSON.stringify(body) })
  const said = verdictOf(answer, {
    url,
    proxy: asking.provider.proxy,
    upstream,
    list,
    isAnswer: (json) => isAnswer(wire, json),
  })
  if (said.verdict !== 'unknown-path') return findingOf(asking, model, said)
  return findingOf(asking, model, { ...said, words: said.words + (await elsewhere(asking)) })
}

const isAnswer = (wire: ChatWire, json: unknown): boolean => {
  if (!isObject(json) || CODECS[wire].faultIn(json) !== undefined) return false
  try {
    chatCodec(wire).decodeResponse(json)
    return true
  } catch {
    return false
  }
}

/** An account of which no model can be asked is asked for its list alone. `hasModels`: whether some are configured. */
const askForList = async (asking: Asking, hasModels: boolean): Promise<Finding> => {
  const { provider, account } = asking
  const url = modelsEndpoint(account, provider.wires)
  const target = targetOf(asking, NO_MODEL, provider.wires[0] ?? 'chat-completions')
  const answer = await answerOf(asking.fetch, target, { method: 'GET', url })
  const said = verdictOf(answer, {
    url,
    proxy: provider.proxy,
    upstream: '',
    list: undefined,
    isAnswer: (json) => listedIn(json) !== undefined,
  })
  const words = hasModels
    ? 'answers; its models are not asked, for they say no word'
    : 'answers, and no model of it is configured: "sluice models fetch" prints what it has'
  return findingOf(asking, undefined, said.verdict === 'answers' ? { verdict: 'listed', words } : said)
}

const drawn = (asking: Asking, models: readonly Model[], list: string[] | undefined): Finding[] =>
  models
    .filter((model) => model.kind === 'image' && asking.provider.wires.includes('images'))
    .map((model) => {
      const { upstream } = model
      if (list === undefined || list.includes(upstream))
        return findingOf(asking, model, {
          verdict: 'listed',
          words: list === undefined ? 'not asked: to draw costs' : 'in its list; not asked: to draw costs',
        })
      return findingOf(asking, model, unknownModel(upstream, list))
    })

type Answer =
  | { status: number; type: string; text: string; location: string | null }
  | { error: GatewayError; cause: string }

const answerOf = async (
  fetch: Relay['fetch'],
  target: Target,
  outgoing: { method?: 'GET' | 'POST'; url: string; body?: string },
): Promise<Answer> => {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(timedOut('did not answer')), PATIENCE_MS)
  try {
    const response = await send({ relay: { fetch }, target, abort }, outgoing, new Headers())
    const { status, headers } = response
    const text = await readText(response, ERROR_BYTES, abort)
    return { status, type: headers.get('content-type') ?? '', text, location: headers.get('location') }
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return { error: thrown, cause: thrown.provider?.code ?? '' }
  } finally {
    clearTimeout(timer)
  }
}

type Context = {
  url: string
  /** As the provider has it. */
  proxy?: Provider['proxy']
  upstream: string
  /** The account's own list, where it gives one. */
  list: string[] | undefined
  isAnswer(json: unknown): boolean
}
type Said = { verdict: Verdict; words: string }

/** What an answer means. Of the provider's text only what kind of refusal it is counts. */
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
  if (status === 401 || kind === 'no-access' || code === 'authentication_error')
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

const unknownModel = (upstream: string, list: string[] | undefined): Said => {
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

/** Where the API is after all, as the end of a sentence: most often there is one `/v1` too many, or one is missing. */
const elsewhere = async (asking: Asking): Promise<string> => {
  const { account } = asking
  const isVersioned = account.baseUrl.endsWith('/v1')
  const baseUrl = isVersioned ? account.baseUrl.replace(/\/v1$/, '') : `${account.baseUrl}/v1`
  const there = { ...asking, account: { ...account, baseUrl } }
  const url = modelsEndpoint(there.account, ['chat-completions'])
  const target = targetOf(there, NO_MODEL, 'chat-completions')
  const answer = await answerOf(asking.fetch, target, { method: 'GET', url })
  const isThere = !('error' in answer) && (answer.status === 401 || listedIn(parseJson(answer.text)) !== undefined)
  if (!isThere) return ': see the base URL and wires'
  return isVersioned ? ': the base URL has a /v1 too many' : ': the base URL lacks a /v1 at its end'
}

const NO_MODEL: Model = {
  ...{ id: '', provider: '', family: '', displayName: '', kind: 'text', upstream: '', quirks: {} },
  ...{ inputModalities: [], outputModalities: [], contextWindow: 0, maxOutput: 0, tokensPerImage: 0, createdAt: 0 },
  tokensPer: TOKENS_PER,
  price: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
}

/** What a vendor's own list says of a model. USD per million tokens. */
export type Listed = { id: string; context?: number; maxOutput?: number; price?: { input: number; output: number } }

/** The account's own list; undefined where it gives none. */
export const listOf = async (asking: Asking): Promise<Listed[] | undefined> => {
  const { provider, account, fetch } = asking
  const url = new URL(modelsEndpoint(account, provider.wires))
  // The messages wire's list comes in pages of twenty.
  if (provider.wires.every((wire) => wire === 'messages')) url.searchParams.set('limit', '1000')
  const target = targetOf(asking, NO_MODEL, provider.wires[0] ?? 'chat-completions')
  const answer = await answerOf(fetch, target, { method: 'GET', url: url.href })
  return 'error' in answer || answer.status >= 300 ? undefined : listedIn(parseJson(answer.text))
}

/** Lists come as `data` or `models` or by themselves, of objects or of names. */
const listedIn = (json: unknown): Listed[] | undefined => {
  const { data, models } = asObject(json)
  const list = Array.isArray(json) ? json : (data ?? models)
  return Array.isArray(list) ? asList(list).flatMap(readListed) : undefined
}

const readListed = (entry: unknown): Listed[] => {
  const members = asObject(entry)
  const written = typeof entry === 'string' ? entry : asText(members.id) || asText(members.name)
  // One vendor's ids are paths.
  const id = written.replace(/^models\//, '')
  if (id === '') return []
  const context = firstCount(members, ['context_length', 'context_window', 'max_model_len', 'max_input_tokens'])
  const maxOutput = firstCount(members, ['max_output_tokens', 'max_completion_tokens', 'max_tokens'])
  // By the token, as text.
  const { prompt, completion } = asObject(members.pricing)
  const [input, output] = [prompt, completion].map(
    (price) => Math.round(Number(asText(price) || Number.NaN) * 1e12) / 1e6,
  )
  return [
    {
      id,
      ...(context === undefined ? {} : { context }),
      ...(maxOutput === undefined || (context !== undefined && maxOutput > context) ? {} : { maxOutput }),
      ...(isPrice(input) && isPrice(output) ? { price: { input, output } } : {}),
    },
  ]
}

const isPrice = (price: number | undefined): price is number => price !== undefined && price >= 0

const firstCount = (members: JsonObject, names: string[]): number | undefined =>
  names.map((name) => members[name]).find((value): value is number => Number.isSafeInteger(value) && Number(value) > 0)
