#!/usr/bin/env bash
# @portkey-ai/gateway 1.15.2 (npm, JavaScript) before a server of the chat-completions form, by Node.js 20 or 22.
# Guess: a streamed answer passes through it as a whole one does.
# Seen: a whole answer passes; a streamed one is 500 "Something went wrong", for it changes headers that are immutable in
# Node.js (TypeError: immutable). Run by Bun, both pass.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @portkey-ai/gateway@1.15.2 >/dev/null 2>&1
# It has no setting for where it listens.
cat >loopback.mjs <<'JS'
import { Server } from 'node:http'
const { listen } = Server.prototype
Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, port, '127.0.0.1', ...rest.filter((one) => typeof one === 'function'))
}
JS
cat >run.mjs <<'JS'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

const listening = (server) => new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
const upstream = createServer((request, response) => {
  let text = ''
  request.on('data', (piece) => (text += piece))
  request.on('end', () => {
    const of = { id: 'c', created: 1, model: 'm' }
    if (!JSON.parse(text).stream) {
      response.writeHead(200, { 'content-type': 'application/json' })
      const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
      return response.end(JSON.stringify({ ...of, object: 'chat.completion', choices }))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const choices = [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
    response.end(`data: ${JSON.stringify({ ...of, object: 'chat.completion.chunk', choices })}\n\ndata: [DONE]\n\n`)
  })
})
const behind = await listening(upstream)
const free = createServer()
const port = await listening(free)
await new Promise((resolve) => free.close(resolve))
const words = ['--import', './loopback.mjs', 'node_modules/@portkey-ai/gateway/build/start-server.js', '--headless', `--port=${port}`]
const relay = spawn(process.execPath, words, { stdio: 'ignore' })
const asked = async (stream) => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${behind}/v1`,
      authorization: 'Bearer k',
    },
    body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'x' }] }),
  })
  const text = await response.text()
  return `${response.status}, ${/Something went wrong/.exec(text)?.[0] ?? /"content":"hi"/.exec(text)?.[0]}`
}
try {
  for (let tries = 0; tries < 100; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    if (await fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false)) break
  }
  console.log('whole:', await asked(false))
  console.log('streamed:', await asked(true))
} finally {
  relay.kill()
  upstream.close()
  upstream.closeAllConnections()
}
JS
node run.mjs >seen
cat seen
diff - seen <<'SEEN'
whole: 200, "content":"hi"
streamed: 500, Something went wrong
SEEN
