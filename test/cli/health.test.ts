// `health` asks the server of this machine, and says in one sentence what keeps it from serving.

import { afterAll, expect, test } from 'bun:test'
import { freePort } from '../support/free-port.ts'
import { openTerminal } from './terminal.ts'

const terminal = openTerminal()
afterAll(() => terminal.close())

const serving = (status: number, body: object, hostname = '127.0.0.1') =>
  Bun.serve({
    port: 0,
    hostname,
    fetch: ({ url }) =>
      new Response(`${url.endsWith('/healthz') ? '' : JSON.stringify(body)}`, {
        status: url.endsWith('/healthz') ? 200 : status,
      }),
  })

test('a server that is ready is told with 0, wherever it listens', async () => {
  for (const [hostname, host] of [
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['::1', '::'],
    ['::1', '::1'],
  ]) {
    const server = serving(200, { status: 'ready' }, hostname)
    const said = await terminal.type('health', '--host', host ?? '', '--port', `${server.port}`)
    expect(said).toEqual({ code: 0, out: 'ok', err: '' })
    await server.stop(true)
  }
})

test('what it lacks is said; that it lives is another question', async () => {
  const server = serving(503, { status: 'not ready', missing: ['store: the database cannot be written', 'stopping'] })
  const port = `${server.port}`
  const url = `http://127.0.0.1:${port}`
  const { code, err } = await terminal.type('health', '--port', port)
  expect([code, err]).toEqual([
    1,
    `The server at ${url}/readyz is not ready: store: the database cannot be written; stopping.`,
  ])
  expect(await terminal.type('health', '--port', port, '--alive')).toEqual({ code: 0, out: 'ok', err: '' })
  await server.stop(true)
})

test('where no server is, how to have one is said', async () => {
  const port = freePort()
  const { code, err } = await terminal.type('health', '--port', `${port}`)
  expect([code, err]).toEqual([
    1,
    `No server answers at http://127.0.0.1:${port}/readyz. Start it with "sluice serve", or say where it is with --host and --port.`,
  ])
})

test('what redirects is no server of ours', async () => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.redirect('https://elsewhere.example/'),
  })
  expect((await terminal.type('health', '--port', `${server.port}`)).code).toBe(1)
  await server.stop(true)
})
