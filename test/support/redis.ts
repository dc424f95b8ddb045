// A real Valkey or Redis for tests: the program of this machine, on a port of its own, with nothing on the disk.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RedisClient } from 'bun'
import { freePort } from './free-port.ts'

const PROGRAM = Bun.which('valkey-server') ?? Bun.which('redis-server')

/** Why there is none to test with; undefined where there is one. */
export const redisMissing: string | undefined =
  PROGRAM === null ? 'no valkey-server or redis-server on PATH' : undefined

if (redisMissing !== undefined) console.warn(`SKIPPED: tests over Valkey or Redis (${redisMissing})`)

export type TestRedis = {
  url: string
  port: number
  pid(): number
  /** Asked directly. */
  client: RedisClient
  /** As a crash: what it held is gone. */
  halt(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export const startRedis = async (): Promise<TestRedis> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'))
  const port = freePort()
  const url = `redis://127.0.0.1:${port}`
  let child: ReturnType<typeof Bun.spawn> | undefined
  const words = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  const start = async (): Promise<void> => {
    child = Bun.spawn([PROGRAM ?? 'redis-server', ...words], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
    for (;;) {
      const client = new RedisClient(url, { autoReconnect: false, connectionTimeout: 1_000 })
      try {
        await client.send('PING', [])
        return
      } catch {
        if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
      } finally {
        client.close()
      }
      await Bun.sleep(10)
    }
  }
  const halt = async (): Promise<void> => {
    child?.kill('SIGKILL')
    await child?.exited
  }
  await start()
  const client = new RedisClient(url, { maxRetries: 1_000_000 })
  return {
    ...{ url, port, client, start, halt },
    pid: () => child?.pid ?? 0,
    async stop() {
      client.close()
      await halt()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
