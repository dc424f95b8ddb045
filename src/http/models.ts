// The model list and its entries, in one shape that the SDKs of both vendors read.

import { Elysia } from 'elysia'
import type { Model } from '../catalogue/model.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import { type Key, permits } from '../keys/key.ts'
import { iso } from '../lib/iso-time.ts'
import { pathsOf } from './endpoints.ts'
import { guarded } from './guarded.ts'

export const models = (gateway: Gateway) => {
  const app = new Elysia({ name: 'models' })
  for (const path of pathsOf('/v1/models')) {
    app
      .get(path, ({ request }) =>
        guarded(gateway, request, (key) => list(gateway, key, new URL(request.url).searchParams)),
      )
      .get(`${path}/*`, ({ request, params }: { request: Request; params: { '*': string } }) =>
        guarded(gateway, request, (key) => one(gateway, key, decoded(params['*']))),
      )
  }
  return app
}

const one = (gateway: Gateway, key: Key, name: string) => {
  const model = gateway.catalogue.resolve(name)
  if (model !== undefined && permits(key, model.id)) return entry(gateway, model)
  throw new GatewayError(
    'invalid_model',
    `There is no model "${name.slice(0, 100)}" for this key. GET /v1/models lists those it may use.`,
  )
}

/** The name in a path, which may end in a slash like any other. One that is wrongly encoded stays: no model has it. */
const decoded = (path: string): string => {
  const name = path.replace(/\/$/, '')
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const MAX_PAGE = 1000

const list = (gateway: Gateway, key: Key, query: URLSearchParams) => {
  const all = gateway.catalogue.list().filter((model) => permits(key, model.id))
  const limit = readLimit(query.get('limit'))
  const after = indexOf(all, query, 'after_id')
  const before = indexOf(all, query, 'before_id')
  let from = after === undefined ? 0 : after + 1
  const to = before ?? all.length
  const span = Math.max(0, to - from)
  // With `before_id` alone, the page is the one that ends there.
  if (before !== undefined && after === undefined) from = Math.max(0, to - (limit ?? span))
  const page = all.slice(from, Math.min(to, limit === undefined ? to : from + limit))
  const more = before !== undefined && after === undefined ? from > 0 : from + page.length < to
  return {
    object: 'list',
    data: page.map((model) => entry(gateway, model)),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: more,
  }
}

const readLimit = (text: string | null): number | undefined => {
  if (text === null) return undefined
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE) return limit
  throw invalidRequest(`limit: expected a whole number from 1 to ${MAX_PAGE}.`, 'limit')
}

/** The index of a model. An unknown id is refused: given the first page instead, a client would page for ever. */
const indexOf = (all: readonly Model[], query: URLSearchParams, name: 'after_id' | 'before_id'): number | undefined => {
  const id = query.get(name)
  if (id === null || id === '') return undefined
  const at = all.findIndex((model) => model.id === id)
  if (at !== -1) return at
  throw invalidRequest(`${name}: expected the id of a model in the list.`, name)
}

/** Whether an effort of thought may be asked of it: of every model of text that is not known to take none. */
export const reasons = ({ providers }: Pick<Gateway, 'providers'>, { kind, provider, quirks }: Model): boolean =>
  kind === 'text' && (quirks.noReasoning ?? providers.get(provider)?.quirks?.noReasoning) !== true

const entry = (gateway: Gateway, model: Model) => ({
  id: model.id,
  object: 'model',
  type: 'model',
  created: model.createdAt,
  created_at: iso(model.createdAt * 1000),
  owned_by: model.provider,
  display_name: model.displayName,
  provider: model.provider,
  family: model.family,
  input_modalities: model.inputModalities,
  output_modalities: model.outputModalities,
  context_window: model.contextWindow,
  max_output_tokens: model.maxOutput,
  // The same two by the names under which the messages wire's SDKs read them.
  max_input_tokens: model.contextWindow,
  max_tokens: model.maxOutput,
  reasoning: reasons(gateway, model),
})
