// A gateway before a provider that says exactly what a test wants billed, on whichever wire the gateway reaches it.

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { CHAT_WIRES, type ChatWire, type Wire } from '../../src/ir/wire.ts'
import type { Key } from '../../src/keys/key.ts'
import { tokenize } from '../../src/relay/tokenizer.ts'
import type { Store } from '../../src/store/store.ts'
import type { ExchangeRow } from '../../src/store/usage.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { type Handler, type Script, type Scripted, type Step, startScripted } from '../support/provider/scripted.ts'

/** A model that is reached on this wire, whatever its client speaks. */
export const MODEL_OF: Record<ChatWire, string> = {
  messages: 'vendorA-opus-4-8',
  responses: 'vendorB-5.5',
  'chat-completions': 'vendorB-5.4',
}

/** Every client wire with every provider wire. */
export const CROSSINGS = CHAT_WIRES.flatMap((client) => CHAT_WIRES.map((provider) => [client, provider] as const))

/** Its tables take long to load on a busy machine, and a settlement does not wait for them: from here on they are there. */
export const loadTokenizer = async (): Promise<void> => {
  const text = 'The quick brown fox jumps over the lazy dog.'
  while ((await tokenize(text)) !== countTokens(text)) await Bun.sleep(20)
}

export type Money = TestGateway & {
  provider: Scripted
  /** What the provider does from now on; with the wire it was reached on, where that is one of text. */
  answers(handler: (wire: ChatWire, stream: boolean, ...rest: Parameters<Handler>) => Script | Promise<Script>): void
  /** The one row of an exchange, by the answer's request id. */
  row(response: Response): Promise<ExchangeRow>
  key(id: string): Key
  /** Asks on a wire for a model reached on another, with a key. */
  ask(client: ChatWire, provider: ChatWire, more?: Asked): Promise<Response>
  /** The same, read to its end and written down: its row. */
  exchange(client: ChatWire, provider: ChatWire, more?: Asked): Promise<ExchangeRow>
}

type Asked = { secret?: string; stream?: boolean; cap?: number; signal?: AbortSignal; body?: object }

export const startMoney = async (options: Parameters<typeof startGateway>[0] = {}): Promise<Money> => {
  let handler: Parameters<Money['answers']>[0] = (wire, stream) => spoken(wire, stream)
  const provider = await startScripted((request, index) => {
    const wire = (Object.keys(PATHS) as Wire[]).find((name) => PATHS[name] === request.path)
    if (wire === undefined) return { status: 404 }
    return handler(wire as ChatWire, JSON.parse(request.text).stream === true, request, index)
  })
  const models = (options.config?.models ?? BUILTIN_MODELS).map((model) =>
    model.id === MODEL_OF['chat-completions'] ? { ...model, provider: 'vendor_c' } : model,
  )
  const gateway = await startGateway({
    ...{ vendorA: provider.origin, vendorB: `${provider.origin}/v1`, ...options },
    config: { ...options.config, models },
  })
  const { providers, store } = gateway.server.gateway
  const vendorB = providers.get('vendor_b')
  if (vendorB === undefined || !(providers instanceof Map)) throw new Error('there is no vendor_b')
  // One provider for each wire, so that all of them are reached by every client.
  vendorB.wires = ['responses', 'images']
  providers.set('vendor_c', { ...vendorB, id: 'vendor_c', wires: ['chat-completions'] })
  const ask: Money['ask'] = (
    client,
    reached,
    { secret = gateway.secret, stream = false, cap, signal, body = {} } = {},
  ) =>
    gateway.post(
      PATHS[client],
      { ...requestOn(client, MODEL_OF[reached], stream, cap), ...body },
      { authorization: `Bearer ${secret}` },
      signal,
    )
  const row: Money['row'] = async (response) => {
    const [row] = await store.exchanges({ limit: 1, id: response.headers.get('x-request-id') ?? '' })
    if (row === undefined) throw new Error('the exchange has no row')
    return row
  }
  return {
    ...gateway,
    provider,
    ask,
    exchange: async (...asked) => {
      const response = await ask(...asked)
      await response.text()
      await gateway.idle()
      return row(response)
    },
    answers: (next) => {
      handler = next
    },
    row,
    key: (id) => {
      const key = store.keys.get(id)
      if (key === undefined) throw new Error('there is no such key')
      return key
    },
    stop: async () => {
      await gateway.stop()
      await provider.stop()
    },
  }
}

export const requestOn = (wire: ChatWire, model: string, stream: boolean, cap?: number): object => {
  const messages = [{ role: 'user', content: 'hi' }]
  if (wire === 'messages') return { model, stream, messages, max_tokens: cap ?? 1_000 }
  if (wire === 'responses')
    return { model, stream, input: 'hi', ...(cap === undefined ? {} : { max_output_tokens: cap }) }
  return { model, stream, messages, ...(cap === undefined ? {} : { max_completion_tokens: cap }) }
}

/** The cap a provider was sent, by whichever name its wire has for it. */
export const capOf = (text: string): number | undefined => {
  const body = JSON.parse(text)
  return body.max_tokens ?? body.max_completion_tokens ?? body.max_output_tokens
}

type Billed = { input: number; cached?: number; output: number }

const SSE = { 'content-type': 'text/event-stream; charset=utf-8' }

/**
 * A whole answer of a wire, or its stream: the opening, then `steps` (strings are words of the answer), then the end
 * with the usage. `end: 'stall'` and others as for any script.
 */
export const spoken = (
  wire: ChatWire,
  stream: boolean,
  { billed = { input: 3, output: 5 }, steps = ['hello'], end = 'close', figures = true }: Spoken = {},
): Script => {
  if (!stream) {
    const left = figures === true ? undefined : figures === 'output' ? withoutPrompt : withoutUsage
    return { steps: [JSON.stringify(WHOLE[wire](billed), left)] }
  }
  const { begin, word, finish } = STREAMS[wire]
  const pieces = [
    begin(billed),
    ...steps.map((step) => (typeof step === 'string' ? word(step) : step)),
    ...(end === 'close' ? [finish(billed)] : []),
  ]
  const told = (piece: Step, index: number): Step =>
    typeof piece !== 'string' || figures === true || (figures === 'begun' && index === 0)
      ? piece
      : piece.replace(/(?<=data: )\{.*\}/g, (data) =>
          JSON.stringify(JSON.parse(data), figures === 'output' ? withoutPrompt : withoutUsage),
        )
  return { headers: SSE, end, steps: pieces.map(told) }
}

/** A stream that tells its figures and then lacks its last frame. A response tells both at once, its failure among them. */
export const toldButOpen = (wire: ChatWire, { end = 'close', ...told }: Spoken): Script => {
  const { steps, ...script } = spoken(wire, true, told)
  const pieces = [...(steps as Step[])]
  const last = String(pieces.pop())
  const ending =
    wire === 'responses'
      ? last.replaceAll('response.completed', 'response.failed').replace(/"completed"(?=[^{}]*"output":)/, '"failed"')
      : last.replace(/(?<=\n\n)[^\n]+(\n[^\n]+)*\n\n$/, '')
  return { ...script, end, steps: [...pieces, ending] }
}

type Spoken = {
  billed?: Billed
  steps?: readonly Step[]
  end?: NonNullable<Script['end']>
  /** False: not a word of usage. `begun`: only with the opening of a stream. `output`: not a word of the prompt. */
  figures?: boolean | 'begun' | 'output'
}

const withoutUsage = (name: string, value: unknown): unknown => (name === 'usage' ? undefined : value)
const withoutPrompt = (name: string, value: unknown): unknown =>
  /^(input_tokens|prompt_tokens|total_tokens|cache_)/.test(name) ? undefined : value

const frame = (data: { type?: string; [name: string]: unknown }): string =>
  `${data.type === undefined ? '' : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`

const messagesUsage = ({ input, cached = 0, output }: Billed) => ({
  input_tokens: input,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: 0,
  output_tokens: output,
})
const chatUsage = ({ input, cached = 0, output }: Billed) => ({
  prompt_tokens: input + cached,
  completion_tokens: output,
  total_tokens: input + cached + output,
  prompt_tokens_details: { cached_tokens: cached },
})
const responsesUsage = ({ input, cached = 0, output }: Billed) => ({
  input_tokens: input + cached,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + cached + output,
})

const message = (billed: Billed, content: unknown[]) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'up', content, stop_reason: null, stop_sequence: null },
  usage: messagesUsage(billed),
})
const responseOf = (status: string, output: unknown[], usage: unknown) => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'up', status, output, usage, error: null },
  ...{ incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: true, tools: [] },
  ...{ temperature: 1, top_p: 1, tool_choice: 'auto' },
})
const part = (text: string) => ({ type: 'output_text', text, annotations: [] })
const item = (text: string) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part(text)] },
})
const chunk = (delta: object, finish: string | null = null) =>
  frame({
    ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'up' },
    choices: [{ index: 0, delta, finish_reason: finish }],
  })

const WHOLE: Record<ChatWire, (billed: Billed) => object> = {
  messages: (billed) => ({ ...message(billed, [{ type: 'text', text: 'hello' }]), stop_reason: 'end_turn' }),
  responses: (billed) => responseOf('completed', [item('hello')], responsesUsage(billed)),
  'chat-completions': (billed) => ({
    ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'up', usage: chatUsage(billed) },
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello', refusal: null }, finish_reason: 'stop' }],
  }),
}

const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }

/** Figures come as late as the wire has them: only the messages wire tells its input at the beginning. */
const STREAMS: Record<
  ChatWire,
  { begin(billed: Billed): string; word(text: string): string; finish(billed: Billed): string }
> = {
  messages: {
    begin: (billed) =>
      frame({ type: 'message_start', message: message({ ...billed, output: 1 }, []) }) +
      frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    word: (text) => frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    finish: (billed) =>
      frame({ type: 'content_block_stop', index: 0 }) +
      frame({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: billed.output },
      }) +
      frame({ type: 'message_stop' }),
  },
  responses: {
    begin: () =>
      frame({ type: 'response.created', sequence_number: 0, response: responseOf('in_progress', [], null) }) +
      frame({
        ...{ type: 'response.output_item.added', sequence_number: 1, output_index: 0 },
        item: { ...item(''), status: 'in_progress', content: [] },
      }) +
      frame({ type: 'response.content_part.added', sequence_number: 2, ...at, part: part('') }),
    word: (delta) => frame({ type: 'response.output_text.delta', sequence_number: 3, ...at, delta, logprobs: [] }),
    finish: (billed) =>
      frame({ type: 'response.output_text.done', sequence_number: 4, ...at, text: 'hello', logprobs: [] }) +
      frame({ type: 'response.content_part.done', sequence_number: 5, ...at, part: part('hello') }) +
      frame({ type: 'response.output_item.done', sequence_number: 6, output_index: 0, item: item('hello') }) +
      frame({
        ...{ type: 'response.completed', sequence_number: 7 },
        response: responseOf('completed', [item('hello')], responsesUsage(billed)),
      }),
  },
  'chat-completions': {
    begin: () => chunk({ role: 'assistant', content: '' }),
    word: (content) => chunk({ content }),
    finish: (billed) =>
      chunk({}, 'stop') +
      frame({
        ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [] },
        usage: chatUsage(billed),
      }) +
      'data: [DONE]\n\n',
  },
}

/** Tokens of all classes of a row. */
export const totalOf = (row: ExchangeRow): number =>
  (row.input ?? 0) + (row.cacheRead ?? 0) + (row.cacheWrite ?? 0) + (row.output ?? 0)

/** The newest exchanges, without requests that became none. */
export const exchangesOf = async (store: Pick<Store, 'exchanges'>, limit = 1_000_000): Promise<ExchangeRow[]> =>
  (await store.exchanges({ limit })).filter(({ refusal }) => refusal === null)

/** The key's latest exchange. */
export const latestOf = async ({ server }: Pick<TestGateway, 'server'>, id: string): Promise<ExchangeRow | undefined> =>
  (await exchangesOf(server.gateway.store)).find(({ keyId }) => keyId === id)

/** What a whole gateway must hold at rest: nothing open, nothing held, counters and sums equal to the rows. */
export const booksOf = async (money: Pick<TestGateway, 'server'>, keyId: string) => {
  const { ledger, store } = money.server.gateway
  const rows = (await exchangesOf(store)).filter((row) => row.keyId === keyId)
  const total = rows.reduce((sum, row) => sum + totalOf(row), 0)
  const by = async (which: 'key' | 'day' | 'model') =>
    (await store.usage({ by: which, keyIds: [keyId] })).rows.reduce(
      (sum, row) => sum + row.input + row.cacheRead + row.cacheWrite + row.output,
      0,
    )
  return {
    rows: rows.length,
    total,
    used: store.keys.get(keyId)?.tokensUsed,
    held: ledger.heldBy(keyId),
    sums: [await by('key'), await by('day'), await by('model')],
    cost: rows.reduce((sum, row) => sum + row.costMicroUsd, 0),
  }
}
