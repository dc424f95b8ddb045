#!/usr/bin/env bash
# @anthropic-ai/claude-code 2.1.332 (npm), `claude -p` before a server of the messages wire whose calls all have one id, as
# models have that number their calls by turn.
# Guess: each call is kept with its result, as each comes in a turn of its own.
# Seen: only the first is. The second runs, and is gone with its result from the conversation that is sent next.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit @anthropic-ai/claude-code@2.1.332
cat >run.mjs <<'JS'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

let id = () => 'call_0'
let turn = 0
let kept = 0
const api = createServer(async (request, response) => {
  let text = ''
  for await (const piece of request) text += piece
  if (request.method !== 'POST' || !request.url.startsWith('/v1/messages?')) return response.end()
  const { messages } = JSON.parse(text)
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  kept = blocks.filter(({ type }) => type === 'tool_use').length
  const number = turn++
  const call = { type: 'tool_use', id: id(number), name: 'Read', input: {} }
  const start = number < 2 ? call : { type: 'text', text: '' }
  const input = JSON.stringify({ file_path: `${process.cwd()}/work/note-${number}.txt` })
  const delta = number < 2 ? { type: 'input_json_delta', partial_json: input } : { type: 'text_delta', text: 'Done.' }
  const usage = { input_tokens: 5, output_tokens: 5 }
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of [
    { type: 'message_start', message: { ...message, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: start },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: number < 2 ? 'tool_use' : 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ])
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
})
api.listen(0, '127.0.0.1')
await once(api, 'listening')

mkdirSync('home', { recursive: true })
mkdirSync('work', { recursive: true })
for (const number of [0, 1]) writeFileSync(`work/note-${number}.txt`, `note ${number}\n`)
const ask = async (ids) => {
  id = ids
  turn = 0
  const words = ['-p', 'Read both notes', '--dangerously-skip-permissions']
  const child = spawn(`${process.cwd()}/node_modules/.bin/claude`, words, {
    cwd: 'work',
    env: {
      ...{ PATH: process.env.PATH, HOME: `${process.cwd()}/home`, IS_SANDBOX: '1', ANTHROPIC_AUTH_TOKEN: 'key' },
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${api.address().port}`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    stdio: 'ignore',
  })
  await once(child, 'exit')
  return `${turn} requests, ${kept} calls in the last`
}
console.log(`ids of their own: ${await ask((number) => `call_${number}`)}`)
console.log(`one id: ${await ask(() => 'call_0')}`)
process.exit(0)
JS
node run.mjs >seen
cat seen
diff - seen <<'SEEN'
ids of their own: 3 requests, 2 calls in the last
one id: 3 requests, 1 calls in the last
SEEN
