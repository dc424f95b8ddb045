// The client's end of a stream, by a clock of its own: whose silence ends it, what keeps it open, what is told meanwhile.

import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { GatewayError } from '../../src/errors.ts'
import { type StreamEnd, toBody } from '../../src/relay/body.ts'
import type { Client } from '../../src/relay/exchange.ts'
import type { StreamAnswer } from '../../src/relay/reading.ts'
import type { Tap } from '../../src/wire/codec.ts'
import { CODECS } from '../../src/wire/index.ts'

const codec = CODECS['chat-completions']
const IDLE = 5_000
const TOTAL = 60_000
const KEEP_ALIVE = 2_000

type Timer = { at: number; run: () => void }
let now = 0
let timers: Timer[] = []
/** How many were. */
let set = 0
let mocked: { mockRestore(): void }[] = []
beforeEach(() => {
  now = 1_000
  timers = []
  mocked = [
    spyOn(performance, 'now').mockImplementation(() => now),
    // A report that is due just before something else may put that off by some milliseconds.
    spyOn(Math, 'random').mockImplementation(() => 0.5),
    spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms = 0) => {
      const timer = { at: now + ms, run }
      timers.push(timer)
      set++
      return timer
    }) as unknown as typeof setTimeout),
    spyOn(globalThis, 'clearTimeout').mockImplementation(((timer: Timer) => {
      timers = timers.filter((each) => each !== timer)
    }) as unknown as typeof clearTimeout),
  ]
})
afterEach(() => {
  for (const each of mocked) each.mockRestore()
})

/** Lets what was resolved run on. */
const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns++) await Promise.resolve()
}

/** Time goes by, a timer after the other. */
const pass = async (ms: number): Promise<void> => {
  const end = now + ms
  for (;;) {
    await settled()
    const [due] = timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
    if (due === undefined) break
    timers = timers.filter((each) => each !== due)
    now = Math.max(now, due.at)
    due.run()
  }
  now = end
}

/** A stream that says what `say` is told, and what came of it. */
const open = (early = false, keepAliveMs = KEEP_ALIVE, written?: Promise<void>, end = '') => {
  const words: (string | undefined)[] = []
  let asked: ((word: string | undefined) => void) | undefined
  let state: Tap['state'] = 'open'
  const tap: Tap = Object.defineProperty(codec.tap({ model: 'm', includeUsage: false, now: 0 }), 'state', {
    get: () => state,
  })
  const abort = new AbortController()
  let drained = 0
  const answer = {
    ...{ kind: 'stream', first: 'first ', tap },
    target: { provider: { timeouts: { connectMs: 1, firstByteMs: 1, idleMs: IDLE, totalMs: TOTAL } } },
    source: {
      abort,
      end,
      drain: async () => void drained++,
      read: () =>
        new Promise<string | undefined>((resolve) => {
          if (words.length > 0) resolve(words.shift())
          else asked = resolve
        }),
    },
  } as unknown as StreamAnswer
  const pending = Promise.withResolvers<StreamAnswer>()
  const client: Client = { gone: false, call: abort, callOutlivesClient: false }
  const ends: StreamEnd[] = []
  const reports: number[] = []
  const body = toBody({
    ...{ codec, requestId: 'req_1', keepAliveMs, begunAt: now, client, newTap: () => tap },
    answer: early ? pending.promise : answer,
    onEnd: (end) => {
      ends.push(end)
      return written
    },
    onProgress: () => reports.push(now),
  })
  const reader = body.getReader()
  const read = async (): Promise<string | undefined> => {
    const { done, value } = await reader.read()
    return done ? undefined : new TextDecoder().decode(value)
  }
  return {
    ...{ tap, abort, client, ends, reports, read },
    cancel: () => reader.cancel(),
    drained: () => drained,
    answered: () => pending.resolve(answer),
    failed: (error: Error) => pending.reject(error),
    say: async (word: string | undefined, is: Tap['state'] = 'open') => {
      state = is
      if (asked === undefined) words.push(word)
      else asked(word)
      asked = undefined
      await settled()
    },
  }
}

describe('a stream', () => {
  test('ends for its client as its provider ended it, though it cannot be settled', async () => {
    const { read, say, ends } = open(false, KEEP_ALIVE, Promise.reject(new Error('no settlement')), 'data: [DONE]\n\n')
    expect(await read()).toBe('first ')
    const last = read()
    await say('last ', 'done')
    expect([await last, await read(), await read()]).toEqual(['last ', 'data: [DONE]\n\n', undefined])
    expect(ends).toHaveLength(1)
  })

  test('fails when its provider is silent for longer than the idle timeout while it is read', async () => {
    const { read, ends, abort } = open()
    expect(await read()).toBe('first ')
    const next = read()
    let told = ''
    void next.then((text) => {
      told = text ?? ''
    })
    await pass(KEEP_ALIVE)
    expect(told).toBe(codec.keepAlive)
    const last = [read(), read()]
    await pass(IDLE - KEEP_ALIVE - 1)
    expect(ends).toEqual([])
    await pass(1)
    expect(ends[0]?.error).toMatchObject({ code: 'gateway_timeout' })
    expect(await last[0]).toBe(codec.keepAlive)
    expect(await last[1]).toContain('event: error')
    expect(abort.signal.reason).toBe(ends[0]?.error)
  })

  test.each([false, true])('does not fail because its client does not read, begun early %p', async (early) => {
    const { read, answered, say, ends } = open(early)
    if (early) {
      await read()
      const next = read()
      answered()
      expect(await next).toBe('first ')
    } else expect(await read()).toBe('first ')
    await pass(IDLE)
    for (const word of ['second ', 'third ']) {
      const next = read()
      await pass(IDLE - 1)
      await say(word)
      while ((await next) === codec.keepAlive && (await read()) === codec.keepAlive);
      await pass(IDLE)
    }
    expect(ends).toEqual([])
  })

  test('that is not read fails after its total timeout', async () => {
    const { read, ends } = open()
    expect(await read()).toBe('first ')
    await pass(TOTAL - 1)
    expect(ends).toEqual([])
    await pass(1)
    expect(ends).toMatchObject([{ error: { code: 'gateway_timeout' }, aborted: false }])
    expect(await read()).toContain('event: error')
  })

  test('gets keep-alives only while its provider is silent', async () => {
    const { read, say } = open()
    expect(await read()).toBe('first ')
    for (let word = 0; word < 10; word++) {
      const next = read()
      await pass(KEEP_ALIVE - 1)
      await say(`word ${word} `)
      expect(await next).toBe(`word ${word} `)
    }
    const next = read()
    await pass(KEEP_ALIVE)
    expect(await next).toBe(codec.keepAlive)
  })

  test('reports progress about once a second, and not after its end', async () => {
    const { read, say, reports } = open()
    await read()
    for (let second = 0; second < 10; second++) {
      const next = read()
      await pass(1_000)
      await say('word ')
      await next
    }
    expect(reports.length).toBeGreaterThanOrEqual(9)
    const pauses = reports.slice(1).map((at, i) => at - (reports[i] ?? 0))
    expect(pauses.filter((pause) => pause < 999 || pause > 1_020)).toEqual([])
    const before = reports.length
    const end = read()
    await say('end', 'done')
    expect([await end, await read()]).toEqual(['end', undefined])
    await pass(5_000)
    expect([reports.length, timers]).toEqual([before, []])
  })

  test('ends with the terminal event, and what follows is read and discarded', async () => {
    const { read, say, ends, drained, abort } = open()
    await read()
    const next = read()
    await say('', 'open')
    await say('end', 'done')
    expect([await next, await read()]).toEqual(['end', undefined])
    expect(ends).toMatchObject([{ error: undefined, aborted: false }])
    expect([drained(), abort.signal.aborted]).toEqual([1, false])
  })

  test('keeps its end until it is settled, and nothing else', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { read, say, ends, drained } = open(false, KEEP_ALIVE, promise, 'the end')
    await read()
    const next = read()
    await say('word', 'done')
    expect(await next).toBe('word')
    let last: string | undefined
    void read().then((text) => {
      last = text
    })
    await pass(IDLE)
    expect([last, ends.length, drained()]).toEqual([undefined, 1, 1])
    resolve()
    await settled()
    expect([last, await read()]).toEqual(['the end', undefined])
  })

  test('whose client leaves while its end waits ends once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { read, say, ends, cancel } = open(false, KEEP_ALIVE, promise, 'the end')
    await read()
    const next = read()
    await say('word', 'done')
    await next
    await cancel()
    resolve()
    await settled()
    expect(ends).toMatchObject([{ aborted: false }])
  })

  test('that ends without a terminal event ends with an error frame', async () => {
    const { read, say, ends, drained, abort } = open()
    await read()
    const next = read()
    await say(undefined)
    expect(await next).toContain('event: error')
    expect(await read()).toBeUndefined()
    expect(ends).toMatchObject([{ error: { code: 'upstream_error' }, aborted: false }])
    expect([drained(), abort.signal.aborted]).toEqual([0, true])
  })

  test('whose client disconnects aborts the call, once', async () => {
    const { read, cancel, say, ends, client, abort } = open()
    await read()
    void read().catch(() => undefined)
    await cancel()
    await say('late')
    await pass(TOTAL)
    expect(ends).toMatchObject([{ error: undefined, aborted: true }])
    expect([client.gone, abort.signal.aborted, timers]).toEqual([true, true, []])
  })
})

describe('a stream begun before its provider has answered', () => {
  test('is kept open until the provider answers, and goes on with the answer', async () => {
    const { read, answered, ends } = open(true)
    expect(await read()).toBe(codec.keepAlive)
    const before = set
    for (let silence = 0; silence < 50; silence++) {
      const next = read()
      await pass(KEEP_ALIVE)
      expect(await next).toBe(codec.keepAlive)
    }
    // One look at the clock is all that each takes.
    expect(set - before).toBe(50)
    const next = read()
    answered()
    expect(await next).toBe('first ')
    expect(ends).toEqual([])
  })

  test('is watched from the answer on, however far apart its keep-alives are', async () => {
    const { read, answered, ends, reports } = open(true, 4 * IDLE)
    await read()
    const first = read()
    answered()
    expect(await first).toBe('first ')
    await pass(1_000)
    expect(reports).not.toEqual([])
    void read().catch(() => undefined)
    await pass(IDLE)
    expect(ends).toMatchObject([{ error: { code: 'gateway_timeout' }, aborted: false }])
  })

  test.each([
    ['service_unavailable', new GatewayError('service_unavailable', 'busy')],
    ['internal_error', new Error('unexpected')],
  ])('ends with an error frame where no provider answers: %s', async (code, error) => {
    const { read, failed, ends } = open(true)
    await read()
    const next = read()
    failed(error)
    expect(await next).toContain(code)
    expect(ends).toMatchObject([{ answer: undefined, error: { code }, aborted: false }])
  })
})
