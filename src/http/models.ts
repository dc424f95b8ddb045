// The model list and its entries, in one shape that the SDKs of both vendors read.

import { Elysia } from 'elysia'
import type { Model } from '../catalogue/model.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import { permits } from '../keys/key.ts'
import { guarded } from './guarded.ts'

export const models = (gateway: Gateway) =>
  new Elysia({ name: 'models' })
    .get('/v1/models', ({ request }) =>
      guarded(gateway, request, (key) => list(gateway, key, new URL(request.url).searchParams)),
    )
    .get('/v1/v1/models', ({ request }) =>
      guarded(gateway, request, (key) => list(gateway, key, new URL(request.url).searchParams)),
    )
    .get('/v1/models/*', ({ request, params }) =>
      guarded(gateway, request, (key) => {
        const name = decoded(params['*'])
        const model = gateway.catalogue.resolve(name)
        if (model !== undefined && permits(key, model.id)) return entry(model)
        throw new GatewayError(
          'invalid_model',
          `There is no model "${name.slice(0, 100)}" for this key. GET /v1/models lists those it may use.`,
        )
      }),
    )

/** A name that is wrongly encoded is no model's. */
const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

type KeyLike = Parameters<typeof permits>[0]

const MAX_PAGE = 1000

const list = (gateway: Gateway, key: KeyLike, query: URLSearchParams) => {
  const all = gateway.catalogue.list().filter((model) => permits(key, model.id))
  const limit = readLimit(query.get('limit'))
  const after = indexOf(all, query.get('after_id'))
  const before = indexOf(all, query.get('before_id'))
  let from = after === undefined ? 0 : after + 1
  const to = before ?? all.length
  const span = Math.max(0, to - from)
  // Before an id, the page is the one that ends there.
  if (before !== undefined && after === undefined) from = Math.max(0, to - (limit ?? span))
  const page = all.slice(from, Math.min(to, limit === undefined ? to : from + limit))
  const more = before !== undefined && after === undefined ? from > 0 : from + page.length < to
  return {
    object: 'list',
    data: page.map(entry),
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

const indexOf = (all: readonly Model[], id: string | null): number | undefined => {
  if (id === null) return undefined
  const at = all.findIndex((model) => model.id === id)
  return at === -1 ? undefined : at
}

const entry = (model: Model) => ({
  id: model.id,
  object: 'model',
  type: 'model',
  created: model.createdAt,
  created_at: new Date(model.createdAt * 1000).toISOString(),
  owned_by: model.provider,
  display_name: model.displayName,
  provider: model.provider,
  family: model.family,
  input_modalities: model.inputModalities,
  output_modalities: model.outputModalities,
  context_window: model.contextWindow,
  max_output_tokens: model.maxOutput,
})
