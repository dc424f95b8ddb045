// What a whole gateway holds of a request once its answer's stream has begun.

import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import type { Config } from '../../src/config.ts'
import { CHAT, MESSAGES } from '../chaos/support/stories.ts'
import { onlyProvider, startGateway } from '../support/gateway.ts'

const STREAMS = 6
const PROMPT_BYTES = 1024 * 1024
/** A prompt that is held counts one at least; what else this process lets go of meanwhile, a fraction. */
const MOST = 0.6 * PROMPT_BYTES

/** A conversation of so many bytes, none of its turns like another. Of one in short turns an outline holds all. */
const conversation = (bytes: number, lines: number): { role: string; content: string }[] => {
  const turns = []
  for (let left = bytes, at = 0; left > 0; at++) {
    const content = `${at} ${`turn ${at} says "${at}"\n`.repeat(lines)}`
    turns.push({ role: at % 2 === 0 ? 'user' : 'assistant', content })
    left -= JSON.stringify(content).length
  }
  return [...turns, { role: 'user', content: 'Go on.' }]
}

const bodyOf = (members: object, messages: object): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(JSON.stringify({ ...members, stream: true, max_tokens: 100, messages }))

type Body = Uint8Array<ArrayBuffer>

type Asked = {
  /** The provider's answers, each of which falls silent where it ends. */
  begun: string
  config(url: string): Partial<Config>
  path: string
  members: object
  /** Of each turn; 200 by default. */
  lines?: number
}

/** By the runtime's own account, for each of so many silent streams: how much more one of a long request holds. */
const heldFor = async ({ begun, config, path, members, lines = 200 }: Asked): Promise<number> => {
  const text = new TextEncoder().encode(begun)
  const provider = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 0 },
    async fetch(request) {
      await request.arrayBuffer()
      const body = new ReadableStream({ start: (to) => to.enqueue(text) })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const gateway = await startGateway({ config: config(`http://127.0.0.1:${provider.port}`) })
  const left = new AbortController()
  const readers: unknown[] = []
  const open = async (body: Uint8Array<ArrayBuffer>): Promise<void> => {
    const answer = await gateway.post(path, body, {}, left.signal)
    const reader = answer.body?.getReader()
    expect(answer.status).toBe(200)
    expect((await reader?.read())?.value?.byteLength).toBeGreaterThan(0)
    readers.push(reader)
  }
  /** Once nothing more is let go of: some is only found to be garbage when what held it is gone. */
  const held = async (): Promise<number> => {
    let least = Number.POSITIVE_INFINITY
    for (let tries = 0; tries < 3; tries++) {
      await new Promise(setImmediate)
      Bun.gc(true)
      least = Math.min(least, heapStats().heapSize)
    }
    return least
  }
  const openAll = async (body: Uint8Array<ArrayBuffer>): Promise<number> => {
    const before = await held()
    await Promise.all(Array.from({ length: STREAMS }, () => open(body)))
    return ((await held()) - before) / STREAMS
  }
  try {
    const [small, large] = [conversation(0, lines), conversation(PROMPT_BYTES, lines)].map((all) =>
      bodyOf(members, all),
    ) as [Body, Body]
    // The first ones leave behind what is kept for all that come.
    await openAll(large)
    let more = Number.POSITIVE_INFINITY
    // What this process has of other things changes once; what streams hold, they hold each time.
    for (let tries = 0; tries < 3 && more > MOST; tries++) {
      const short = await openAll(small)
      more = Math.min(more, (await openAll(large)) - short)
    }
    return more
  } finally {
    left.abort()
    await gateway.stop()
    await provider.stop(true)
  }
}

const only = (wires: ('chat-completions' | 'messages')[], accounts = 1) => {
  return (url: string): Partial<Config> => {
    const account = (at: number) => ({ name: `a${at}`, baseUrl: url, credential: 'secret', weight: 1 })
    return onlyProvider(url, { wires, accounts: Array.from({ length: accounts }, (_, at) => account(at)) })
  }
}

const CHAT_PATH = '/v1/chat/completions'
const MODEL = { model: 'vendorB-5.5' }

const ASKED: [string, Asked][] = [
  [
    'passes',
    { begun: CHAT.begin + CHAT.word('hello'), config: only(['chat-completions']), path: CHAT_PATH, members: MODEL },
  ],
  [
    'passes in short turns',
    {
      begun: CHAT.begin + CHAT.word('hello'),
      config: only(['chat-completions']),
      path: CHAT_PATH,
      members: MODEL,
      lines: 3,
    },
  ],
  [
    'could have gone elsewhere',
    { begun: CHAT.begin + CHAT.word('hello'), config: only(['chat-completions'], 3), path: CHAT_PATH, members: MODEL },
  ],
  [
    'is translated',
    { begun: MESSAGES.begin + MESSAGES.word('hello'), config: only(['messages']), path: CHAT_PATH, members: MODEL },
  ],
]

test.each(ASKED)(
  'a stream that %s holds nothing of its prompt',
  async (_, asked) => {
    expect(await heldFor(asked)).toBeLessThan(MOST)
  },
  120_000,
)
