#!/usr/bin/env bash
# @langchain/anthropic 1.5.11 (npm, JavaScript), streaming; @anthropic-ai/sdk as that installs.
# Guess: the usage of a streamed answer is that of its last `message_delta`, whose figures are cumulative: 5 tokens of output.
# Seen: the output tokens of `message_start` (there 1, as the vendor sends some) are added to it: 6. With 0 in
# `message_start` it is 5. The vendor's own SDK, whose events these are, says 5 either way.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @langchain/anthropic@1.5.11 @langchain/core@1 @anthropic-ai/sdk@1.14.0 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { ChatAnthropic } from '@langchain/anthropic'

const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const answer = (first) =>
  [
    { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 7, output_tokens: first } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { input_tokens: 7, output_tokens: 5 } },
    { type: 'message_stop' },
  ].map(event).join('')
const asked = async (first, ask) => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(answer(first))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const tokens = await ask(`http://127.0.0.1:${server.address().port}`)
  server.close()
  server.closeAllConnections()
  return tokens
}
const langchain = async (anthropicApiUrl) => {
  let all
  for await (const chunk of await new ChatAnthropic({ model: 'm', apiKey: 'k', anthropicApiUrl, maxTokens: 9 }).stream('x'))
    all = all === undefined ? chunk : all.concat(chunk)
  return all.usage_metadata.output_tokens
}
const own = async (baseURL) =>
  (await new Anthropic({ apiKey: 'k', baseURL }).messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }).finalMessage()).usage.output_tokens
console.log('langchain, 1 at the start:', await asked(1, langchain))
console.log('langchain, 0 at the start:', await asked(0, langchain))
console.log('own, 1 at the start:', await asked(1, own))
JS
node run.mjs >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
langchain, 1 at the start: 6
langchain, 0 at the start: 5
own, 1 at the start: 5
SEEN
