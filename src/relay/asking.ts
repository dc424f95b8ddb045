// Asks an account for a word from each of its models, and for its own list of them.

import type { Model } from '../catalogue/model.ts'
import { GatewayError } from '../errors.ts'
import { asList, asObject, asText, isObject, type JsonObject, parseJson } from '../ir/json.ts'
import { TOKENS_PER } from '../ir/usage.ts'
import { type ChatWire, isChatWire } from '../ir/wire.ts'
import { endpoint, modelsEndpoint } from '../provider/endpoint.ts'
import type { Account, Provider } from '../provider/provider.ts'
import { CODECS, chatCodec } from '../wire/index.ts'
import { ERROR_BYTES, readText } from './answer-text.ts'
import type { Relay } from './services.ts'
import type { Target } from './target.ts'
import { quirksOf } from './translate.ts'
import { send, timedOut } from './upstream.ts'
import {
  type Answer,
  isAccountFault,
  PATIENCE_MS,
  type Said,
  unknownModel,
  type Verdict,
  verdictOf,
} from './verdict.ts'

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
