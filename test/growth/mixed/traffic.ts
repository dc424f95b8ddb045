// What clients ask by lot: every wire, whole and in streams, crossed, in the background, by WebSocket, going on with answers at other
// nodes, some of whom leave; and what each of them had whole.

import { setTimeout as later } from 'node:timers/promises'
import type { Chance } from '../../../scripts/fuzz/chance.ts'
import { asObject, asText, type JsonObject, parseObject } from '../../../src/ir/json.ts'
import { openSocket } from '../../support/socket.ts'
import type { Node } from '../fleet.ts'
import { tokensTold } from './told.ts'

export type TrafficKey = { id: string; secret: string }

/** An answer that a client had whole. `id`: of its request, which nobody tells a WebSocket. */
export type Whole = { kind: string; id: string | undefined; keyId: string; tokens: number }

export type Traffic = {
  /** How many ended how. */
  ends: Map<string, number>
  whole: Whole[]
  /** Refusals that nobody expects, in words. */
  odd: Set<string>
  /** Nothing more is asked until `resume`; resolves once all that was has ended. */
  rest(): Promise<void>
  resume(): void
  stop(): Promise<void>
}

type TrafficOptions = {
  chance: Chance
  nodes: () => readonly Node[]
  keys: () => readonly TrafficKey[]
  clients: number
  /** Between two requests of a client, on average. */
  pauseMs: number
}

export const EMBEDDING = 'embed'
const MODELS = ['vendorA-haiku-4-5', 'vendorB-5.4-mini'] as const
/** No room is left, too many at once, books that are away, a key that was revoked meanwhile. */
const EXPECTED = [401, 402, 429, 503]
/** What is told of an answer is not waited for longer than two seconds: while books are away others do not know it. */
const UNKNOWN = "'previous_response_id' cannot be used with this model"
/** Longer than anything that is asked takes, faults included. */
const HUNG_MS = 120_000

type Asked = { kind: string; path: string; body: JsonObject | FormData }

const textOf = (chance: Chance): string =>
  `${chance.of(0.1) ? '[[pace:40]] [[long:60]] ' : ''}say ${chance.below(1e6)}${chance.of(0.05) ? ' x'.repeat(40_000) : ''}`

const pictured = (chance: Chance): FormData => {
  const form = new FormData()
  form.set('model', 'vendorB-image-1')
  form.set('prompt', 'a dot')
  form.set('image', new File([new Uint8Array(10_000 + chance.below(400_000))], 'a.png', { type: 'image/png' }))
  return form
}

const drawn = (chance: Chance): Asked => {
  const [model, stream, most] = [chance.pick(MODELS), chance.of(0.5), 60 + chance.below(200)]
  const content = textOf(chance)
  const messages = [{ role: 'user', content }]
  const text = (path: string, body: JsonObject): Asked => ({
    ...{ kind: `${path} of ${model}`, path, body: { model, ...body, ...(stream ? { stream } : {}) } },
  })
  return chance.pick([
    () => text('/v1/messages', { messages, max_tokens: most }),
    () =>
      text('/v1/chat/completions', {
        ...{ messages, max_tokens: most },
        ...(stream ? { stream_options: { include_usage: true } } : {}),
      }),
    () => text('/v1/responses', { input: content, max_output_tokens: most }),
    () => text('/v1/responses', { input: content, max_output_tokens: most }),
    () => ({ kind: 'embeddings', path: '/v1/embeddings', body: { model: EMBEDDING, input: content } }),
    () => ({ kind: 'a form', path: '/v1/images/edits', body: pictured(chance) }),
  ])()
}

export const startTraffic = ({ chance, nodes, keys, clients, pauseMs }: TrafficOptions): Traffic => {
  const traffic = { ends: new Map<string, number>(), whole: [] as Whole[], odd: new Set<string>() }
  let isOver = false
  let resting: PromiseWithResolvers<void> | undefined
  let busy = 0

  const ended = (how: string): void => void traffic.ends.set(how, (traffic.ends.get(how) ?? 0) + 1)
  const refused = (kind: string, status: number, words: string): void => {
    ended(`${status}`)
    if (!EXPECTED.includes(status) && !words.includes(UNKNOWN))
      traffic.odd.add(`${kind}: ${status} ${words.slice(0, 300)}`)
  }
  const call = (path: string, { secret }: TrafficKey, init: RequestInit = {}): Promise<Response> =>
    fetch(chance.pick(nodes()).url + path, {
      ...{ method: 'POST', ...init },
      headers: {
        ...{ authorization: `Bearer ${secret}`, connection: 'close' },
        ...(typeof init.body === 'string' ? { 'content-type': 'application/json' } : {}),
      },
    })

  /** Of one that it had whole. */
  const ask = async (key: TrafficKey, { kind, path, body }: Asked): Promise<JsonObject | undefined> => {
    const leaving = new AbortController()
    const leaves = chance.of(0.08) ? setTimeout(() => leaving.abort(), chance.below(80)) : undefined
    try {
      const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(HUNG_MS)])
      const sent = body instanceof FormData ? body : JSON.stringify(body)
      const response = await call(path, key, { body: sent, signal })
      const text = await response.text()
      if (response.status !== 200) return void refused(kind, response.status, text)
      const tokens = tokensTold(text, !(body instanceof FormData) && body.stream === true)
      if (tokens === undefined) return void ended('cut')
      traffic.whole.push({ kind, id: response.headers.get('x-request-id') ?? '', keyId: key.id, tokens })
      ended('whole')
      return parseObject(text)
    } catch (cause) {
      ended(leaving.signal.aborted ? 'left' : 'cut')
      if (cause instanceof DOMException && cause.name === 'TimeoutError') traffic.odd.add(`${kind}: no end`)
    } finally {
      clearTimeout(leaves)
    }
  }

  /** Each turn wherever it comes. */
  const goOn = async (key: TrafficKey): Promise<void> => {
    const model = chance.pick(MODELS)
    let previous: string | undefined
    for (let turn = 0; turn < 4; turn++) {
      const body = {
        model,
        input: textOf(chance),
        max_output_tokens: 80,
        ...(previous && { previous_response_id: previous }),
      }
      const answer = await ask(key, { kind: `an answer that goes on, of ${model}`, path: '/v1/responses', body })
      previous = asText(answer?.id)
      if (previous === '') return
    }
  }

  const inBackground = async (key: TrafficKey): Promise<void> => {
    const body = JSON.stringify({ model: MODELS[1], background: true, input: textOf(chance), max_output_tokens: 200 })
    const begun = await call('/v1/responses', key, { body, signal: AbortSignal.timeout(HUNG_MS) })
    const text = await begun.text()
    if (begun.status !== 200) return refused('in the background', begun.status, text)
    const id = asText(parseObject(text)?.id)
    const cancels = chance.of(0.2)
    for (let look = 0; look < 40; look++) {
      await later(100 + chance.below(500))
      const isCancelled = cancels && look === 1
      const path = `/v1/responses/${id}${isCancelled ? '/cancel' : ''}`
      const read = await call(path, key, { method: isCancelled ? 'POST' : 'GET' }).catch(() => undefined)
      const told = read?.status === 200 ? await read.text() : ''
      const status = asText(parseObject(told)?.status)
      if (status !== 'completed' && status !== 'cancelled') continue
      const tokens = tokensTold(told, false)
      if (status === 'completed' && tokens !== undefined)
        traffic.whole.push({
          ...{ kind: 'in the background', id: begun.headers.get('x-request-id') ?? '', keyId: key.id, tokens },
        })
      return ended(`in the background, ${status}`)
    }
    ended('in the background, left')
  }

  const bySocket = async (key: TrafficKey): Promise<void> => {
    const model = chance.pick(MODELS)
    const client = await openSocket(chance.pick(nodes()).url, { authorization: `Bearer ${key.secret}` })
    try {
      let previous: string | undefined
      for (let turn = chance.below(3); turn >= 0; turn--) {
        const going = previous === undefined ? {} : { previous_response_id: previous }
        client.send({ type: 'response.create', model, input: textOf(chance), max_output_tokens: 100, ...going })
        if (chance.of(0.1)) return ended('by WebSocket, left')
        const last = (await Promise.race([client.answer(), later(HUNG_MS, undefined, { ref: false })]))?.at(-1)
        if (last === undefined) return void traffic.odd.add('by WebSocket: no end')
        if (last.type === 'error' && last.status === undefined) return ended('by WebSocket, cut')
        if (last.type === 'error') return refused('by WebSocket', Number(last.status), JSON.stringify(last))
        const response = asObject(last.response)
        const tokens = Number(asObject(response.usage).total_tokens)
        traffic.whole.push({ kind: `by WebSocket, of ${model}`, id: undefined, keyId: key.id, tokens })
        ended('by WebSocket, whole')
        previous = asText(response.id)
      }
    } finally {
      client.close()
    }
  }

  const client = async (): Promise<void> => {
    while (!isOver) {
      while (resting !== undefined) await resting.promise
      busy++
      const key = chance.pick(keys())
      const lot = chance.below(100)
      const asked =
        lot < 6 ? inBackground(key) : lot < 14 ? bySocket(key) : lot < 20 ? goOn(key) : ask(key, drawn(chance))
      await asked.catch(() => ended('unreachable'))
      busy--
      await later(chance.below(2 * pauseMs))
    }
  }
  const all = Array.from({ length: clients }, client)
  return {
    ...traffic,
    async rest() {
      resting = Promise.withResolvers()
      while (busy > 0) await later(20)
    },
    resume() {
      resting?.resolve()
      resting = undefined
    },
    async stop() {
      isOver = true
      this.resume()
      await Promise.all(all)
    },
  }
}
