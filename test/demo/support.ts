// What the demo tests share: asking the demo vendors, reading their streams, checking bodies against the schemas.

import type { DemoProviders } from '../../src/demo/index.ts'
import { isObject, type JsonObject, parseObject } from '../../src/ir/json.ts'
import type { Frame } from '../../src/lib/sse.ts'
import { framesOf } from '../support/frames.ts'

export type DemoPath = '/v1/messages' | '/v1/chat/completions' | '/v1/responses' | '/v1/images/generations'
export type DemoAnswer = {
  status: number
  headers: Headers
  text: string
  frames: Frame[]
  events: JsonObject[]
  body: JsonObject
}

const VERSION = { 'anthropic-version': '2023-06-01' }

/** Posts to the demo vendor of this path, with its credential. */
export const send = (
  demo: DemoProviders,
  path: DemoPath,
  body: object | string,
  { headers, ...init }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Response> => {
  const { baseUrl, apiKey } = path === '/v1/messages' ? demo.vendorA : demo.vendorB
  const credential: Record<string, string> =
    path === '/v1/messages' ? { 'x-api-key': apiKey, ...VERSION } : { authorization: `Bearer ${apiKey}` }
  return fetch(`${baseUrl.replace(/\/v1$/, '')}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credential, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    redirect: 'manual',
    ...init,
  })
}

/** Asks a demo vendor on the wire of this path. `events`: the frames' data as JSON, `[DONE]` left out. */
export const ask = async (
  demo: DemoProviders,
  path: DemoPath,
  body: object | string,
  headers: Record<string, string> = {},
): Promise<DemoAnswer> => {
  const answer = await send(demo, path, body, { headers })
  const text = await answer.text()
  const streamed = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
  const frames = streamed ? framesOf(text) : []
  const events = frames.flatMap(({ data }) => (data === '[DONE]' ? [] : [parse(data)]))
  return { status: answer.status, headers: answer.headers, text, frames, events, body: streamed ? {} : parse(text) }
}

const parse = (text: string): JsonObject => parseObject(text) ?? {}

/** A request that says one thing, on any wire. */
export const saying = (path: DemoPath, text: string, more: object = {}): object => {
  const turns = { messages: [{ role: 'user', content: text }] }
  switch (path) {
    case '/v1/messages':
      return { model: 'opus-demo', max_tokens: 500, ...turns, ...more }
    case '/v1/chat/completions':
      return { model: 'five-demo', ...turns, ...more }
    case '/v1/responses':
      return { model: 'five-demo', input: text, ...more }
    case '/v1/images/generations':
      return { model: 'image-demo', prompt: text, size: '32x32', ...more }
  }
}

/** A tool as each wire declares it. */
export const toolFor = (path: DemoPath, name: string, parameters: object): object => {
  switch (path) {
    case '/v1/messages':
      return { name, description: 'a tool', input_schema: parameters }
    case '/v1/chat/completions':
      return { type: 'function', function: { name, description: 'a tool', parameters } }
    default:
      return { type: 'function', name, description: 'a tool', parameters, strict: false }
  }
}

/** Follows names and places into a body; undefined where the way ends. */
export const at = (value: unknown, ...way: (string | number)[]): unknown => {
  let found = value
  for (const step of way) {
    if (Array.isArray(found) && typeof step === 'number') found = found.at(step)
    else if (isObject(found)) found = found[step]
    else return undefined
  }
  return found
}
