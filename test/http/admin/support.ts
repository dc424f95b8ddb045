// A gateway with people: an admin and a member signed in, and every call of the admin API checked against its contract.

import { expect } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { CONTRACT, type Contract, type Output } from '../../../src/admin-api/contract.ts'
import { ADMIN_BASE, ROUTES, type RouteName } from '../../../src/admin-api/routes.ts'
import { DEFAULT_LIMITS, type Member, type MemberLimits, type Role } from '../../../src/members/member.ts'
import { type GatewayFor, SYSTEM, startGateway, type TestGateway } from '../../support/gateway.ts'

export const PASSWORD = 'correct horse battery'

/** Something that shows who it is: a cookie or a token. */
export type Person = { headers: Record<string, string>; member?: Member }

export type Desk = TestGateway & {
  admin: Person & { member: Member }
  member: Person & { member: Member }
  nobody: Person
  /** Adds a member who can sign in with PASSWORD, and signs them in without asking for it. */
  join(name: string, role: Role, limits?: Partial<MemberLimits>): Promise<Person & { member: Member }>
  signedIn(member: Member): Promise<Person & { member: Member }>
  /** A raw request to a route, from the dashboard's own origin unless `headers` say otherwise. */
  request(
    name: RouteName,
    person: Person,
    input?: object,
    headers?: Record<string, string | undefined>,
  ): Promise<Response>
  /** The answer, which must be 200 and what the contract says. */
  call<N extends RouteName>(name: N, person: Person, input?: object): Promise<Output<N>>
}

/** Of PASSWORD, made in no time. */
export const HASH = await Bun.password.hash(PASSWORD, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })

export const startDesk = async (options: GatewayFor = {}): Promise<Desk> => {
  const gateway = await startGateway(options)
  const { store, membership } = gateway.server.gateway
  const origin = gateway.url
  const signedIn: Desk['signedIn'] = async (member) => ({
    headers: { cookie: `sluice_session=${(await membership.openSession(member)).secret}` },
    member,
  })
  const join: Desk['join'] = async (name, role, limits = {}) =>
    signedIn(
      await store.members.add({ name, role, limits: { ...DEFAULT_LIMITS, ...limits }, passwordHash: HASH }, SYSTEM),
    )
  const request: Desk['request'] = (name, person, input = {}, headers = {}) => {
    const { method, path } = ROUTES[name]
    const rest: Record<string, unknown> = { ...input }
    let url =
      ADMIN_BASE +
      path.replace(/:(\w+)/g, (_, part: string) => {
        const value = String(rest[part] ?? 'unknown')
        delete rest[part]
        return encodeURIComponent(value)
      })
    const bodyless = method === 'GET' || method === 'DELETE'
    const query = new URLSearchParams()
    for (const [member, value] of Object.entries(bodyless ? rest : {})) query.set(member, String(value))
    if (query.size > 0) url += `?${query}`
    const all: Record<string, string | undefined> = {
      origin,
      'content-type': 'application/json',
      ...person.headers,
      ...headers,
    }
    const sent = Object.entries(all).flatMap(([header, value]) =>
      value === undefined ? [] : [[header, value] as [string, string]],
    )
    return fetch(origin + url, { method, headers: sent, ...(bodyless ? {} : { body: JSON.stringify(rest) }) })
  }
  const call: Desk['call'] = async (name, person, input = {}) => {
    const response = await request(name, person, input)
    const body: unknown = await response.json()
    expect({ name, status: response.status, body }).toMatchObject({ name, status: 200 })
    const { output }: Contract = CONTRACT[name]
    expectShape(output, body)
    return body as Output<typeof name>
  }
  return {
    ...gateway,
    admin: await join('Ada', 'admin'),
    member: await join('Mia', 'member'),
    nobody: { headers: {} },
    ...{ join, signedIn, request, call },
  }
}

export const expectShape = (schema: TSchema, value: unknown): void => {
  const fault = Value.Errors(schema, value).First()
  expect(fault === undefined ? undefined : `${fault.path}: ${fault.message}`).toBeUndefined()
}

/** The refusal of a response in the envelope, with its status. */
export const refusal = async (response: Response): Promise<{ status: number; code: string; message: string }> => {
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  return { status: response.status, code: error.code, message: error.message }
}

/** The secret of the session a response opened. */
export const cookieOf = (response: Response): string =>
  /^sluice_session=(\w+);/.exec(response.headers.get('set-cookie') ?? '')?.[1] ?? ''
