// A client's POST: authenticated before its body is read, admitted in the contract's order, refused in its wire's format.

import { type GatewayError, invalidRequest, unavailable } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import type { JsonObject } from '../ir/json.ts'
import type { Operation, Wire } from '../ir/wire.ts'
import { requireAddress } from '../keys/address.ts'
import type { Key } from '../keys/key.ts'
import { BY_LIMITS, type Ticket, UNLIMITED } from '../ledger/limits.ts'
import { type Edit, splice } from '../lib/json-splice.ts'
import { type Known, onceKnown } from '../lib/known.ts'
import { free } from '../lib/memory.ts'
import { isMultipart } from '../lib/multipart.ts'
import { SPARE } from '../observe/descriptors.ts'
import { limitFor } from '../observe/memory.ts'
import { requireSight } from '../relay/adapt/sight.ts'
import { type ClientBody, openText } from '../relay/client-body.ts'
import { type Client, type ClientRequest, disconnect } from '../relay/exchange.ts'
import { openForm } from '../relay/form-body.ts'
import { openBody } from '../relay/large-body.ts'
import { wiresOf } from '../relay/route.ts'
import { wireOf } from '../relay/target.ts'
import { withinOf } from '../relay/within.ts'
import type { CheckName, Refusal } from '../store/refusals.ts'
import { CODECS } from '../wire/index.ts'
import { clientAddress } from './address.ts'
import { admit, type Check, checkOf, requireWire } from './admit.ts'
import { requireShown } from './authenticated.ts'
import { expandable, isCompressed, readBody } from './read-body.ts'
import { errorResponse, reported, requestId } from './respond.ts'
import { requireServerTools } from './server-tools.ts'
import { tagOf } from './tag.ts'

/** A request whose key is valid and within its limits. */
export type Post = {
  readonly asked: Operation
  readonly wire: Wire
  readonly request: Request
  /** The request id the client sees. */
  readonly id: string
  readonly key: Key
  /** `Keys.changes` when it was authenticated. */
  readonly changes: number
  ticket: Ticket
  /** Where the client asked from, as far as that is known. */
  readonly address: string | undefined
  /** What it is billed as, by the client's own word. */
  tag: string | undefined
  /** The catalogue id, once it is known. */
  model: string | undefined
  /** The bytes its body is counted for: as announced, or held of one without a length. */
  counted: number
  /** The bytes that are held of what is counted, unpacked. */
  held: number
  /** Set once it is admitted: from then on `gateway.open` accounts for it. */
  admitted: boolean
}

/** `reserves`: a reservation is made once the body is read. */
type Asking = { asked: Operation; reserves: boolean }

/** An error that `answer` throws becomes an error response. */
export const answerPost = async (
  gateway: Gateway,
  { asked, reserves }: Asking,
  request: Request,
  answer: (post: Post) => Promise<Response>,
): Promise<Response> => {
  const id = requestId()
  const { wire } = CODECS[asked]
  const address = clientAddress(gateway, request)
  let key: Key | undefined
  let post: Post | undefined
  try {
    const shown = gateway.store.keys.authenticate(request.headers)
    key = shown instanceof Promise ? await shown : shown
    requireAddress(key, address)
    const announced = announcedBy(request, gateway)
    shed(gateway, key, announced)
    const changes = gateway.store.keys.changes()
    // A large body is not read for one that its limits refuse.
    const ticket = gateway.limits.enter(key, id, reserves && announced > 0 && announced <= FREE_BYTES)
    const told = { asked, wire, request, id, key, changes, address, tag: undefined, model: undefined }
    const known = { ...told, counted: announced, held: 0, admitted: false }
    // Counted until it is admitted, so that requests that arrive together are shed correctly.
    if (!(ticket instanceof Promise)) post = counted(gateway, { ...known, ticket })
    else {
      post = counted(gateway, { ...known, ticket: UNLIMITED })
      post.ticket = await ticket
    }
    return await answer(post)
  } catch (thrown) {
    const error = reported(gateway.log, await firstOf(thrown, post), { request: id })
    if (post?.admitted !== true) {
      if (post !== undefined) {
        arrived(gateway, post)
        giveBack(post, error.status)
      }
      gateway.metrics?.refused(wire, error.status, error.code)
      const { pathname: path } = new URL(request.url)
      const { status, code } = error
      gateway.log.refused({ request: id, key: key?.id, address, path, status, code, why: whyUnavailable(error) })
      if (key !== undefined) noteRefusal(gateway, key, { id, wire, path, address, post }, error)
    }
    return errorResponse(error, id, wire, key === undefined ? {} : gateway.limits.headers(key, wire))
  }
}

/** A request that its key's limits refuse is refused by them, whatever else is wrong with it. */
const firstOf = async (thrown: unknown, post: Post | undefined): Promise<unknown> => {
  if (post?.admitted !== false) return thrown
  try {
    await post.ticket.enterAlone?.()
    return thrown
  } catch (refused) {
    return refused
  }
}

/** `post` undefined: it was refused before its body was looked at. */
type Refused = Pick<Refusal, 'id' | 'wire' | 'path' | 'address'> & { post?: Post | undefined }

/** A message may repeat what the client wrote: a part of it is enough. */
const MOST_TOLD = 500
const MOST_PATH = 100

/** Keeps it among the requests of that key. */
export const noteRefusal = (
  gateway: Gateway,
  key: Key,
  { post, path, ...request }: Refused,
  error: GatewayError,
): void => {
  const refusal: Refusal = {
    ...request,
    keyId: key.id,
    at: gateway.clock(),
    path: path.slice(0, MOST_PATH),
    model: post?.model,
    status: error.status,
    code: error.code,
    failed: failedCheck(error, post),
    told: error.message.slice(0, MOST_TOLD),
    tag: post?.tag,
  }
  gateway.refusals.add(refusal)
  gateway.live.refused(key.ownerId)
}

const failedCheck = (error: GatewayError, post: Post | undefined): CheckName => {
  switch (error.code) {
    case 'permission_denied':
      return post === undefined ? 'address' : 'permission'
    case 'rate_limit_exceeded':
      return error.cause === BY_LIMITS ? 'rate limit' : 'quota'
    case 'quota_exhausted':
      return 'quota'
    case 'payload_too_large':
      return 'body size'
    case 'invalid_model':
      return 'model'
    case 'service_unavailable':
      return error.cause instanceof Error ? 'records' : 'capacity'
    default:
      return error.status < 500 ? 'request' : 'gateway'
  }
}

/** A body that is too large is not read, so it counts 0; a compressed one may expand. */
const announcedBy = ({ headers }: Request, { config: { bodyLimitBytes } }: Gateway): number => {
  const length = headers.get('content-length')
  if (isCompressed(headers)) return expandable(Number(length ?? bodyLimitBytes), bodyLimitBytes)
  const bytes = Number(length ?? 0)
  return bytes > 0 && bytes <= bodyLimitBytes ? bytes : 0
}

const counted = ({ arriving }: Gateway, post: Post): Post => {
  arriving.add(post.key.id, post.counted)
  return post
}

const arrived = ({ arriving }: Gateway, { key, counted, held }: Post): void => arriving.remove(key.id, counted, held)

/** A body that did not say how long it is counts as it comes, in steps of this size. */
const STEP_BYTES = 64 * 1024

/** Throws `service_unavailable` where there is no room for what is held of the body now. */
const hold = (gateway: Gateway, post: Post, held: number): void => {
  const { arriving, memory, open, config } = gateway
  const { key, counted } = post
  const more = held - counted
  if (more >= STEP_BYTES) {
    const others = open.size + arriving.count - 1
    const limit = limitFor(held, config.maxMemoryBytes)
    if (limit > 0 && memory.past(limit, others, arriving.with(key.id, held, counted)))
      throw unavailable('is busy', { cause: 'max_memory' })
    arriving.grow(key.id, more)
    post.counted = held
  }
  // Of what is not counted nothing is to come that could be taken off.
  const there = Math.min(held, post.counted)
  arriving.hold(there - post.held)
  post.held = there
}

/** A refused request counts against no limit, unless it is the client's fault and has cost more than a look at it. */
const FREE_BYTES = 64 * 1024

/** Takes back what a refused request has counted for, but for a large one, which could be repeated for ever. */
export const giveBack = ({ held, request, ticket }: Post, status: number): void => {
  const bytes = Math.max(held, Number(request.headers.get('content-length') ?? 0))
  if (bytes > FREE_BYTES && status < 500 && status !== 429) ticket.release()
  else ticket.refund()
}

/** Load shedding. Throws `service_unavailable` when the machine is at its limits or the gateway is stopping. */
const shed = (gateway: Gateway, key: Key, announced: number): void => {
  const cause = limitReached(gateway, key, announced)
  if (cause !== undefined) throw unavailable('is busy', { cause })
}

const limitReached = (gateway: Gateway, { id }: Key, announced: number): string | undefined => {
  const { maxOpenExchanges, maxMemoryBytes } = gateway.config
  const inside = gateway.open.size + gateway.arriving.count
  if (gateway.draining) return 'stopping'
  if (maxOpenExchanges > 0 && inside + (gateway.workers?.open() ?? 0) >= maxOpenExchanges) return 'max_open_exchanges'
  const limit = limitFor(announced, maxMemoryBytes)
  if (limit > 0 && gateway.memory.past(limit, inside, gateway.arriving.with(id, announced))) return 'max_memory'
  return inside > 0 && gateway.descriptors.short(inside) && isCrowded(gateway, id) ? 'descriptors' : undefined
}

/**
 * Whether nobody more of this key should be let in while descriptors are short. Whoever sends slowly is soon ended, and is to keep
 * out only those who have the same key: of others a few are answered meanwhile, by what is spared for those who are inside.
 */
const isCrowded = ({ open, arriving }: Gateway, keyId: string): boolean =>
  open.size + arriving.keys >= SPARE / 2 || arriving.countOf(keyId) >= SPARE / 4

/** Clients are told as little as they can use; operators have to know what to raise, or to mend. */
const whyUnavailable = ({ code, cause }: GatewayError): string | undefined => {
  if (code !== 'service_unavailable') return undefined
  return cause instanceof Error ? cause.message : typeof cause === 'string' ? cause : undefined
}

/** Reads, checks and admits the body, and resolves its references to earlier answers. */
export const openPost = async (gateway: Gateway, post: Post, check: Check): Promise<Opened> => {
  const { bodyLimitBytes, bodyTimeoutMs } = gateway.config
  const bytes = await readBody(post.request, bodyLimitBytes, bodyTimeoutMs, {
    hurried: () => gateway.descriptors.short(),
    holding: (held) => hold(gateway, post, held),
  })
  post.tag = tagOf(post.request.headers)
  const contentType = post.request.headers.get('content-type')
  const form = CODECS[post.asked].takesForms === true && isMultipart(contentType) ? contentType : undefined
  const size = bytes.byteLength
  try {
    const still = requireStill(gateway, post)
    if (still !== undefined) await still
    const asSent = await (form === undefined
      ? openBody(bytes, (name) => translates(gateway, post.wire, name), gateway.turns)
      : gateway.turns(size, () => openForm(bytes, form)))
    const { outline, whole } = asSent
    const edits = post.wire === 'responses' ? await gateway.recall.edits(post.key.id, outline, () => whole().body) : []
    return await gateway.turns(size, () => opened(gateway, post, check, { asSent, edits }))
  } catch (error) {
    free(bytes)
    throw error
  }
}

/** Reading the body may take long: the key may have expired or been revoked meanwhile, or its secret replaced. */
export const requireStill = (gateway: Gateway, { key, changes, request, address }: Post): Known<void> =>
  requireShown(gateway, { key, changes, headers: request.headers, address })

type Opened = Pick<ClientRequest, 'bodyWire' | 'asSent' | 'body' | 'model' | 'within'>

/** `edits`: those that resolve its references to earlier answers. */
const opened = (
  gateway: Gateway,
  post: Post,
  check: Check,
  { asSent, edits }: { asSent: ClientBody; edits: readonly Edit[] },
): Known<Opened> => {
  const { asked, wire, key } = post
  const bodyWire = bodyWireOf(wire, asSent.outline)
  const as = bodyWire === wire ? { asked, check } : { asked: bodyWire, check: checkOf(bodyWire) }
  const { catalogue, config } = gateway
  const model = admit({ ...as, outline: asSent.outline, key }, catalogue, config.hideForbiddenModels)
  post.model = model.id
  requireWire(bodyWire, model, () => wiresOf(gateway, { model, key }))
  if (bodyWire !== wire && asSent.outline.background === true) {
    // On this wire the client could not read the answer later.
    const say = 'an answer in the background is given at POST /v1/responses only. Ask there, or leave it out.'
    throw invalidRequest(`background: ${say}`, 'background')
  }
  const sent = edits.length === 0 ? asSent : openText(splice(asSent.whole().text, edits))
  return onceKnown(gateway.continued.withPrevious(key.id, sent), (body): Known<Opened> => {
    requireSight(bodyWire, body, model)
    const within = withinOf(body, { key, catalogue, hideForbidden: config.hideForbiddenModels })
    const all = { bodyWire, asSent, body, model, within }
    if (within === undefined) return all
    return onceKnown(requireServerTools(gateway, key, within.hosted), () => {
      if (!translates(gateway, bodyWire, model.id)) within.edits(model.provider)
      return all
    })
  })
}

/** Some editors send bodies of the responses wire to the chat-completions path, and expect chat completions in return. */
const bodyWireOf = (wire: Wire, { messages, input }: JsonObject): Wire =>
  wire === 'chat-completions' && messages === undefined && input !== undefined ? 'responses' : wire

/** Admits a request: from here on it is in flight, and ends when its client disconnects. */
export const enter = (gateway: Gateway, post: Post): Client => {
  const { id, request } = post
  const client: Client = { gone: request.signal.aborted, call: undefined, callOutlivesClient: false }
  gateway.open.set(id, client)
  request.signal.addEventListener('abort', () => disconnect(client), { once: true })
  post.admitted = true
  arrived(gateway, post)
  return client
}

/** Whether a request for that model will be translated to another wire. */
const translates = ({ catalogue, providers }: Gateway, wire: Wire, name: string): boolean => {
  const provider = providers.get(catalogue.resolve(name)?.provider ?? '')
  return provider !== undefined && wireOf(provider, wire) !== wire
}

/** Whether a provider has answered any attempt. A request that was refused before that counts against no limit. */
export const reachedProvider = ({ attempts }: Pick<ClientRequest, 'attempts'>): boolean =>
  attempts.some((attempt) => attempt.providerStatus !== undefined)
