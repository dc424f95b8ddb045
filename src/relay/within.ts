// What a body asks for beside its model: other models, which the key must be allowed as it is the one that answers, and
// tools that run at the vendor. Looked for once, when a request is admitted; settled for each target it is passed to.

import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Model } from '../catalogue/model.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../ir/json.ts'
import { type Key, permits } from '../keys/key.ts'
import { mayBeCut } from '../lib/json-survey.ts'
import type { PassEdit } from '../wire/codec.ts'
import { type ModelsWithin, modelsWithin, type Wishes, wishesWithin, withNames } from '../wire/models-within.ts'
import {
  type HostedTool,
  hostedWithin,
  type Path,
  type ToolWithin,
  toolsBrought,
  toolsListed,
} from '../wire/tools/within.ts'
import { tooDeep } from './body-json.ts'
import type { ClientBody } from './client-body.ts'
import type { ClientRequest, Within } from './exchange.ts'
import type { Target } from './target.ts'

type Asking = { key: Pick<Key, 'models'>; catalogue: Catalogue; hideForbidden: boolean }

/** Undefined where a body asks for nothing but its model: nearly always. */
export const withinOf = (body: ClientBody, asking: Asking): Within | undefined => {
  let found = find(body.outline)
  if (found?.named.some(({ value }) => holdsCut(value))) found = find(body.whole().body)
  if (found === undefined) return undefined
  const { hosted, named, wishes } = found
  return {
    hosted,
    edits: (provider) => {
      if (wishes.preset !== undefined) throw mayNameAny(wishes.preset)
      return [
        ...named.map(({ path, value, inTool }) => ({
          path,
          value: JSON.stringify(
            withNames(value, path, (name, at) => upstreamOf({ name, at, inTool }, provider, asking)),
          ),
        })),
        ...wishes.left.map((path) => ({ path, value: undefined, lost: true as const })),
      ]
    },
  }
}

type Found = { hosted: HostedTool[]; named: ModelsWithin[]; wishes: Wishes }

const find = (body: JsonObject): Found | undefined => {
  try {
    const listed = listedIn(body)
    const brought = foundIn(toolsBrought(body))
    const wishes = wishesWithin(body, [])
    wishes.left.push(...listed.left, ...brought.left)
    const isLeft = ({ path }: ModelsWithin): boolean =>
      wishes.left.some((left) => left.every((step, at) => step === path[at]))
    const named = [...modelsWithin(body, []), ...listed.named, ...brought.named].filter((one) => !isLeft(one))
    const hosted = [...listed.hosted, ...brought.hosted, ...hostedWithin(body, [])]
    const found = { hosted, named, wishes }
    const isNothing = hosted.length + named.length + wishes.left.length === 0 && wishes.preset === undefined
    return isNothing ? undefined : found
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(error) : error
  }
}

/** The same of tools alone. */
type OfTools = {
  readonly hosted: readonly HostedTool[]
  readonly named: readonly ModelsWithin[]
  readonly left: readonly Path[]
}

const NONE: OfTools = { hosted: [], named: [], left: [] }

const foundIn = (tools: readonly ToolWithin[]): OfTools =>
  tools.length === 0
    ? NONE
    : { hosted: hostedWithin({}, tools), named: modelsWithin({}, tools), left: wishesWithin({}, tools).left }

/** A frozen list is one that many requests share: it is looked through once. */
const listedIn = (body: JsonObject): OfTools => {
  const { tools } = body
  if (!Array.isArray(tools) || !Object.isFrozen(tools)) return foundIn(toolsListed(body))
  let known = LISTED.get(tools)
  if (known === undefined) {
    known = foundIn(toolsListed(body))
    LISTED.set(tools, known)
  }
  return known
}
const LISTED = new WeakMap<object, OfTools>()

const holdsCut = (value: Json | undefined): boolean => {
  if (typeof value === 'string') return mayBeCut(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsCut)
}

/**
 * A name is read as a request's model is; besides, it may be the provider's own id of one. A key for every model may have a
 * tool call one that nobody here knows, but be answered by none.
 */
const upstreamOf = (
  { name, at, inTool }: { name: string; at: Path; inTool: boolean },
  provider: string,
  { key, catalogue, hideForbidden }: Asking,
): string => {
  const known = catalogue.resolve(name)
  const models = known === undefined ? catalogue.list().filter(({ upstream }) => upstream === name) : [known]
  if (models.length === 0 && inTool && permits(key, ANY)) return name
  const permitted = models.filter(({ id }) => permits(key, id))
  if (permitted.length === 0) throw refused(name, models[0], at, permits(key, ANY) || hideForbidden)
  const served = permitted.find((model) => model.provider === provider)
  if (served === undefined) throw elsewhere(permitted[0]?.id ?? name, at)
  return served.upstream
}

/** What only a key for every model permits. */
const ANY = '*'

/** `asUnknown`: to this key a model that it may not use is like one that is not there, or that is the only reason. */
const refused = (name: string, model: Model | undefined, path: Path, asUnknown: boolean): GatewayError => {
  const at = path.join('.')
  const named = model?.id ?? name.slice(0, 100)
  if (asUnknown)
    return new GatewayError(
      'invalid_model',
      `'${at}': there is no model "${name.slice(0, 100)}". GET /v1/models lists the models this key may use.`,
      { param: at },
    )
  return new GatewayError(
    'permission_denied',
    `'${at}' names the model ${named}, which this key may not use. Take it out, or name one from GET /v1/models.`,
    { param: at },
  )
}

const elsewhere = (id: string, path: Path): GatewayError =>
  invalidRequest(
    `'${path.join('.')}' names the model ${id}, which another provider serves. Take it out, or name one of the provider that answers.`,
    path.join('.'),
  )

const mayNameAny = (path: Path): GatewayError =>
  new GatewayError(
    'permission_denied',
    `'${path.join('.')}' may choose a model that no key is asked for. Take it out, and name the model.`,
    { param: path.join('.') },
  )

/** The edits for a target. On another wire than the body's nothing of it is sent. */
export const editsWithin = (
  { within, bodyWire }: Pick<ClientRequest, 'within' | 'bodyWire'>,
  { model, wire }: Pick<Target, 'model' | 'wire'>,
): PassEdit[] => (within === undefined || wire !== bodyWire ? [] : within.edits(model.provider))

/** A parsed body with edits, in the order of the body; what they leave as it is is shared. */
export const withEdits = (body: JsonObject, edits: readonly PassEdit[]): JsonObject =>
  edits.reduceRight<JsonObject>((made, { path, value }) => {
    const edited = edit(made, path, value === undefined ? undefined : (JSON.parse(value) as Json))
    return isObject(edited) ? edited : made
  }, body)

const edit = (holder: Json | undefined, [step, ...rest]: Path, value: Json | undefined): Json | undefined => {
  if (step === undefined) return value
  if (Array.isArray(holder)) {
    const at = Number(step)
    return rest.length === 0 && value === undefined
      ? holder.toSpliced(at, 1)
      : holder.with(at, edit(holder[at], rest, value) ?? null)
  }
  if (!isObject(holder)) return holder
  return { ...holder, [step]: edit(holder[step], rest, value) }
}
