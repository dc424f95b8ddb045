// Conversations of other wires' agents at vendor_a's prompt cache: every turn reads what the turn before has sent.

import { describe, expect, test } from 'bun:test'
import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'

const { messages, responses, 'chat-completions': chat } = CHAT_CODECS
const target = { model: 'up', maxOutput: 32_000, quirks: {} }

/** The prompt as the vendor caches it, block by block; `marked` is where it writes and looks for what it has written. */
const promptOf = (body: JsonObject): { blocks: string[]; marked: number[] } => {
  const lists = [body.tools, body.system, ...objects(body.messages).map(({ content }) => content)]
  const all = lists.flatMap((list, at) =>
    (typeof list === 'string' ? [{ type: 'text', text: list }] : objects(list)).map((block) => ({ at, block })),
  )
  const marked = all.flatMap(({ block }, at) => (block.cache_control === undefined ? [] : [at]))
  if (body.cache_control !== undefined) marked.push(all.length - 1)
  expect(marked.length).toBeLessThanOrEqual(4)
  return { blocks: all.map(({ at, block: { cache_control: _, ...rest } }) => `${at} ${JSON.stringify(rest)}`), marked }
}

const objects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** How far back from each mark the vendor looks for a prefix that it has written, in blocks. */
const LOOKBACK = 20

/** Reads the longest prefix that was written, then writes one up to each mark. Returns how many blocks it has read. */
const vendorCache = () => {
  const written = new Set<string>()
  return ({ blocks, marked }: ReturnType<typeof promptOf>): number => {
    const prefix = (end: number): string => Bun.hash(blocks.slice(0, end + 1).join('\n')).toString()
    const found = marked.flatMap((mark) =>
      Array.from({ length: LOOKBACK }, (_, back) => mark - back).filter((end) => end >= 0 && written.has(prefix(end))),
    )
    for (const mark of marked) written.add(prefix(mark))
    return Math.max(-1, ...found) + 1
  }
}

const TURNS = 60
const ids = (turn: number, calls: number): string[] => Array.from({ length: calls }, (_, at) => `call_${turn}_${at}`)

/** The conversation with one more turn: what the model said and called, and the results. */
const CLIENTS = {
  chat: {
    codec: chat,
    begun: [
      { role: 'system', content: 'You are an agent.' },
      { role: 'user', content: 'Go' },
    ],
    turn: (turn: number, calls: number): JsonObject[] => [
      {
        role: 'assistant',
        content: `Turn ${turn}`,
        ...(calls === 0
          ? {}
          : {
              tool_calls: ids(turn, calls).map((id) => ({
                id,
                type: 'function',
                function: { name: 'f', arguments: `{"at":"${id}"}` },
              })),
            }),
      },
      ...ids(turn, calls).map((id) => ({ role: 'tool', tool_call_id: id, content: `Result of ${id}` })),
      ...(calls === 0 ? [{ role: 'user', content: `Go on ${turn}` }] : []),
    ],
    body: (list: JsonObject[], tools: string[]): JsonObject => ({
      model: 'm',
      messages: list,
      tools: tools.map((name) => ({
        type: 'function',
        function: { name, parameters: { type: 'object', properties: {} } },
      })),
    }),
  },
  responses: {
    codec: responses,
    begun: [{ role: 'user', content: 'Go' }],
    turn: (turn: number, calls: number): JsonObject[] => [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: `Turn ${turn}` }] },
      ...ids(turn, calls).map((id) => ({ type: 'function_call', call_id: id, name: 'f', arguments: `{"at":"${id}"}` })),
      ...ids(turn, calls).map((id) => ({ type: 'function_call_output', call_id: id, output: `Result of ${id}` })),
      ...(calls === 0 ? [{ role: 'user', content: `Go on ${turn}` }] : []),
    ],
    body: (list: JsonObject[], tools: string[]): JsonObject => ({
      model: 'm',
      instructions: 'You are an agent.',
      input: list,
      tools: tools.map((name) => ({ type: 'function', name, parameters: { type: 'object', properties: {} } })),
    }),
  },
}

describe.each(Object.entries(CLIENTS))('an agent on %s', (_, { codec, begun, turn, body }) => {
  type Asked = {
    calls: (turn: number) => number
    tools?: (turn: number) => string[]
    last?: (turn: number) => JsonObject[]
  }

  /** For each turn, how many blocks it reads, and how many the turns before it have sent. */
  const readings = ({ calls, tools = () => ['f'], last = () => [] }: Asked) => {
    const cache = vendorCache()
    const list: JsonObject[] = [...begun]
    const sent: number[] = []
    return Array.from({ length: TURNS }, (_, at) => {
      const asked = codec.decodeRequest(body([...list, ...last(at)], tools(at)))
      const prompt = promptOf(messages.encodeRequest(asked, target).body)
      const reading = { read: cache(prompt), before: sent.at(-1) ?? 0, earlier: sent.at(-2) ?? 0 }
      sent.push(prompt.blocks.length)
      list.push(...turn(at, calls(at)))
      return reading
    }).slice(3)
  }

  const COUNTS: [string, (at: number) => number][] = [
    ['one call', () => 1],
    ['nine calls', () => 9],
    ['ten calls', () => 10],
    ['thirty calls', () => 30],
    ['now and then many calls', (at) => (at % 7 === 3 ? 25 : 2)],
    ['no calls', () => 0],
  ]

  test.each(COUNTS)('reads all that the turn before has sent, with %s in a turn', (_, calls) => {
    for (const { read, before } of readings({ calls })) expect(read).toBe(before)
  })

  test.each(COUNTS)('reads all but one turn where each request ends with a reminder, with %s in a turn', (_, calls) => {
    const last = (at: number): JsonObject[] => [{ role: 'system', content: `It is ${at}.` }]
    for (const { read, earlier } of readings({ calls, last })) expect(read).toBe(earlier - 1)
  })

  test('reads all again after the turn with which its tools change', () => {
    const tools = (at: number): string[] => (at < 30 ? ['f'] : ['f', 'g'])
    const misses = readings({ calls: () => 30, tools }).filter(({ read, before }) => read < before)
    expect(misses).toHaveLength(1)
  })
})
