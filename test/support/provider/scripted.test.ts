// The scripted provider of the tests does what a script says, to the byte.

import { afterEach, describe, expect, test } from 'bun:test'
import { always, gate, inTurn, json, type Scripted, slices, sse, startScripted } from './scripted.ts'

let provider: Scripted | undefined
afterEach(async () => {
  await provider?.stop()
  provider = undefined
})

const start = async (...args: Parameters<typeof startScripted>): Promise<Scripted> => {
  provider = await startScripted(...args)
  return provider
}

describe('a scripted provider', () => {
  test('records the exact bytes and headers it was sent', async () => {
    const { origin, requests } = await start(always(json({ ok: true }, 201, { 'x-one': '1' })))
    const answer = await fetch(`${origin}/a?b=c`, { method: 'POST', headers: { 'X-Two': '2' }, body: '{"n": 1.0 }é' })
    expect([answer.status, answer.headers.get('x-one'), await answer.json()]).toEqual([201, '1', { ok: true }])
    const [request] = requests
    expect([request?.method, request?.path, request?.headers['x-two'], request?.text]).toEqual([
      'POST',
      '/a?b=c',
      '2',
      '{"n": 1.0 }é',
    ])
    expect(await request?.closed).toBe('done')
  })

  test('waits at a gate until the test opens it', async () => {
    const door = gate()
    const { origin, requests } = await start(always({ ...sse(''), steps: ['data: 1\n\n', door, 'data: 2\n\n'] }))
    const reader = (await fetch(origin)).body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: 1\n\n')
    expect(requests[0]?.sent).toBe(9)
    door.open()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: 2\n\n')
    expect(await requests[0]?.closed).toBe('done')
  })

  test('cuts the socket after what it sent', async () => {
    const { origin } = await start(always({ ...sse('data: 1\n\n'), end: 'cut' }))
    const answer = await fetch(origin)
    expect(answer.status).toBe(200)
    expect(await answer.text().catch(() => 'cut')).toBe('cut')
  })

  test('resets the connection before it answers', async () => {
    const { origin } = await start(always({ end: 'reset' }))
    expect(
      await fetch(origin).then(
        () => 'answered',
        () => 'reset',
      ),
    ).toBe('reset')
  })

  test('notices a caller that leaves, at a gate and before the headers', async () => {
    const { origin, arrived } = await start(inTurn({ steps: ['x', gate()] }, { end: 'hang' }))
    for (const index of [0, 1]) {
      const leaving = new AbortController()
      const call = fetch(origin, { method: 'POST', body: '{}', signal: leaving.signal }).then(
        () => undefined,
        () => undefined,
      )
      const request = await arrived(index)
      leaving.abort()
      expect(await request.closed).toBe('aborted')
      await call
    }
  })

  test('makes the next step only when the socket took the one before', async () => {
    const piece = new Uint8Array(1 << 20)
    let made = 0
    function* steps() {
      for (; made < 200; made++) yield piece
    }
    const { origin, arrived } = await start(always({ steps: steps() }))
    const leaving = new AbortController()
    const answer = await fetch(origin, { signal: leaving.signal })
    const request = await arrived(0)
    await answer.body?.getReader().read()
    expect(made).toBeLessThan(200)
    leaving.abort()
    expect(await request.closed).toBe('aborted')
  })

  test('slices cut anywhere and join to the same bytes', () => {
    const bytes = new TextEncoder().encode('data: é👋\n\n')
    expect(slices(bytes, 3).every((slice) => slice.length <= 3)).toBe(true)
    expect(Buffer.concat(slices(bytes, 3)).equals(Buffer.from(bytes))).toBe(true)
  })
})
