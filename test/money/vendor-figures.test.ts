// Every recording's figures through the gateway to clients of the other wires: the ledger's total is the vendor's.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Json, JsonObject } from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import { hasCorpus, type Recording, recordings } from '../support/corpus.ts'
import { framesOf } from '../support/frames.ts'
import { slices } from '../support/provider/scripted.ts'
import { CROSSINGS, type Money, spoken, startMoney, totalOf } from './support.ts'

let money: Money
beforeAll(async () => {
  money = await startMoney()
})
afterAll(() => money.stop())

/** The data of a stream's frames, parsed; its last word by itself. */
const dataOf = (text: string): (JsonObject | '[DONE]')[] =>
  framesOf(text).map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)))

const isWhole = ({ wire, stream, response }: Recording): boolean => {
  if (!stream) {
    const body = JSON.parse(response)
    return body.error == null && (wire !== 'responses' || body.status === 'completed' || body.status === 'incomplete')
  }
  const last = dataOf(response).at(-1)
  if (wire === 'chat-completions') return last === '[DONE]'
  const type = (last as JsonObject | undefined)?.type
  return wire === 'messages' ? type === 'message_stop' : type === 'response.completed' || type === 'response.incomplete'
}

const usageOf = ({ stream, response }: Recording): JsonObject | undefined => {
  if (!stream) return JSON.parse(response).usage ?? undefined
  let usage: JsonObject | undefined
  for (const data of dataOf(response)) {
    if (data === '[DONE]') continue
    const found = (data.message as JsonObject)?.usage ?? (data.response as JsonObject)?.usage ?? data.usage
    if (found) usage = { ...usage, ...(found as JsonObject) }
  }
  return usage
}

/** The members that tell something. */
const told = (usage: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null))

/** A vendor's figures as its documentation adds them up: all there is to bill, and the output in it. */
const billOf = (wire: ChatWire, usage: JsonObject): { total: number; output: number } => {
  const n = (value: Json | undefined): number => (typeof value === 'number' ? value : 0)
  if (wire !== 'messages') {
    const output = n(wire === 'chat-completions' ? usage.completion_tokens : usage.output_tokens)
    return { total: n(wire === 'chat-completions' ? usage.prompt_tokens : usage.input_tokens) + output, output }
  }
  // Rounds of other models, and of compaction, are billed beside the answer's own and are not in its figures.
  const rounds = (usage.iterations ?? []) as JsonObject[]
  const parts = [usage, ...rounds.filter(({ type }) => type !== 'message' && type !== 'fallback_message')]
  const sum = (name: string): number => parts.reduce((all, part) => all + n(part[name]), 0)
  const output = sum('output_tokens')
  return {
    total: sum('input_tokens') + sum('cache_read_input_tokens') + sum('cache_creation_input_tokens') + output,
    output,
  }
}

describe.skipIf(!hasCorpus).each(CROSSINGS)('to a client of %s what a provider of %s', (client, provider) => {
  const all = recordings(provider).filter((each) => each.status === 200 && isWhole(each))
  test.each(all.map((each) => [each.name, each] as const))('billed in %s is what the ledger says', async (_, each) => {
    const bytes = new TextEncoder().encode(each.response)
    money.answers(() => ({
      headers: { 'content-type': each.stream ? 'text/event-stream' : 'application/json' },
      steps: slices(bytes, each.stream ? 999 : Number.POSITIVE_INFINITY),
    }))
    const response = await money.ask(client, provider, { stream: each.stream })
    const text = await response.text()
    await money.idle()
    const row = await money.row(response)
    const usage = usageOf(each)
    if (response.status !== 200 || text.includes('event: error')) {
      // What the client's wire cannot be given at all is a failure, not a bill.
      expect([row.outcome, response.status === 200 || totalOf(row) === 0]).toEqual(['failed', true])
      return
    }
    const { total, output } = billOf(provider, usage ?? {})
    // A server that tells zeros of what it wrote does not count.
    if (usage === undefined || total === 0) {
      expect(row.estimated).toBe(true)
      return
    }
    expect({ total: totalOf(row), output: row.output, estimated: row.estimated }).toEqual({
      ...{ total, output, estimated: false },
    })
    // A class of service that is told beside them is kept with them.
    const { service_tier: tier, ...kept } = told(JSON.parse(row.rawUsage ?? '{}'))
    const { service_tier: toldTier = tier, ...own } = told(usage)
    expect([kept, tier]).toEqual([own, toldTier])
  })
})

test('a last report of nothing leaves the figures before it', async () => {
  const details = { prompt_tokens_details: { cached_tokens: 0 } }
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, ...details }
  money.answers((wire) => {
    const script = spoken(wire, true, { billed: { input: 12, cached: 8, output: 5 } })
    const steps = [...(script.steps as Iterable<string>)].map((step) =>
      step.replace('data: [DONE]', `data: ${JSON.stringify({ id: 'c1', choices: [], usage: zeros })}\n\ndata: [DONE]`),
    )
    return { ...script, steps }
  })
  for (const client of ['chat-completions', 'messages', 'responses'] as const) {
    expect(await money.exchange(client, 'chat-completions', { stream: true })).toMatchObject({
      input: 12,
      cacheRead: 8,
      output: 5,
      estimated: false,
    })
  }
})
