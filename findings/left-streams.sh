#!/usr/bin/env bash
# openai 6.49.0, ai 6.0.326 with @ai-sdk/openai-compatible 2.0.92, genkit 1.42.0 with @genkit-ai/compat-oai, @llamaindex/openai
# 0.4.22, @huggingface/inference 4.13.30 (npm, JavaScript): a reader that leaves the loop over a stream at its first piece.
# Guess: leaving the loop closes the connection, as it does with the fetch API's own body and with openai, so that a server
# can stop and a relay need not pay for the rest.
# Seen: with none of the others it does: the request goes on, and the rest of the answer is fetched, for nobody.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@6.49.0 ai@6.0.326 @ai-sdk/openai-compatible@2.0.92 genkit@1.42.0 @genkit-ai/compat-oai@1.42.0 \
  @llamaindex/openai@0.4.22 llamaindex@0.12.1 @huggingface/inference@4.13.30 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { openAICompatible } from '@genkit-ai/compat-oai'
import { InferenceClient } from '@huggingface/inference'
import { OpenAI as LlamaIndex } from '@llamaindex/openai'
import { streamText } from 'ai'
import { genkit } from 'genkit'
import OpenAI from 'openai'

process.on('unhandledRejection', () => {})
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const piece = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'on and ' }, finish_reason: null }] })}\n\n`
const left = async (read) => {
  let closed = false
  const server = createServer(async (request, response) => {
    request.resume()
    response.on('close', () => (closed = true))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let pieces = 0; pieces < 100 && !closed; pieces++) {
      response.write(piece)
      await pause(50)
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  await read(`http://127.0.0.1:${server.address().port}`)
  await pause(2_000)
  const seen = closed ? 'closed' : 'goes on'
  server.close()
  server.closeAllConnections()
  return seen
}
const first = async (stream) => {
  for await (const _ of stream) break
}
const asked = { model: 'm', messages: [{ role: 'user', content: 'x' }] }
const ways = {
  openai: async (baseURL) => first(await new OpenAI({ apiKey: 'k', baseURL }).chat.completions.create({ ...asked, stream: true })),
  ai: async (baseURL) => first(streamText({ model: createOpenAICompatible({ name: 'x', apiKey: 'k', baseURL })('m'), prompt: 'x', onError: () => {} }).textStream),
  genkit: async (baseURL) => {
    const { stream, response } = genkit({ plugins: [openAICompatible({ name: 'x', apiKey: 'k', baseURL })] }).generateStream({ model: 'x/m', prompt: 'x' })
    response.catch(() => {})
    await first(stream)
  },
  llamaindex: async (baseURL) => first(await new LlamaIndex({ model: 'm', apiKey: 'k', baseURL }).chat({ messages: asked.messages, stream: true })),
  huggingface: async (endpointUrl) => first(new InferenceClient('k').chatCompletionStream({ endpointUrl, ...asked })),
}
for (const [name, read] of Object.entries(ways)) console.log(`${name}: ${await left(read)}`)
process.exit()
JS
node --no-warnings run.mjs >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
openai: closed
ai: goes on
genkit: goes on
llamaindex: goes on
huggingface: goes on
SEEN
