// How to point common clients at this gateway: text to paste, the key filled in. The guides say the same at length.

export type SnippetInput = {
  /** The gateway's address, without `/v1`. */
  origin: string
  secret: string
  /** A model the key may use, of the kind the snippets are for. */
  model: string
}

/** Its name, what its tab says, and what writes it. */
export type SnippetOf = readonly [string, string, (input: SnippetInput) => string]

/** For a model that answers in text. */
export const TEXT_SNIPPETS: readonly SnippetOf[] = [
  [
    'curl',
    'curl',
    ({ origin, secret, model }) => `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Say hello"}]}'`,
  ],
  [
    'openai',
    'OpenAI SDK',
    ({ origin, secret, model }) => `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${origin}/v1',
  apiKey: '${secret}',
})
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Say hello' }],
})
console.log(answer.choices[0].message.content)`,
  ],
  [
    'anthropic',
    'Anthropic SDK',
    ({ origin, secret, model }) => `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: '${origin}',
  apiKey: '${secret}',
})
const answer = await client.messages.create({
  model: '${model}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Say hello' }],
})
console.log(answer.content)`,
  ],
  [
    'ai-sdk',
    'AI SDK',
    ({ origin, secret, model }) => `import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'

const sluice = createOpenAI({
  baseURL: '${origin}/v1',
  apiKey: '${secret}',
})
const { text } = await generateText({
  model: sluice('${model}'),
  prompt: 'Say hello',
})
console.log(text)`,
  ],
]

/** For a model that draws. */
export const IMAGE_SNIPPETS: readonly SnippetOf[] = [
  [
    'curl',
    'curl',
    ({ origin, secret, model }) => `curl ${origin}/v1/images/generations \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "prompt": "A lock on a canal"}'`,
  ],
  [
    'openai',
    'OpenAI SDK',
    ({ origin, secret, model }) => `import { writeFile } from 'node:fs/promises'
import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${origin}/v1',
  apiKey: '${secret}',
})
const { data } = await client.images.generate({
  model: '${model}',
  prompt: 'A lock on a canal',
})
await writeFile('lock.png', Buffer.from(data[0].b64_json, 'base64'))`,
  ],
]
