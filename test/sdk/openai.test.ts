// The official OpenAI SDK, unmodified, on all three of its wires, against models of both vendors.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { hasCorpus } from '../support/corpus.ts'
import { badRequests } from './sent.ts'
import { leaks, MODELS, PIXEL, type Running, startGateway } from './support.ts'

let gateway: Running
let client: OpenAI
beforeAll(async () => {
  gateway = await startGateway()
  client = new OpenAI({ baseURL: gateway.v1, apiKey: gateway.key, maxRetries: 0 })
})
afterAll(() => gateway.stop())

const Person = z.object({ name: z.string(), age: z.number().int() })
const parameters = { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] }
const chatTool = { type: 'function' as const, function: { name: 'get_weather', description: 'Weather', parameters } }
const tool = { type: 'function' as const, name: 'get_weather', description: 'Weather', parameters, strict: false }

describe.each(MODELS)('chat completions with %s', (model) => {
  const user = (content: string) => ({ role: 'user' as const, content })

  test('answers with the gateway’s id of the model and usage', async () => {
    const { data, response } = await client.chat.completions
      .create({ model, messages: [user('Hello you')] })
      .withResponse()
    expect(data.choices[0]?.message.content).toContain('“Hello you”')
    expect([data.model, data.object, data.choices[0]?.finish_reason]).toEqual([model, 'chat.completion', 'stop'])
    expect(data.usage?.total_tokens).toBe((data.usage?.prompt_tokens ?? 0) + (data.usage?.completion_tokens ?? 0))
    expect(data.usage?.completion_tokens).toBeGreaterThan(0)
    expect(response.headers.get('x-request-id')).toBeTruthy()
    expect(leaks(JSON.stringify(data) + JSON.stringify([...response.headers]))).toEqual([])
  })

  test('streams to the raw iterator, with usage when asked for', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: [user('Hello you')],
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    const usages: unknown[] = []
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      expect([chunk.model, chunk.object]).toEqual([model, 'chat.completion.chunk'])
      if (chunk.usage) usages.push(chunk.usage)
    }
    expect(text).toContain('“Hello you”')
    expect(usages).toHaveLength(1)
  })

  test('streams to the helper, which checks the order of things', async () => {
    const events: string[] = []
    const stream = client.chat.completions.stream({ model, messages: [user('weather in Paris')], tools: [chatTool] })
    stream.on('tool_calls.function.arguments.done', (call) => events.push(`${call.name} ${call.arguments}`))
    const final = await stream.finalChatCompletion()
    expect(events).toEqual(['get_weather {"location":"Paris"}'])
    expect(final.choices[0]?.finish_reason).toBe('tool_calls')
  })

  test('calls tools in parallel and goes on with their results', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [user('weather in Paris and in Tokyo, in parallel')]
    const first = await client.chat.completions.create({ model, messages, tools: [chatTool] })
    const calls = first.choices[0]?.message.tool_calls ?? []
    expect(calls.map((call) => (call.type === 'function' ? JSON.parse(call.function.arguments).location : ''))).toEqual(
      ['Paris', 'Tokyo'],
    )
    if (first.choices[0]) messages.push(first.choices[0].message)
    for (const [at, call] of calls.entries())
      messages.push({ role: 'tool', tool_call_id: call.id, content: `result ${at}` })
    const second = await client.chat.completions.create({ model, messages, tools: [chatTool] })
    expect(second.choices[0]?.message.content).toContain('The tool answered: result 0')
    expect(second.choices[0]?.message.content).toContain('The tool answered: result 1')
  })

  test('runs tools to the end', async () => {
    const asked: unknown[] = []
    const runner = client.chat.completions.runTools({
      model,
      messages: [user('weather in Lima')],
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'Weather',
            parameters,
            parse: JSON.parse,
            function: (input: object) => {
              asked.push(input)
              return 'fog'
            },
          },
        },
      ],
    })
    expect(await runner.finalContent()).toContain('fog')
    expect(asked).toEqual([{ location: 'Lima' }])
  })

  test('sees pictures', async () => {
    const content = [
      { type: 'text' as const, text: 'look' },
      { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ]
    const answer = await client.chat.completions.create({ model, messages: [{ role: 'user', content }] })
    expect(answer.choices[0]?.message.content).toContain('image/png of 70 bytes')
  })

  test('follows a schema', async () => {
    const answer = await client.chat.completions.parse({
      model,
      messages: [user('a person called "Dara" of 31 years')],
      response_format: zodResponseFormat(Person, 'person'),
    })
    expect(answer.choices[0]?.message.parsed).toEqual({ name: 'Dara', age: 31 })
  })

  test('stops at the token limit', async () => {
    const answer = await client.chat.completions.create({ model, messages: [user('[[long:50]]')], max_tokens: 20 })
    expect([answer.choices[0]?.finish_reason, answer.usage?.completion_tokens]).toEqual(['length', 20])
  })
})

describe.each(MODELS)('responses with %s', (model) => {
  test('counts a prompt as an answer to it is billed', async () => {
    const asked = { model, input: 'Hello you', instructions: 'Be kind', tools: [tool] }
    const { input_tokens, object } = await client.responses.inputTokens.count(asked)
    const { usage } = await client.responses.create(asked)
    expect([input_tokens, object]).toEqual([usage?.input_tokens ?? 0, 'response.input_tokens'])
  })

  test('answers and streams the same', async () => {
    const whole = await client.responses.create({ model, input: 'Hello you' })
    expect(whole.output_text).toContain('“Hello you”')
    expect([whole.model, whole.status]).toEqual([model, 'completed'])
    const stream = client.responses.stream({ model, input: 'Hello you' })
    const deltas: string[] = []
    stream.on('response.output_text.delta', (event) => deltas.push(event.delta))
    const final = await stream.finalResponse()
    expect(final.output_text).toBe(whole.output_text)
    expect(deltas.join('')).toBe(whole.output_text)
    expect(final.usage?.total_tokens).toBe(whole.usage?.total_tokens)
    expect(leaks(JSON.stringify([whole, final]))).toEqual([])
  })

  test('calls a tool and goes on with its result, nothing stored', async () => {
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'weather in Paris' }]
    const settings = {
      model,
      tools: [tool],
      store: false,
      reasoning: { effort: 'low' as const },
      include: ['reasoning.encrypted_content' as const],
    }
    const first = await client.responses.stream({ ...settings, input }).finalResponse()
    const call = first.output.find((item) => item.type === 'function_call')
    expect([call?.name, call?.arguments]).toEqual(['get_weather', '{"location":"Paris"}'])
    input.push(...(first.output as OpenAI.Responses.ResponseInputItem[]))
    input.push({ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'drizzle' })
    const second = await client.responses.create({ ...settings, input })
    expect(second.output_text).toContain('The tool answered: drizzle')
  })

  test('sees pictures and follows a schema', async () => {
    const content = [
      { type: 'input_text' as const, text: 'look' },
      { type: 'input_image' as const, image_url: `data:image/png;base64,${PIXEL}`, detail: 'auto' as const },
    ]
    expect((await client.responses.create({ model, input: [{ role: 'user', content }] })).output_text).toContain(
      'image/png of 70 bytes',
    )
    const parsed = await client.responses.parse({
      model,
      input: 'a person called "Dara" of 31 years',
      text: { format: zodTextFormat(Person, 'person') },
    })
    expect(parsed.output_parsed).toEqual({ name: 'Dara', age: 31 })
  })

  test('is incomplete at the token limit', async () => {
    const answer = await client.responses.create({ model, input: '[[long:50]]', max_output_tokens: 20 })
    expect([answer.status, answer.incomplete_details?.reason, answer.usage?.output_tokens]).toEqual([
      'incomplete',
      'max_output_tokens',
      20,
    ])
  })
})

describe('responses in the background', () => {
  const model = 'vendorB-5.5'

  test('are asked for until they are over, and read like any other', async () => {
    let response = await client.responses.create({ model, input: 'Hello you', background: true })
    expect([response.status, response.output, response.model]).toEqual(['queued', [], model])
    const seen = new Set<string | undefined>()
    while (response.status === 'queued' || response.status === 'in_progress') {
      response = await client.responses.retrieve(response.id)
      seen.add(response.status)
    }
    expect([...seen].at(-1)).toBe('completed')
    expect([response.output_text.includes('“Hello you”'), response.model]).toEqual([true, model])
    expect(response.usage?.output_tokens).toBeGreaterThan(0)
    expect(leaks(JSON.stringify(response))).toEqual([])
    const { data } = await client.responses.inputItems.list(response.id)
    expect(JSON.stringify(data)).toContain('Hello you')
  })

  test('are streamed again from where a client lost them', async () => {
    const stream = await client.responses.create({ model, input: 'Hello you', background: true, stream: true })
    let [id, text, whole, at] = ['', '', '', 0]
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') text += event.delta
      at = event.sequence_number
      if (text.length > 5) break
    }
    for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: at })) {
      expect(event.sequence_number).toBe(++at)
      if (event.type === 'response.output_text.delta') text += event.delta
      if (event.type === 'response.output_text.done') whole = event.text
    }
    expect(text).toBe(whole)
    expect(text).toContain('“Hello you”')
  })

  test('are ended early and removed', async () => {
    const { id } = await client.responses.create({ model, input: 'Hello you', background: true })
    expect((await client.responses.cancel(id)).status).toBe('cancelled')
    await client.responses.delete(id)
    for (const asked of [client.responses.retrieve(id), client.responses.delete('resp_unknown')])
      expect(await asked.catch((error: unknown) => error)).toBeInstanceOf(OpenAI.NotFoundError)
  })
})

describe('images', () => {
  test('are drawn in the size asked for', async () => {
    const answer = await client.images.generate({
      model: 'vendorB-image-1',
      prompt: 'a red kite',
      size: '1024x1536',
      n: 1,
    })
    const png = Buffer.from(answer.data?.[0]?.b64_json ?? '', 'base64')
    expect([png.toString('latin1', 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual(['PNG', 1024, 1536])
    expect(answer.usage?.total_tokens).toBeGreaterThan(0)
  })

  test('stream with partial pictures', async () => {
    const stream = await client.images.generate({
      model: 'vendorB-image-1',
      prompt: 'a kite',
      size: '1024x1024',
      stream: true,
      partial_images: 1,
    })
    const types: string[] = []
    for await (const event of stream) types.push(event.type)
    expect(types).toEqual(['image_generation.partial_image', 'image_generation.completed'])
  })
})

describe('models', () => {
  test('are listed and found by id, dotted id and alias', async () => {
    const ids: string[] = []
    for await (const model of client.models.list()) ids.push(model.id)
    expect(ids).toHaveLength(12)
    expect(ids).toContain('vendorB-imagegen-3')
    expect((await client.models.retrieve('vendorA-opus-4.8')).id).toBe('vendorA-opus-4-8')
    expect((await client.models.retrieve('auto')).id).toBe('vendorA-opus-4-8')
  })
})

describe('errors', () => {
  const failure = async (call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
    const error = await call.then(
      () => new Error('it answered'),
      (thrown: unknown) => thrown,
    )
    if (error instanceof OpenAI.APIError) return error
    throw error
  }
  const ask = (model: string, content: string, using = client) =>
    using.chat.completions.create({ model, messages: [{ role: 'user', content }] })

  test('are the SDK’s own classes with the gateway’s codes', async () => {
    const wrongKey = new OpenAI({ baseURL: gateway.v1, apiKey: 'sk-sl-wrong', maxRetries: 0 })
    const narrow = new OpenAI({
      baseURL: gateway.v1,
      apiKey: await gateway.issue({ models: ['vendorB-4'] }),
      maxRetries: 0,
    })
    const table = [
      [() => ask('auto', 'x', wrongKey), OpenAI.AuthenticationError, 'invalid_api_key'],
      [() => ask('vendorB-5.5', 'x', narrow), OpenAI.PermissionDeniedError, 'permission_denied'],
      [() => ask('no-such-model', 'x'), OpenAI.NotFoundError, 'invalid_model'],
      [() => ask('vendorB-image-1', 'x'), OpenAI.NotFoundError, 'invalid_model'],
      [() => ask('auto', '[[error:context_length]]'), OpenAI.BadRequestError, 'context_length_exceeded'],
      [() => ask('vendorB-5.5', '[[error:context_length]]'), OpenAI.BadRequestError, 'context_length_exceeded'],
      [() => ask('vendorB-5.5', '[[error:content_policy]]'), OpenAI.BadRequestError, 'content_policy_violation'],
      [() => ask('auto', '[[error:500]]'), OpenAI.InternalServerError, 'upstream_error'],
      [() => ask('vendorB-5.5', '[[error:401]]'), OpenAI.InternalServerError, 'upstream_error'],
      [() => ask('auto', '[[error:overloaded]]'), OpenAI.InternalServerError, 'service_unavailable'],
      [() => ask('auto', '[[html]]'), OpenAI.InternalServerError, 'upstream_error'],
      [() => ask('auto', '[[redirect]]'), OpenAI.InternalServerError, 'upstream_error'],
      [() => ask('vendorB-5.5', '[[empty]]'), OpenAI.InternalServerError, 'upstream_error'],
    ] as const
    for (const [call, kind, code] of table) {
      const error = await failure(call())
      expect([
        error.code,
        error instanceof kind,
        leaks(`${error.message}${JSON.stringify(error.error)}${JSON.stringify([...(error.headers ?? [])])}`),
      ]).toEqual([code, true, []])
    }
  })

  test('a used up key is refused with 402', async () => {
    const apiKey = await gateway.issue({ tokensTotal: 12 })
    const poor = new OpenAI({ baseURL: gateway.v1, apiKey, maxRetries: 5, fetch: withoutWaiting })
    const errors: unknown[] = []
    for (let turn = 0; turn < 6 && errors.length === 0; turn++) {
      await ask('vendorB-5.5', 'one two three four', poor).catch((error: unknown) => errors.push(error))
    }
    expect(errors[0]).toMatchObject({ status: 402, code: 'quota_exhausted' })
  })

  test.each(MODELS)('a stream of %s that breaks throws instead of ending short', async (model) => {
    for (const fault of ['cut', 'eof', 'stream-error', 'malformed']) {
      const read = async () => {
        const stream = await client.chat.completions.create({
          model,
          messages: [{ role: 'user', content: `[[${fault}]] [[long:30]]` }],
          stream: true,
        })
        for await (const _ of stream);
      }
      const error = await failure(read())
      expect([fault, leaks(`${error.message}${JSON.stringify(error.error)}`)]).toEqual([fault, []])
      expect(['upstream_error', 'service_unavailable']).toContain(error.code ?? '')
      const helper = client.responses.stream({ model, input: `[[${fault}]] [[long:30]]` }).finalResponse()
      const thrown = await helper.then(
        (response) => response.status,
        (error: unknown) => String(error),
      )
      expect(thrown).not.toBe('completed')
      expect(leaks(String(thrown))).toEqual([])
    }
  })

  test('a retry of the SDK gets through once the vendor recovers', async () => {
    const patient = new OpenAI({ baseURL: gateway.v1, apiKey: gateway.key, maxRetries: 2, fetch: withoutWaiting })
    expect((await ask('auto', '[[error:500*2]] recovered', patient)).choices[0]?.message.content).toContain('recovered')
  })
})

/** The SDK waits as `retry-after` says; a test need not. */
const withoutWaiting = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
  const answer = await fetch(input, init)
  const headers = new Headers(answer.headers)
  headers.set('retry-after-ms', '1')
  return new Response(answer.body, { status: answer.status, headers })
}

test.skipIf(!hasCorpus)(
  'every request the vendors were sent is of their types (skipped: no corpus beside the repository)',
  () => {
    expect(gateway.demo.requests.length).toBeGreaterThan(20)
    expect(badRequests(gateway.demo)).toEqual([])
  },
)
