// How many tokens a prompt has that nobody is to answer: by the provider's own count, or by the tokenizer's where the
// provider has none.

import { GatewayError } from '../errors.ts'
import { isObject, type JsonObject, parseObject } from '../ir/json.ts'
import type { ChatWire, Wire } from '../ir/wire.ts'
import { countingEndpoint } from '../provider/endpoint.ts'
import type { Provider } from '../provider/provider.ts'
import type { Counting, PassCodec } from '../wire/codec.ts'
import { CHAT_CODECS } from '../wire/index.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { ERROR_BYTES, readText, renamed } from './answer-text.ts'
import { type Call, call } from './call.ts'
import { countBody } from './estimate.ts'
import type { ClientRequest, Relay } from './exchange.ts'
import { route, type Target } from './route.ts'
import { encoded, exactBody, quirksOf, written } from './translate.ts'
import { firstAnswer } from './tries.ts'

/** A wire that counts, and how. */
export type CountingWire = { wire: ChatWire; counting: Counting }

/** Undefined for a wire that has no request for a count. */
export const countingWire = (wire: Wire): CountingWire | undefined => {
  const counting = wire === 'images' ? undefined : CHAT_CODECS[wire].counting
  return wire === 'images' || counting === undefined ? undefined : { wire, counting }
}

/** `text`: the answer on the client's wire. `estimated`: no provider has said so. */
export type Counted = { text: string; estimated: boolean }

/** Counts for the model that was asked for and for no fallback: another's tokens are not its. Throws GatewayError. */
export const countPrompt = async (relay: Relay, request: ClientRequest, own: CountingWire): Promise<Counted> => {
  const there = wireThere(relay.providers.get(request.model.provider), own)
  const targets = targetsOf(relay, request, there)
  const text =
    there === undefined && targets.length > 0
      ? undefined
      : await firstAnswer(relay, request, targets, (target, abort) =>
          ask({ relay, request, target, codec: CHAT_CODECS[(there ?? own).wire], abort }, own, there ?? own),
        )
  if (text !== undefined) return { text, estimated: false }
  request.dropped = []
  const tokens = await countBody(only(request.body.whole().body, own.counting.members))
  return { text: JSON.stringify(own.counting.write(tokens)), estimated: true }
}

/**
 * The accounts of the model, those last whose counts fail. What a count comes to says nothing of answers, which vendors
 * limit apart: the breaker knows it by a name of its own.
 */
const targetsOf = (relay: Relay, request: ClientRequest, there: CountingWire | undefined): Target[] =>
  route(relay, request)
    .filter(({ model }) => model.id === request.model.id)
    .map((target): Target => ({ ...target, wire: there?.wire ?? target.wire, name: `${target.name} counts` }))
    .toSorted((a, b) => Number(relay.health.allows(b.name)) - Number(relay.health.allows(a.name)))

/** The wire on which a provider counts: the client's own where it speaks it. */
const wireThere = (provider: Provider | undefined, own: CountingWire): CountingWire | undefined => {
  if (provider?.wires.includes(own.wire)) return own
  return provider?.wires.map(countingWire).find((wire) => wire !== undefined)
}

/** The answer of a target on the client's wire; undefined where it turns out to have no way to count. */
const ask = async (
  asking: Call<ClientRequest>,
  own: CountingWire,
  there: CountingWire,
): Promise<string | undefined> => {
  const { request, target, codec, abort } = asking
  const outgoing = {
    url: countingEndpoint(target.account, there.wire) ?? '',
    body: own === there ? passed(request, target, codec) : translated(request, target, own, there),
  }
  try {
    return await call(asking, outgoing, async (response) => {
      const text = await readText(response, ERROR_BYTES, abort)
      const body = parseObject(text)
      if (isObject(body?.error)) throw codec.decodeError(200, body)
      const tokens = body && there.counting.read(body)
      if (body === undefined || tokens === undefined) throw malformedAnswer()
      // Servers that do not count answer so; agents would believe it, and never shorten a conversation.
      if (tokens === 0) return undefined
      return own === there ? renamed(text, body, target.model.id) : JSON.stringify(own.counting.write(tokens))
    })
  } catch (error) {
    if (error instanceof GatewayError && hasNone(error, there.wire)) return undefined
    throw error
  }
}

const passed = ({ body }: ClientRequest, target: Target, codec: PassCodec): string | Uint8Array<ArrayBuffer> =>
  body.edited(
    codec.passEdits(body.outline, { model: target.model.upstream, outputCap: undefined, quirks: quirksOf(target) }),
  )

const translated = (request: ClientRequest, target: Target, own: CountingWire, there: CountingWire): string => {
  const { body, dropped } = encoded(CHAT_CODECS[there.wire], target, () =>
    CHAT_CODECS[own.wire].decodeRequest(own.counting.toRequest(exactBody(request), target.model.maxOutput)),
  )
  request.dropped = dropped
  return written(only(body, there.counting.members))
}

/** Statuses of a server that does not know the path. */
const UNKNOWN_PATH = new Set([404, 405, 501])
/** What a wire's own vendor says of a model it does not know, by the same status. Others say it of the path. */
const UNKNOWN_MODEL: Partial<Record<ChatWire, string>> = { messages: 'not_found_error', responses: 'model_not_found' }

/** Many servers speak a wire without its way to count. */
const hasNone = ({ provider }: GatewayError, wire: ChatWire): boolean =>
  UNKNOWN_PATH.has(provider?.status ?? 0) && provider?.code !== UNKNOWN_MODEL[wire]

const only = (body: JsonObject, members: readonly string[]): JsonObject =>
  Object.fromEntries(members.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])))
