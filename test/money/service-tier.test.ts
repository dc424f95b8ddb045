// A class of service that its provider tells has a price of its own where the configuration gives one, whatever wire its
// client speaks, whole or streamed.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { billOf } from '../../src/http/admin/bill.ts'
import { isObject, type JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import type { Script } from '../support/provider/scripted.ts'
import { CROSSINGS, type Money, spoken, startMoney } from './support.ts'

const price = {
  input: 1,
  output: 2,
  cacheRead: 0.1,
  cacheWrite: 10,
  serviceTiers: { flex: 0.5, priority: 3, fast: 6, us: 2 },
}
const billed = { input: 1_000, output: 10 }
const COST = 1_020

let money: Money
beforeAll(async () => {
  money = await startMoney({ config: { models: BUILTIN_MODELS.map((model) => ({ ...model, price })) } })
})
afterAll(() => money.stop())

/** Where a wire tells it: beside the usage, or within. */
const holders = (wire: ChatWire, body: JsonObject): unknown[] => {
  if (wire === 'responses') return [body.response ?? body]
  if (wire === 'chat-completions') return [body]
  return [body.usage, isObject(body.message) ? body.message.usage : undefined]
}

/** `only`: of a stream's pieces. `broken`: it has no last piece. */
type Telling = { only?: 'first' | 'last'; broken?: boolean; figures?: boolean }

/** An answer that tells its class in all places its wire has for it. */
const telling = (wire: ChatWire, stream: boolean, told: JsonObject, how: Telling = {}): Script => {
  const { only, broken = false, figures = true } = how
  const script = spoken(wire, stream, { billed, figures })
  const pieces = [...(script.steps as Iterable<string>)].slice(0, broken ? -1 : undefined)
  const silent = (at: number): boolean => only !== undefined && at !== (only === 'first' ? 0 : pieces.length - 1)
  const steps = pieces.map((step, at) =>
    step.replaceAll(/\{.*\}/g, (text) => {
      const body = JSON.parse(text)
      if (silent(at)) return text
      for (const holder of holders(wire, body)) if (isObject(holder)) Object.assign(holder, told)
      return JSON.stringify(body)
    }),
  )
  return { ...script, steps }
}

describe.each(CROSSINGS)('for a client of %s from a provider of %s', (client, provider) => {
  test.each([
    ['flex', { service_tier: 'flex' }, 0.5],
    ['priority', { service_tier: 'priority' }, 3],
    ['the usual one', { service_tier: provider === 'messages' ? 'standard' : 'default' }, 1],
    ['none', { service_tier: null }, 1],
    ['one without a price', { service_tier: 'scale' }, 1],
    ...(provider === 'messages'
      ? [
          ['fast', { service_tier: 'standard', speed: 'fast' }, 6] as const,
          ['kept to a region', { service_tier: 'standard', inference_geo: 'us' }, 2] as const,
          ['kept to a region and fast', { inference_geo: 'us', speed: 'fast' }, 12] as const,
          ['anywhere', { inference_geo: 'global' }, 1] as const,
          ['by a model without regions', { inference_geo: 'not_available' }, 1] as const,
        ]
      : []),
  ])('%s', async (_, told, times) => {
    for (const stream of [false, true]) {
      money.answers((wire, streamed) => telling(wire, streamed, told))
      const row = await money.exchange(client, provider, { stream })
      expect([row.input, row.output, row.costMicroUsd]).toEqual([1_000, 10, COST * times])
      expect(billOf(money.server.gateway, row)?.lines).toMatchObject([
        { what: 'input', usd: times },
        { what: 'output', usd: 2 * times },
      ])
    }
  })

  test('flex, reported apart from the usage', async () => {
    for (const only of ['first', 'last'] as const) {
      money.answers((wire, streamed) => telling(wire, streamed, { service_tier: 'flex' }, { only }))
      expect(await money.exchange(client, provider, { stream: true })).toMatchObject({
        input: 1_000,
        output: 10,
        costMicroUsd: COST / 2,
      })
    }
  })

  test('flex, reported by a stream that broke off', async () => {
    money.answers((wire, streamed) =>
      telling(wire, streamed, { service_tier: 'flex' }, { only: 'first', broken: true }),
    )
    await estimatedAtHalf(true)
  })

  test.if(provider !== 'messages')('flex, reported by an answer without usage', async () => {
    for (const stream of [false, true]) {
      money.answers((wire, streamed) => telling(wire, streamed, { service_tier: 'flex' }, { figures: false }))
      await estimatedAtHalf(stream)
    }
  })

  const estimatedAtHalf = async (stream: boolean): Promise<void> => {
    const { input, output, estimated, costMicroUsd } = await money.exchange(client, provider, { stream })
    const usual = Number(input) + 2 * Number(output)
    expect([estimated, usual > 0, costMicroUsd]).toEqual([true, true, Math.round(usual / 2)])
  }
})

test('a region is billed that only the beginning of a stream reports, also of one that breaks off', async () => {
  for (const client of CHAT_WIRES) {
    for (const broken of [false, true]) {
      money.answers((wire, streamed) => telling(wire, streamed, { inference_geo: 'us' }, { only: 'first', broken }))
      const { input, output, costMicroUsd } = await money.exchange(client, 'messages', { stream: true })
      expect(costMicroUsd).toBe(2 * (Number(input) + 2 * Number(output)))
    }
  }
})

test('fast stays fast where a later report has the tier without usage', async () => {
  for (const client of CHAT_WIRES) {
    money.answers((wire, streamed) => {
      const script = telling(wire, streamed, { service_tier: 'standard', speed: 'fast' }, { only: 'first' })
      const steps = [...(script.steps as Iterable<string>)].map((step) =>
        step.replace('"usage":{"output_tokens":10}', '"usage":{"output_tokens":10,"service_tier":"standard"}'),
      )
      return { ...script, steps }
    })
    expect(await money.exchange(client, 'messages', { stream: true })).toMatchObject({
      input: 1_000,
      output: 10,
      costMicroUsd: COST * 6,
    })
  }
})
