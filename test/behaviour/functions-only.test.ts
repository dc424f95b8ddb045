// A server of the responses wire that knows functions alone: the vendor's other kinds of tools, and the namespaces that agents
// put them in, go there as functions, and what the model calls comes back as the client has it.

import { afterEach, expect, test } from 'bun:test'
import type { Json, JsonObject } from '../../src/ir/json.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'

const parameters = { type: 'object', properties: { name: { type: 'string' } } }
const look = { type: 'function', name: 'look', description: 'Looks.', parameters, strict: false }
const carve = { type: 'custom', name: 'carve', description: 'Carves.', format: { type: 'text' } }
const birds = { type: 'namespace', name: 'birds', description: 'Of birds.', tools: [look, carve] }
const HISTORY = [
  { type: 'message', role: 'user', content: 'Carve a swan.' },
  { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', namespace: 'birds', name: 'carve', input: 'swan\n"two"' },
  { type: 'custom_tool_call_output', call_id: 'c1', output: 'Done.' },
]
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }

let provider: Scripted
let gateway: TestGateway
afterEach(async () => {
  await gateway.stop()
  await provider.stop()
})

/** Calls each tool that it is shown, a text's with what it was first asked for. */
const answer = ({ tools }: JsonObject): JsonObject => ({
  ...{ id: 'resp_1', object: 'response', created_at: 5, status: 'completed', model: 'up', usage },
  output: (tools as JsonObject[]).map(({ name }, at) => ({
    ...{ type: 'function_call', id: `fc_${at}`, call_id: `call_${at}`, name, status: 'completed' },
    arguments: JSON.stringify(String(name).endsWith('carve') ? { input: 'one\ntwo' } : { name: 'heron' }),
  })),
})
const events = (body: JsonObject): string[] => {
  const output = body.output as JsonObject[]
  const rows: JsonObject[] = [
    { type: 'response.created', response: { ...body, status: 'in_progress', output: [] } },
    ...output.flatMap(
      (item, at): JsonObject[] =>
        [
          { type: 'response.output_item.added', output_index: at, item: { ...item, arguments: '' } },
          ...(String(item.arguments)
            .match(/.{1,5}/gs)
            ?.map((delta) => ({
              type: 'response.function_call_arguments.delta',
              item_id: item.id,
              output_index: at,
              delta,
            })) ?? []),
          { type: 'response.output_item.done', output_index: at, item },
        ] as JsonObject[],
    ),
    { type: 'response.completed', response: body },
  ]
  return rows.map((row) => `data: ${JSON.stringify(row)}\n\n`)
}

const start = async (isToldSo: boolean): Promise<void> => {
  provider = await startScripted(({ text }) => {
    const sent = JSON.parse(text) as JsonObject
    const other = [...(sent.tools as JsonObject[]), ...(sent.input as JsonObject[])].find(({ type }) =>
      ['custom', 'namespace', 'additional_tools', 'custom_tool_call'].includes(String(type)),
    )
    if (other !== undefined)
      return json({ error: { message: `Unsupported tool type: '${other.type}'`, param: 'tools[0].type' } }, 400)
    const body = answer(sent)
    return sent.stream === true ? { headers: { 'content-type': 'text/event-stream' }, steps: events(body) } : json(body)
  })
  gateway = await startGateway({
    config: onlyProvider(`${provider.origin}/v1`, {
      wires: ['responses'],
      quirks: isToldSo ? { noCustomTools: true } : {},
    }),
  })
}

const outputOf = (text: string, stream: boolean): JsonObject[] => {
  if (!stream) return (JSON.parse(text) as { output: JsonObject[] }).output
  const rows = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as JsonObject)
  return rows.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item as JsonObject)
}
const sentOf = (at: number): JsonObject => JSON.parse(provider.requests.at(at)?.text ?? '{}') as JsonObject
const shown = (list: Json | undefined): Json[] =>
  (list as JsonObject[]).map(({ type, name }) => [type ?? null, name ?? null])

test.each([false, true].flatMap((isToldSo) => [false, true].map((stream) => [isToldSo, stream] as const)))(
  'gets functions, and its client its own kinds back (configured: %p, stream: %p)',
  async (isToldSo, stream) => {
    await start(isToldSo)
    const asked = { model: 'vendorB-5.5', store: false, stream, input: HISTORY, tools: [birds, look] }
    for (const tries of isToldSo ? [1, 1] : [2, 1]) {
      const from = provider.requests.length
      const response = await gateway.post('/v1/responses', asked)
      const output = outputOf(await response.text(), stream)
      expect(provider.requests.length - from).toBe(tries)
      expect(shown(sentOf(-1).tools)).toEqual([
        ['function', 'birds__look'],
        ['function', 'birds__carve'],
        ['function', 'look'],
      ])
      const [, , call, result] = sentOf(-1).input as JsonObject[]
      expect([call?.type, call?.name, call?.namespace, result?.type, result?.call_id]).toEqual([
        ...['function_call', 'birds__carve', undefined, 'function_call_output', 'c1'],
      ])
      expect(JSON.parse(String(call?.arguments))).toEqual({ input: 'swan\n"two"' })
      expect(
        output.map(({ type, namespace, name, arguments: args, input }) => [type, namespace, name, args ?? input]),
      ).toEqual([
        ['function_call', 'birds', 'look', '{"name":"heron"}'],
        ['custom_tool_call', 'birds', 'carve', 'one\ntwo'],
        ['function_call', undefined, 'look', '{"name":"heron"}'],
      ])
    }
  },
)

test('gets tools that come as an item among the others, and a choice by its function', async () => {
  await start(true)
  const input = [{ type: 'additional_tools', role: 'developer', tools: [birds] }, HISTORY[0]]
  const tool_choice = { type: 'custom', namespace: 'birds', name: 'carve' }
  const response = await gateway.post('/v1/responses', { model: 'vendorB-5.5', input, tools: [look], tool_choice })
  expect(response.status).toBe(200)
  expect(new Set(shown(sentOf(-1).tools).map(String))).toEqual(
    new Set(['function,look', 'function,birds__look', 'function,birds__carve']),
  )
  expect(JSON.stringify(sentOf(-1).input)).not.toContain('additional_tools')
  expect(sentOf(-1).tool_choice).toEqual({ type: 'function', name: 'birds__carve' })
})

test('gets a body of functions as it came', async () => {
  await start(true)
  const asked = { model: 'vendorB-5.5', input: [HISTORY[0]], tools: [look], temperature: 0.5 }
  await gateway.post('/v1/responses', asked)
  const { model: _, ...sent } = sentOf(-1)
  expect(JSON.stringify(sent)).toBe(JSON.stringify({ ...asked, model: undefined }))
})
