// The stories every text wire of the demo is asked to tell, streamed and whole.

import { type DemoPath, saying, toolFor } from './support.ts'

const weather = { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] }
const nothing = { type: 'object', properties: {} }
const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

export type TextPath = Exclude<DemoPath, '/v1/images/generations'>
export const TEXT_PATHS: TextPath[] = ['/v1/messages', '/v1/chat/completions', '/v1/responses']

const thinking = (path: TextPath): object =>
  path === '/v1/messages'
    ? { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 4096 }
    : path === '/v1/responses'
      ? { reasoning: { effort: 'medium', summary: 'auto' }, include: ['reasoning.encrypted_content'] }
      : { reasoning_effort: 'medium' }

const format = (path: TextPath): object =>
  path === '/v1/messages'
    ? { output_config: { format: { type: 'json_schema', schema: person } } }
    : path === '/v1/responses'
      ? { text: { format: { type: 'json_schema', name: 'person', schema: person, strict: true } } }
      : { response_format: { type: 'json_schema', json_schema: { name: 'person', schema: person, strict: true } } }

const capped = (path: TextPath): object =>
  path === '/v1/messages'
    ? { max_tokens: 16 }
    : path === '/v1/responses'
      ? { max_output_tokens: 16 }
      : { max_completion_tokens: 16 }

const picture = (path: TextPath): object => {
  const url = `data:image/png;base64,${PIXEL}`
  if (path === '/v1/responses') {
    const content = [
      { type: 'input_text', text: 'look' },
      { type: 'input_image', image_url: url, detail: 'auto' },
    ]
    return { input: [{ role: 'user', content }] }
  }
  const part =
    path === '/v1/messages'
      ? { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }
      : { type: 'image_url', image_url: { url } }
  return { messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, part] }] }
}

export type Story = { name: string; request(path: TextPath): object }

const story = (name: string, text: string, more: (path: TextPath) => object = () => ({})): Story => ({
  name,
  request: (path) => saying(path, text, more(path)),
})

export const STORIES: Story[] = [
  story('plain text', 'Hello there, ជំរាបសួរ 🌴'),
  story('a tool call', 'What is the weather in Paris?', (path) => ({ tools: [toolFor(path, 'get_weather', weather)] })),
  story('parallel calls', 'weather in Paris and in Tokyo, in parallel', (path) => ({
    tools: [toolFor(path, 'get_weather', weather)],
  })),
  story('a call without arguments', 'please call refresh_cache', (path) => ({
    tools: [toolFor(path, 'refresh_cache', nothing)],
  })),
  story('reasoning', 'Think about it', thinking),
  story('reasoning and a call', 'What is the weather in Rome?', (path) => ({
    ...thinking(path),
    tools: [toolFor(path, 'get_weather', weather)],
  })),
  story('structured output', 'Make up a person called "Dara"', format),
  story('the token limit', '[[long:40]]', capped),
  story('a picture', 'look', picture),
  story('a refusal', '[[refusal]]'),
]
