// A body to an admitted request, in the contract's order: a valid request of its wire, a model, permission.

import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError } from '@sinclair/typebox/compiler'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Model } from '../catalogue/model.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import type { Wire } from '../ir/wire.ts'
import { type Key, permits } from '../keys/key.ts'
import type { ClientBody } from '../relay/client-body.ts'
import { CHAT_CODECS, CODECS } from '../wire/index.ts'

const CHECKS: Record<Wire, TypeCheck<TSchema>> = {
  'chat-completions': TypeCompiler.Compile(CODECS['chat-completions'].requestSchema),
  responses: TypeCompiler.Compile(CODECS.responses.requestSchema),
  messages: TypeCompiler.Compile(CODECS.messages.requestSchema),
  images: TypeCompiler.Compile(CODECS.images.requestSchema),
}

export type Admitted = { model: Model; stream: boolean }

export const admit = (
  wire: Wire,
  client: ClientBody,
  key: Key,
  catalogue: Catalogue,
  hideForbidden: boolean,
): Admitted => {
  const body = client.outline
  const check = CHECKS[wire]
  if (!check.Check(body)) throw fault(check.Errors(body).First(), body)
  const model = findModel(wire, body.model as string, catalogue)
  if (!permits(key, model.id)) {
    throw hideForbidden
      ? unknownModel(body.model as string)
      : new GatewayError(
          'permission_denied',
          `This key may not use the model ${model.id}. Ask for one that may, or pick another model from GET /v1/models.`,
        )
  }
  if (wire !== 'images' && !model.inputModalities.includes('image')) refuseImages(wire, client, model)
  return { model, stream: body.stream === true }
}

/** The first fault as a sentence that names the member the way clients write paths. */
export const fault = (error: ValueError | undefined, body: unknown): GatewayError => {
  if (error === undefined) return invalidRequest('The request is not valid.')
  const deepest = deepestFault(error)
  const path = deepest.path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  const missing = deepest.value === undefined && !hasMember(body, deepest.path)
  const said = missing ? 'is required' : lowerFirst(deepest.message)
  return invalidRequest(path === '' ? `The body ${said}.` : `${path}: ${said}.`, path === '' ? undefined : path)
}

// A union's own message says only that nothing matched; the deepest of its branches' faults says what is wrong.
const deepestFault = (error: ValueError): ValueError => {
  let best = error
  for (const branch of error.errors) {
    for (const inner of branch) {
      const candidate = deepestFault(inner)
      if (candidate.path.length > best.path.length) best = candidate
    }
  }
  return best
}

const hasMember = (body: unknown, path: string): boolean => {
  let at: unknown = body
  for (const name of path.slice(1).split('/')) {
    if (typeof at !== 'object' || at === null || !(name in at)) return false
    at = (at as Record<string, unknown>)[name]
  }
  return true
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

const findModel = (wire: Wire, name: string, catalogue: Catalogue): Model => {
  const model = catalogue.resolve(name)
  if (model === undefined) throw unknownModel(name)
  const wanted = wire === 'images' ? 'image' : 'text'
  if (model.kind !== wanted) {
    const right =
      model.kind === 'image'
        ? 'POST /v1/images/generations'
        : 'POST /v1/chat/completions, /v1/responses or /v1/messages'
    throw new GatewayError('invalid_model', `The model ${model.id} is not served here. Use ${right}.`)
  }
  return model
}

/** The name is the client's own; it is shown back only as far as a name may be long. */
const unknownModel = (name: string): GatewayError =>
  new GatewayError(
    'invalid_model',
    `There is no model "${name.slice(0, 100)}". GET /v1/models lists the models this key may use.`,
  )

const refuseImages = (wire: Exclude<Wire, 'images'>, client: ClientBody, model: Model): void => {
  const { turns } = CHAT_CODECS[wire].decodeRequest(client.whole().body)
  for (const turn of turns) {
    for (const part of turn.parts) {
      const parts = part.type === 'tool-result' ? part.parts : [part]
      if (parts.some((each) => each.type === 'image')) {
        throw invalidRequest(`The model ${model.id} takes text only. Leave the images out or use a model that sees.`)
      }
    }
  }
}
