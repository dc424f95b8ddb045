// The recorded vendor traffic and the vendors' published schemas beside the repository, where they are present.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Ajv, { type Options, type ValidateFunction } from 'ajv'
import type { JsonObject } from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'

/** Another folder of the same layout may be named: recordings of one's own are held to the same rules. */
const ROOT = process.env.SLUICE_CORPUS ?? join(import.meta.dir, '..', '..', '..', 'shared', 'corpus')

export const hasCorpus = existsSync(ROOT)
if (!hasCorpus) console.warn(`recorded traffic is not here (${ROOT}): the tests that replay it are skipped`)

/** The wires that were recorded. */
export type RecordedWire = ChatWire | 'images'

const FOLDERS: Record<RecordedWire, string> = {
  'chat-completions': 'chat',
  responses: 'responses',
  messages: 'messages',
  images: 'images',
}

export type Recording = {
  name: string
  wire: RecordedWire
  status: number
  stream: boolean
  features: string[]
  /** The client's body as recorded, to the byte; undefined for response-side fixtures. */
  request: string | undefined
  /** The vendor's answer: JSON text or the stream. */
  response: string
}

const read = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)

/** Every case of a wire, by name; none where the corpus is not there. */
export const recordings = (wire: RecordedWire): Recording[] => recordingsIn(FOLDERS[wire], wire)

/** Every recorded count of a prompt. */
export const recordedCounts = (): Recording[] => [
  ...recordingsIn('count_tokens', 'messages'),
  ...recordingsIn('responses_input_tokens', 'responses'),
]

const recordingsIn = (name: string, wire: RecordedWire): Recording[] => {
  const folder = join(ROOT, name)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .flatMap((name): Recording[] => {
      const meta = JSON.parse(read(join(folder, name, 'meta.json')) ?? '{}')
      const response = read(join(folder, name, 'response.sse')) ?? read(join(folder, name, 'response.json'))
      if (response === undefined) return []
      return [
        {
          name,
          wire,
          status: meta.status,
          stream: meta.stream === true,
          features: meta.features ?? [],
          request: read(join(folder, name, 'request.json')),
          response,
        },
      ]
    })
}

/** Recorded error answers of a vendor, such as `anthropic`. */
export const recordedErrors = (vendor: string): { name: string; status: number; body: unknown }[] => {
  if (!hasCorpus) return []
  const folder = join(ROOT, 'errors', vendor)
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const { status, body } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
      return { name, status, body }
    })
}

/** The schemas a wire's bodies are held to, by name. */
export const SCHEMAS: Record<ChatWire, { request: string; response: string; event: string }> = {
  'chat-completions': {
    request: 'OpenAIChatCompletionCreateParams.strict',
    response: 'OpenAIChatCompletion.current',
    event: 'OpenAIChatCompletionChunk.current',
  },
  responses: {
    request: 'OpenAIResponseCreateParams.strict',
    response: 'OpenAIResponse.current',
    event: 'OpenAIResponseStreamEvent.current',
  },
  messages: {
    request: 'Anthropic20230601MessageCreateParams.strict',
    response: 'AnthropicMessage.current',
    event: 'AnthropicRawMessageStreamEvent.current',
  },
}

/** A schema of the corpus by its name; one that says nothing where the corpus is absent. */
export const schema = (name: string): JsonObject =>
  hasCorpus ? JSON.parse(readFileSync(join(ROOT, 'schemas', `${name}.schema.json`), 'utf8')) : {}

const compiled = new Map<string, ValidateFunction>()

// Code that is not made small is made in half the time, and runs as fast for as often as it runs here.
const MAKING: Options = {
  strict: false,
  logger: false,
  validateSchema: false,
  inlineRefs: false,
  code: { optimize: false },
}

const validator = (name: string): ValidateFunction => {
  const known = compiled.get(name)
  if (known !== undefined) return known
  const made = new Ajv(MAKING).compile(schema(name))
  compiled.set(name, made)
  return made
}

/** Compiles what the wires are held to, for files whose tests need most of it: it takes a test's whole time. */
export const compileSchemas = (): void => {
  if (!hasCorpus) return
  for (const names of Object.values(SCHEMAS)) for (const name of Object.values(names)) validator(name)
}

/** What a value breaks of a schema, one sentence each; nothing where the corpus is absent. */
export const violations = (name: string, value: unknown): string[] => {
  if (!hasCorpus) return []
  const validate = validator(name)
  if (validate(value)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${name}${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}
