#!/usr/bin/env bash
# ai 6.0.326 with @ai-sdk/openai-compatible 2.0.92 and @ai-sdk/anthropic 3.0.140 (npm, JavaScript).
# Guess: a stream that is cut before its end has said how it ended is told alike by both: an answer with an unknown finish
# reason, and no error.
# Seen: of the chat-completions form it is an error ("Response stream ended without a finish reason.") and the finish reason
# is `error`; of the messages form there is no error, and the finish reason is `other`, as of an answer that is whole.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ai@6.0.326 @ai-sdk/openai-compatible@2.0.92 @ai-sdk/anthropic@3.0.140 zod@4 >/dev/null
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'

globalThis.AI_SDK_LOG_WARNINGS = false
const cut = async (body, providerOf) => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(body)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const errors = []
  const model = providerOf(`http://127.0.0.1:${server.address().port}`)('m')
  const stream = streamText({ model, prompt: 'x', maxRetries: 0, onError: ({ error }) => errors.push(error) })
  let text = ''
  for await (const piece of stream.textStream) text += piece
  const reason = await stream.finishReason
  server.close()
  server.closeAllConnections()
  return `"${text}", finish reason ${reason}, errors ${errors.length}`
}
const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const chat = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }] })}\n\n`
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } }
const messages = [
  { type: 'message_start', message },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
]
console.log('chat-completions:', await cut(chat, (baseURL) => createOpenAICompatible({ name: 'x', baseURL, apiKey: 'k' })))
console.log('messages:', await cut(messages.map(event).join(''), (baseURL) => createAnthropic({ baseURL, apiKey: 'k' })))
JS
node run.mjs >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
chat-completions: "hi", finish reason error, errors 1
messages: "hi", finish reason other, errors 0
SEEN
