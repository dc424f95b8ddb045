#!/usr/bin/env bash
# @ax-llm/ax 24.0.21 (npm, JavaScript), `ai({ name: 'openai' })`, streaming: an error within a chat-completions stream, as
# `data: {"error":{…}}`, by which servers tell that an answer broke off.
# Guess: it throws what the server says, as the vendor's own client does.
# Seen: it takes the frame for a chunk and throws a TypeError about the `choices` that it lacks; the server's words are lost.
# Of a refusal before the stream its message has the status alone ("HTTP 404 - Not Found").
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @ax-llm/ax@24.0.21 openai@6.49.0 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import { ai } from '@ax-llm/ax'
import OpenAI from 'openai'

const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'hal' }, finish_reason: null }] }
const error = { error: { message: 'broke off', type: 'server_error', param: null, code: null } }
const told = async (status, read) => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': status === 200 ? 'text/event-stream' : 'application/json' })
    response.end(status === 200 ? [chunk, error].map((data) => `data: ${JSON.stringify(data)}\n\n`).join('') : JSON.stringify(error))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  let text = ''
  try {
    for await (const piece of await read(`http://127.0.0.1:${server.address().port}`)) text += piece.results?.[0]?.content ?? piece.choices?.[0]?.delta.content ?? ''
    return `"${text}"`
  } catch (thrown) {
    const name = thrown instanceof TypeError ? 'TypeError' : 'its own error'
    return `"${text}", then ${name}, with the server's words: ${thrown.message.includes('broke off')}`
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
const messages = [{ role: 'user', content: 'x' }]
const ax = (apiURL) => ai({ name: 'openai', apiKey: 'k', apiURL, config: { model: 'm' } }).chat({ chatPrompt: messages }, { stream: true, retry: { maxRetries: 0 } })
const own = (baseURL) => new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 }).chat.completions.create({ model: 'm', stream: true, messages })
console.log('ax:', await told(200, ax))
console.log('openai:', await told(200, own))
console.log('ax, 404:', await told(404, ax))
console.log('openai, 404:', await told(404, own))
process.exit()
JS
node --no-warnings run.mjs >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
ax: "hal", then TypeError, with the server's words: false
openai: "hal", then its own error, with the server's words: true
ax, 404: "", then its own error, with the server's words: false
openai, 404: "", then its own error, with the server's words: true
SEEN
