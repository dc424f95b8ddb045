// The connections of this process, by the system's own calls, against a server of the runtime.

import { afterEach, expect, test } from 'bun:test'
import { type Connection, openSockets } from '../../src/lib/sockets.ts'
import { connect, type RawClient } from '../chaos/support/socket.ts'
import { until } from '../support/until.ts'

const sockets = openSockets()
const clients: RawClient[] = []
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.destroy()
})

const MANY_DESCRIPTORS = 4_096
const at = (port: number): Connection[] =>
  Array.from({ length: MANY_DESCRIPTORS }, (_, fd) => sockets?.at(fd, port)).filter((each) => each !== undefined)

test.skipIf(process.platform !== 'linux')('Linux has such calls', () => expect(sockets).toBeDefined())

// What listens on `::` is given the peers of the other family too, with addresses of its own family.
test.skipIf(sockets === undefined).each(['127.0.0.1', '::'])(
  'a connection to %s that sends nothing is found, and ended',
  async (hostname) => {
    const server = Bun.serve({ port: 0, hostname, fetch: () => new Response('ok') })
    const port = server.port ?? 0
    expect(at(port)).toEqual([])
    const client = connect(`http://127.0.0.1:${port}`)
    clients.push(client)
    await until(() => at(port).length === 1)
    const [found] = at(port)
    expect(found).toMatchObject({ peer: client.socket.localPort, unsent: 0 })
    sockets?.hangUp(found?.fd ?? -1)
    expect(await client.closed).toBe('')
    await until(() => at(port).length === 0)
    await server.stop(true)
  },
)

test.skipIf(sockets === undefined)('what a peer has sent and nobody has read yet is told', async () => {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') })
  const client = connect(server.url.href)
  clients.push(client)
  await until(() => at(server.port ?? 0).length === 1)
  expect(at(server.port ?? 0)).toMatchObject([{ unread: 0 }])
  client.write('GET / HTTP/1.1\r\n')
  expect(at(server.port ?? 0)).toMatchObject([{ unread: 16 }])
  await server.stop(true)
})

test.skipIf(sockets === undefined)('what a peer does not take is told', async () => {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('x'.repeat(16 * 1024 ** 2)) })
  const client = connect(server.url.href, true)
  clients.push(client)
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => at(server.port ?? 0).some(({ unsent }) => unsent > 0))
  await server.stop(true)
})
