// A call's input, read and checked by its contract: path, query and JSON body become one object, defaults filled in.

import { type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import { CONTRACT, type Contract, type Input } from '../../admin-api/contract.ts'
import type { RouteName } from '../../admin-api/routes.ts'
import { GatewayError, invalidRequest } from '../../errors.ts'
import { isObject } from '../../ir/json.ts'
import { parseIsoTime } from '../../lib/iso-time.ts'
import { bodyText } from '../../relay/client-body.ts'
import { fault } from '../fault.ts'
import { readBody } from '../read-body.ts'

const BODY_LIMIT = 256 * 1024
const NO_QUERY = Type.Object({}, { additionalProperties: false })

/** Throws `invalid_request` naming the member, `invalid_json` or `payload_too_large`. */
export const createReader = <N extends RouteName>(name: N) => {
  // Compiled when first asked for: a start must not wait for pages nobody has opened.
  let checks: ReturnType<typeof compile> | undefined
  return async (request: Request, fromPath: Record<string, string>): Promise<Input<N>> => {
    checks ??= compile(CONTRACT[name])
    const { params, query, body } = checks
    const asked = Value.Convert(query.Schema(), Object.fromEntries(new URL(request.url).searchParams))
    const whole = {
      ...(params && checked(params, fromPath)),
      ...checked(query, asked),
      ...(body && checked(body, await jsonOf(request))),
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

const jsonOf = async (request: Request): Promise<object> => {
  const text = bodyText(await readBody(request, BODY_LIMIT))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new GatewayError('invalid_json', 'The body is not valid JSON.', { cause })
  }
  if (!isObject(value)) throw invalidRequest('The body must be a JSON object.')
  return value
}

/** An ISO 8601 time in ms since the epoch; without a zone it is UTC. Throws `invalid_request` naming the member. */
export const timeOf = (text: string, param: string): number => {
  const at = parseIsoTime(text)
  if (at !== undefined && at >= 0 && at < LATEST) return at
  throw invalidRequest(`${param}: expected a time such as 2027-01-31T12:00:00Z.`, param)
}

/** The same of a time that `now` must not have reached. */
export const futureTimeOf = (text: string, param: string, now: number): number => {
  const at = timeOf(text, param)
  if (at > now) return at
  throw invalidRequest(`${param}: expected a time in the future.`, param)
}

const LATEST = Date.UTC(10_000, 0, 1)
