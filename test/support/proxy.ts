// In front of a server, as networks are: passes what goes there and back, late, cut off, or not at all.

import { connect, createServer, type Socket } from 'node:net'

export type Proxy = {
  port: number
  /** Of each way, whether every byte is swallowed without a word. */
  isDeaf: boolean
  isMute: boolean
  /** Each way takes so long. */
  delayMs: number
  /** Each so-manieth piece that is sent to the server cuts its connection: before it arrives, or once it is answered. */
  cuts: { when: 'before' | 'after'; every: number } | undefined
  /**
   * Nothing passes any more, nor does anyone hear of it, until `speak`: what was sent arrives then. `lost`: connections of before
   * never speak again.
   */
  silence(how: 'late' | 'lost'): void
  speak(): void
  cut(): void
  close(): void
}

type Line = { near: Socket; far: Socket; isLost: boolean; endsByAnswer: boolean }

/** `at`: where it listens; by default at a port of its own. */
export const createProxy = async (port: number, at = { host: '127.0.0.1', port: 0 }): Promise<Proxy> => {
  const lines = new Set<Line>()
  let sent = 0
  let silent: { over: Promise<void>; end(): void } | undefined

  const end = (line: Line): void => {
    lines.delete(line)
    line.near.destroy()
    line.far.destroy()
  }
  const isCut = (line: Line, isToServer: boolean): boolean => {
    const { cuts } = proxy
    if (isToServer) {
      if (cuts === undefined || ++sent % cuts.every !== 0) return false
      line.endsByAnswer = cuts.when === 'after'
      return cuts.when === 'before'
    }
    return line.endsByAnswer
  }

  const pass = (line: Line, isToServer: boolean): void => {
    const [from, to] = isToServer ? [line.near, line.far] : [line.far, line.near]
    const isSwallowed = (): boolean => line.isLost || (isToServer ? proxy.isDeaf : proxy.isMute)
    /** One piece after the other, each when it is due. */
    let before = Promise.resolve()
    const inTurn = (deliver: () => void): void => {
      const due = performance.now() + proxy.delayMs
      before = before.then(async () => {
        if (due > performance.now()) await Bun.sleep(due - performance.now())
        await silent?.over
        deliver()
      })
    }
    from.on('data', (data) => {
      if (isSwallowed()) return
      if (isCut(line, isToServer)) return end(line)
      inTurn(() => void (isSwallowed() || to.write(data)))
    })
    from.on('error', () => undefined)
    from.on('close', () => inTurn(() => void (isSwallowed() || end(line))))
  }

  const server = createServer((near) => {
    const line = { near, far: connect(port, '127.0.0.1'), isLost: false, endsByAnswer: false }
    lines.add(line)
    pass(line, true)
    pass(line, false)
  })
  await new Promise<void>((resolve) => server.listen(at.port, at.host, resolve))
  const address = server.address()
  const proxy: Proxy = {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    ...{ isDeaf: false, isMute: false, delayMs: 0, cuts: undefined },
    silence(how) {
      const { promise, resolve } = Promise.withResolvers<void>()
      silent = { over: promise, end: resolve }
      if (how === 'lost') for (const line of lines) line.isLost = true
    },
    speak() {
      silent?.end()
      silent = undefined
    },
    cut() {
      for (const line of lines) end(line)
    },
    close() {
      proxy.speak()
      proxy.cut()
      server.close()
    },
  }
  return proxy
}

/** A URL by way of a proxy. */
export const through = (url: string, { port }: Pick<Proxy, 'port'>): string => {
  const near = new URL(url)
  near.port = `${port}`
  return near.href
}
