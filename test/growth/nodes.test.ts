// Several nodes over one PostgreSQL database, as processes of their own: quotas to the token, keys, answers and people the
// same at each, and what a node that is killed had goes on elsewhere.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { providersAt } from '../chaos/support/gateway.ts'
import { CHAT, RESPONSES, streamed, whole } from '../chaos/support/stories.ts'
import { postgresMissing, startPostgres } from '../support/postgres.ts'
import { gate, type Handler, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { begun, statusOf, until } from './fleet.ts'
import { type Nodes, startNodes } from './nodes.ts'

const stopping = stopsAfterEach()
const provider = async (handler: Handler): Promise<Scripted> => stopping(await startScripted(handler))
const answering: Handler = ({ text }) => (JSON.parse(text).stream === true ? streamed(CHAT) : whole(CHAT))
const usual = async (count: number, handler: Handler = answering): Promise<{ vendor: Scripted; nodes: Nodes }> => {
  const vendor = await provider(handler)
  const nodes = stopping(await startNodes(count, { providers: providersAt({ b: [vendor.origin] }) }))
  return { vendor, nodes }
}

describe.skipIf(postgresMissing !== undefined)('nodes', () => {
  test('refuse a key that was revoked at another, and know one that was made there', async () => {
    const { nodes } = await usual(2)
    const key = await nodes.newKey()
    expect(await statusOf(nodes.at(1).ask(key.secret))).toBe(200)
    expect((await nodes.at(0).admin(`/keys/${key.id}/revoke`, { method: 'POST' })).status).toBe(200)
    await until(async () => (await statusOf(nodes.at(1).ask(key.secret))) === 401)
    const rotated = await nodes.newKey()
    const response = await nodes
      .at(1)
      .admin(`/keys/${rotated.id}/rotate`, { method: 'POST', body: '{"grace_seconds":0}' })
    const { secret } = (await response.json()) as { secret: string }
    expect(await statusOf(nodes.at(0).ask(secret))).toBe(200)
    await until(async () => (await statusOf(nodes.at(0).ask(rotated.secret))) === 401)
    await nodes.books()
  })

  test('place every conversation alike, and go on with an answer that another gave', async () => {
    let made = 0
    const answers: Handler = ({ path }) => {
      const story = path.includes('responses') ? whole(RESPONSES) : whole(CHAT)
      const steps = [...(story.steps as string[])]
      return { ...story, steps: steps.map((step) => step.replaceAll('"id":"r1"', `"id":"resp_${++made}"`)) }
    }
    const vendors = await Promise.all([provider(answers), provider(answers), provider(answers)])
    const file = { providers: providersAt({ b: vendors.map(({ origin }) => origin) }) }
    const nodes = stopping(await startNodes(2, file))
    const counts = (): number[] => vendors.map(({ requests }) => requests.length)
    for (let conversation = 0; conversation < 8; conversation++) {
      const messages = [{ role: 'user', content: `conversation ${conversation}` }]
      const before = counts()
      for (let turn = 0; turn < 4; turn++) {
        expect(await statusOf(nodes.at(turn % 2).ask(nodes.secret, { messages }))).toBe(200)
        messages.push({ role: 'assistant', content: 'and?' }, { role: 'user', content: 'go on' })
      }
      expect(
        counts()
          .map((count, at) => count - (before[at] ?? 0))
          .toSorted(),
      ).toEqual([0, 0, 4])
    }
    for (let conversation = 0; conversation < 6; conversation++) {
      const before = counts()
      let previous: string | undefined
      for (let turn = 0; turn < 3; turn++) {
        const response = await fetch(nodes.at(turn % 2).url + RESPONSES.path, {
          method: 'POST',
          headers: { authorization: `Bearer ${nodes.secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...RESPONSES.request(false), previous_response_id: previous }),
        })
        previous = /"id":"(resp_\d+)"/.exec(await response.text())?.[1]
        expect(previous).toBeDefined()
        // Where an answer is is written together with others.
        await until(async () => (await nodes.query(`SELECT 1 FROM kept_answers WHERE id = '${previous}'`)).length > 0)
      }
      expect(
        counts()
          .map((count, at) => count - (before[at] ?? 0))
          .toSorted(),
      ).toEqual([0, 0, 3])
    }
  })

  test('stop one by one: what runs ends or is settled, and nothing waits for a lease to end', async () => {
    const never = gate()
    const { nodes } = await usual(2, () => streamed(CHAT, CHAT.word('hello'), never))
    const stream = await begun(nodes.at(0), nodes.secret)
    nodes.at(0).child.kill('SIGTERM')
    expect(await stream.rest).toContain('error')
    expect(await nodes.at(0).child.exited).toBe(0)
    expect(await nodes.query('SELECT 1 FROM reservations')).toEqual([])
    expect(await nodes.query('SELECT 1 FROM nodes')).toHaveLength(1)
    never.open()
  })

  test('tell a key what it has used as it is now, whichever of them served it', async () => {
    const { nodes } = await usual(2)
    const { secret } = await nodes.newKey({ budget: { tokens: 1_000 } })
    const told = async (path: string) => {
      const response = await fetch(`${nodes.at(1).url}${path}`, { headers: { authorization: `Bearer ${secret}` } })
      return response.json()
    }
    for (let served = 1; served <= 4; served++) {
      await until(async () => (await statusOf(nodes.at(served % 2).ask(secret))) === 200)
      expect(await told('/v1/usage')).toMatchObject({ tokens_used: 8 * served })
      expect(await told('/v1/usage/history')).toMatchObject({ key: { budgets: [{ used: 8 * served }] } })
    }
  })

  test('answer the command line beside them', async () => {
    const { nodes } = await usual(2)
    const { key: secret } = JSON.parse(await nodes.run('keys', 'create', '--label', 'by hand', '--json'))
    expect(await statusOf(nodes.at(1).ask(String(secret)))).toBe(200)
    expect(await nodes.run('keys', 'list')).toContain('by hand')
    await nodes.run('keys', 'revoke', 'by hand', '--yes').catch(() => nodes.run('keys', 'revoke', 'by hand'))
    await until(async () => (await statusOf(nodes.at(1).ask(String(secret)))) === 401)
    expect(await nodes.run('usage', '--by', 'key')).toContain('by hand')
    await expect(nodes.run('backup', join(nodes.at(0).directory, 'copy'))).rejects.toThrow('pg_dump')
  })

  test('go on with streams while the database is gone, and serve again by themselves when it is back', async () => {
    const server = stopping(await startPostgres())
    const end = gate()
    const vendor = await provider(({ text }) =>
      JSON.parse(text).stream === true ? streamed(CHAT, CHAT.word('hello'), end) : whole(CHAT),
    )
    const nodes = stopping(await startNodes(2, { providers: providersAt({ b: [vendor.origin] }) }, { server }))
    const ready = async (index: number): Promise<number> => (await fetch(`${nodes.at(index).url}/readyz`)).status
    const streams = await Promise.all([0, 1].map((index) => begun(nodes.at(index), nodes.secret)))
    await server.halt('immediate')
    const refused = await nodes.at(0).ask(nodes.secret)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    await until(async () => (await ready(0)) === 503 && (await ready(1)) === 503)
    end.open()
    // An answer's end waits for its settlement for some seconds, and no longer.
    for (const { rest } of streams) expect(await rest).toContain('[DONE]')
    await server.start()
    await until(async () => (await ready(0)) === 200 && (await ready(1)) === 200)
    await until(async () => (await statusOf(nodes.at(1).ask(nodes.secret))) === 200)
    await until(async () => (await nodes.query('SELECT 1 FROM reservations')).length === 0)
    const rows = await nodes.books()
    // All leases have ended meanwhile: whoever is back first may settle what the other says of a moment later.
    expect(rows).toHaveLength(3)
    expect(rows.at(-1)?.outcome).toBe('done')
  })

  const state = { status: 'in_progress' }
  const background: Handler = ({ method, path }) => {
    if (path.endsWith('/cancel')) state.status = 'cancelled'
    const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 }
    const body = {
      id: 'resp_bg',
      object: 'response',
      created_at: 1,
      model: 'up',
      output: [],
      usage,
      status: state.status,
    }
    return {
      steps: [JSON.stringify(method === 'POST' && !path.endsWith('/cancel') ? { ...body, status: 'queued' } : body)],
    }
  }
  const inBackground = (nodes: Nodes): Promise<Response> =>
    fetch(nodes.at(0).url + RESPONSES.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${nodes.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...RESPONSES.request(false), background: true }),
    })
  const answerAt = (nodes: Nodes, index: number, path = '', method = 'GET'): Promise<Response> =>
    fetch(`${nodes.at(index).url}${RESPONSES.path}/resp_bg${path}`, {
      method,
      headers: { authorization: `Bearer ${nodes.secret}` },
    })

  test('read and cancel answers in the background that another began', async () => {
    state.status = 'in_progress'
    const { nodes } = await usual(2, background)
    expect(await (await inBackground(nodes)).json()).toMatchObject({ id: 'resp_bg', status: 'queued' })
    expect(await (await answerAt(nodes, 1)).json()).toMatchObject({ status: 'in_progress' })
    expect(await (await answerAt(nodes, 1, '/cancel', 'POST')).json()).toMatchObject({ status: 'cancelled' })
    await until(async () => (await nodes.query('SELECT 1 FROM reservations')).length === 0)
    expect(await nodes.books()).toMatchObject([{ outcome: 'aborted', input: 3, output: 5 }])
  })

  test('let people in by the link of any of them, and count attempts to sign in together', async () => {
    const vendor = await provider(answering)
    const nodes = stopping(await startNodes(2, { providers: providersAt({ b: [vendor.origin] }) }, { isNew: true }))
    const link = await nodes.at(0).child.says(/^Setup\s+\S+#(\S+)$/)
    const post = (index: number, path: string, body: object): Promise<Response> =>
      fetch(`${nodes.at(index).url}/admin/api${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: nodes.at(index).url },
        body: JSON.stringify(body),
      })
    const password = 'correct horse battery staple'
    const made = await post(1, '/setup', { token: link, name: 'Ada', password })
    expect(made.status).toBe(200)
    const other = await nodes.at(1).child.says(/^Setup\s+\S+#(\S+)$/)
    expect((await post(0, '/setup', { token: other, name: 'Eve', password })).status).toBe(404)
    const entered = await post(0, '/session', { name: 'Ada', password })
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
    const session = await fetch(`${nodes.at(1).url}/admin/api/session`, { headers: { cookie } })
    expect(await session.json()).toMatchObject({ signed_in: true, member: { name: 'Ada' } })
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push((await post(i % 2, '/session', { name: 'Ada', password: 'x' })).status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.slice(10)).toEqual([429, 429])
  })
})
