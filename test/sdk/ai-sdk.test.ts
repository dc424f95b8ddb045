// The AI SDK, unmodified, through its OpenAI and Anthropic providers, against models of both vendors.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import {
  APICallError,
  generateImage,
  generateText,
  type LanguageModel,
  Output,
  stepCountIs,
  streamText,
  type ToolSet,
  tool,
} from 'ai'
import { z } from 'zod'
import { hasCorpus } from '../support/corpus.ts'
import { badRequests } from './sent.ts'
import { leaks, MODELS, PIXEL, type Running, startGateway } from './support.ts'

let gateway: Running
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

const WIRES = ['chat-completions', 'responses', 'messages'] as const
type Spoken = (typeof WIRES)[number]
const modelOn = (wire: Spoken, id: string, apiKey = gateway.key): LanguageModel => {
  if (wire === 'messages') return createAnthropic({ baseURL: gateway.v1, apiKey })(id)
  const openai = createOpenAI({ baseURL: gateway.v1, apiKey })
  return wire === 'responses' ? openai.responses(id) : openai.chat(id)
}

const TABLE = WIRES.flatMap((wire) => MODELS.map((id) => [wire, id] as const))

describe.each(TABLE)('%s with %s', (wire, id) => {
  const settings = () => ({ model: modelOn(wire, id), maxRetries: 0, maxOutputTokens: 500 })

  test('generates and streams the same text, with usage', async () => {
    const whole = await generateText({ ...settings(), prompt: 'Hello you' })
    expect(whole.text).toContain('“Hello you”')
    expect([whole.finishReason, whole.response.modelId]).toEqual(['stop', id])
    expect(whole.usage.outputTokens).toBeGreaterThan(0)
    const stream = streamText({ ...settings(), prompt: 'Hello you' })
    const pieces: string[] = []
    for await (const piece of stream.textStream) pieces.push(piece)
    expect([pieces.join(''), pieces.length > 3]).toEqual([whole.text, true])
    expect((await stream.usage).outputTokens).toBe(whole.usage.outputTokens)
    expect(leaks(JSON.stringify([whole.response, await stream.response]))).toEqual([])
  })

  test('runs a tool and answers with its result', async () => {
    const asked: unknown[] = []
    const tools = {
      get_weather: tool({
        description: 'Weather',
        inputSchema: z.object({ location: z.string() }),
        execute: (input) => {
          asked.push(input)
          return 'fog'
        },
      }),
    }
    // On the responses wire the client refers to the items of earlier steps by id, unless told to keep nothing there.
    for (const openai of [{}, { store: false }, { forceReasoning: true, reasoningEffort: 'high' }]) {
      const providerOptions = { openai }
      const asking = { ...settings(), tools, providerOptions, stopWhen: stepCountIs(3), prompt: 'weather in Lima' }
      expect((await generateText(asking)).text).toContain('fog')
      expect(await streamText(asking).text).toContain('fog')
    }
    expect(asked).toEqual(Array.from({ length: 6 }, () => ({ location: 'Lima' })))
  })

  test('generates an object that follows a schema', async () => {
    const { output } = await generateText({
      ...settings(),
      output: Output.object({ schema: z.object({ name: z.string(), age: z.number().int() }) }),
      prompt: 'a person called "Dara" of 31 years',
    })
    expect(output).toEqual({ name: 'Dara', age: 31 })
  })

  test('sees pictures', async () => {
    const content = [
      { type: 'text' as const, text: 'look' },
      { type: 'image' as const, image: Buffer.from(PIXEL, 'base64'), mediaType: 'image/png' },
    ]
    const { text } = await generateText({ ...settings(), messages: [{ role: 'user', content }] })
    expect(text).toContain('image/png of 70 bytes')
  })

  test('meets errors with the gateway’s own words and status', async () => {
    const failure = async (prompt: string, apiKey = gateway.key): Promise<unknown> =>
      generateText({ ...settings(), model: modelOn(wire, id, apiKey), prompt }).catch((error: unknown) => error)
    const table = [
      [await failure('x', 'sk-sl-wrong'), 401, 'API key'],
      [await failure('[[error:context_length]]'), 400, 'prompt is too long'],
      [await failure('[[error:500]]'), 502, 'provider'],
      [await failure('[[error:overloaded]]'), 503, 'overloaded'],
    ] as const
    for (const [error, status, words] of table) {
      expect(APICallError.isInstance(error)).toBe(true)
      expect(error).toMatchObject({ statusCode: status, message: expect.stringContaining(words) })
      expect(leaks(JSON.stringify(error))).toEqual([])
    }
  })

  test('a stream that breaks ends as an error', async () => {
    for (const fault of ['cut', 'eof', 'stream-error']) {
      const errors: unknown[] = []
      const stream = streamText({
        ...settings(),
        prompt: `[[${fault}]] [[long:30]]`,
        onError: ({ error }) => void errors.push(error),
      })
      const parts: string[] = []
      for await (const part of stream.stream) parts.push(part.type)
      expect([fault, errors.length > 0, parts.includes('error')]).toEqual([fault, true, true])
      expect(leaks(errors.map((error) => `${error}${JSON.stringify(error)}`).join())).toEqual([])
    }
  })
})

describe('tools that the vendor of the responses wire leaves to the client, with the other vendor’s model', () => {
  const exit = { type: 'exit', exitCode: 0 } as const
  const TOOLS = createOpenAI({ apiKey: 'k' }).tools
  const done: unknown[] = []
  const ran = <Result>(input: unknown, result: Result): Result => {
    done.push(input)
    return result
  }

  test.each<[string, ToolSet, string, unknown]>([
    [
      'shell',
      {
        shell: TOOLS.shell({
          execute: async ({ action }) =>
            ran(action.commands, { output: [{ stdout: 'fog', stderr: '', outcome: exit }] }),
        }),
      },
      'use the shell tool with "echo fog"',
      ['echo fog'],
    ],
    [
      'local_shell',
      { local_shell: TOOLS.localShell({ execute: async ({ action }) => ran(action.command, { output: 'fog' }) }) },
      'use the local_shell tool with "fog"',
      ['fog'],
    ],
    [
      'apply_patch',
      {
        apply_patch: TOOLS.applyPatch({
          execute: async ({ operation }) => ran(operation, { status: 'failed' as const, output: 'fog' }),
        }),
      },
      'use the apply_patch tool with "a.txt" and "+fog"',
      { type: 'create_file', path: 'a.txt', diff: '+fog' },
    ],
  ])('%s runs, and what came of it is read', async (_, tools, prompt, due) => {
    done.length = 0
    for (const openai of [{}, { store: false }]) {
      const asking = {
        model: modelOn('responses', 'vendorA-opus-4-8'),
        maxRetries: 0,
        maxOutputTokens: 500,
        tools,
        providerOptions: { openai },
        stopWhen: stepCountIs(3),
        prompt,
      }
      expect((await generateText(asking)).text).toContain('fog')
      expect(await streamText(asking).text).toContain('fog')
    }
    expect(done).toEqual([due, due, due, due])
  })
})

const picture = async (id: string): Promise<Buffer> => {
  const model = createOpenAI({ baseURL: gateway.v1, apiKey: gateway.key }).image(id)
  const { image } = await generateImage({ model, prompt: 'a red kite', size: '1024x1024', maxRetries: 0 })
  return Buffer.from(image.uint8Array)
}

test('pictures are generated', async () => {
  expect((await picture('vendorB-imagegen-3')).readUInt32BE(16)).toBe(1024)
})

// The client asks for `response_format: b64_json` of every model whose id it does not know.
test('pictures are generated by a model that refuses response_format', async () => {
  expect((await picture('vendorB-image-1')).readUInt32BE(16)).toBe(1024)
})

test.skipIf(!hasCorpus)(
  'every request the vendors were sent is of their types (skipped: no corpus beside the repository)',
  () => {
    expect(gateway.demo.requests.length).toBeGreaterThan(20)
    expect(badRequests(gateway.demo)).toEqual([])
  },
)
