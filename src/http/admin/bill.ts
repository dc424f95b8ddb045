// An exchange's cost as a bill: what its row and its provider's own figures tell, by the price that it comes to.

import type * as S from '../../admin-api/schema.ts'
import { namingOthers } from '../../catalogue/catalogue.ts'
import type { Model, Price } from '../../catalogue/model.ts'
import type { Gateway } from '../../gateway.ts'
import { isObject } from '../../ir/json.ts'
import { inTier, type Usage } from '../../ir/usage.ts'
import type { Operation } from '../../ir/wire.ts'
import { type BillLine, billBy } from '../../ledger/bill.ts'
import type { ExchangeRow } from '../../store/usage.ts'
import { CODECS } from '../../wire/index.ts'

/** Null where nothing is charged yet, or no price that is known comes to what was charged. */
export const billAt = async (gateway: Gateway, row: ExchangeRow): Promise<S.ExplainedExchange['bill']> => {
  const now = billOf(gateway, row)
  const model = modelOf(gateway, row)
  if (now !== null || model === undefined || !isCharged(row)) return now
  for (const price of await gateway.store.prices.of(model.id)) {
    const then = billOf(gateway, row, JSON.parse(price))
    if (then !== null) return { ...then, former: true }
  }
  return null
}

const isCharged = ({ outcome, refusal }: ExchangeRow): boolean => outcome !== null && refusal === null

const modelOf = ({ catalogue }: Gateway, { trail, model }: ExchangeRow): Model | undefined =>
  catalogue.resolve(trail?.at(-1)?.model ?? model ?? '')

/** The same by the price there is now, or by this one. */
export const billOf = (gateway: Gateway, row: ExchangeRow, former?: Price): S.ExplainedExchange['bill'] => {
  const { catalogue } = gateway
  const model = modelOf(gateway, row)
  if (model === undefined || !isCharged(row)) return null
  const price = former ?? model.price
  const usage = namingOthers(usageOf(row, model), model, catalogue)
  const bill = billBy(price, usage, {
    costMicroUsd: row.costMicroUsd,
    feesMicroUsd: row.feesMicroUsd ?? 0,
    serverTools: row.serverTools ?? undefined,
    prices: catalogue.price,
  })
  if (bill === undefined) return null
  return {
    lines: bill.lines.map(lineOf),
    long_context_above: bill.above ?? null,
    factors: Object.fromEntries(bill.factors),
    as_of: price.asOf ?? null,
    former: false,
    told_micro_usd: bill.lines.some(({ what }) => what === 'told') ? null : (usage.charged ?? null),
  }
}

const lineOf = ({ what, tool, model, count, usd, microUsd }: BillLine): S.BillLine => ({
  what,
  tool: tool ?? null,
  model: model ?? null,
  count: count ?? null,
  usd: usd ?? null,
  micro_usd: microUsd,
})

/** The row's classes are what was billed; what is priced apart within them stands in the provider's figures alone. */
const usageOf = (
  { rawUsage, wire, providerWire, ...row }: ExchangeRow,
  { kind, tokensPer }: Pick<Model, 'kind' | 'tokensPer'>,
): Usage => {
  const raw: unknown = rawUsage === null ? undefined : JSON.parse(rawUsage)
  // Of what is asked on a wire a row has the wire alone.
  const asked = kind === 'speech' ? 'audio/speech' : (providerWire ?? wire)
  const codec = Object.hasOwn(CODECS, asked) ? CODECS[asked as Operation] : undefined
  const told = isObject(raw) ? codec?.readUsage({ usage: raw }, tokensPer)?.usage : undefined
  const usage: Usage = { ...(isObject(raw) && told?.serviceTier === undefined ? inTier(told, raw.service_tier) : told) }
  for (const name of ['input', 'cacheRead', 'cacheWrite', 'output'] as const) {
    const count = row[name]
    if (count === null) delete usage[name]
    else usage[name] = count
  }
  // What no figures tell of is pictures as well.
  if (kind === 'image') usage.imageOutput = (row.output ?? 0) - (told?.output ?? 0) + (told?.imageOutput ?? 0)
  return usage
}
