// In front of a server: passes what goes there and back, or not.

import { connect, createServer, type Socket } from 'node:net'

export type Proxy = {
  port: number
  /** Of each way, whether every byte is swallowed without a word. */
  isDeaf: boolean
  isMute: boolean
  cut(): void
  close(): void
}

export const createProxy = async (port: number): Promise<Proxy> => {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    const pass = (from: Socket, to: Socket, isSwallowed: () => boolean): void => {
      sockets.add(from)
      from.on('data', (data) => void (isSwallowed() || to.write(data)))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        if (!isSwallowed()) to.destroy()
      })
    }
    pass(near, far, () => proxy.isDeaf)
    pass(far, near, () => proxy.isMute)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const proxy: Proxy = {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    isDeaf: false,
    isMute: false,
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    close() {
      proxy.cut()
      server.close()
    },
  }
  return proxy
}
