// Counting the tokens of a prompt without an answer: by the provider's own count, or by the tokenizer where the provider
// has none.

import { GatewayError } from '../errors.ts'
import { type JsonObject, parseObject } from '../ir/json.ts'
import { type ChatWire, isChatWire, type Wire } from '../ir/wire.ts'
import { type Known, onceKnown } from '../lib/known.ts'
import type { Sent } from '../lib/pieces.ts'
import { countingEndpoint } from '../provider/endpoint.ts'
import type { Provider } from '../provider/provider.ts'
import type { Counting, PassCodec } from '../wire/codec.ts'
import { CHAT_CODECS } from '../wire/index.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { refusalOf, withRefusal } from '../wire/refusal/body.ts'
import { saysNo } from '../wire/refusal/language.ts'
import { saidIn } from '../wire/refusal/names.ts'
import { droppedBetas } from './adapt/betas.ts'
import { named } from './adapt/own-names.ts'
import { ERROR_BYTES, readText, withModelName } from './answer-text.ts'
import { type Call, call } from './call.ts'
import { listDropped } from './dropped.ts'
import { countBody } from './estimate.ts'
import type { ClientRequest } from './exchange.ts'
import { route } from './route.ts'
import type { Relay } from './services.ts'
import type { Target } from './target.ts'
import { editsFor, encoded, exactBody, lostIn, toJson } from './translate.ts'
import { firstAnswer } from './tries.ts'
import { editsWithin } from './within.ts'

/** A wire that counts, and how. */
export type CountingWire = { wire: ChatWire; counting: Counting }

/** Undefined for a wire without token counting. */
export const countingWire = (wire: Wire): CountingWire | undefined => {
  if (!isChatWire(wire)) return undefined
  const { counting } = CHAT_CODECS[wire]
  return counting && { wire, counting }
}

/** `text`: the answer on the client's wire. `estimated`: counted by the tokenizer, not by a provider. */
export type Counted = { text: string; estimated: boolean }

/** Counts for the model asked for, never a fallback, whose tokens differ. Throws GatewayError. */
export const countPrompt = async (relay: Relay, request: ClientRequest, clientWire: CountingWire): Promise<Counted> => {
  const providerWire = providerCountingWire(relay.providers.get(request.model.provider), clientWire)
  const targets = await relay.turns(request.body.size, () => targetsOf(relay, request, providerWire))
  // Without any target the client is told so.
  if (providerWire !== undefined || targets.length === 0) {
    const asked = providerWire ?? clientWire
    const codec = CHAT_CODECS[asked.wire]
    const text = await firstAnswer(relay, request, targets, (target, abort) =>
      ask({ relay, request, target, codec, abort }, clientWire, asked),
    )
    if (text !== undefined) return { text, estimated: false }
  }
  request.dropped = []
  const tokens = await countBody(pick(request.body.whole().body, clientWire.counting.members))
  return { text: JSON.stringify(clientWire.counting.write(tokens)), estimated: true }
}

/**
 * The accounts of the model, those with failing counts last. Vendors limit counting and answering separately, so the
 * breaker tracks counts under names of their own.
 */
const targetsOf = (relay: Relay, request: ClientRequest, providerWire: CountingWire | undefined): Known<Target[]> =>
  onceKnown(route(relay, request, false), (targets) =>
    targets
      .filter(({ model }) => model.id === request.model.id)
      .map((target) => countingTarget(relay, request, target, providerWire?.wire ?? target.wire))
      .toSorted((a, b) => Number(relay.health.allows(b.name)) - Number(relay.health.allows(a.name))),
  )

/** Knows what the refusals of answers have told, and those of counts: there may be other members that it does not take. */
const countingTarget = (relay: Relay, request: ClientRequest, target: Target, wire: Wire): Target => {
  const name = `${target.name} counts`
  const learned = {
    ...relay.detours.learnedOf(target.name, wire, request),
    ...relay.detours.learnedOf(name, wire, request),
  }
  return named({ ...target, wire, name, learned })
}

/** The wire on which the provider counts: the client's own where it speaks it. */
const providerCountingWire = (provider: Provider | undefined, clientWire: CountingWire): CountingWire | undefined => {
  if (provider?.wires.includes(clientWire.wire)) return clientWire
  return provider?.wires.map(countingWire).find((wire) => wire !== undefined)
}

/** A target's count on the client's wire; undefined if it turns out not to count. */
const ask = async (
  asking: Call<ClientRequest>,
  clientWire: CountingWire,
  providerWire: CountingWire,
): Promise<string | undefined> => {
  const { relay, request, target, codec, abort } = asking
  const body = await relay.turns(request.body.size, () =>
    clientWire === providerWire && target.withoutReasoning !== true && target.anew !== true
      ? passed(request, target, codec)
      : translated(request, target, clientWire, providerWire),
  )
  const outgoing = { url: countingEndpoint(target.account, providerWire.wire) ?? '', body }
  try {
    return await call(asking, outgoing, async (response) => {
      const text = await readText(response, ERROR_BYTES, abort)
      const body = parseObject(text)
      if (body?.error) throw withRefusal(codec.decodeError(200, body), body)
      const tokens = body && providerWire.counting.read(body)
      if (body === undefined || tokens === undefined) throw malformedAnswer()
      // Some servers that do not count answer 0. Agents would believe it and never compact a conversation.
      if (tokens === 0) return undefined
      return clientWire === providerWire
        ? withModelName(text, body, target.model.id)
        : JSON.stringify(clientWire.counting.write(tokens))
    })
  } catch (error) {
    if (error instanceof GatewayError && lacksCounting(error, providerWire.wire)) return undefined
    throw error
  }
}

const passed = (request: ClientRequest, target: Target, codec: PassCodec): Sent => {
  const edits = [...editsFor(codec, request.body, target), ...editsWithin(request, target)]
  request.dropped = listDropped([...droppedBetas(target, request.headers), ...lostIn(edits)])
  return request.body.edited(edits)
}

const translated = (
  request: ClientRequest,
  target: Target,
  clientWire: CountingWire,
  providerWire: CountingWire,
): string => {
  const within = editsWithin(request, target)
  const { body, dropped } = encoded(CHAT_CODECS[providerWire.wire], target, request.body.outline, () =>
    CHAT_CODECS[clientWire.wire].decodeInSteps(
      clientWire.counting.toRequest(exactBody(request, within), target.model.maxOutput),
    ),
  )
  request.dropped = listDropped([...droppedBetas(target, request.headers), ...dropped, ...lostIn(within)])
  return toJson(pick(body, providerWire.counting.members))
}

/** Statuses of a server without this path. */
const UNKNOWN_PATH = new Set([404, 405, 501])
/** Codes by which a wire's own vendor reports an unknown model, with the same status as others report an unknown path. */
const UNKNOWN_MODEL: Partial<Record<ChatWire, string>> = { messages: 'not_found_error', responses: 'model_not_found' }

/** Whether a server speaks the wire without its token counting, as many do. */
const lacksCounting = (error: GatewayError, wire: ChatWire): boolean => {
  const { status = 0, code } = error.provider ?? {}
  const isUnknown = UNKNOWN_PATH.has(status) && code !== UNKNOWN_MODEL[wire]
  return isUnknown || (error.code === 'upstream_error' && saysNoCount(refusalOf(error)))
}

/** Whether it says so in words: some servers do with 200, or refuse what they do not count as malformed. */
const saysNoCount = (body: unknown): boolean =>
  saidIn(body)
    .text.split('\n')
    .some((line) => OF_COUNTS.test(line) && saysNo(line))
const OF_COUNTS = /\bcount(?:s|ing|_tokens)?\b|\binput_tokens$|\bendpoint\b/i

const pick = (body: JsonObject, members: readonly string[]): JsonObject =>
  Object.fromEntries(members.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])))
