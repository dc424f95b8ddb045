#!/usr/bin/env bash
# @anthropic-ai/sdk 1.14.0 (npm, JavaScript) and openai 7.59.0: an error event within a stream that is read by `for await`.
# Guess: it throws out of the loop by either helper, wherever the reader is at that moment.
# Seen: `messages.stream(…)` throws it only where the loop waits for an event just then. While the loop's body is busy with
# the last event before it, the error is dropped: the loop ends after the half answer as after a whole one.
# `messages.create({ stream: true })` throws it either way, and so do both ways of openai.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @anthropic-ai/sdk@1.14.0 openai@7.59.0 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } }
const messages = [
  [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hal' } },
  ].map(event).join(''),
  event({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }),
]
const chat = [
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'hal' }, finish_reason: null }] })}\n\n`,
  `data: ${JSON.stringify({ error: { type: 'server_error', message: 'busy' } })}\n\n`,
]
const read = async (pieces, streamOf, busy) => {
  const server = createServer(async (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces) {
      response.write(piece)
      await pause(300)
    }
    response.end()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    for await (const _ of await streamOf(`http://127.0.0.1:${server.address().port}`)) await pause(busy)
    return 'ends'
  } catch {
    return 'throws'
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
const asked = { model: 'm', messages: [{ role: 'user', content: 'x' }] }
const anthropic = (baseURL) => new Anthropic({ apiKey: 'k', baseURL, maxRetries: 0 }).messages
const openai = (baseURL) => new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 }).chat.completions
const ways = {
  'anthropic stream()': [messages, (url) => anthropic(url).stream({ ...asked, max_tokens: 9 })],
  'anthropic create()': [messages, (url) => anthropic(url).create({ ...asked, max_tokens: 9, stream: true })],
  'openai stream()': [chat, (url) => openai(url).stream(asked)],
  'openai create()': [chat, (url) => openai(url).create({ ...asked, stream: true })],
}
for (const [name, [pieces, streamOf]] of Object.entries(ways))
  console.log(`${name}: ${await read(pieces, streamOf, 0)}, busy: ${await read(pieces, streamOf, 700)}`)
JS
node run.mjs >seen
cat seen
diff - seen <<'SEEN'
anthropic stream(): throws, busy: ends
anthropic create(): throws, busy: throws
openai stream(): throws, busy: throws
openai create(): throws, busy: throws
SEEN
