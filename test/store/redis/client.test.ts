// The way to Valkey or Redis, with a real server behind a line that fails: what is asked is answered once the line is there again,
// or fails in time.

import { describe, expect, test } from 'bun:test'
import { createRedis, script } from '../../../src/store/redis/client.ts'
import { freePort } from '../../support/free-port.ts'
import { createProxy } from '../../support/proxy.ts'
import { redisMissing, startRedis } from '../../support/redis.ts'
import { stopsAfterEach } from '../../support/stopping.ts'
import { until } from '../../support/until.ts'

const stopping = stopsAfterEach()
const SUM = script('return {ARGV[1] + ARGV[2], KEYS[1]}')

const behindLine = async () => {
  const server = stopping(await startRedis())
  const line = await createProxy(server.port)
  const redis = createRedis(`redis://127.0.0.1:${line.port}`)
  stopping({
    async stop() {
      redis.close()
      line.close()
    },
  })
  const sum = (): Promise<unknown> => redis.run(SUM, ['k'], [1, 2])
  return { server, line, redis, sum }
}

describe.skipIf(redisMissing !== undefined)('scripts are run', () => {
  test('also by a server that does not know them, or not any more', async () => {
    const { server, sum } = await behindLine()
    expect(await sum()).toEqual([3, 'k'])
    await server.client.send('SCRIPT', ['FLUSH'])
    expect(await sum()).toEqual([3, 'k'])
  })

  test('over another connection where the first is cut, whatever was on its way', async () => {
    const { line, sum } = await behindLine()
    expect(await sum()).toEqual([3, 'k'])
    const asked = [sum(), sum(), sum()]
    line.cut()
    expect(await Promise.all(asked)).toEqual([
      [3, 'k'],
      [3, 'k'],
      [3, 'k'],
    ])
  })

  test('again by themselves after a server that was away, and one that fell silent', async () => {
    const { server, line, sum } = await behindLine()
    expect(await sum()).toEqual([3, 'k'])
    await server.halt()
    await expect(sum()).rejects.toThrow()
    await server.start()
    while ((await sum().catch(() => undefined)) === undefined);
    line.isMute = true
    await expect(sum()).rejects.toThrow('no answer')
    line.isMute = false
    expect(await sum()).toEqual([3, 'k'])
  })

  // As one that is full of clients, or still loads what it has kept.
  test.each(['asked meanwhile', 'not asked meanwhile'])(
    'again by themselves after a server that let nobody in, %s',
    async (when) => {
      const { server, line, sum } = await behindLine()
      expect(await sum()).toEqual([3, 'k'])
      await server.client.send('CONFIG', ['SET', 'requirepass', 'other'])
      line.cut()
      if (when === 'asked meanwhile') await expect(sum()).rejects.toThrow('NOAUTH')
      else await until(async () => String(await server.client.send('INFO', ['errorstats'])).includes('NOAUTH'))
      await server.client.send('CONFIG', ['SET', 'requirepass', ''])
      await until(async () => (await sum().catch(() => undefined)) !== undefined)
    },
  )

  test('by the server that its name leads to once the one before is gone, or silent', async () => {
    const servers = [stopping(await startRedis()), stopping(await startRedis())] as const
    const port = freePort()
    const lines = [
      await createProxy(servers[0].port, { host: '127.0.0.1', port }),
      await createProxy(servers[1].port, { host: '127.0.0.2', port }),
    ] as const
    let leadsTo = ['127.0.0.1']
    const redis = createRedis(`redis://localhost:${port}`, { deadlineMs: 300, lookUp: async () => leadsTo })
    stopping({
      async stop() {
        redis.close()
        for (const line of lines) line.close()
      },
    })
    const WHERE = script("return redis.call('INFO', 'server')")
    const asked = async () => /tcp_port:(\d+)/.exec(String(await redis.run(WHERE, [], []).catch(() => '')))?.[1]
    const answered = async (): Promise<string> => (await asked()) ?? answered()
    expect(await answered()).toBe(String(servers[0].port))
    leadsTo = ['127.0.0.2']
    lines[0].isMute = true
    expect(await answered()).toBe(String(servers[1].port))
    leadsTo = ['127.0.0.1']
    lines[0].isMute = false
    lines[1].close()
    expect(await answered()).toBe(String(servers[0].port))
  })

  test('and what the server says of one that is wrong is told', async () => {
    const { redis } = await behindLine()
    await expect(redis.run(script('return nothing()'), [], [])).rejects.toThrow('nothing')
  })
})

test.skipIf(redisMissing !== undefined)('a server is told by its name, and why it would not do', async () => {
  const { server, redis } = await behindLine()
  const set = (name: string, value: string) => server.client.send('CONFIG', ['SET', name, value])
  expect(await redis.about()).toEqual({ server: expect.stringMatching(/^(?:Redis|Valkey) \d\S+$/), unfit: undefined })
  await set('maxmemory-policy', 'allkeys-lru')
  expect((await redis.about()).unfit).toBeUndefined()
  await set('maxmemory', '100mb')
  expect((await redis.about()).unfit).toContain('set its maxmemory-policy to noeviction')
  await server.client.send('REPLICAOF', ['127.0.0.1', '1'])
  expect((await redis.about()).unfit).toContain('name the primary')
})
