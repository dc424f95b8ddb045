// What keys have used in the last minute, and who of them is in, in Valkey or Redis: one script for each key that is asked about,
// all of a group on their way at once. Seconds are the server's own.

import type { RateLimits } from '../../keys/key.ts'
import { type Redis, type Script, script } from './client.ts'

/** `said`: of each that asked, in their order: `ok`, `in` where it was already, `limited` or `busy`. */
export type Window = {
  said: string[]
  /** Milliseconds since the epoch. */
  now: number
  /** Before they came in: seconds, and what was counted in each. */
  seconds: number[]
  requests: number[]
  tokens: number[]
  active: number
}

export type Windows = {
  enter(keyId: string, limits: RateLimits, ids: readonly string[]): Promise<Window>
  /** They end; `refunded`: that counted against the limits from that second on, and do so no more. */
  leave(keyId: string, ids: readonly string[], refunded: readonly { id: string; second: number }[]): Promise<void>
  /** They are still in. */
  stay(keyId: string, ids: readonly string[]): Promise<void>
  /** Counts against the limits from now on, once however often it is said: `number` is higher each time that `node` says more. */
  count(keyId: string, what: { requests: number; tokens: number; node: string; number: number }): Promise<void>
}

/** Who has not said for so long that it is still in has ended, with its node or in silence. */
const IN_MS = 6_000
/** An amount counts from its second for 60 more, and the clock may have been ahead. */
const WINDOW_S = 60
const KEPT_MS = (2 * WINDOW_S + 2) * 1_000

/** The server's time, in milliseconds. */
const TIME = `
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)`

// KEYS: the window, a hash of 'r' and 't' with seconds; those in, by when they count no more.
const ENTER = `
local rpm, tpm, concurrency = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local had = redis.call('HGETALL', KEYS[1])
local requests, tokens, over = 0, 0, {}
local counted = {}
for i = 1, #had, 2 do
  local at = tonumber(string.sub(had[i], 2))
  -- One that was told in a time to come has nothing to do with the last minute: the clock was wrong.
  if at < second - ${WINDOW_S} or at > second + ${WINDOW_S} then over[#over + 1] = had[i]
  else
    if string.byte(had[i]) == 114 then requests = requests + tonumber(had[i + 1])
    else tokens = tokens + tonumber(had[i + 1]) end
    counted[#counted + 1] = had[i]
    counted[#counted + 1] = had[i + 1]
  end
end
if #over > 0 then redis.call('HDEL', KEYS[1], unpack(over)) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local active = redis.call('ZCARD', KEYS[2])
local before = active
local said, added = {}, 0
for i = 4, #ARGV do
  if redis.call('ZSCORE', KEYS[2], ARGV[i]) then said[#said + 1] = 'in'
  elseif (rpm > 0 and requests >= rpm) or (tpm > 0 and tokens >= tpm) then said[#said + 1] = 'limited'
  elseif concurrency > 0 and active >= concurrency then said[#said + 1] = 'busy'
  else
    said[#said + 1] = 'ok'
    requests, active, added = requests + 1, active + 1, added + 1
    redis.call('ZADD', KEYS[2], now + ${IN_MS}, ARGV[i])
  end
end
if added > 0 then
  redis.call('HINCRBY', KEYS[1], 'r' .. second, added)
  redis.call('PEXPIRE', KEYS[1], kept)
  redis.call('PEXPIRE', KEYS[2], ${2 * IN_MS})
end
return {said, now, counted, before}`

// ARGV: how many leave, their ids, then ids and seconds of those that are refunded.
const LEAVE = `
local n = tonumber(ARGV[1])
for i = 2, n + 1 do redis.call('ZREM', KEYS[2], ARGV[i]) end
for i = n + 2, #ARGV, 2 do
  if redis.call('ZREM', KEYS[2], ARGV[i]) == 1 and redis.call('HEXISTS', KEYS[1], 'r' .. ARGV[i + 1]) == 1 then
    if redis.call('HINCRBY', KEYS[1], 'r' .. ARGV[i + 1], -1) <= 0 then redis.call('HDEL', KEYS[1], 'r' .. ARGV[i + 1]) end
  end
end
return 1`

const STAY = `
for i = 1, #ARGV do redis.call('ZADD', KEYS[2], now + ${IN_MS}, ARGV[i]) end
redis.call('PEXPIRE', KEYS[2], ${2 * IN_MS})
return 1`

// KEYS[2]: what each node has said last.
const COUNT = `
if tonumber(redis.call('HGET', KEYS[2], ARGV[3]) or '0') >= tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
redis.call('PEXPIRE', KEYS[2], kept)
if tonumber(ARGV[1]) > 0 then redis.call('HINCRBY', KEYS[1], 'r' .. second, ARGV[1]) end
if tonumber(ARGV[2]) > 0 then redis.call('HINCRBY', KEYS[1], 't' .. second, ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], kept)
return 1`

/** All of a key's are at one place, where a server is several. */
const keysOf = (keyId: string): [string, string] => [`sluice:{${keyId}}:window`, `sluice:{${keyId}}:in`]

/** `time`: in place of the server's, for tests. */
export const createWindows = (redis: Redis, time = TIME): Windows => {
  const timed = (text: string): Script =>
    script(`${time}\nlocal second, kept = math.floor(now / 1000), ${KEPT_MS}\n${text}`)
  const [enters, stays, counts, leaves] = [timed(ENTER), timed(STAY), timed(COUNT), script(LEAVE)]
  return {
    async enter(keyId, { rpm, tpm, concurrency }, ids) {
      const told = (await redis.run(enters, keysOf(keyId), [rpm, tpm, concurrency, ...ids])) as Told
      const [said, now, counted, active] = told
      const bySecond = new Map<number, { requests: number; tokens: number }>()
      for (let i = 0; i < counted.length; i += 2) {
        const [field = '', amount = '0'] = counted.slice(i, i + 2)
        const second = Number(field.slice(1))
        const at = bySecond.get(second) ?? { requests: 0, tokens: 0 }
        if (field.startsWith('r')) at.requests = Number(amount)
        else at.tokens = Number(amount)
        bySecond.set(second, at)
      }
      const ordered = [...bySecond].sort(([one], [other]) => one - other)
      return {
        ...{ said, now, active, seconds: ordered.map(([second]) => second) },
        ...{ requests: ordered.map(([, at]) => at.requests), tokens: ordered.map(([, at]) => at.tokens) },
      }
    },
    async leave(keyId, ids, refunded) {
      await redis.run(leaves, keysOf(keyId), [
        ids.length,
        ...ids,
        ...refunded.flatMap(({ id, second }) => [id, second]),
      ])
    },
    async stay(keyId, ids) {
      await redis.run(stays, keysOf(keyId), ids)
    },
    async count(keyId, { requests, tokens, node, number }) {
      const [window] = keysOf(keyId)
      await redis.run(counts, [window, `sluice:{${keyId}}:said`], [requests, tokens, node, number])
    },
  }
}

type Told = [string[], number, string[], number]
