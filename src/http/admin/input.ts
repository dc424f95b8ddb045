// A call's input, read and checked by its contract: path, query and JSON body become one object, defaults filled in.

import { type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import { CONTRACT, type Contract, type Input } from '../../admin-api/contract.ts'
import { ROUTES, type RouteName } from '../../admin-api/routes.ts'
import { GatewayError, invalidRequest } from '../../errors.ts'
import { isObject } from '../../ir/json.ts'
import { type Calendar, timeOfDate, UTC } from '../../lib/calendar.ts'
import { parseIsoTime } from '../../lib/iso-time.ts'
import { bodyText } from '../../relay/body-json.ts'
import { fault } from '../fault.ts'
import { readBody } from '../read-body.ts'
import type { Line } from './line.ts'

const BODY_LIMIT = 256 * 1024
/** Of callers whom nobody knows: a name and a password need no more, nor longer. */
const STRANGERS_BODY_LIMIT = 4 * 1024
const STRANGERS_TIME_MS = 5_000
const NO_QUERY = Type.Object({}, { additionalProperties: false })

/** `line`: where the bodies of strangers wait. `hurried`: whether the places of all others are needed. */
type Ways = { line: Line; hurried: () => boolean }

/** Throws `invalid_request` naming the member, `invalid_json`, `payload_too_large` or `service_unavailable`. */
export const createReader = <N extends RouteName>(name: N, { line, hurried }: Ways) => {
  const bytesOf = (request: Request): Promise<Uint8Array<ArrayBuffer>> =>
    ROUTES[name].access === 'anyone'
      ? line.wait(readBody(request, STRANGERS_BODY_LIMIT, STRANGERS_TIME_MS))
      : readBody(request, BODY_LIMIT, undefined, { hurried })
  // Compiled when first asked for: a start must not wait for pages nobody has opened.
  let checks: ReturnType<typeof compile> | undefined
  return async (request: Request, fromPath: Record<string, string>): Promise<Input<N>> => {
    checks ??= compile(CONTRACT[name])
    const { params, query, body } = checks
    const asked = Value.Convert(query.Schema(), Object.fromEntries(new URL(request.url).searchParams))
    const whole = {
      ...(params && checked(params, fromPath)),
      ...checked(query, asked),
      ...(body && checked(body, await jsonOf(bytesOf(request)))),
    }
    return whole as Input<N>
  }
}

const compile = ({ params, query = NO_QUERY, body }: Contract) => ({
  params: params && TypeCompiler.Compile(params),
  query: TypeCompiler.Compile(query),
  body: body && TypeCompiler.Compile(body),
})

const checked = (check: TypeCheck<TSchema>, value: unknown): object => {
  const filled = Value.Default(check.Schema(), value)
  if (check.Check(filled)) return filled as object
  throw fault(check.Errors(filled).First(), filled)
}

const jsonOf = async (bytes: Promise<Uint8Array<ArrayBuffer>>): Promise<object> => {
  const text = bodyText(await bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new GatewayError('invalid_json', 'The body is not valid JSON.', { cause })
  }
  if (!isObject(value)) throw invalidRequest('The body must be a JSON object.')
  return value
}

/**
 * An ISO 8601 time in ms since the epoch; without a zone it is UTC. A date alone is its beginning by the calendar, or with `end` its
 * end. Throws `invalid_request` naming the member.
 */
export const timeOf = (text: string, param: string, calendar = UTC, end = false): number => {
  const at = timeOfDate(text, calendar, end) ?? parseIsoTime(text)
  if (at !== undefined && at >= 0 && at < LATEST) return at
  throw invalidRequest(`${param}: expected a time such as 2027-01-31T12:00:00Z.`, param)
}

/** The same of a time that `now` must not have reached. */
export const futureTimeOf = (text: string, param: string, now: number, calendar: Calendar): number => {
  const at = timeOf(text, param, calendar, true)
  if (at > now) return at
  throw invalidRequest(`${param}: expected a time in the future.`, param)
}

const LATEST = Date.UTC(10_000, 0, 1)
