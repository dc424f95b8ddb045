// Exchanges: pages of them, newest first, and one explained. Figures and codes only; prompts and answers are not kept.

import type * as S from '../../admin-api/schema.ts'
import { GatewayError } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import type { ExchangeRow } from '../../store/usage.ts'
import { keyIdsOf, limitedMember, type Part } from './call.ts'
import { timeOf } from './input.ts'
import { exchangeView, seenBy } from './view.ts'

export const exchanges: Part<'exchanges.list' | 'exchanges.get'> = {
  'exchanges.list': async (call, { key, model, outcome, since, until, limit, before }) => {
    const page = await call.gateway.store.insight.exchangePage({
      limit,
      before,
      model,
      outcome,
      keyIds: keyIdsOf(call, key),
      since: since === undefined ? undefined : timeOf(since, 'since'),
      until: until === undefined ? undefined : timeOf(until, 'until'),
    })
    const items = page.rows.map((row) => seenBy(call.caller, exchangeView(call.gateway, row)))
    return { items, next: page.next ?? null }
  },
  'exchanges.get': ({ gateway, caller }, { id }) => {
    const [row] = gateway.store.exchanges({ limit: 1, id })
    const member = limitedMember(caller)
    if (row === undefined || (member !== undefined && gateway.store.keys.get(row.keyId)?.ownerId !== member.id)) {
      throw new GatewayError(
        'not_found',
        'There is no such exchange. One refused before any provider was called is in the log only, and old ones are deleted.',
      )
    }
    const told = explain(gateway, row)
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
  raw_usage: null,
})

const explain = (gateway: Gateway, row: ExchangeRow): S.ExplainedExchange => {
  const exchange = exchangeView(gateway, row)
  const billed = exchange.tokens
  const attempts = attemptsOf(row)
  return {
    exchange,
    checks: checksOf(gateway, row, exchange),
    quota: {
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
    dropped: row.dropped ?? [],
    raw_usage: row.rawUsage === null ? null : JSON.parse(row.rawUsage),
  }
}

/** Only what passed them becomes an exchange; a request refused before is in the server's log. */
const checksOf = (gateway: Gateway, row: ExchangeRow, { key }: S.Exchange): S.Check[] => {
  const passed = (name: string, detail: string): S.Check => ({ name, passed: true, detail })
  const model = gateway.catalogue.resolve(row.model)
  return [
    passed('authentication', `The request showed the key ${key.label}.`),
    passed('rate limit', 'The key was within its limits of requests, tokens and requests at once.'),
    passed('request', `The body was a valid request of the ${row.wire} wire.`),
    passed('model', `The name given resolved to ${row.model}${model === undefined ? ', since removed' : ''}.`),
    passed('permission', `The key could use ${row.model}.`),
    passed(
      'quota',
      `${grouped(row.reserved)} tokens were set aside: ${grouped(row.inputEstimate)} estimated for the prompt, the rest for the answer.`,
    ),
  ]
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
      model: row.model,
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
