// However an exchange ends, what was produced is billed, no more and no less, once, and nothing stays held.

import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { CODECS } from '../../src/wire/index.ts'
import { connect, rawPost } from '../chaos/support/socket.ts'
import { gate, type Script } from '../support/provider/scripted.ts'
import {
  booksOf,
  CROSSINGS,
  latestOf,
  loadTokenizer,
  MODEL_OF,
  type Money,
  requestOn,
  spoken,
  startMoney,
  toldButOpen,
  totalOf,
} from './support.ts'

let money: Money
beforeAll(async () => {
  await loadTokenizer()
  money = await startMoney()
})
afterAll(() => money.stop())

const WORDS = ['The ', 'quick ', 'brown ', 'fox ', 'jumps ', 'over ', 'the ', 'lazy ', 'dog.']
const SAID = countTokens(WORDS.join(''))
const billed = { input: 1_234, cached: 100, output: 77 }

/** Providers may be silent for so long in the middle of a stream. */
const silentFor = (idleMs: number): void => {
  for (const provider of money.server.gateway.providers.values())
    provider.timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs, totalMs: 5_000 }
}

/** Circuits are closed again: what failed before is no reason not to be asked. */
const settleDown = (): void => {
  silentFor(5_000)
  const { health } = money.server.gateway
  for (const { target } of health.states()) health.succeeded(target)
}

const expectBooks = async (id: string, total: number): Promise<void> => {
  await money.idle()
  expect(await booksOf(money, id)).toMatchObject({ rows: 1, total, used: total, held: 0, sums: [total, total, total] })
  expect(money.server.gateway.ledger.openCount()).toBe(0)
}

/** Fewer than a tokenizer counts. */
const few = { ...billed, output: 5 }

/** Reads until all words are heard, and gives what reads the rest. */
const hear = async (response: Response, last = 'dog.'): Promise<() => Promise<string>> => {
  const reader = response.body?.getReader()
  const text = new TextDecoder()
  let heard = ''
  const until = async (word: string | undefined): Promise<string> => {
    while (word === undefined || !heard.includes(word)) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done && word !== undefined) throw new Error(`ended with ${heard}`)
      if (done) break
      heard += text.decode(value, { stream: true })
    }
    return heard
  }
  await until(last)
  return () => until(undefined)
}

describe.each(CROSSINGS)('%s → %s', (client, provider) => {
  /** Only the messages wire tells its input before its end. */
  const input = (estimate: number): number => (provider === 'messages' ? billed.input + billed.cached : estimate)
  const start = () => {
    settleDown()
    return money.issue({ tokensTotal: 100_000 })
  }

  test('a client that disconnects in the middle pays for the output so far', async () => {
    const { id, secret } = await start()
    const silence = gate()
    money.answers((wire) => spoken(wire, true, { billed, steps: [...WORDS, silence] }))
    const leaving = new AbortController()
    const from = money.provider.requests.length
    const response = await money.ask(client, provider, { secret, stream: true, signal: leaving.signal })
    await hear(response)
    leaving.abort()
    const request = await money.provider.arrived(from)
    expect(await request.closed).toBe('aborted')
    await money.idle()
    const row = await money.row(response)
    expect(row).toMatchObject({ outcome: 'aborted', estimated: true, output: SAID })
    await expectBooks(id, input(row.inputEstimate) + SAID)
  })

  test('a stream that breaks off in the middle is billed by its output so far', async () => {
    const { id, secret } = await start()
    const heard = gate()
    money.answers((wire) => spoken(wire, true, { billed, steps: [...WORDS, heard], end: 'cut' }))
    const response = await money.ask(client, provider, { secret, stream: true })
    const rest = await hear(response)
    heard.open()
    expect(await rest()).toContain('event: error')
    await money.idle()
    const row = await money.row(response)
    expect(row).toMatchObject({ outcome: 'failed', estimated: true, output: SAID })
    await expectBooks(id, input(row.inputEstimate) + SAID)
  })

  test('a stream that falls silent in the middle is billed by its output so far', async () => {
    const { id, secret } = await start()
    silentFor(300)
    money.answers((wire) => spoken(wire, true, { billed, steps: WORDS, end: 'stall' }))
    const response = await money.ask(client, provider, { secret, stream: true })
    expect(await response.text()).toContain('gateway_timeout')
    await money.idle()
    const row = await money.row(response)
    expect(row).toMatchObject({ outcome: 'failed', errorCode: 'gateway_timeout', output: SAID })
    await expectBooks(id, input(row.inputEstimate) + SAID)
  })

  test('a client that disconnects after the terminal event pays the provider’s figures', async () => {
    const { id, secret } = await start()
    money.answers((wire) => spoken(wire, true, { billed, steps: WORDS }))
    const leaving = new AbortController()
    const response = await money.ask(client, provider, { secret, stream: true, signal: leaving.signal })
    await response.text()
    leaving.abort()
    await money.idle()
    expect(await money.row(response)).toMatchObject({ outcome: 'done', estimated: false, output: billed.output })
    await expectBooks(id, billed.input + billed.cached + billed.output)
  })

  test('a stream that ends behind the provider’s last figures, without its own end, is billed by them', async () => {
    const { id, secret } = await start()
    money.answers((wire) => toldButOpen(wire, { billed: few, steps: WORDS }))
    const response = await money.ask(client, provider, { secret, stream: true })
    // On chat-completions and messages these are the end of some servers' streams.
    const ended = provider !== 'responses'
    expect((await response.text()).includes('event: error')).toBe(!ended)
    await money.idle()
    const outcome = ended ? 'done' : 'failed'
    expect(await money.row(response)).toMatchObject({ outcome, estimated: false, output: few.output })
    await expectBooks(id, few.input + few.cached + few.output)
  })

  const nothing: [string, Script][] = [
    ['refuses', { status: 400, steps: ['{"error":{"message":"no"}}'] }],
    ['is overloaded', { status: 529, steps: ['{"error":{"message":"no"}}'] }],
    ['fails', { status: 500, steps: ['no'] }],
    ['resets the connection', { end: 'reset' }],
    ['answers with a page', { headers: { 'content-type': 'text/html' }, steps: ['<html>'] }],
    ['sends no answer in its answer', { steps: ['{'] }],
  ]
  for (const stream of [false, true]) {
    test.each(nothing)(`an exchange whose provider %s is not billed (stream: ${stream})`, async (_, script) => {
      const { id, secret } = await start()
      money.answers(() => script)
      const response = await money.ask(client, provider, { secret, stream })
      expect(response.status).toBeGreaterThanOrEqual(400)
      await response.text()
      await money.idle()
      expect(totalOf(await money.row(response))).toBe(0)
      expect((await money.row(response)).costMicroUsd).toBe(0)
      await expectBooks(id, 0)
    })
  }

  test('a stream that ends before its first output is not billed', async () => {
    const { id, secret } = await start()
    money.answers(() => ({ headers: { 'content-type': 'text/event-stream' }, steps: [] }))
    const response = await money.ask(client, provider, { secret, stream: true })
    await response.text()
    expect(response.status).toBe(502)
    await expectBooks(id, 0)
  })

  test('a client that disconnects before a JSON answer pays for the prompt', async () => {
    const { id, secret } = await start()
    money.answers(() => ({ end: 'hang' }))
    const leaving = new AbortController()
    const from = money.provider.requests.length
    const asking = money.ask(client, provider, { secret, signal: leaving.signal }).catch(() => undefined)
    const request = await money.provider.arrived(from)
    leaving.abort()
    await asking
    expect(await request.closed).toBe('aborted')
    await money.idle()
    const row = await latestOf(money, id)
    expect(row).toMatchObject({ outcome: 'aborted', estimated: true, output: 0, input: row?.inputEstimate })
    await expectBooks(id, row?.inputEstimate ?? -1)
  })

  test('an answer without usage is counted by the tokenizer', async () => {
    const { id, secret } = await start()
    money.answers((wire) => spoken(wire, true, { steps: WORDS, figures: false }))
    const row = await money.exchange(client, provider, { secret, stream: true })
    expect(row).toMatchObject({ outcome: 'done', estimated: true, output: SAID, input: row.inputEstimate })
    await expectBooks(id, totalOf(row))
  })

  test('a whole answer without usage is counted by what its model wrote', async () => {
    const { id, secret } = await start()
    money.answers((wire) => spoken(wire, false, { figures: false }))
    const row = await money.exchange(client, provider, { secret })
    expect(row).toMatchObject({
      outcome: 'done',
      estimated: true,
      output: countTokens('hello'),
      input: row.inputEstimate,
    })
    await expectBooks(id, totalOf(row))
  })

  test('an answer with only the usage of its beginning is counted by the tokenizer', async () => {
    const { id, secret } = await start()
    money.answers((wire) => spoken(wire, true, { billed, steps: WORDS, figures: 'begun' }))
    const row = await money.exchange(client, provider, { secret, stream: true })
    expect(row).toMatchObject({ outcome: 'done', estimated: true, output: SAID })
    await expectBooks(id, input(row.inputEstimate) + SAID)
  })

  test.each([true, false])('a prompt without reported tokens is estimated (stream: %s)', async (stream) => {
    const { id, secret } = await start()
    money.answers((wire) => spoken(wire, stream, { billed, steps: WORDS, figures: 'output' }))
    const row = await money.exchange(client, provider, { secret, stream })
    expect(row).toMatchObject({ outcome: 'done', estimated: true, output: billed.output, input: row.inputEstimate })
    await expectBooks(id, row.inputEstimate + billed.output)
  })
})

const thought = 'I should look it up.'
const call = '{"city":"Phnom Penh"}'
const sealed = Buffer.from('not a word of the model '.repeat(50)).toString('base64')
const answers: [ChatWire, object, string][] = [
  [
    'messages',
    {
      ...{
        id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
        type: 'message',
        role: 'assistant',
        model: 'up',
        stop_reason: 'tool_use',
      },
      content: [
        { type: 'thinking', thinking: thought, signature: sealed },
        { type: 'tool_use', id: 'toolu_01T1x1fJ34qAmk2tNTrN7Up6', name: 'get_weather', input: JSON.parse(call) },
      ],
    },
    thought + call,
  ],
  [
    'responses',
    {
      ...{ id: 'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b', object: 'response', model: 'up' },
      ...{ created_at: 1, status: 'completed', error: null, incomplete_details: null },
      output: [
        {
          ...{
            type: 'reasoning',
            id: 'rs_6888f6d0606c819aa8205ecee386963f0e683233d39188e7',
            encrypted_content: sealed,
          },
          summary: [{ type: 'summary_text', text: thought }],
        },
        {
          ...{ type: 'function_call', id: 'fc_12345xyz', call_id: 'call_12345xyz', status: 'completed' },
          ...{ name: 'get_weather', arguments: call },
        },
      ],
    },
    thought + call,
  ],
  [
    'chat-completions',
    {
      ...{ id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT', object: 'chat.completion', created: 1, model: 'up' },
      choices: [
        { index: 0, message: { role: 'assistant', content: thought, refusal: null }, finish_reason: 'stop' },
        {
          index: 1,
          message: {
            ...{ role: 'assistant', content: null, refusal: null },
            tool_calls: [{ id: 'call_abc123', type: 'function', function: { name: 'get_weather', arguments: call } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    },
    thought + call,
  ],
]
test.each(answers)('ids, names and seals of an answer without usage cost nothing: %s', async (wire, body, written) => {
  settleDown()
  const { id, secret } = await money.issue({ tokensTotal: 100_000 })
  money.answers(() => ({ steps: [JSON.stringify(body)] }))
  const several = wire === 'chat-completions' ? { n: 2 } : {}
  const row = await money.exchange(wire, wire, { secret, body: several })
  expect(row).toMatchObject({ outcome: 'done', estimated: true, output: countTokens(written) })
  await expectBooks(id, totalOf(row))
})

test.each(['messages', 'chat-completions'] as const)(
  'a client that disconnects behind the provider’s last figures pays them: %s',
  async (wire) => {
    settleDown()
    const { id, secret } = await money.issue({ tokensTotal: 100_000 })
    money.answers(() => toldButOpen(wire, { billed: few, steps: WORDS, end: 'stall' }))
    const leaving = new AbortController()
    const body = wire === 'messages' ? {} : { stream_options: { include_usage: true } }
    const response = await money.ask(wire, wire, { secret, stream: true, signal: leaving.signal, body })
    await hear(response, `_tokens":${few.output}`)
    leaving.abort()
    await money.idle()
    expect(await money.row(response)).toMatchObject({ outcome: 'aborted', estimated: false, output: few.output })
    await expectBooks(id, few.input + few.cached + few.output)
  },
)

test.each([
  ['are not the last', few, SAID],
  ['stand where they are more than was written', billed, billed.output],
])('figures told before the last of the text %s', async (_, told, output) => {
  settleDown()
  const { id, secret } = await money.issue({ tokensTotal: 100_000 })
  const { steps, ...script } = toldButOpen('chat-completions', { billed: told, steps: WORDS })
  const [opening = '', ...rest] = steps as string[]
  const [finish = ''] = rest.splice(-1)
  money.answers(() => ({ ...script, steps: [opening, finish, ...rest] }))
  const row = await money.exchange('chat-completions', 'chat-completions', { secret, stream: true })
  expect(row).toMatchObject({ estimated: true, output })
  await expectBooks(id, told.input + told.cached + output)
})

test.each(CHAT_WIRES)(
  'figures told before the last of the text are not the last, though its stream ends as it should: to %s',
  async (client) => {
    settleDown()
    const { id, secret } = await money.issue({ tokensTotal: 100_000 })
    const { steps, ...script } = spoken('chat-completions', true, { billed: few, steps: WORDS })
    const [opening = '', ...words] = steps as string[]
    const [stop, figures, done] = words.pop()?.split(/(?<=\n\n)/) ?? []
    money.answers(() => ({ ...script, steps: [opening, `${figures}`, ...words, `${stop}${done}`] }))
    const row = await money.exchange(client, 'chat-completions', { secret, stream: true })
    expect(row).toMatchObject({ outcome: 'done', estimated: true, output: SAID })
    await expectBooks(id, few.input + few.cached + SAID)
  },
)

test.each(CHAT_WIRES)('figures of a response that has only begun are not of all of it: to %s', async (client) => {
  settleDown()
  const { id, secret } = await money.issue({ tokensTotal: 100_000 })
  const { steps, ...script } = spoken('responses', true, { steps: WORDS, figures: 'begun' })
  const [opening = '', ...rest] = steps as string[]
  const nothing = '"usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0}'
  money.answers(() => ({ ...script, steps: [opening.replace('"usage":null', nothing), ...rest] }))
  const row = await money.exchange(client, 'responses', { secret, stream: true })
  expect(row).toMatchObject({ outcome: 'done', estimated: true, output: SAID, input: row.inputEstimate })
  await expectBooks(id, totalOf(row))
})

test.each(['close', 'stall'] as const)(
  'a prompt reported by its cache figures alone is not estimated besides: %s',
  async (end) => {
    settleDown()
    const { id, secret } = await money.issue({ tokensTotal: 100_000 })
    const { steps, ...script } = spoken('messages', true, { billed, steps: WORDS, end })
    silentFor(300)
    const told = (steps as string[]).map((step) => step.replace('"input_tokens":1234,', ''))
    money.answers(() => ({ ...script, steps: told }))
    await (await money.ask('messages', 'messages', { secret, stream: true })).text()
    await expectBooks(id, billed.cached + (end === 'close' ? billed.output : SAID))
  },
)

test.each([false, true])(
  'a fault of the gateway itself is written down as what the client got (stream: %s)',
  async (stream) => {
    const { id, secret } = await money.issue({ tokensTotal: 100_000 })
    const fault = spyOn(money.server.gateway.health, 'allows').mockImplementation(() => {
      throw new Error('a fault')
    })
    const response = await money.ask('messages', 'messages', { secret, stream }).finally(() => fault.mockRestore())
    expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'internal_error' } }])
    await expectBooks(id, 0)
    expect(await money.row(response)).toMatchObject({ outcome: 'failed', status: 500, errorCode: 'internal_error' })
  },
)

test('a fault of the gateway itself within a stream is in the log, and does not count against the provider', async () => {
  settleDown()
  const { id, secret } = await money.issue({ tokensTotal: 100_000 })
  const { health, log } = money.server.gateway
  const said: string[] = []
  const logged = spyOn(log, 'error').mockImplementation((message, facts) => {
    said.push(`${message} ${JSON.stringify(facts)}`)
  })
  const { tap } = CODECS.messages
  const faulty = spyOn(CODECS.messages, 'tap').mockImplementation((options) => {
    const made = tap(options)
    const { see } = made
    made.see = (frame) => {
      if (frame.event === 'message_delta') throw new TypeError('no such member')
      return see(frame)
    }
    return made
  })
  const heard = gate()
  money.answers(() => spoken('messages', true, { billed, steps: [...WORDS, heard] }))
  const rest = await hear(await money.ask('messages', 'messages', { secret, stream: true }))
  heard.open()
  const text = await rest()
  faulty.mockRestore()
  logged.mockRestore()
  expect(text).toContain('"code":"internal_error"')
  expect(said).toHaveLength(1)
  expect(said[0]).toContain('no such member')
  expect(health.states().filter(({ failing }) => failing !== undefined)).toEqual([])
  await expectBooks(id, billed.input + billed.cached + SAID)
})

describe('a stream begun early', () => {
  test.each([true, false])('bills the prompt if its client disconnects before any output: %s', async (leaves) => {
    settleDown()
    const { gateway } = money.server
    const before = gateway.earlyStartMs
    gateway.earlyStartMs = 10
    try {
      const { id, secret } = await money.issue({ tokensTotal: 100_000 })
      const late = gate()
      money.answers(async () => {
        await late.opened
        return { status: 500 }
      })
      const from = money.provider.requests.length
      const socket = connect(money.url)
      socket.write(rawPost('/v1/messages', secret, JSON.stringify(requestOn('messages', MODEL_OF.messages, true))))
      await socket.hears('200 OK')
      const request = await money.provider.arrived(from)
      if (leaves) {
        socket.socket.destroy()
        expect(await request.closed).toBe('aborted')
      }
      late.open()
      if (!leaves) await socket.hears('upstream_error')
      await money.idle()
      socket.socket.destroy()
      const row = await latestOf(money, id)
      expect(row?.outcome).toBe(leaves ? 'aborted' : 'failed')
      await expectBooks(id, leaves ? (row?.inputEstimate ?? -1) : 0)
    } finally {
      gateway.earlyStartMs = before
    }
  })
})

describe.each(CROSSINGS)('to a client of %s what a provider of %s', (client, provider) => {
  describe.each([true, false])('tells of its answer (stream: %p)', (stream) => {
    const tell = (told: { input: number; cached?: number; output: number }) =>
      money.answers((wire) => spoken(wire, stream, { billed: told }))

    test('as all zeros is counted', async () => {
      tell({ input: 0, output: 0 })
      const row = await money.exchange(client, provider, { stream })
      expect(row).toMatchObject({ outcome: 'done', output: countTokens('hello'), estimated: true })
      expect(row.input).toBe(row.inputEstimate)
    })

    test('as no prompt keeps its output, and the prompt is estimated', async () => {
      tell({ input: 0, output: 41 })
      const row = await money.exchange(client, provider, { stream })
      expect(row).toMatchObject({ output: 41, estimated: true })
      expect(row.input).toBe(row.inputEstimate)
    })

    test('as no output keeps its prompt, and the output is counted', async () => {
      tell({ input: 9, output: 0 })
      const row = await money.exchange(client, provider, { stream })
      expect(row).toMatchObject({ input: 9, output: countTokens('hello'), estimated: true })
    })

    test('as a prompt that was cached to the last token is final', async () => {
      tell({ input: 0, cached: 64, output: 41 })
      const row = await money.exchange(client, provider, { stream })
      expect(row).toMatchObject({ input: 0, cacheRead: 64, output: 41, estimated: false })
    })
  })
})
