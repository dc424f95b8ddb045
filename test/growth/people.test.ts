// What ends for a person at one node or process has ended at all of them: links, sessions, tokens, roles and codes, by the admin API.

import { describe, expect, test } from 'bun:test'
import { Secret, TOTP } from 'otpauth'
import type { JsonObject } from '../../src/ir/json.ts'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import { providersAt } from '../chaos/support/gateway.ts'
import { HASH, PASSWORD } from '../http/admin/support.ts'
import { SYSTEM } from '../support/gateway.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { type Fleet, until } from './fleet.ts'
import { FORMS } from './forms.ts'

const stopping = stopsAfterEach()
const STEP_MS = 30_000
const NEXT = 'a longer sentence of words'

type Asked = { at: number; cookie?: string; bearer?: string; method?: string; body?: object }
type Said = { status: number; json: JsonObject; cookie: string }

const started = async (form: (typeof FORMS)[number]) => {
  const fleet: Fleet = stopping(
    await form.start(
      { providers: providersAt({ b: ['http://127.0.0.1:9'] }) },
      {
        prepare: async (store) => {
          for (const name of ['Ada', 'Bo'])
            await store.members.add({ name, role: 'admin', limits: DEFAULT_LIMITS, passwordHash: HASH }, SYSTEM)
          await store.members.add({ name: 'Mia', role: 'member', limits: DEFAULT_LIMITS, passwordHash: HASH }, SYSTEM)
        },
      },
    ),
  )
  const ask = async (path: string, { at, cookie = '', bearer, method = 'GET', body }: Asked): Promise<Said> => {
    const { url } = fleet.at(at % fleet.all.length)
    const response = await fetch(`${url}/admin/api${path}`, {
      method,
      headers: {
        ...{ 'content-type': 'application/json', origin: url, connection: 'close', cookie },
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const given = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    return { status: response.status, json: (await response.json()) as JsonObject, cookie: given }
  }
  const post = (path: string, asked: Asked) => ask(path, { method: 'POST', ...asked })
  const signIn = (at: number, name: string, more: object = {}) =>
    post('/session', { at, body: { name, password: PASSWORD, ...more } })
  const idOf = async (name: string): Promise<string> => {
    const { items } = (await ask('/members', { at: 0, bearer: fleet.token })).json as unknown as {
      items: { id: string; name: string }[]
    }
    return items.find((member) => member.name === name)?.id ?? ''
  }
  return { fleet, ask, post, signIn, idOf }
}

describe.each(FORMS.map((form) => [form.name, form] as const))('%s', (_, form) => {
  test.skipIf(form.missing !== undefined)(
    'a link that was replaced or used, and one whose maker is no admin any more, opens nothing anywhere',
    async () => {
      const { ask, post, signIn, idOf } = await started(form)
      const [ada, bo, mia] = [(await signIn(0, 'Ada')).cookie, (await signIn(1, 'Bo')).cookie, await idOf('Mia')]
      const link = async (at: number, cookie: string): Promise<string> => {
        const { json } = await post(`/members/${mia}/invitation`, { at, cookie })
        return (json as { invitation: { token: string } }).invitation.token
      }
      const opens = async (at: number, token: string) =>
        (await post('/invitation/open', { at, body: { token } })).status
      const first = await link(0, ada)
      expect(await opens(1, first)).toBe(200)
      const second = await link(1, ada)
      expect([await opens(0, first), await opens(0, second)]).toEqual([404, 200])
      const accept = (at: number) => post('/invitation/accept', { at, body: { token: second, password: NEXT } })
      expect([(await accept(0)).status, (await accept(1)).status, await opens(1, second)]).toEqual([200, 404, 404])

      const third = await link(1, bo)
      const token = await post('/tokens', { at: 1, cookie: bo, body: { label: 'bo' } })
      const bearer = (token.json as { secret: string }).secret
      const seen = async (at: number) => [
        (await ask('/members', { at, cookie: bo })).status,
        (await ask('/members', { at, bearer })).status,
        await opens(at, third),
      ]
      expect(await seen(0)).toEqual([200, 200, 200])
      const change = { at: 0, cookie: ada, method: 'PATCH', body: { role: 'member' } }
      expect((await ask(`/members/${await idOf('Bo')}`, change)).status).toBe(200)
      expect(await seen(1)).toEqual([403, 401, 404])
      expect(await seen(0)).toEqual([403, 401, 404])
    },
    120_000,
  )

  test.skipIf(form.missing !== undefined)(
    'sessions that were ended are ended everywhere, and a code is taken once in all',
    async () => {
      const { ask, post, signIn, idOf } = await started(form)
      const isIn = async (at: number, cookie: string) => (await ask('/keys', { at, cookie })).status
      const [ada, other] = [(await signIn(0, 'Ada')).cookie, (await signIn(1, 'Ada')).cookie]
      expect([await isIn(1, ada), await isIn(0, other)]).toEqual([200, 200])

      const offered = await post('/second-factor', { at: 0, cookie: ada })
      const secret = Secret.fromBase32((offered.json as { secret: string }).secret)
      const codeOf = (step: number) => new TOTP({ secret }).generate({ timestamp: step * STEP_MS })
      const stepNow = () => Math.floor(Date.now() / STEP_MS)
      const firstStep = stepNow()
      const first = codeOf(firstStep)
      const enabled = await ask('/second-factor', { at: 1, cookie: ada, method: 'PUT', body: { code: first } })
      const [recovery = ''] = (enabled.json as unknown as { recovery_codes: string[] }).recovery_codes
      // It ends the member's other sessions.
      expect([await isIn(1, ada), await isIn(0, other), await isIn(1, other)]).toEqual([200, 401, 401])
      const enter = async (at: number, more: object) => (await signIn(at, 'Ada', more)).status
      expect([await enter(1, {}), await enter(0, { code: first })]).toEqual([401, 401])
      // Of a step after the first, and of this moment however long that took.
      const next = codeOf(Math.max(firstStep + 1, stepNow()))
      expect([await enter(0, { code: next }), await enter(1, { code: next })]).toEqual([200, 401])
      expect([await enter(1, { code: recovery }), await enter(0, { code: recovery })]).toEqual([200, 401])

      const [mia, phone] = [(await signIn(0, 'Mia')).cookie, (await signIn(1, 'Mia')).cookie]
      const changed = await post('/session/password', {
        ...{ at: 1, cookie: mia, body: { current: PASSWORD, password: NEXT } },
      })
      expect(changed.status).toBe(200)
      expect([await isIn(0, mia), await isIn(0, phone), await isIn(0, changed.cookie)]).toEqual([401, 401, 200])
      expect((await ask(`/members/${await idOf('Mia')}`, { at: 0, cookie: ada, method: 'DELETE' })).status).toBe(200)
      expect([await isIn(1, changed.cookie), (await signIn(1, 'Mia')).status]).toEqual([401, 401])

      // What is demanded of admins is so everywhere, within the moment that settings take.
      const bo = (await signIn(1, 'Bo')).cookie
      expect(await isIn(1, bo)).toBe(200)
      const demanded = { at: 0, cookie: ada, method: 'PUT', body: { second_factor_for_admins: true } }
      expect((await ask('/settings', demanded)).status).toBe(200)
      await until(async () => (await isIn(1, bo)) === 403, 10_000)
    },
    120_000,
  )
})
