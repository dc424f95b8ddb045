// Two vendors on this machine that search the web, as the demo's do not: each answers a request that brings its own search
// with a search, what it found and a sentence that cites it, and calls an agent's tool for searching once where it has one.

import { asList, asObject, type Json, type JsonObject } from '../../src/ir/json.ts'
import { startGateway } from '../../test/support/gateway.ts'
import { type Script, startScripted } from '../../test/support/provider/scripted.ts'

const QUERY = 'canal locks'
const PAGE = { title: 'How locks lift boats', url: 'https://locks.example/how' }
/** What the vendors' models say of it: it reaches only who was searched for. */
export const FOUND = 'A lock lifts a boat by 7 metres'

const stream = (events: (JsonObject & { type: string })[]): Script => ({
  headers: { 'content-type': 'text/event-stream' },
  steps: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
})

/** The agent's tools that lead to a search: Claude Code's own, and the one by which it is told of that. */
const WAYS: [string, JsonObject][] = [
  ['WebSearch', { query: QUERY }],
  ['ToolSearch', { query: 'select:WebSearch', max_results: 1 }],
]

type Step = { call: string; input: JsonObject } | { say: string } | 'search'

/** What comes next in a conversation of those turns. */
const nextOf = (turns: readonly Json[], tools: readonly JsonObject[]): Step => {
  const history = JSON.stringify(turns)
  if (history.includes(`"name":"WebSearch"`)) {
    return {
      say:
        history.includes(FOUND) && history.includes(PAGE.url)
          ? `The search said: ${FOUND}.`
          : 'The search said nothing.',
    }
  }
  const way = WAYS.find(([name]) => tools.some((tool) => tool.name === name))
  if (way !== undefined) return { call: way[0], input: way[1] }
  return tools.some(({ type }) => `${type}`.startsWith('web_search')) ? 'search' : { say: 'Nothing to search with.' }
}

const usageA = { input_tokens: 20, output_tokens: 9, server_tool_use: { web_search_requests: 1 } }

const blocksOf = (sent: JsonObject): JsonObject[] => {
  const next = nextOf(asList(sent.messages), asList(sent.tools).map(asObject))
  if (next === 'search') {
    return [
      { type: 'server_tool_use', id: 'srvtoolu_01', name: 'web_search', input: { query: QUERY } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_01',
        content: [{ type: 'web_search_result', ...PAGE, encrypted_content: 'c2VhbGVk', page_age: null }],
      },
      {
        type: 'text',
        text: `${FOUND}.`,
        citations: [
          { type: 'web_search_result_location', ...PAGE, encrypted_index: 'aW5kZXg=', cited_text: `${FOUND}.` },
        ],
      },
    ]
  }
  if ('say' in next) return [{ type: 'text', text: next.say }]
  return [{ type: 'tool_use', id: `toolu_${next.call}`, name: next.call, input: next.input }]
}

const message = (sent: JsonObject): Script => {
  const blocks = blocksOf(sent)
  const stop_reason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
  const head = { id: 'msg_01', type: 'message', role: 'assistant', model: `${sent.model}`, stop_sequence: null }
  if (sent.stream !== true) return json({ ...head, content: blocks, stop_reason, usage: usageA })
  return stream([
    {
      type: 'message_start',
      message: { ...head, content: [], stop_reason: null, usage: { input_tokens: 20, output_tokens: 1 } },
    },
    ...blocks.flatMap((block, index) => {
      const { text, citations, input, ...rest } = block
      const opening = {
        ...rest,
        ...(text === undefined ? {} : { text: '' }),
        ...(input === undefined ? {} : { input: {} }),
      }
      return [
        { type: 'content_block_start', index, content_block: opening },
        ...(input === undefined
          ? []
          : [delta(index, { type: 'input_json_delta', partial_json: JSON.stringify(input) })]),
        ...asList(citations).map((citation) => delta(index, { type: 'citations_delta', citation })),
        ...(text === undefined ? [] : [delta(index, { type: 'text_delta', text })]),
        { type: 'content_block_stop', index },
      ]
    }),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: usageA },
    { type: 'message_stop' },
  ])
}

const delta = (index: number, of: JsonObject) => ({ type: 'content_block_delta', index, delta: of })

const json = (body: JsonObject): Script => ({
  headers: { 'content-type': 'application/json' },
  steps: [JSON.stringify(body)],
})

const usageB = {
  ...{ input_tokens: 20, input_tokens_details: { cached_tokens: 0 }, output_tokens: 9, total_tokens: 29 },
  output_tokens_details: { reasoning_tokens: 0 },
}

const said = (text: string, annotations: JsonObject[] = []): JsonObject => ({
  ...{ type: 'message', id: 'msg_01', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations, logprobs: [] }],
})

const itemsOf = (sent: JsonObject): JsonObject[] => {
  const next = nextOf(asList(sent.input), asList(sent.tools).map(asObject))
  if (next === 'search') {
    const cited = { type: 'url_citation', start_index: 0, end_index: FOUND.length, ...PAGE }
    const action = { type: 'search', query: QUERY, queries: [QUERY], sources: [{ type: 'url', url: PAGE.url }] }
    return [{ type: 'web_search_call', id: 'ws_01', status: 'completed', action }, said(`${FOUND}.`, [cited])]
  }
  if ('say' in next) return [said(next.say)]
  const call = { type: 'function_call', id: `fc_${next.call}`, call_id: `call_${next.call}`, status: 'completed' }
  return [{ ...call, name: next.call, arguments: JSON.stringify(next.input) }]
}

const response = (sent: JsonObject): Script => {
  const output = itemsOf(sent)
  const head = { id: 'resp_01', object: 'response', created_at: 1_790_000_000, model: `${sent.model}` }
  const whole = { ...head, status: 'completed', output, usage: usageB, error: null, incomplete_details: null }
  if (sent.stream !== true) return json(whole)
  const begun = { ...whole, status: 'in_progress', output: [], usage: null }
  const events: (JsonObject & { type: string })[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap((item, output_index) => {
      const at = { item_id: `${item.id}`, output_index }
      const done = { type: 'response.output_item.done', output_index, item }
      const added = (more: JsonObject) => ({
        type: 'response.output_item.added',
        output_index,
        item: { ...item, ...more, status: 'in_progress' },
      })
      if (item.type === 'web_search_call') {
        const steps = ['in_progress', 'searching', 'completed']
        return [
          added({ action: {} }),
          ...steps.map((step) => ({ type: `response.web_search_call.${step}`, ...at })),
          done,
        ]
      }
      if (item.type === 'function_call') {
        const of = { type: 'response.function_call_arguments.delta', ...at, delta: `${item.arguments}` }
        return [added({ arguments: '' }), of, done]
      }
      const part = asObject(asList(item.content)[0])
      const inPart = { ...at, content_index: 0 }
      return [
        added({ content: [] }),
        { type: 'response.content_part.added', ...inPart, part: { ...part, text: '', annotations: [] } },
        { type: 'response.output_text.delta', ...inPart, delta: `${part.text}`, logprobs: [] },
        ...asList(part.annotations).map((annotation, annotation_index) => ({
          type: 'response.output_text.annotation.added',
          ...inPart,
          ...{ annotation_index, annotation },
        })),
        { type: 'response.output_text.done', ...inPart, text: `${part.text}`, logprobs: [] },
        { type: 'response.content_part.done', ...inPart, part },
        done,
      ]
    }),
    { type: 'response.completed', response: whole },
  ]
  return stream(events.map((event, sequence_number) => ({ ...event, sequence_number })))
}

/** A gateway before both. `asked`: the tools that each request to a vendor had, for who wonders what became of a search. */
export const startSearching = async () => {
  const asked: string[] = []
  const vendor = (name: string, answer: (sent: JsonObject) => Script) =>
    startScripted(({ path, text }) => {
      const sent = asObject(JSON.parse(text || '{}'))
      asked.push(
        `${name} ${path}: ${asList(sent.tools)
          .map((tool) => asObject(tool).name ?? asObject(tool).type)
          .join(', ')}`,
      )
      return path.includes('count') || path.includes('input_tokens') ? json({ input_tokens: 20 }) : answer(sent)
    })
  const [a, b] = [await vendor('vendor_a', message), await vendor('vendor_b', response)]
  const gateway = await startGateway({ vendorA: a.origin, vendorB: `${b.origin}/v1` })
  const stop = async (): Promise<void> => {
    await gateway.stop()
    await a.stop()
    await b.stop()
  }
  return { url: gateway.url, key: gateway.secret, asked, stop }
}
