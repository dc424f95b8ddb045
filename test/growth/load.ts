// Clients that ask one after the other, wherever they come, some of whom leave in the midst; and what each of them heard.

import { expect } from 'bun:test'
import { CHAT, SSE } from '../chaos/support/stories.ts'
import type { Handler, Script } from '../support/provider/scripted.ts'
import type { Fleet, Node, Settled } from './fleet.ts'

/** Answers of many lengths, as the vendor bills them: none is longer than it may be. */
export const varied: Handler = ({ text }, index): Script => {
  const { max_tokens: most, stream } = JSON.parse(text) as { max_tokens: number; stream?: boolean }
  const output = Math.min(most, 1 + ((index * 7) % 40))
  const usage = `"completion_tokens":${output},"total_tokens":${3 + output}`
  const billed = (words: string): string => words.replace('"completion_tokens":5,"total_tokens":8', usage)
  if (stream !== true) return { steps: [billed(JSON.stringify(CHAT.answer))] }
  return { headers: SSE, steps: [CHAT.begin, CHAT.word('hel'), CHAT.word('lo'), billed(CHAT.end)] }
}

export type Tally = {
  /** How many ended how: `done`, `left` by the client, `cut`, `unreachable`, or the status of a refusal. */
  ends: Map<string, number>
  /** Answers that a client had whole: the request's id, and the tokens that it was told. */
  whole: Map<string, number>
  /** By its status, the last refusal's words. */
  words: Map<string, string>
}

export type Load = {
  tally: Tally
  /** Of answers that were whole so far. */
  done(): number
  /** Once each client has asked as often as it is to. */
  ended: Promise<Tally>
  /** No more is asked; resolves once all that was has ended. */
  stop(): Promise<Tally>
}

type LoadOptions = {
  secrets: readonly string[]
  clients?: number
  /** The nodes that are asked; all by default. */
  among?: () => readonly Node[]
  /** Each client asks so often; until it is stopped by default. */
  each?: number
}

/** As a client that was refused waits before it asks again. */
const PAUSE_MS = 20

export const startLoad = (fleet: Pick<Fleet, 'all'>, options: LoadOptions): Load => {
  const { secrets, clients = 16, among = () => fleet.all, each = Number.POSITIVE_INFINITY } = options
  const tally: Tally = { ends: new Map(), whole: new Map(), words: new Map() }
  let isOver = false
  let asked = 0
  const client = async (): Promise<void> => {
    for (let turn = 0; turn < each && !isOver; turn++) {
      const at = asked++
      const nodes = among()
      const node = nodes[at % nodes.length]
      const secret = secrets[(at * 7) % secrets.length]
      if (node === undefined || secret === undefined) throw new Error('nobody to ask')
      const end = await askOnce(node, secret, at, tally)
      tally.ends.set(end, (tally.ends.get(end) ?? 0) + 1)
      if (end !== 'done' && end !== 'left') await Bun.sleep(PAUSE_MS)
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, client)).then(() => tally)
  return {
    tally,
    done: () => tally.ends.get('done') ?? 0,
    ended,
    stop() {
      isOver = true
      return ended
    },
  }
}

const askOnce = async (node: Node, secret: string, at: number, { whole, words }: Tally): Promise<string> => {
  const stream = at % 3 === 0
  const leaves = at % 15 === 0
  const leaving = new AbortController()
  let response: Response
  try {
    const more = stream ? { stream, stream_options: { include_usage: true } } : {}
    response = await node.ask(secret, more, { signal: leaving.signal })
  } catch {
    return 'unreachable'
  }
  try {
    if (leaves && response.status === 200) {
      leaving.abort()
      return 'left'
    }
    const text = await response.text()
    if (response.status !== 200) {
      words.set(String(response.status), text)
      return String(response.status)
    }
    if (stream && !text.includes('[DONE]')) return text.includes('"error"') ? 'failed' : 'cut'
    const output = /"completion_tokens":(\d+)/.exec(text)?.[1]
    whole.set(response.headers.get('x-request-id') ?? '', Number(output))
    return 'done'
  } catch {
    return 'cut'
  }
}

/** What a client had whole is in the books, once, by the tokens that it was told. */
export const requireBilled = ({ whole }: Tally, rows: readonly Settled[]): void => {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const wrong = [...whole].flatMap(([id, output]) => {
    const row = byId.get(id)
    return row?.outcome === 'done' && row.output === output ? [] : [{ id, output, row }]
  })
  expect(wrong).toEqual([])
}

/** Of those that a test does not expect. */
export const endedOtherwise = ({ ends, words }: Tally, ...expected: string[]): string[] =>
  [...ends].flatMap(([end, count]) =>
    ['done', 'left', ...expected].includes(end) ? [] : [`${count} ${end} ${words.get(end) ?? ''}`],
  )
