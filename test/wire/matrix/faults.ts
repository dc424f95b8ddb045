// Failures: what the vendor does, and the error that the client must get on any wire.

import { isObject, type JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import { framesOf } from '../../support/frames.ts'
import { PATHS } from '../../support/paths.ts'
import { type Gate, gate, type Script, slices, sse } from '../../support/provider/scripted.ts'
import type { Bench, Play } from './bench.ts'
import type { Cell, Outcome } from './cell.ts'
import { CLIENTS } from './client/index.ts'
import { streamFaults } from './rules.ts'
import { says, user, weather } from './stories/parts.ts'
import type { Answer, Ask } from './story.ts'
import { VENDORS } from './vendor/index.ts'

export type Fault = {
  name: string
  ask: Ask
  /** `door` resolves once the client has read something. */
  play(vendor: ChatWire, stream: boolean, door: Gate): Script
  /** The error code that the client must get. */
  code: string
  /** The HTTP status, where no stream has begun. */
  status: number
  /** Whether a stream has begun before the failure, so that the error is a frame. */
  midStream?: true
  /** Not where bytes pass: the vendor's own words are the client's wire already. Nor where arguments are an object. */
  halfCall?: true
}

export const faultPlays = (fault: Fault, client: ChatWire, vendor: ChatWire, stream: boolean): boolean =>
  !fault.halfCall || (client !== vendor && (stream || vendor !== 'messages'))

const ask: Ask = { turns: [user('A tale.')], tools: [weather] }
const tale: Answer = says('Once upon a time there was a gateway that never lied.')
const halfCall: Answer = {
  ...tale,
  finish: 'calls',
  pieces: [{ text: 'I look.' }, { call: 'call_1', name: 'get_weather', input: '{"place":"Par' }],
}

const refuses = (status: number, bodies: { a: JsonObject; b: JsonObject }, headers: Record<string, string> = {}) => {
  return (vendor: ChatWire): Script => {
    const error = vendor === 'messages' ? bodies.a : bodies.b
    const body = vendor === 'messages' ? { type: 'error', error, request_id: 'req_vendor-secret' } : { error }
    return { status, headers, steps: [JSON.stringify(body)] }
  }
}
const words = (type: string, code: string | null, message: string): JsonObject => ({
  type,
  code,
  message: `${message} vendor-secret`,
  param: null,
})
const error = (type: string, message: string): JsonObject => ({ type, message: `${message} vendor-secret` })

const half = (text: string): string => {
  const frames = text.split('\n\n')
  return `${frames.slice(0, Math.ceil(frames.length / 2)).join('\n\n')}\n\n`
}

export const FAULTS: Fault[] = [
  {
    name: 'context too long',
    ask,
    play: refuses(400, {
      a: error('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
      b: words('invalid_request_error', 'context_length_exceeded', 'Your input exceeds the context window.'),
    }),
    status: 400,
    code: 'context_length_exceeded',
  },
  {
    name: 'content policy',
    ask,
    play: refuses(400, {
      a: error('invalid_request_error', 'Output blocked by content filtering policy'),
      b: words('invalid_request_error', 'invalid_prompt', 'Your prompt was flagged.'),
    }),
    status: 400,
    code: 'content_policy_violation',
  },
  {
    name: 'rate limit of the vendor',
    ask,
    play: refuses(
      429,
      { a: error('rate_limit_error', 'Slow down'), b: words('requests', 'rate_limit_exceeded', 'Slow down') },
      { 'retry-after': '7' },
    ),
    status: 503,
    code: 'service_unavailable',
  },
  {
    name: 'credential refused by the vendor',
    ask,
    play: refuses(401, {
      a: error('authentication_error', 'invalid x-api-key'),
      b: words('invalid_request_error', 'invalid_api_key', 'Incorrect API key'),
    }),
    status: 502,
    code: 'upstream_error',
  },
  {
    name: 'server error of the vendor',
    ask,
    play: refuses(500, { a: error('api_error', 'Oops'), b: words('server_error', null, 'Oops') }),
    status: 502,
    code: 'upstream_error',
  },
  {
    name: 'malformed answer',
    ask,
    play: (vendor, stream) => {
      const pen = VENDORS[vendor]
      return stream ? sse('data: {"half": \n\n') : { steps: [pen.json(tale).slice(0, -9)] }
    },
    status: 502,
    code: 'upstream_error',
  },
  {
    name: 'connection cut in the middle',
    ask,
    play: (vendor, stream, door) => {
      const pen = VENDORS[vendor]
      if (!stream) return { steps: [pen.json(tale).slice(0, 40)], end: 'cut' }
      return { ...sse(''), steps: [half(pen.stream(tale)), door], end: 'cut' }
    },
    status: 502,
    code: 'upstream_error',
    midStream: true,
  },
  {
    name: 'stream without its terminal event',
    ask,
    play: (vendor, stream) => {
      const pen = VENDORS[vendor]
      return stream ? sse(half(pen.stream(tale))) : { steps: [''] }
    },
    status: 502,
    code: 'upstream_error',
    midStream: true,
  },
  {
    name: 'overload in the middle',
    ask,
    play: (vendor, stream) => {
      const pen = VENDORS[vendor]
      if (stream) return sse(half(pen.stream(tale)) + pen.brokenOff())
      const body = JSON.parse(framesOf(pen.brokenOff())[0]?.data ?? '{}')
      return { status: vendor === 'messages' ? 529 : 503, steps: [JSON.stringify(body)] }
    },
    status: 503,
    code: 'service_unavailable',
    midStream: true,
  },
  {
    name: 'a call that breaks off, marked as complete',
    ask,
    play: (vendor, stream) => {
      const pen = VENDORS[vendor]
      return stream ? sse(pen.stream(halfCall)) : { steps: [pen.json(halfCall)] }
    },
    status: 502,
    code: 'upstream_error',
    midStream: true,
    halfCall: true,
  },
]

export const runFault = async (
  bench: Bench,
  fault: Fault,
  { client, vendor, stream }: Omit<Cell, 'story'>,
): Promise<Outcome> => {
  const door = gate()
  bench.play(vendor, fault.play(vendor, stream, door))
  const answer = await bench.gateway.post(
    PATHS[client],
    CLIENTS[client].request(fault.ask, bench.model(vendor), stream),
  )
  const text = await readAll(answer, door)
  const faults: string[] = []
  const shown = text + JSON.stringify([...answer.headers])
  if (/vendor-secret/.test(shown)) faults.push('the vendor’s own text reaches the client')
  if (stream && fault.midStream)
    faults.push(...inFrames(text, { client, isOwn: client === vendor, status: answer.status, code: fault.code }))
  else faults.push(...inBody(client, answer, text, fault))
  await bench.gateway.idle()
  const id = answer.headers.get('x-request-id') ?? ''
  const [row] = await bench.gateway.server.gateway.store.exchanges({ limit: 1, id })
  if (row?.errorCode !== fault.code) faults.push(`the ledger has ${row?.errorCode}`)
  if (row?.outcome !== (fault.status < 500 ? 'refused' : 'failed')) faults.push(`the ledger has ${row?.outcome}`)
  return { faults, dropped: [] }
}

const readAll = async (answer: Response, door: Gate): Promise<string> => {
  const pieces: Uint8Array[] = []
  for await (const piece of answer.body ?? []) {
    pieces.push(piece)
    door.open()
  }
  return Buffer.concat(pieces).toString('utf8')
}

const inBody = (client: ChatWire, answer: Response, text: string, { status, code }: Fault): string[] => {
  const faults: string[] = []
  const body: unknown = JSON.parse(text)
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  if (answer.status !== status || error.code !== code)
    faults.push(`${answer.status} ${error.code}: ${text.slice(0, 200)}`)
  if (answer.headers.get('x-gateway-error-code') !== code) faults.push('the header names another code')
  if (typeof error.message !== 'string' || typeof error.type !== 'string') faults.push('no message or type')
  if (client === 'messages' && (body as JsonObject).type !== 'error') faults.push('no outer type')
  if (status === 503 && answer.headers.get('retry-after') === null) faults.push('no Retry-After')
  return faults
}

type Framed = { client: ChatWire; isOwn: boolean; status: number; code: string }

const inFrames = (text: string, { client, isOwn, status, code }: Framed): string[] => {
  const faults = streamFaults(client, text, isOwn)
  if (status !== 200) return [`status ${status}: ${text.slice(0, 200)}`]
  const frames = framesOf(text)
  const last = frames.at(-1)
  const data = last === undefined || last.data === '[DONE]' ? {} : JSON.parse(last.data)
  if (last?.event !== 'error' || data.error?.code !== code) faults.push(`the last frame is ${JSON.stringify(last)}`)
  if (/\[DONE\]|message_stop|response\.completed|response\.incomplete|"finish_reason":"/.test(text))
    faults.push('the stream says it is whole')
  if (client === 'responses' && frames.at(-2)?.event !== 'response.failed') faults.push('no response.failed')
  if (/function_call_arguments\.done|"status":"completed","call_id"/.test(text))
    faults.push('a call that breaks off is marked as complete')
  return faults
}

/** The client disconnects within a stream: the vendor's call must be aborted, and the output so far billed. */
export const runLeaving = async (bench: Bench, client: ChatWire, vendor: ChatWire): Promise<Outcome> => {
  const faults: string[] = []
  const whole = new TextEncoder().encode(VENDORS[vendor].stream(tale))
  const door = gate()
  const play: Play = () => ({
    headers: { 'content-type': 'text/event-stream' },
    steps: [...slices(whole.subarray(0, Math.floor(whole.length / 2)), 60), door],
  })
  bench.play(vendor, play)
  const leaving = new AbortController()
  const body = CLIENTS[client].request(ask, bench.model(vendor), true)
  const answer = await bench.gateway.post(PATHS[client], body, {}, leaving.signal)
  const reader = answer.body?.getReader()
  await reader?.read()
  const [request] = bench.sent(vendor)
  leaving.abort()
  if ((await request?.closed) !== 'aborted') faults.push('the vendor’s call was not aborted')
  await bench.gateway.idle()
  const id = answer.headers.get('x-request-id') ?? ''
  const [row] = await bench.gateway.server.gateway.store.exchanges({ limit: 1, id })
  if (row?.outcome !== 'aborted') faults.push(`the ledger has ${row?.outcome}`)
  if ((row?.input ?? 0) < 1) faults.push('the prompt was not billed')
  return { faults, dropped: [] }
}
