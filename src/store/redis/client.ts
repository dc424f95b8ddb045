// The one way to Valkey or Redis: scripts, with a deadline, over one connection that is made anew where it fell silent.

import { RedisClient } from 'bun'
import { hostAt, type LookUp } from '../hosts.ts'

export type Script = { text: string; digest: string }

export const script = (text: string): Script => ({
  text,
  digest: new Bun.CryptoHasher('sha1').update(text).digest('hex'),
})

export type Redis = {
  /**
   * What does no more the second time than the first: it is tried again where the connection is lost. Rejects where it was not
   * answered in time, and where it failed: then it may have been carried out all the same.
   */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** What it is, and why limits cannot be counted on it, where they cannot. */
  about(): Promise<{ server: string; unfit: string | undefined }>
  close(): void
}

const DEADLINE_MS = 1_000
/** Between two tries. */
const PAUSE_MS = 10
/** It gives up for good after so many tries. */
const FOR_EVER = 1_000_000_000

type RedisOptions = { deadlineMs?: number; lookUp?: LookUp }

export const createRedis = (url: string, { deadlineMs = DEADLINE_MS, lookUp }: RedisOptions = {}): Redis => {
  const host = hostAt(new URL(url).hostname, lookUp)
  const make = (): RedisClient => {
    const { at, serverName } = placeAt(url, host.address())
    const options = { connectionTimeout: deadlineMs, maxRetries: FOR_EVER }
    return new RedisClient(at, serverName === undefined ? options : { ...options, tls: { serverName } })
  }
  let client = make()
  let isClosed = false

  /** What was asked meanwhile is given up with it: it would be carried out late. */
  const replace = (old: RedisClient): void => {
    if (old !== client || isClosed) return
    client = make()
    old.close()
  }
  /** Its name may lead to the server that has taken over. */
  const follow = async (failed: RedisClient): Promise<void> => {
    if (await host.hasMoved()) replace(failed)
  }
  const once = async (command: string, words: string[], forMs: number): Promise<unknown> => {
    const asked = client
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      reject(new Error(`no answer within ${deadlineMs} ms`))
      replace(asked)
      void follow(client)
    }, forMs)
    try {
      return await Promise.race([asked.send(command, words), late])
    } catch (cause) {
      // One that has become a replica goes on answering. A client that was let in by nobody has ended for good.
      if (isReadOnly(cause) || !(isReply(cause) || isCut(cause))) replace(asked)
      if (isReadOnly(cause) || !isReply(cause)) void follow(client)
      throw cause
    } finally {
      clearTimeout(timer)
    }
  }
  const ask = async (command: string, words: string[]): Promise<unknown> => {
    const until = performance.now() + deadlineMs
    for (;;) {
      const asked = client
      try {
        return await once(command, words, Math.max(1, until - performance.now()))
      } catch (cause) {
        if (isClosed || !isCut(cause)) throw cause
        if (performance.now() + PAUSE_MS >= until) {
          // It connects anew by itself, unless it has ended for good when nobody was asking.
          replace(asked)
          throw cause
        }
        await Bun.sleep(PAUSE_MS)
      }
    }
  }
  return {
    async run({ text, digest }, keys, args) {
      const words = [String(keys.length), ...keys, ...args.map(String)]
      try {
        return await ask('EVALSHA', [digest, ...words])
      } catch (cause) {
        if (!isUnknownScript(cause)) throw cause
        return ask('EVAL', [text, ...words])
      }
    },
    async about() {
      const told = new Map<string, string>()
      for (const [, name = '', value = ''] of String(await ask('INFO', [])).matchAll(/^(\w+):(.*?)\r?$/gm))
        told.set(name, value)
      const valkey = told.get('valkey_version')
      const server = valkey === undefined ? `Redis ${told.get('redis_version') ?? ''}`.trimEnd() : `Valkey ${valkey}`
      return { server, unfit: unfitBy(told) }
    },
    close() {
      isClosed = true
      client.close()
    },
  }
}

/** By what INFO tells. */
const unfitBy = (told: ReadonlyMap<string, string>): string | undefined => {
  if (told.get('role') === 'slave') return 'is a replica, which takes no writes: name the primary'
  if (told.get('cluster_enabled') === '1') return 'is part of a cluster: name one that stands alone'
  const isBounded = (told.get('maxmemory') ?? '0') !== '0'
  if (isBounded && told.get('maxmemory_policy') !== 'noeviction')
    return 'forgets what it has counted when it is full: set its maxmemory-policy to noeviction'
  return undefined
}

/** By its address it is still known by its name, for its certificate. */
const placeAt = (named: string, address: string | undefined): { at: string; serverName?: string } => {
  if (address === undefined) return { at: named }
  const url = new URL(named)
  const serverName = url.hostname
  url.hostname = address.includes(':') ? `[${address}]` : address
  return url.protocol.startsWith('redis:') || url.protocol.startsWith('valkey:')
    ? { at: url.href }
    : { at: url.href, serverName }
}

const saysOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
const isUnknownScript = (cause: unknown): boolean => saysOf(cause).includes('NOSCRIPT')
const codeOf = (cause: unknown): unknown => (cause instanceof Error && 'code' in cause ? cause.code : undefined)
const isReply = (cause: unknown): boolean => codeOf(cause) === 'ERR_REDIS_SERVER_ERROR'
const isCut = (cause: unknown): boolean => codeOf(cause) === 'ERR_REDIS_CONNECTION_CLOSED'
const isReadOnly = (cause: unknown): boolean => /\bREADONLY\b/.test(saysOf(cause))
