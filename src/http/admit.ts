// Admission of a body, in the contract's order: a valid request of its wire, a known model, permission.

import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Model } from '../catalogue/model.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../ir/json.ts'
import type { Wire } from '../ir/wire.ts'
import { type Key, permits } from '../keys/key.ts'
import type { ClientBody } from '../relay/client-body.ts'
import { DECISIVE } from '../wire/decisive.ts'
import { CODECS } from '../wire/index.ts'
import { fault } from './fault.ts'

export type Check = TypeCheck<TSchema>

/** The checks of requests for an answer. */
export const REQUESTS: Record<Wire, Check> = {
  'chat-completions': TypeCompiler.Compile(CODECS['chat-completions'].requestSchema),
  responses: TypeCompiler.Compile(CODECS.responses.requestSchema),
  messages: TypeCompiler.Compile(CODECS.messages.requestSchema),
  images: TypeCompiler.Compile(CODECS.images.requestSchema),
}

/** Servers written in Go read a member whatever the case of its letters: it would stand in for the one that was admitted. */
const refuseOtherCase = (body: JsonObject, names: ReadonlySet<string> = DECISIVE, path = ''): void => {
  for (const name in body) {
    if (names.has(name)) continue
    // Both, as some letters beyond ASCII become one of ASCII in one direction only.
    const lower = name.toUpperCase().toLowerCase()
    if (names.has(lower)) throw invalidRequest(`${path}${name}: is written '${lower}'.`, path + name)
  }
}

/** Without it no figures are told, and reasoning that is hidden would not be billed. */
const FIGURES = new Set(['include_usage'])

/** Returns the model. Throws `invalid_request`, `invalid_model` or `permission_denied`. */
export const admit = (
  wire: Wire,
  check: Check,
  client: ClientBody,
  key: Key,
  catalogue: Catalogue,
  hideForbidden: boolean,
): Model => {
  const body = client.outline
  if (!check.Check(body)) throw fault(check.Errors(body).First(), body)
  refuseOtherCase(body)
  if (isObject(body.stream_options)) refuseOtherCase(body.stream_options, FIGURES, 'stream_options.')
  const name = body.model as string
  const model = catalogue.resolve(name)
  const permitted = model !== undefined && permits(key, model.id)
  if (model === undefined || (hideForbidden && !permitted)) throw unknownModel(name)
  requireServed(wire, model)
  if (!permitted) {
    throw new GatewayError(
      'permission_denied',
      `This key may not use the model ${model.id}. Ask for one that may, or pick another model from GET /v1/models.`,
    )
  }
  return model
}

/** Throws `invalid_model` for a model of another kind than the wire's. */
const requireServed = (wire: Wire, model: Model): void => {
  const wanted = wire === 'images' ? 'image' : 'text'
  if (model.kind === wanted) return
  const right =
    model.kind === 'image' ? 'POST /v1/images/generations' : 'POST /v1/chat/completions, /v1/responses or /v1/messages'
  throw new GatewayError('invalid_model', `The model ${model.id} is not served here. Use ${right}.`)
}

/** The name is the client's own text: only as much of it is repeated as a name may have. */
const unknownModel = (name: string): GatewayError =>
  new GatewayError(
    'invalid_model',
    `There is no model "${name.slice(0, 100)}". GET /v1/models lists the models this key may use.`,
  )
