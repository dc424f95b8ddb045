// Exchanges: pages of them, newest first, and one explained. Figures and codes only; prompts and answers are not kept.

import type * as S from '../../admin-api/schema.ts'
import { GatewayError } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { CHECKS, type CheckName } from '../../store/refusals.ts'
import type { ExchangeRow } from '../../store/usage.ts'
import { billAt } from './bill.ts'
import { keyIdsOf, limitedMember, type Part } from './call.ts'
import { failureOf } from './failures.ts'
import { timeOf } from './input.ts'
import { exchangeView, seenBy } from './view.ts'

export const exchanges: Part<'exchanges.list' | 'exchanges.get'> = {
  'exchanges.list': async (call, { key, model, outcome, since, until, limit, before }) => {
    await call.gateway.refusals.settle()
    const page = await call.gateway.store.insight.exchangePage({
      limit,
      before,
      model,
      outcome,
      keyIds: keyIdsOf(call, key),
      since: since === undefined ? undefined : timeOf(since, 'since', call.gateway.config.calendar),
      until: until === undefined ? undefined : timeOf(until, 'until', call.gateway.config.calendar),
    })
    const items = page.rows.map((row) => seenBy(call.caller, exchangeView(call.gateway, row)))
    return { items, next: page.next ?? null }
  },
  'exchanges.get': async ({ gateway, caller }, { id }) => {
    await gateway.refusals.settle()
    const [row] = await gateway.store.exchanges({ limit: 1, id })
    const member = limitedMember(caller)
    if (row === undefined || (member !== undefined && gateway.store.keys.get(row.keyId)?.ownerId !== member.id)) {
      throw new GatewayError(
        'not_found',
        'There is no such exchange. Of what is refused the last 1,000 requests of each key are kept, a wrong key is in the log only, and old exchanges are deleted.',
      )
    }
    const told = explain(gateway, row, { isMember: member !== undefined, bill: await billAt(gateway, row) })
    return member === undefined ? told : forMember(told)
  },
}

const NOTHING_SAID = { provider_status: null, provider_code: null, provider_request_id: null }

/** The word of a provider, and what the operator calls things, are for operators: a member is a client. */
const forMember = (told: S.ExplainedExchange): S.ExplainedExchange => ({
  ...told,
  exchange: { ...told.exchange, account: null },
  route: { ...told.route, upstream_model: null },
  attempts: told.attempts.map((attempt) => ({
    ...attempt,
    account: null,
    ...NOTHING_SAID,
  })),
  bill: told.bill === null ? null : { ...told.bill, told_micro_usd: null },
  raw_usage: null,
})

type Told = { isMember: boolean; bill: S.ExplainedExchange['bill'] }

const explain = (gateway: Gateway, row: ExchangeRow, { isMember, bill }: Told): S.ExplainedExchange => {
  const exchange = exchangeView(gateway, row)
  const billed = exchange.tokens
  const attempts = attemptsOf(row)
  return {
    exchange,
    failure: failureOf(row, attempts, isMember),
    checks: checksOf(gateway, row, exchange),
    quota:
      row.refusal !== null
        ? null
        : {
            input_estimate: row.inputEstimate,
            reserved: row.reserved,
            billed: row.outcome === null ? 0 : billed,
            left_before: row.leftAfter === null ? null : row.leftAfter + billed,
            left_after: row.leftAfter,
          },
    route: {
      model: row.model,
      upstream_model: row.upstreamModel,
      client_wire: row.wire,
      provider_wire: row.providerWire,
      mode: row.providerWire === null ? null : row.providerWire === row.wire ? 'pass' : 'translate',
      why: reasonsOf(row, attempts),
    },
    attempts,
    server_tools: row.serverTools ?? {},
    fees_micro_usd: row.feesMicroUsd ?? 0,
    bill,
    dropped: row.dropped ?? [],
    raw_usage: row.rawUsage === null ? null : JSON.parse(row.rawUsage),
  }
}

/** Of a refused request those it passed, and the one that it did not, with what its client was told. */
const checksOf = (gateway: Gateway, row: ExchangeRow, { key }: S.Exchange): S.Check[] => {
  const model = row.model === null ? undefined : gateway.catalogue.resolve(row.model)
  const details: Partial<Record<CheckName, string>> = {
    authentication: `The request showed the key ${key.label}.`,
    'rate limit': 'The key was within its limits of requests, tokens and requests at once.',
    request: `The body was a valid request of the ${row.wire} wire.`,
    model:
      row.model === null
        ? 'There is such a model.'
        : `The name given resolved to ${row.model}${model === undefined ? ', since removed' : ''}.`,
    permission: `The key could use ${row.model}.`,
    quota: `${grouped(row.reserved)} tokens were set aside: ${grouped(row.inputEstimate)} estimated for the prompt, the rest for the answer.`,
  }
  const failed = (CHECKS as readonly string[]).indexOf(row.refusal?.failed ?? '')
  const passed = CHECKS.slice(0, failed === -1 ? CHECKS.length : failed).flatMap((name) => {
    const detail = details[name]
    return detail === undefined ? [] : [{ name, passed: true, detail }]
  })
  return row.refusal === null
    ? passed
    : [...passed, { name: row.refusal.failed, passed: false, detail: row.refusal.told }]
}

const grouped = (count: number): string => count.toLocaleString('en-US')

/** One attempt that answered is told by the exchange's own columns. */
const attemptsOf = (row: ExchangeRow): S.Attempt[] => {
  if (row.trail !== null) {
    return row.trail.map((note) => ({
      provider: note.provider,
      account: note.account,
      model: note.model,
      wire: note.wire,
      result: note.errorCode !== undefined ? 'failed' : row.firstByteMs === null ? 'ended' : 'answered',
      error_code: note.errorCode ?? null,
      provider_status: note.providerStatus ?? null,
      provider_code: note.providerCode ?? null,
      provider_request_id: note.providerRequestId ?? null,
      ms: note.ms,
    }))
  }
  if (row.attempts === 0 || row.provider === null || row.account === null) return []
  return [
    {
      provider: row.provider,
      account: row.account,
      model: row.model ?? '',
      wire: row.providerWire ?? row.wire,
      result: row.firstByteMs === null ? 'ended' : 'answered',
      error_code: null,
      ...NOTHING_SAID,
      ms: row.firstByteMs ?? row.totalMs,
    },
  ]
}

const reasonsOf = (row: ExchangeRow, attempts: S.Attempt[]): string[] => {
  const why: string[] = []
  if (row.refusal !== null) return [`It came to ${row.refusal.path} and was refused before any provider was called.`]
  if (row.provider === null) return ['No provider was called.']
  if (row.providerWire === row.wire) why.push('The provider was reached on the wire of the client.')
  else if (row.providerWire !== null) {
    why.push(`The provider was reached on ${row.providerWire}: the request was translated from ${row.wire}.`)
  }
  const targetOf = ({ provider, account, model }: S.Attempt): string => `${provider} ${account} ${model}`
  const targets = new Set(attempts.map(targetOf)).size
  const onWires = new Set(attempts.map((attempt) => `${targetOf(attempt)} ${attempt.wire}`)).size
  if (targets > 1) why.push(`${targets} targets were tried; each failure was one another may not share.`)
  if (targets < onWires) why.push('A target was tried on two wires of its provider: the first would not do.')
  if (onWires < attempts.length) why.push('A target was asked again in another form: it had refused the one before.')
  if (attempts.some((attempt) => attempt.model !== row.model)) {
    why.push(`A fallback of ${row.model} was tried, as the configuration says.`)
  }
  if (row.outcome === 'failed' && row.status === 200) {
    why.push('The answer had begun and broke off: the client has a part of it, and was told that the rest is missing.')
  }
  if (row.outcome === 'aborted') why.push('The client left before the answer was whole.')
  return why
}
