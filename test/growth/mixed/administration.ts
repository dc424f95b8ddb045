// What people change meanwhile, at whichever node: keys that are made, replaced, begun anew, topped up and revoked, budgets,
// settings, prices and names.

import { setTimeout as later } from 'node:timers/promises'
import type { Chance } from '../../../scripts/fuzz/chance.ts'
import { asObject, asText, type JsonObject } from '../../../src/ir/json.ts'
import { ANEW } from '../books.ts'
import type { Node } from '../fleet.ts'
import type { TrafficKey } from './traffic.ts'

/** Keys of these terms are asked with all along. */
const LASTING: readonly JsonObject[] = [
  { label: 'room', tokens_total: 1e12 },
  { label: 'room too', tokens_total: 1e12 },
  { label: 'little', tokens_total: 6_000 },
  { label: 'little too', tokens_total: 3_000 },
  { label: ANEW, tokens_total: 6_000 },
  { label: 'some a minute', tokens_total: 1e12, rpm: 90 },
  { label: 'tokens a minute', tokens_total: 1e12, tpm: 15_000 },
  { label: 'some at once', tokens_total: 1e12, concurrency: 3 },
  {
    label: 'all limits',
    tokens_total: 1e12,
    rpm: 120,
    tpm: 60_000,
    concurrency: 5,
    budget: { usd: 30, renews: 'day' },
  },
  { label: 'a budget', tokens_total: 1e12, budget: { tokens: 90_000, renews: 'day' } },
]
const PRICES = [
  { input: 1, output: 4 },
  { input: 2.5, output: 7 },
]

export type Administration = {
  keys: TrafficKey[]
  /** Changes that were made. */
  made(): number
  /** Answers that nobody expects, in words. */
  odd: Set<string>
  stop(): Promise<void>
}

type Options = { chance: Chance; nodes: () => readonly Node[]; pauseMs: number }

export const startAdministration = async ({ chance, nodes, pauseMs }: Options): Promise<Administration> => {
  const odd = new Set<string>()
  let isOver = false
  let made = 0

  /** Undefined while books are away. */
  const change = async (method: string, path: string, body?: JsonObject): Promise<JsonObject | undefined> => {
    try {
      const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      const response = await chance.pick(nodes()).admin(path, init)
      const text = await response.text()
      if (response.status < 300) {
        made++
        return JSON.parse(text)
      }
      // Two may change the same at once, and what is gone may be gone by then.
      if (![404, 409, 503].includes(response.status))
        odd.add(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`)
    } catch {
      // Its node has ended under it.
    }
  }

  const newKey = async (terms: JsonObject): Promise<TrafficKey | undefined> => {
    const answer = await change('POST', '/keys', terms)
    return answer && { id: asText(asObject(answer.key).id), secret: asText(answer.secret) }
  }
  const keys: TrafficKey[] = []
  const idOf = new Map<string, string>()
  for (const terms of LASTING) {
    const key = await newKey(terms)
    if (key === undefined) throw new Error(`no key: ${[...odd].join()}`)
    keys.push(key)
    idOf.set(asText(terms.label), key.id)
  }

  const passing = async (): Promise<void> => {
    const key = await newKey({ label: 'passing', tokens_total: 1_000_000, ...(chance.of(0.5) ? { rpm: 30 } : {}) })
    if (key === undefined) return
    keys.push(key)
    await later(chance.below(4 * pauseMs))
    const answer = chance.of(0.5) ? await change('POST', `/keys/${key.id}/rotate`, { grace_seconds: 0 }) : undefined
    if (answer !== undefined) key.secret = asText(answer.secret)
    await later(chance.below(2 * pauseMs))
    await change('POST', `/keys/${key.id}/revoke`)
    keys.splice(keys.indexOf(key), 1)
  }

  const kinds: readonly (() => Promise<unknown>)[] = [
    passing,
    passing,
    () => change('POST', `/keys/${idOf.get(ANEW)}/reset`),
    () => change('POST', `/keys/${idOf.get('little')}/top-up`, { tokens: 2_000, lasting: true }),
    () => change('POST', `/keys/${idOf.get('little too')}/top-up`, { tokens: 1_000 }),
    () => change('POST', `/budgets/key:${idOf.get('a budget')}/reset`),
    () => change('PUT', '/entries/models/vendorB-5.4-mini', { value: { price: chance.pick(PRICES) } }),
    () => change('PUT', '/entries/aliases/quick', { value: chance.pick(['vendorA-haiku-4-5', 'vendorB-5.4-mini']) }),
    () => change('PUT', '/settings', { limits: { rpm: 100_000 + chance.below(1_000) } }),
    () => change('POST', '/reload'),
    () =>
      change('GET', chance.pick(['/state', '/keys', '/usage?by=model', '/exchanges?limit=50', '/audit', '/budgets'])),
  ]
  const changing = (async () => {
    while (!isOver) {
      await chance.pick(kinds)()
      await later(chance.below(2 * pauseMs))
    }
  })()
  return {
    ...{ keys, odd, made: () => made },
    async stop() {
      isOver = true
      await changing
    },
  }
}
