// No secret is in the log, nor a word of the database in an answer, whatever a route of the admin API is given, whoever gives it,
// and whatever fails meanwhile: every route there is, by every caller, with a word to look for in every place of its input.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { CONTRACT, type Contract } from '../../../src/admin-api/contract.ts'
import { ADMIN_BASE, ROUTES, type RouteName } from '../../../src/admin-api/routes.ts'
import { databasePath } from '../../../src/config.ts'
import { isObject, type JsonObject } from '../../../src/ir/json.ts'
import type { Log } from '../../../src/observe/log.ts'
import { type Scripted, startScripted } from '../../support/provider/scripted.ts'
import { cookieOf, type Desk, HASH, PASSWORD, type Person, startDesk } from './support.ts'

/** Stands wherever a text is given. */
const WORD = 'canary-8f41d2c7'
const CREDENTIAL = 'sk-credential-8f41d2c7'
const NAMES = Object.keys(ROUTES) as RouteName[]

const lines: string[] = []
const note =
  (level: string) =>
  (...said: unknown[]): void =>
    // A path is told: what stands in it is an id.
    void lines.push(`${level} ${Bun.inspect(said, { depth: 12 }).replace(/path: "[^"]*"/, '')}`)
const log: Log = {
  ...{ exchange: () => undefined, counted: () => undefined, setLevel: () => undefined, flush: () => undefined },
  ...{ refused: note('refused'), warn: note('warn'), error: note('error') },
}

let provider: Scripted
let desk: Desk
let callers: [string, Person][]
/** What nobody may read anywhere. */
let secrets: string[]

beforeAll(async () => {
  // A provider that says back what it was let in by.
  provider = await startScripted(({ headers }) => ({
    status: 401,
    headers: { 'x-request-id': WORD },
    steps: [
      JSON.stringify({ error: { type: WORD, message: `${WORD} ${headers['x-api-key']} ${headers.authorization}` } }),
    ],
  }))
  desk = await startDesk({ vendorA: provider.origin, keys: { vendorA: CREDENTIAL }, log })
  const { membership } = desk.server.gateway
  const token = await membership.issueToken('ci', undefined, desk.admin.member)
  callers = [
    ['nobody', desk.nobody],
    ['a member', desk.member],
    ['an admin', desk.admin],
    ['a token', { headers: { authorization: `Bearer ${token.secret}` } }],
  ]
  const { secret: factor } = await membership.factor.offer(desk.member.member)
  const cookies = [desk.admin, desk.member].map(({ headers }) => headers.cookie?.split('=')[1] ?? WORD)
  const session = await desk.request('session.sign-in', desk.nobody, { name: 'Ada', password: PASSWORD })
  secrets = [WORD, CREDENTIAL, PASSWORD, HASH, desk.secret, token.secret, factor, cookieOf(session), ...cookies]
})
afterAll(async () => {
  await desk.stop()
  await provider.stop()
})

/** A value of the schema with the word in each of its texts. */
const worded = (schema: TSchema | undefined): JsonObject => {
  if (schema === undefined) return {}
  const fill = (part: TSchema): unknown => {
    if (isObject(part.properties))
      return Object.fromEntries(Object.entries(part.properties).map(([name, inner]) => [name, fill(inner as TSchema)]))
    if (Array.isArray(part.anyOf)) return fill(part.anyOf[0] as TSchema)
    if (part.type === 'array') return [fill(part.items as TSchema)]
    if (part.type === 'string' && part.enum === undefined && part.const === undefined) return WORD
    if (part.type === undefined && part.const === undefined && part.enum === undefined) return { [WORD]: WORD }
    return Value.Create(part)
  }
  return fill(schema) as JsonObject
}

/** What a route is asked with: as it should be, but for the word; each member as something else; and no JSON at all. */
const inputsOf = (name: RouteName): object[] => {
  const { params, query, body }: Contract = CONTRACT[name]
  const whole = { ...worded(params), ...worded(query), ...worded(body) }
  return [whole, ...Object.keys(whole).map((member) => ({ ...whole, [member]: { [WORD]: [WORD] } })), { [WORD]: WORD }]
}

const asked = async (name: RouteName): Promise<string[]> => {
  const answers: string[] = []
  const { method, path } = ROUTES[name]
  const url = `${desk.url}${ADMIN_BASE}${path.replace(/:\w+/g, WORD)}`
  for (const [, person] of callers) {
    for (const input of inputsOf(name)) answers.push(await textOf(desk.request(name, person, input)))
    const init = { method, headers: { ...person.headers, origin: desk.url } }
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: `{"${WORD}": ${WORD}` }
    answers.push(await textOf(fetch(`${url}?${WORD}=${WORD}`, { ...init, ...body })))
  }
  return answers
}

/** A stream's first words, or all of an answer. */
const textOf = async (asking: Promise<Response>): Promise<string> => {
  const response = await asking
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response.text()
  await response.body?.cancel()
  return ''
}

/** These end the callers' own sessions, or take their role. */
const LAST = ['session.sign-out', 'session.sign-out-everywhere', 'sessions.end', 'members.remove']
const inOrder = NAMES.toSorted((a, b) => LAST.indexOf(a) - LAST.indexOf(b))

const expectSilence = (): void => {
  expect(secrets.filter((secret) => secret.length < 8)).toEqual([])
  expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([])
}

describe('no secret is in the log', () => {
  test('whatever a route is given', async () => {
    const answers: string[] = []
    for (const name of inOrder.filter((each) => !LAST.includes(each))) answers.push(...(await asked(name)))
    expectSilence()
    const kept = secrets.filter((secret) => secret !== WORD)
    expect(answers.filter((text) => kept.some((secret) => text.includes(secret)))).toEqual([])
  })

  test('nor a word of the database in an answer, when every table is gone that a route needs', async () => {
    const database = new Database(databasePath(desk.config))
    const tables = database
      .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
      .all()
    // Foreign keys would keep some of them.
    database.run('PRAGMA foreign_keys = off')
    // Callers are known as long as these are there.
    const first = tables.filter(({ name }) => !['members', 'sessions', 'admin_tokens'].includes(name))
    for (const { name } of first) database.run(`DROP TABLE "${name}"`)
    const answers: string[] = []
    for (const name of inOrder) answers.push(...(await asked(name)))
    for (const { name } of tables) database.run(`DROP TABLE IF EXISTS "${name}"`)
    for (const name of inOrder) answers.push(...(await asked(name)))
    database.close()
    expect(answers.filter((text) => /SQLITE|no such table|\bSELECT\b|\bINSERT\b|drizzle/i.test(text))).toEqual([])
    expectSilence()
  }, 240_000)
})
