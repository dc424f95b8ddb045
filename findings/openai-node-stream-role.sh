#!/usr/bin/env bash
# openai 6.49.0 (npm, JavaScript): `chat.completions.stream(…).finalChatCompletion()`.
# Guess: a stream whose deltas have no `role`, as some servers send them, gives the same message as one with it; the role
# of an answer can only be `assistant`.
# Seen: it throws "missing role for choice 0", though every event of content has been given by then. Iterating over
# `create({ stream: true })` takes both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@6.49.0 >/dev/null
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import OpenAI from 'openai'

const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const answered = async (first, read) => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${chunk(first)}${chunk({}, 'stop')}data: [DONE]\n\n`)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${server.address().port}` })
  try {
    return await read(client.chat.completions, { model: 'm', messages: [{ role: 'user', content: 'x' }] })
  } catch (error) {
    return `throws: ${error.message}`
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
const helper = async (chat, body) => (await chat.stream(body).finalChatCompletion()).choices[0].message.content
const plain = async (chat, body) => {
  let text = ''
  for await (const { choices } of await chat.create({ ...body, stream: true })) text += choices[0].delta.content ?? ''
  return text
}
console.log('stream(), with a role:', await answered({ role: 'assistant', content: 'hi' }, helper))
console.log('stream(), without:', await answered({ content: 'hi' }, helper))
console.log('create(), without:', await answered({ content: 'hi' }, plain))
JS
node run.mjs >seen
cat seen
diff - seen <<'SEEN'
stream(), with a role: hi
stream(), without: throws: missing role for choice 0
create(), without: hi
SEEN
