#!/usr/bin/env bash
# openai 6.49.0 (npm, JavaScript), @anthropic-ai/sdk 1.14.0.
# Guess: as in earlier versions, a Retry-After above a minute is not obeyed, and the client's own pause of about half a
# second is taken; one of 30 days likewise.
# Seen: openai waits as long as it is told (a call that is told 90 s has not come back after 5 s), and where that is longer
# than a timer of Node can be (2^31 ms, about 25 days), it does not wait at all: three requests within a second.
# @anthropic-ai/sdk takes its own pauses there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@6.49.0 @anthropic-ai/sdk@1.14.0 >/dev/null
cat >run.mjs <<'JS'
import { createServer } from 'node:http'
import OpenAI from 'openai'
import Anthropic from '@anthropic-ai/sdk'

/** Requests that a busy server gets within `ms`, and whether the call has ended by then. */
const told = async (retryAfter, ms, call) => {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    request.resume()
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': String(retryAfter) })
    response.end('{"error":{"type":"overloaded_error","message":"busy"}}')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  let ended = false
  call(`http://127.0.0.1:${server.address().port}`).catch(() => (ended = true))
  await new Promise((resolve) => setTimeout(resolve, ms))
  server.close()
  server.closeAllConnections()
  return `${requests} requests, ${ended ? 'ended' : 'waiting'}`
}
const openai = (baseURL) =>
  new OpenAI({ apiKey: 'k', baseURL }).chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
const anthropic = (baseURL) =>
  new Anthropic({ apiKey: 'k', baseURL }).messages.create({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })

console.log('openai, 90 s:', await told(90, 5_000, openai))
console.log('openai, 30 days:', await told(30 * 86_400, 1_000, openai))
console.log('anthropic, 30 days:', await told(30 * 86_400, 300, anthropic))
process.exit()
JS
node --no-warnings run.mjs >seen
cat seen
diff - seen <<'SEEN'
openai, 90 s: 1 requests, waiting
openai, 30 days: 3 requests, ended
anthropic, 30 days: 1 requests, waiting
SEEN
