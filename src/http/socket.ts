// One WebSocket of the responses wire. Every response.create is a request of its own, answered as a POST would be; its events
// go out as they come. Within a lane one is answered after the other, lanes side by side.

import { GatewayError, invalidRequest } from '../errors.ts'
import type { Gateway, SocketEnd, SocketPeer } from '../gateway.ts'
import { asObject, asText, isObject, type JsonObject, parseObject } from '../ir/json.ts'
import type { Key } from '../keys/key.ts'
import type { Edit } from '../lib/json-splice.ts'
import type { Sent } from '../lib/pieces.ts'
import { FrameReader } from '../lib/sse.ts'
import { MOST_REMEMBERED_BYTES, type OpenSocket } from '../observe/sockets.ts'
import { type Keep, PIECE_CHARS } from '../relay/adapt/recall.ts'
import { type ClientBody, NO_BODY } from '../relay/client-body.ts'
import { secondsOf } from '../relay/exchange.ts'
import { itemsWritten, listOf } from '../wire/responses/references.ts'
import {
  BODY_EDITS,
  cancelled,
  clientEvent,
  errorEvent,
  nothingToCancel,
  onLane,
  steerFailed,
  tooOld,
  warmedUp,
} from '../wire/responses/socket.ts'
import { clientAddress } from './address.ts'
import { checkOf } from './admit.ts'
import { requireShown } from './authenticated.ts'
import { answerPost, enter, openPost } from './client-post.ts'
import { answering } from './inference.ts'
import { errorResponse, requestId, toGatewayError } from './respond.ts'
import { eventOf, openEvent, piecesOf, requestBody } from './socket-event.ts'

/** Requests on one connection that are not answered. */
const MOST_WAITING = 32
/** All that was said and is not read or answered, in bodies as large as they may be. */
const MOST_WAITING_BODIES = 2
/** What an event takes beside its text, in characters: of small ones there may be any number. */
const EVENT_CHARS = 1024
/** What a slow reader has not taken yet holds the next event back, and so the provider. */
const UNSENT_BYTES = 256 * 1024
const [GOING_AWAY, POLICY, NORMAL, FAILED] = [1001, 1008, 1000, 1011]

/** Headers of the handshake that are of no request on it. */
const OF_HANDSHAKE = /^(?:connection|upgrade|sec-websocket-.*|content-.*|transfer-encoding|accept-encoding)$/

/** Headers of a refusal that tell clients when to ask again. */
const TOLD = /^(?:retry-after|x-should-retry|x-request-id|x-gateway-.*|x-ratelimit-.*)$/

type Create = { body: ClientBody; lane: string | undefined; warms: boolean; under: UnderWay }

/** An answer that is being made: its id once that is known, how far it is, and what leaves it. */
type UnderWay = { id?: unknown; state: 'open' | 'ended' | 'cancelled'; leave: Set<() => void> }

/** `changes`: `Keys.changes` when its key was found by the handshake. */
export const createSocket = (
  gateway: Gateway,
  handshake: Request,
  { key, changes }: { key: Key; changes: number },
): SocketEnd => {
  const { sockets, turns } = gateway
  const ask = answering(gateway, 'responses')
  const headers = new Headers([...handshake.headers].filter(([name]) => !OF_HANDSHAKE.test(name)))
  headers.set('content-type', 'application/json')
  const { url } = handshake
  const from = gateway.listener?.addressOf(handshake)
  const address = clientAddress(gateway, handshake)
  const id = `${key.id} ${requestId()}`
  /** Each lane has one at most. */
  const answers = new Map<string | undefined, UnderWay>()
  const lanes = new Map<string | undefined, Promise<void>>()
  let peer: SocketPeer | undefined
  let reading: Promise<void> = Promise.resolve()
  let waiting = 0
  let waitingChars = 0
  let ending: (() => void) | undefined
  let waitingForRoom: (() => void)[] = []
  let aging: ReturnType<typeof setTimeout> | undefined

  const send = (text: string, lane?: string): void => peer?.send(onLane(text, lane))

  /** An answer is left as its client leaves one of HTTP: by its signal alone a stream would have broken off. */
  const leaveAnswer = ({ leave }: UnderWay): void => {
    for (const go of [...leave].reverse()) go()
  }

  const cancel = (lane: string | undefined, id: string | undefined): void => {
    const under = answers.get(lane)
    if (under?.state !== 'open' || (id !== undefined && id !== under.id)) {
      peer?.send(nothingToCancel(lane))
      return
    }
    under.state = 'cancelled'
    peer?.send(cancelled(lane))
    leaveAnswer(under)
  }

  const refuse = async (response: Response, lane?: string): Promise<void> => {
    const told = Object.fromEntries([...response.headers].filter(([name]) => TOLD.test(name)))
    const body = parseObject(await response.text()) ?? {}
    peer?.send(errorEvent({ status: response.status, body, headers: told }, lane))
    if (response.status === 401) outOfForce()
  }

  const hangUp = (): void => peer?.close(POLICY, 'The API key is not in force here any more.')
  /** The client has been told. */
  const outOfForce = (): void => {
    ending = hangUp
    end(hangUp)
  }

  const refuseWith = (error: GatewayError, lane?: string): Promise<void> =>
    refuse(errorResponse(error, requestId(), 'responses'), lane)

  /** Once nothing is answered any more. */
  const end = (how: () => void): void => {
    ending ??= how
    if (waiting === 0) ending()
  }

  const room = async (): Promise<void> => {
    while (peer !== undefined && peer.unsent() > UNSENT_BYTES)
      await new Promise<void>((resolve) => waitingForRoom.push(resolve))
  }
  const madeRoom = (): void => {
    const due = waitingForRoom
    waitingForRoom = []
    for (const go of due) go()
  }

  /** `read`: all of it has been read. */
  const requestFor = (sent: Sent, read: () => void, signal: AbortSignal): Request => {
    const pieces = piecesOf(sent)
    const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
    const of = new Headers(headers)
    of.set('content-length', String(bytes))
    const request = new Request(url, { method: 'POST', headers: of, body: requestBody(pieces, bytes, read), signal })
    gateway.listener?.lend(request, from)
    return request
  }

  /** Sends the events of an answer as fast as they are read. Returns the answer, where it is whole and wanted. */
  const pass = async (
    reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> },
    { lane, under }: Pick<Create, 'lane' | 'under'>,
    isWanted: boolean,
  ): Promise<JsonObject | undefined> => {
    const frames = new FrameReader()
    const items: string[] = []
    let answer: JsonObject | undefined
    const isHeard = (): boolean => peer !== undefined && under.state !== 'cancelled'
    for (let done = false; !done && isHeard(); ) {
      const read = await reader.read()
      done = read.done
      for (const { event, data } of read.value === undefined ? frames.end() : frames.push(read.value)) {
        if (!isHeard()) break
        if (event === 'response.created') under.id = asObject(parseObject(data)?.response).id
        if (ENDS.has(event) || FAILS.has(event)) under.state = 'ended'
        send(data, lane)
        if (isWanted && event === 'response.output_item.done') items.push(data)
        if (isWanted && ENDS.has(event)) answer = asObject(parseObject(data)?.response)
        await room()
      }
    }
    return answer && withOutput(answer, items)
  }

  /** The same. A client that leaves ends it as one of HTTP does. */
  const passed = async (
    body: ReadableStream<Uint8Array>,
    create: Pick<Create, 'lane' | 'under'>,
    isWanted: boolean,
  ): Promise<JsonObject | undefined> => {
    const { leave } = create.under
    const reader = body.getReader()
    const go = (): void => void reader.cancel().catch(() => undefined)
    leave.add(go)
    try {
      return await pass(reader, create, isWanted)
    } finally {
      leave.delete(go)
      // What was cancelled before its stream was there has left nothing behind that would.
      if (peer === undefined || create.under.state === 'cancelled') go()
    }
  }

  /** Nothing is asked of a model: its client is told that what it has sent is there to go on from. */
  const warmUp = async ({ body, lane }: Create, request: Request): Promise<JsonObject | undefined> => {
    const response = await answerPost(gateway, { asked: 'responses', reserves: false }, request, async (post) => {
      const { model } = await openPost(gateway, post, checkOf('responses'))
      await gateway.ledger.requireLeft(post.key)
      enter(gateway, post)
      gateway.open.delete(post.id)
      post.ticket.release()
      return Response.json({ id: post.id.replace(/^req_/, 'resp_'), model: model.id })
    })
    if (response.status !== 200) {
      await refuse(response, lane)
      return undefined
    }
    const made = asObject(await response.json())
    const asked = { model: asText(made.model), inputEstimate: 0, now: secondsOf(gateway.clock) }
    const { events, answer } = warmedUp(asText(made.id), asked, body.whole().body)
    for (const event of events) send(event, lane)
    return answer
  }

  const answer = async (create: Create, signal: AbortSignal): Promise<void> => {
    const { body, lane, warms, under } = create
    const known = await sockets.recall.edits(id, body.outline, () => body.whole().body)
    const sent = await turns(body.size, () => body.edited([...BODY_EDITS, ...known]))
    const keep = keepFor(body, known, warms)
    // The answer to one that warms up is made of it, too.
    const read = warms ? () => undefined : () => body.free?.()
    const request = requestFor(sent, read, signal)
    if (warms) {
      const warmed = await warmUp(create, request)
      body.free?.()
      if (warmed !== undefined) await keep?.(warmed)
      return
    }
    create.body = NO_BODY
    const response = await ask(request)
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (!isStream || response.body === null) return under.state === 'cancelled' ? undefined : refuse(response, lane)
    const made = await passed(response.body, { lane, under }, keep !== undefined)
    if (made !== undefined) await keep?.(made)
  }

  /** What nobody else keeps is remembered for the connection, where all of it is known. */
  const keepFor = (body: ClientBody, known: readonly Edit[], warms: boolean): Keep | undefined => {
    if ((body.outline.store !== false && !warms) || body.size > MOST_REMEMBERED_BYTES) return undefined
    const written = body.written?.('input')
    const input = (written && itemsWritten(written, PIECE_CHARS)) ?? listOf(body.member('input'))
    const previous = body.member('previous_response_id')
    if (typeof previous !== 'string') return sockets.recall.open(id, { input }, body.size)
    const isHere = known.some(({ path }) => path[0] === 'previous_response_id')
    return isHere ? sockets.recall.open(id, { previous, input }, body.size) : undefined
  }

  const run = async (create: Create): Promise<void> => {
    if (peer === undefined) return
    const { lane, under } = create
    const abort = new AbortController()
    under.leave.add(() => abort.abort())
    answers.set(lane, under)
    try {
      await answer(create, abort.signal)
    } catch (thrown) {
      if (peer !== undefined && under.state !== 'cancelled') await refuseWith(toGatewayError(thrown), lane)
    } finally {
      answers.delete(lane)
    }
  }

  const take = async (text: string): Promise<void> => {
    const body = await openEvent(text, turns)
    const event = clientEvent(eventOf(body))
    if (event.type === 'steer') send(steerFailed(body.whole().body))
    if (event.type === 'cancel') cancel(event.lane, event.id)
    if (event.type !== 'create') return room()
    // Those that are under way can still be cancelled.
    if (waiting >= MOST_WAITING) throw tooManyWaiting()
    const { lane, warms } = event
    const before = lanes.get(lane) ?? Promise.resolve()
    waiting++
    const size = sizeOf(text)
    waitingChars += size
    const under: UnderWay = { state: 'open', leave: new Set() }
    const create: Create = { body, lane, warms, under }
    const mine = before
      .then(() => run(create))
      .finally(() => {
        waiting--
        waitingChars -= size
        if (lanes.get(lane) === mine) lanes.delete(lane)
        if (waiting === 0) ending?.()
      })
    lanes.set(lane, mine)
  }

  /** Not waited for: of who goes on without reading what is said nothing may pile up. */
  const refuseAtOnce = (error: GatewayError): void => {
    if (peer !== undefined && peer.unsent() > UNSENT_BYTES) peer.close(POLICY, 'Read what is sent before sending more.')
    else void refuseWith(error)
  }

  const self: OpenSocket = {
    id,
    check() {
      const refused = (thrown: unknown): void => {
        // Amid an answer it would be taken for the answer's own end.
        if (thrown instanceof GatewayError) end(() => void refuseWith(thrown).then(outOfForce))
      }
      try {
        const still = requireShown(gateway, { key, changes, headers: handshake.headers, address })
        if (still instanceof Promise) still.catch(refused)
      } catch (thrown) {
        refused(thrown)
      }
    },
    drain: () => end(() => peer?.close(GOING_AWAY, 'The gateway is stopping.')),
  }

  return {
    opened(opened) {
      peer = opened
      sockets.opened(self)
      const grownOld = (): void => {
        send(tooOld(Math.round(sockets.maxAgeMs / 60_000)))
        peer?.close(NORMAL, '')
      }
      aging = setTimeout(() => end(grownOld), sockets.maxAgeMs)
      aging.unref()
    },
    said(message) {
      if (typeof message !== 'string') {
        refuseAtOnce(invalidRequest('Events are JSON as text. Send them in text frames.'))
        return
      }
      const size = sizeOf(message)
      if (waitingChars + size > mostWaiting(gateway.config)) {
        refuseAtOnce(tooManyWaiting())
        return
      }
      waitingChars += size
      // Events count in the order they came, however long each takes to be read.
      reading = reading
        .then(() => take(message))
        .catch((thrown) => refuseWith(toGatewayError(thrown)).then(room))
        .catch(() => peer?.close(FAILED, ''))
        .finally(() => {
          waitingChars -= size
        })
    },
    drained: madeRoom,
    closed() {
      peer = undefined
      clearTimeout(aging)
      for (const under of answers.values()) leaveAnswer(under)
      madeRoom()
      sockets.closed(self)
    },
    isBusy: () => waiting > 0,
  }
}

const sizeOf = (event: string): number => event.length + EVENT_CHARS
const mostWaiting = ({ bodyLimitBytes }: Gateway['config']): number =>
  MOST_WAITING_BODIES * bodyLimitBytes + MOST_WAITING * EVENT_CHARS

const ENDS: ReadonlySet<string | undefined> = new Set(['response.completed', 'response.incomplete'])
const FAILS: ReadonlySet<string | undefined> = new Set(['response.failed', 'error'])

/** Some servers tell the items of an answer as they come, and none at its end. */
const withOutput = (answer: JsonObject, items: readonly string[]): JsonObject => {
  if (Array.isArray(answer.output) && answer.output.length > 0) return answer
  return { ...answer, output: items.map((data) => parseObject(data)?.item).filter(isObject) }
}

const tooManyWaiting = (): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    'Too many requests wait on this connection. Send the next when one of them is answered.',
    { retryAfterMs: 1_000 },
  )
