// The official SDKs, unmodified, each of whose requests goes to another of two nodes: conversations by id, background answers and
// streams go on wherever they were begun, at once.

import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { type DemoProviders, startDemoProviders } from '../../src/demo/index.ts'
import { postgresMissing } from '../support/postgres.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { until } from './fleet.ts'
import { type Nodes, startNodes } from './nodes.ts'

const stopping = stopsAfterEach()

const MODELS = ['vendorA-opus-4-8', 'vendorB-5.5'] as const
const account = (vendor: string) => ({
  ...{ base_url: `env:VENDOR_${vendor}_BASE_URL`, credential: `env:VENDOR_${vendor}_API_KEY` },
})

type Both = { nodes: Nodes; demo: DemoProviders; openai: OpenAI; anthropic: Anthropic; answered: number[] }

/** `answered`: the nodes that the requests went to, in order. */
const both = async ({ accounts = ['main'] }: { accounts?: string[] } = {}): Promise<Both> => {
  const demo = stopping(await startDemoProviders())
  const of = (vendor: string) => ({ accounts: accounts.map((name) => ({ name, ...account(vendor) })) })
  const file = {
    models: { 'vendorA-opus-4-8': { upstream: 'opus-4-8-20260101' }, 'vendorB-5.5': { upstream: 'five-5-2026-04' } },
    providers: {
      vendor_a: { wires: ['messages' as const], ...of('A') },
      vendor_b: { wires: ['responses' as const, 'chat-completions' as const], ...of('B') },
    },
  }
  const nodes = stopping(await startNodes(2, file, { env: () => demo.env }))
  const answered: number[] = []
  const inTurn = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const at = answered.length % 2
    answered.push(at)
    return fetch(String(url).replace('http://node', nodes.at(at).url), init)
  }
  const settings = { apiKey: nodes.secret, maxRetries: 0, fetch: inTurn as typeof fetch }
  const openai = new OpenAI({ ...settings, baseURL: 'http://node/v1' })
  return { nodes, demo, openai, anthropic: new Anthropic({ ...settings, baseURL: 'http://node' }), answered }
}

type Continuing = { model: string; input: string; previous_response_id: string | null }

const parameters = { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] }
const tool = { type: 'function' as const, name: 'get_weather', description: 'Weather', parameters, strict: false }

describe.skipIf(postgresMissing !== undefined)('the official SDKs going back and forth between two nodes', () => {
  test.each(MODELS)(
    'go on with %s by the id of the last answer, made at the other node a moment ago',
    async (model) => {
      const { nodes, openai, answered } = await both()
      let previous: string | null = null
      let before = 0
      for (let turn = 0; turn < 6; turn++) {
        const asked: Continuing = { model, input: `turn ${turn}`, previous_response_id: previous }
        const response: OpenAI.Responses.Response =
          turn % 3 === 2
            ? await openai.responses.stream(asked).finalResponse()
            : await openai.responses.create({ ...asked, stream: false })
        expect(response.output_text).toContain(`turn ${turn}`)
        // All that was said before is part of the prompt.
        const input = response.usage?.input_tokens ?? 0
        expect(input).toBeGreaterThan(before)
        before = input
        previous = response.id
      }
      expect(answered).toEqual([0, 1, 0, 1, 0, 1])
      await nodes.books()
    },
  )

  test.each(MODELS)('call a tool of %s at one and bring its result to the other', async (model) => {
    const { openai } = await both()
    const first = await openai.responses.create({ model, tools: [tool], input: 'weather in Paris' })
    const call = first.output.find((item) => item.type === 'function_call')
    expect(call?.arguments).toBe('{"location":"Paris"}')
    const second = await openai.responses.create({
      ...{ model, tools: [tool], previous_response_id: first.id },
      input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'drizzle' }],
    })
    expect(second.output_text).toContain('The tool answered: drizzle')
  })

  test('read, list and remove an answer that the other translated', async () => {
    const { openai } = await both()
    const made = await openai.responses.create({ model: 'vendorA-opus-4-8', input: 'Hello you' })
    for (let i = 0; i < 2; i++) {
      expect((await openai.responses.retrieve(made.id)).output_text).toBe(made.output_text)
      const { data } = await openai.responses.inputItems.list(made.id)
      expect(JSON.stringify(data)).toContain('Hello you')
    }
    await openai.responses.delete(made.id)
    for (let i = 0; i < 2; i++)
      expect(await openai.responses.retrieve(made.id).catch((error: unknown) => error)).toBeInstanceOf(
        OpenAI.NotFoundError,
      )
  })

  test('ask for an answer in the background at either until it is over', async () => {
    const { nodes, openai, answered } = await both()
    let response = await openai.responses.create({ model: 'vendorB-5.5', input: 'Hello you', background: true })
    expect(response.status).toBe('queued')
    for (let i = 0; i < 2 || response.status !== 'completed'; i++)
      response = await openai.responses.retrieve(response.id)
    expect(response.output_text).toContain('“Hello you”')
    expect(new Set(answered)).toEqual(new Set([0, 1]))
    await until(async () => (await nodes.reading.query('SELECT 1 FROM reservations')).length === 0)
    const [row] = await nodes.books()
    expect(row).toMatchObject({ outcome: 'done', output: response.usage?.output_tokens })
  })

  test('cancel and remove at one what was begun at the other, and read its stream again there', async () => {
    const { nodes, openai } = await both()
    const { id } = await openai.responses.create({ model: 'vendorB-5.5', input: 'Hello you', background: true })
    expect((await openai.responses.cancel(id)).status).toBe('cancelled')
    await until(async () => (await nodes.reading.query('SELECT 1 FROM reservations')).length === 0)
    await openai.responses.delete(id)
    expect(await openai.responses.retrieve(id).catch((error: unknown) => error)).toBeInstanceOf(OpenAI.NotFoundError)
    const stream = await openai.responses.create({
      ...{ model: 'vendorB-5.5', input: 'Hello again', background: true, stream: true },
    })
    let [made, text, whole, at] = ['', '', '', 0]
    for await (const event of stream) {
      if (event.type === 'response.created') made = event.response.id
      if (event.type === 'response.output_text.delta') text += event.delta
      at = event.sequence_number
      if (text.length > 5) break
    }
    for await (const event of await openai.responses.retrieve(made, { stream: true, starting_after: at })) {
      if (event.type === 'response.output_text.delta') text += event.delta
      if (event.type === 'response.output_text.done') whole = event.text
    }
    expect(text).toBe(whole)
    expect(text).toContain('“Hello again”')
    await until(async () => (await nodes.reading.query('SELECT 1 FROM reservations')).length === 0)
    expect((await nodes.books()).map(({ outcome }) => outcome)).toEqual(['aborted', 'done'])
  })

  test.each(MODELS)('run a tool on messages with %s to the end', async (model) => {
    const { anthropic } = await both()
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'weather in Paris' }]
    const tools = [
      { name: 'get_weather', description: 'Weather', input_schema: { ...parameters, type: 'object' as const } },
    ]
    const first = await anthropic.messages.stream({ model, max_tokens: 500, messages, tools }).finalMessage()
    const use = first.content.find((block) => block.type === 'tool_use')
    expect(use?.input).toEqual({ location: 'Paris' })
    messages.push(
      { role: 'assistant', content: first.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: use?.id ?? '', content: 'fog' }] },
    )
    const second = await anthropic.messages.create({ model, max_tokens: 500, messages, tools })
    expect(second.content.map((block) => (block.type === 'text' ? block.text : '')).join('')).toContain('fog')
  })

  test('keep a conversation at the account that has its prompt, and an answer’s at the one that made it', async () => {
    const { demo, openai, anthropic, nodes } = await both({ accounts: ['one', 'two', 'three'] })
    const accountsOf = async (): Promise<(string | null)[]> =>
      (await nodes.reading.query<{ account: string | null }>('SELECT account FROM exchanges ORDER BY row')).map(
        ({ account: name }) => name,
      )
    for (let conversation = 0; conversation < 4; conversation++) {
      let previous: string | null = null
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: `conversation ${conversation}` }]
      for (let turn = 0; turn < 4; turn++) {
        const input = `${conversation}, turn ${turn}`
        const asked: Continuing = { model: 'vendorB-5.5', input, previous_response_id: previous }
        previous = (await openai.responses.create({ ...asked, stream: false })).id
        const { content } = await anthropic.messages.create({ model: 'vendorA-opus-4-8', max_tokens: 50, messages })
        messages.push({ role: 'assistant', content }, { role: 'user', content: 'go on' })
      }
    }
    expect(demo.requests).toHaveLength(32)
    await until(async () => (await accountsOf()).length === 32)
    const names = await accountsOf()
    for (const at of [0, 1, 2, 3])
      for (const wire of [0, 1])
        expect(new Set(names.slice(at * 8, at * 8 + 8).filter((_, i) => i % 2 === wire)).size).toBe(1)
  })

  test('find the account that made an answer as soon as the other node has ended it', async () => {
    const { openai, nodes } = await both({ accounts: ['one', 'two', 'three'] })
    for (let conversation = 0; conversation < 5; conversation++) {
      let previous: string | null = null
      for (let turn = 0; turn < 4; turn++) {
        const asked: Continuing = { model: 'vendorB-5.5', input: `turn ${turn}`, previous_response_id: previous }
        previous = (await openai.responses.create({ ...asked, stream: false })).id
      }
    }
    const accounts = (): Promise<{ account: string }[]> =>
      nodes.reading.query('SELECT account FROM exchanges ORDER BY row')
    await until(async () => (await accounts()).length === 20)
    const names = (await accounts()).map(({ account: name }) => name)
    for (let at = 0; at < 20; at += 4) expect(new Set(names.slice(at, at + 4)).size).toBe(1)
  })

  test('ask the other for what a node that was killed had begun to say', async () => {
    const { nodes, openai, anthropic } = await both()
    const input = '[[pace:50]] [[long:200]]'
    const read = async (stream: AsyncIterable<unknown>, begun: () => void): Promise<'done' | 'cut'> => {
      try {
        for await (const _ of stream) begun()
        return 'done'
      } catch {
        return 'cut'
      }
    }
    const chat = (content: string) =>
      openai.chat.completions.create({ model: 'vendorB-5.5', messages: [{ role: 'user', content }], stream: true })
    const said = (content: string) =>
      anthropic.messages.stream({ model: 'vendorA-opus-4-8', max_tokens: 500, messages: [{ role: 'user', content }] })
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const broken = read(await chat(input), first.resolve)
    // The other node's, which goes on.
    const kept = read(said('[[pace:5]] [[long:50]]'), second.resolve)
    await Promise.all([first.promise, second.promise])
    nodes.at(0).child.kill('SIGKILL')
    expect(await Promise.all([broken, kept])).toEqual(['cut', 'done'])
    // An SDK that may try again goes on by itself where the connection is refused.
    const again = new OpenAI({ apiKey: nodes.secret, baseURL: `${nodes.at(1).url}/v1`, maxRetries: 2 })
    const answer = await again.chat.completions.create({
      ...{ model: 'vendorB-5.5', messages: [{ role: 'user' as const, content: 'Hello you' }] },
    })
    expect(answer.choices[0]?.message.content).toContain('“Hello you”')
    await until(async () => (await nodes.reading.query('SELECT 1 FROM reservations')).length === 0)
    nodes.all.shift()
    const rows = await nodes.books()
    expect(rows.map(({ outcome }) => outcome).toSorted()).toEqual(['done', 'done', 'failed'])
  })
})
