#!/usr/bin/env bash
# @genkit-ai/compat-oai 1.42.0 (npm, JavaScript) with genkit 1.42.0, streaming a chat-completions answer with
# `reasoning_content`, as several servers send it.
# Guess: the answer's `reasoning`, once the stream is over, is the pieces put together, as its `text` is.
# Seen: it is the last piece alone, though every piece was given while it streamed. A whole answer has all of it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund genkit@1.42.0 @genkit-ai/compat-oai@1.42.0 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import { openAICompatible } from '@genkit-ai/compat-oai'
import { genkit } from 'genkit'

const of = { id: 'c', created: 1, model: 'm' }
const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ ...of, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const deltas = [{ role: 'assistant', reasoning_content: 'Let me ' }, { reasoning_content: 'see.' }, { content: 'Forty' }, { content: '-two' }]
const whole = { role: 'assistant', content: 'Forty-two', reasoning_content: 'Let me see.' }
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (piece) => (body += piece))
  request.on('end', () => {
    const stream = JSON.parse(body).stream === true
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
    if (stream) return response.end(`${deltas.map((delta) => chunk(delta)).join('')}${chunk({}, 'stop')}data: [DONE]\n\n`)
    response.end(JSON.stringify({ ...of, object: 'chat.completion', choices: [{ index: 0, message: whole, finish_reason: 'stop' }] }))
  })
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const baseURL = `http://127.0.0.1:${server.address().port}`
const ai = genkit({ plugins: [openAICompatible({ name: 'x', apiKey: 'k', baseURL })] })
const answer = await ai.generate({ model: 'x/m', prompt: 'x' })
console.log(`whole: ${answer.reasoning} | ${answer.text}`)
const { stream, response } = ai.generateStream({ model: 'x/m', prompt: 'x' })
let thoughts = ''
for await (const { reasoning } of stream) thoughts += reasoning ?? ''
const streamed = await response
console.log(`while it streamed: ${thoughts}`)
console.log(`streamed: ${streamed.reasoning} | ${streamed.text}`)
process.exit()
JS
node --no-warnings run.mjs >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
whole: Let me see. | Forty-two
while it streamed: Let me see.
streamed: see. | Forty-two
SEEN
