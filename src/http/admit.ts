// Admission of a body, in the contract's order: a valid request of its wire, a known model, permission.

import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Model } from '../catalogue/model.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../ir/json.ts'
import { isChatWire, KIND_OF, type Kind, type Operation, type Wire } from '../ir/wire.ts'
import { type Key, permits } from '../keys/key.ts'
import { DECISIVE } from '../wire/decisive.ts'
import { CODECS } from '../wire/index.ts'
import { fault } from './fault.ts'

export type Check = TypeCheck<TSchema>

const CHECKS = new Map<Operation, Check>()

/** The check of requests for such an answer, compiled for the first: all of them would be a fifth of a start. */
export const checkOf = (asked: Operation): Check => {
  let check = CHECKS.get(asked)
  if (check === undefined) {
    check = TypeCompiler.Compile(CODECS[asked].requestSchema)
    CHECKS.set(asked, check)
  }
  return check
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

/** A request's body, what it is to be, and whose it is. */
type Applicant = { asked: Operation; check: Check; outline: JsonObject; key: Key }

/** Returns the model. Throws `invalid_request`, `invalid_model` or `permission_denied`. */
export const admit = (
  { asked, check, outline: body, key }: Applicant,
  catalogue: Catalogue,
  hideForbidden: boolean,
): Model => {
  if (!check.Check(body)) throw fault(check.Errors(body).First(), body)
  refuseOtherCase(body)
  if (isObject(body.stream_options)) refuseOtherCase(body.stream_options, FIGURES, 'stream_options.')
  const kind = KIND_OF[asked]
  const name = typeof body.model === 'string' ? body.model : undefined
  const model = name === undefined ? firstOf(kind, key, catalogue) : catalogue.resolve(name)
  const permitted = model !== undefined && permits(key, model.id)
  if (model === undefined || (hideForbidden && !permitted)) throw unknownModel(name, kind, catalogue)
  requireKind(kind, model)
  if (!permitted) {
    throw new GatewayError(
      'permission_denied',
      `This key may not use the model ${model.id}. Ask for one that may, or pick another model from GET /v1/models.`,
    )
  }
  return model
}

/** The model that answers where a client may leave it out. */
const firstOf = (kind: Kind, key: Key, catalogue: Catalogue): Model | undefined =>
  catalogue.list().find((model) => model.kind === kind && permits(key, model.id))

/** Where models of each kind are served. */
const SERVED_AT: Readonly<Record<Kind, string>> = {
  text: 'POST /v1/chat/completions, /v1/responses or /v1/messages',
  image: 'POST /v1/images/generations, or /v1/images/edits with pictures',
  embedding: 'POST /v1/embeddings',
  moderation: 'POST /v1/moderations',
  speech: 'POST /v1/audio/speech',
  transcription: 'POST /v1/audio/transcriptions or /v1/audio/translations',
}

/** Throws `invalid_model` for a model of another kind than the endpoint's. */
const requireKind = (wanted: Kind, { id, kind }: Model): void => {
  if (kind === wanted) return
  throw new GatewayError('invalid_model', `The model ${id} is not served here. Use ${SERVED_AT[kind]}.`)
}

/**
 * Throws `invalid_model` where none of the providers that may answer has the endpoint: what is asked for on a wire that only
 * passes is asked of nobody else.
 */
export const requireWire = (wire: Wire, model: Model, wires: () => readonly Wire[]): void => {
  if (isChatWire(wire) || wires().includes(wire)) return
  throw new GatewayError(
    'invalid_model',
    `The provider of the model ${model.id} does not speak the ${wire} wire. Use another model, or tell those who run the gateway.`,
  )
}

/** The name is the client's own text: only as much of it is repeated as a name may have. */
const unknownModel = (name: string | undefined, kind: Kind, catalogue: Catalogue): GatewayError => {
  const some = catalogue.list().some((model) => model.kind === kind)
  const none = some ? '' : ` No model of the kind ${kind} is set up here: tell those who run the gateway.`
  const which = name === undefined ? `no model of the kind ${kind} for this key` : `no model "${name.slice(0, 100)}"`
  return new GatewayError(
    'invalid_model',
    `There is ${which}.${none} GET /v1/models lists the models this key may use.`,
  )
}
